package compile

// Limits of inlining, in the units of measure.
const (
	inlineSmall  = 40   // a callee of at most this size is always inlined
	inlineOnce   = 300  // one that is called from a single place
	inlineCaller = 6000 // no inlining into a function bigger than this
	inlineSlots  = 128  // bytes of stack slots that an inlined callee may bring along
)

// inline replaces calls of small functions by their bodies and says whether it did.
func (m *module) inline(f *fn) bool {
	done := false
	f.measure()
	for i := 0; i < len(f.blocks); i++ {
		b := f.blocks[i]
		for j, v := range b.vals {
			if v.op != opCall || !m.shouldInline(f, v.callee) {
				continue
			}
			f.inlineCall(b, j)
			f.size += v.callee.size
			done = true
			break // the rest of b is in a new block at the end of f.blocks
		}
	}
	return done
}

func (m *module) shouldInline(f, callee *fn) bool {
	if callee.noInline || f.size > inlineCaller || callee.size == 0 {
		return false
	}
	var bytes int64
	for _, s := range callee.slots {
		if !s.dead {
			bytes += s.size
		}
	}
	once := m.callSites[callee] == 1 && !callee.entry
	if callee.size <= inlineSmall {
		return bytes <= inlineSlots || once
	}
	return once && callee.size <= inlineOnce
}

// inlineCall puts the callee's blocks in place of the j-th value of b.
func (f *fn) inlineCall(b *block, j int) {
	call := b.vals[j]
	g := call.callee
	after := f.newBlock(b.kind)
	after.vals = append(after.vals, b.vals[j+1:]...)
	for _, v := range after.vals {
		v.blk = after
	}
	after.ctl, after.succs, after.code, after.pos = b.ctl, b.succs, b.code, b.pos
	for _, s := range after.succs {
		for i, p := range s.preds {
			if p == b {
				s.preds[i] = after
			}
		}
	}
	b.vals = b.vals[:j:j]
	b.kind, b.ctl, b.succs = blockJump, nil, nil

	slotBase := int64(len(f.slots))
	for _, s := range g.slots {
		f.slots = append(f.slots, &slot{size: s.size, align: s.align, dead: s.dead})
	}
	blocks := map[*block]*block{}
	vals := map[*value]*value{}
	for _, gb := range g.blocks {
		nb := f.newBlock(gb.kind)
		nb.code, nb.pos = gb.code, gb.pos
		blocks[gb] = nb
		for _, v := range gb.vals {
			if v.op == opParam {
				vals[v] = call.args[v.imm]
				continue
			}
			c := *v
			c.id = f.nextVal
			f.nextVal++
			c.blk = nb
			if c.op == opSlot {
				c.imm += slotBase
			}
			if c.pos == 0 {
				c.pos = call.pos
			}
			n := &c
			vals[v] = n
			nb.vals = append(nb.vals, n)
		}
	}
	var exits []*block
	var rets [][]*value
	for _, gb := range g.blocks {
		nb := blocks[gb]
		for _, n := range nb.vals {
			args := make([]*value, len(n.args))
			for i, a := range n.args {
				args[i] = vals[a]
			}
			n.args = args
		}
		for _, p := range gb.preds {
			nb.preds = append(nb.preds, blocks[p])
		}
		for _, s := range gb.succs {
			nb.succs = append(nb.succs, blocks[s])
		}
		for _, a := range gb.ctl {
			nb.ctl = append(nb.ctl, vals[a])
		}
		if gb.kind == blockRet {
			exits = append(exits, nb)
			rets = append(rets, nb.ctl)
			nb.kind, nb.ctl = blockJump, nil
			addEdge(nb, after)
		}
	}
	addEdge(b, blocks[g.blocks[0]])
	if len(exits) == 0 {
		// It never returns: what follows is unreachable, but its uses need something to use.
		for _, v := range after.vals {
			if v.op == opResult && v.args[0] == call {
				v.change(opConst)
			}
		}
		return
	}
	// Results become phis.
	var phis []*value
	for i, k := range g.results {
		p := f.newValue(opPhi, k.w())
		p.blk = after
		p.nonNeg = k.length
		p.known = k.bits()
		for _, r := range rets {
			p.args = append(p.args, r[i])
		}
		phis = append(phis, p)
	}
	for _, v := range after.vals {
		if v.op == opResult && v.args[0] == call {
			v.fwd = phis[v.imm]
		}
	}
	var rest []*value
	for _, v := range after.vals {
		if v.fwd == nil {
			rest = append(rest, v)
		}
	}
	after.vals = append(phis, rest...)
	f.resolveAll()
}
