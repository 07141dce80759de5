package compile

// matInstr identifies a constant or address that an instruction makes.
type matInstr struct {
	op        mop
	w         uint8
	imm, imm2 int64
	sym       string
}

// material returns the key of an instruction that makes a constant or address.
func (i *minstr) material() (matInstr, bool) {
	switch i.op {
	case mMovImm, mSymAddr, mSlotAddr, mGot:
		return matInstr{i.op, i.w, i.imm, i.imm2, i.sym}, true
	}
	return matInstr{}, false
}

// length is how many instructions making it takes, about.
func (k matInstr) length() int {
	if k.op != mMovImm {
		return 2
	}
	if k.w == 32 {
		k.imm = int64(uint32(k.imm))
	}
	zeros, ones := 0, 0
	for s := 0; s < 64; s += 16 {
		switch uint16(k.imm >> s) {
		case 0:
			zeros++
		case 0xffff:
			ones++
		}
	}
	return max(4-max(zeros, ones), 1)
}

// shareConstants lets instructions use a constant or address that has been made before instead of making it again,
// as long as no call lies between: in the same block, or, for what takes several instructions, in a block that
// dominates it.
func (m *mfn) shareConstants() {
	byIR := map[*block]*mblock{}
	for _, b := range m.blocks {
		byIR[b.ir] = b
	}
	calls := func(b *block) bool {
		for _, i := range byIR[b].code {
			if i.clob&callerRegs == callerRegs {
				return true
			}
		}
		return false
	}
	out := map[*block]map[matInstr]reg{}
	rename := map[reg]reg{}
	for _, ir := range m.f.order {
		b := byIR[ir]
		have := map[matInstr]reg{}
		if d := ir.idom; d != nil {
			lost := false
			if len(ir.preds) > 1 || ir.preds[0] != d {
				for _, x := range between(d, ir) {
					lost = lost || calls(x)
				}
			}
			if !lost {
				for k, r := range out[d] {
					if k.length() > 1 {
						have[k] = r
					}
				}
			}
		}
		code := b.code[:0]
		for _, i := range b.code {
			i.reads(func(r *reg) {
				if n, ok := rename[*r]; ok {
					*r = n
				}
			})
			if k, ok := i.material(); ok {
				if r, ok := have[k]; ok {
					rename[i.dst] = r
					continue
				}
				have[k] = i.dst
			}
			if i.clob&callerRegs == callerRegs {
				clear(have)
			}
			code = append(code, i)
		}
		b.code = code
		out[ir] = have
	}
}
