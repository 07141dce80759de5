package compile

// foldLow12 lets the only access through a symbol's address add the low twelve bits itself.
func (m *mfn) foldLow12(align func(sym string) int64) {
	uses := map[reg]int{}
	access := map[reg]*minstr{}
	for _, b := range m.blocks {
		for _, i := range b.code {
			base := -1
			if i.addr == addrImm {
				switch i.op {
				case mLoad:
					base = 0
				case mStore:
					base = 1
				}
			}
			i.reads(func(r *reg) { uses[*r]++ })
			if base >= 0 {
				access[i.src[base]] = i
			}
		}
	}
	for _, b := range m.blocks {
		for _, i := range b.code {
			if i.op != mSymAddr || uses[i.dst] != 1 || access[i.dst] == nil {
				continue
			}
			a := access[i.dst]
			at := i.imm + a.imm
			if size := int64(a.size); at%size != 0 || align(i.sym) < size {
				continue // the scaled offset needs an aligned address
			}
			i.op, i.imm = mAdrp, at
			a.addr, a.sym, a.imm = addrLow12, i.sym, at
		}
	}
}

// alignOf is the known alignment of a data symbol; 1 if it is not one of ours.
func (m *module) alignOf(sym string) int64 {
	for _, d := range m.data {
		if d.Name == sym {
			return int64(d.Align)
		}
	}
	return 1
}
