package compile

// frame is the layout of a stack frame, from sp upwards: outgoing arguments, saved registers, spill slots, the
// function's own slots.
type frame struct {
	size  int64
	saved []reg // in the order they are stored
	save  int64 // offset of the first saved register
	spill int64 // offset of the first spill slot
}

func (m *mfn) layoutFrame() frame {
	var fr frame
	var out int64
	var used uint32
	link := false
	for _, b := range m.blocks {
		for _, i := range b.code {
			switch i.op {
			case mStoreArg:
				out = max(out, 8*(i.imm+1))
			case mCall, mRaw, mCall1:
				link = true
			}
			i.writes(func(r *reg) {
				c := *r
				if c >= firstVir {
					c = m.color[c]
				}
				used |= 1 << uint(c)
			})
		}
	}
	for r := reg(19); r <= 27; r++ {
		if used&(1<<uint(r)) != 0 {
			fr.saved = append(fr.saved, r)
		}
	}
	if link {
		fr.saved = append(fr.saved, 30)
	}
	at := (out + 15) &^ 15
	fr.save = at
	at += 8 * int64(len(fr.saved))
	fr.spill = at
	at += 8 * m.spills
	for _, s := range m.f.slots {
		if s.dead {
			continue
		}
		at = (at + s.align - 1) / s.align * s.align
		s.off = at
		at += s.size
	}
	fr.size = (at + 15) &^ 15
	return fr
}
