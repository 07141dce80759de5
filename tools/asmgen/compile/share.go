package compile

// shareConstants lets instructions of one block use the same constant or address instead of making it again, as
// long as no call lies between.
func (m *mfn) shareConstants() {
	type key struct {
		op        mop
		w         uint8
		imm, imm2 int64
		sym       string
	}
	for _, b := range m.blocks {
		have := map[key]reg{}
		rename := map[reg]reg{}
		out := b.code[:0]
		for _, i := range b.code {
			i.reads(func(r *reg) {
				if n, ok := rename[*r]; ok {
					*r = n
				}
			})
			switch i.op {
			case mMovImm, mSymAddr, mSlotAddr, mGot:
				k := key{i.op, i.w, i.imm, i.imm2, i.sym}
				if r, ok := have[k]; ok {
					if !m.usedElsewhere[i.dst] {
						rename[i.dst] = r
						continue
					}
				} else {
					have[k] = i.dst
				}
			}
			if i.clob&callerRegs == callerRegs {
				clear(have)
			}
			out = append(out, i)
		}
		b.code = out
	}
}
