package compile

// threadJumps removes blocks that only jump on, and blocks that nothing reaches.
func (m *mfn) threadJumps() {
	for _, b := range m.blocks {
		for _, i := range b.code {
			if i.target != nil {
				i.target = i.target.forward()
			}
		}
	}
	used := map[*mblock]bool{m.blocks[0]: true}
	for _, b := range m.blocks {
		for _, i := range b.code {
			if i.target != nil {
				used[i.target] = true
			}
		}
	}
	keep := m.blocks[:0]
	for _, b := range m.blocks {
		if used[b] {
			b.id = len(keep)
			keep = append(keep, b)
		}
	}
	m.blocks = keep
}

// forward is where control goes after b if b does nothing.
func (b *mblock) forward() *mblock {
	for range 16 {
		var only *minstr
		for _, i := range b.code {
			if i.op == mNop || i.op == mParCopy && len(i.moves) == 0 {
				continue
			}
			if only != nil || i.op != mJump {
				return b
			}
			only = i
		}
		if only == nil || only.target == b {
			return b
		}
		b = only.target
	}
	return b
}

// dropCopies removes the parts of parallel copies that copy a register to itself.
func (m *mfn) dropCopies() {
	loc := func(r reg) reg {
		if r < firstVir {
			return r
		}
		return m.color[r]
	}
	for _, b := range m.blocks {
		for _, i := range b.code {
			keep := i.moves[:0]
			for _, mv := range i.moves {
				if mv.src != regNone && mv.srcSlot == mv.dstSlot && (mv.srcSlot != 0 || loc(mv.src) == loc(mv.dst)) {
					continue
				}
				keep = append(keep, mv)
			}
			i.moves = keep
		}
	}
}
