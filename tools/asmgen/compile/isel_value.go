package compile

import (
	"math/bits"

	"svcrelay/tools/asmgen/asm"
)

var aluOps = map[op]mop{opAdd: mAdd, opSub: mSub, opAnd: mAnd, opOr: mOrr, opXor: mEor, opAndNot: mBic}

// value emits v if it has an effect or its result is wanted.
func (s *isel) value(v *value) {
	if !v.hasEffect() && !s.needed(v) {
		return
	}
	dst := s.regs[v.id]
	i := &minstr{w: v.w, dst: dst}
	switch v.op {
	case opConst, opSym, opSlot, opGot, opTrunc, opPtr:
		return // always made where used
	case opResult:
		call := v.args[0]
		for len(s.results[call]) <= int(v.imm) {
			s.results[call] = append(s.results[call], regNone)
		}
		s.results[call][v.imm] = dst
		return
	case opAdd, opSub:
		s.addSub(i, v)
	case opAnd, opOr, opXor, opAndNot:
		s.logic(i, v)
	case opMul:
		i.op = mMul
		i.src = []reg{s.use(v.args[0]), s.use(v.args[1])}
	case opMulHi:
		i.op = mUmulh
		i.src = []reg{s.use(v.args[0]), s.use(v.args[1])}
	case opSDiv, opUDiv:
		i.op = mUdiv
		if v.op == opSDiv {
			i.op = mSdiv
		}
		i.src = []reg{s.useZ(v.args[0]), s.use(v.args[1])}
	case opSRem, opURem:
		s.remainder(i, v)
		return
	case opShl, opShr, opSar, opRor:
		s.shiftOp(i, v)
	case opNeg:
		i.op = mSub
		i.src = []reg{regZR}
		s.operand(i, v.args[0], v.w, true)
	case opNot:
		i.op = mOrn
		i.src = []reg{regZR}
		s.operand(i, v.args[0], v.w, true)
	case opClz, opRbit, opRev:
		i.op = map[op]mop{opClz: mClz, opRbit: mRbit, opRev: mRev}[v.op]
		i.src = []reg{s.use(v.args[0])}
	case opZext8, opZext16, opZext32, opSext8, opSext16, opSext32:
		s.extend(i, v)
	case opCmp:
		i.op = mCset
		s.compare(i, v.cond, v.args[0], v.args[1])
	case opSelect:
		s.selectOp(i, v)
	case opLoad:
		i.op, i.size, i.signed = mLoad, v.size, v.signed
		s.address(i, v.args[0], v.imm, int64(v.size))
	case opStore:
		i.op, i.size, i.dst = mStore, v.size, regNone
		i.src = []reg{s.useZ(v.args[1])}
		s.address(i, v.args[0], v.imm, int64(v.size))
	case opNilCheck:
		i.op, i.dst, i.abort = mCheck, regNone, abortNil
		i.cond = condEQ
		s.zeroTest(i, v.args[0], 64)
	case opCheck:
		i.op, i.dst, i.abort = mCheck, regNone, v.code
		s.compare(i, v.cond.not(), v.args[0], v.args[1])
	default:
		s.special(i, v)
		return
	}
	s.push(i)
}

func (s *isel) addSub(i *minstr, v *value) {
	i.op = aluOps[v.op]
	a, b := v.args[0], v.args[1]
	if b.isConst() && asm.AddSubOK(b.imm) {
		i.opnd, i.imm = operandImm, b.imm
		i.src = []reg{s.use(a)}
		return
	}
	isMul := func(x *value) bool { return x.op == opMul && x.w == v.w && s.foldable(x) }
	if v.op == opAdd && isMul(a) && !isMul(b) {
		a, b = b, a
	}
	if isMul(b) {
		i.op = mMadd
		if v.op == opSub {
			i.op = mMsub
		}
		i.src = []reg{s.use(b.args[0]), s.use(b.args[1]), s.useZ(a)}
		return
	}
	if v.op == opAdd && s.hasOperandForm(a, v.w) && !s.hasOperandForm(b, v.w) {
		a, b = b, a
	}
	x := s.useZ(a)
	i.src = []reg{x}
	s.operand(i, b, v.w, x == regZR)
}

func (s *isel) logic(i *minstr, v *value) {
	i.op = aluOps[v.op]
	a, b := v.args[0], v.args[1]
	if b.isConst() {
		n := uint64(b.imm)
		if v.w == 32 {
			n = uint64(uint32(n))
		}
		if v.op == opAnd && n != 0 && n&(n+1) == 0 {
			// The low bits of a shifted value are a bit field.
			width := int64(bits.Len64(n))
			if x, lsb, ok := s.shifted(a); ok && lsb+width <= int64(x.w) {
				i.op, i.w, i.imm, i.imm2 = mBfx, x.w, lsb, width
				i.src = []reg{s.use(x)}
				return
			}
			if n == 0xffffffff {
				i.op, i.imm, i.imm2, i.w = mBfx, 0, 32, 64
				i.src = []reg{s.use(a)}
				return
			}
		}
		if asm.BitmaskOK(asm.Width(v.w), n) {
			i.opnd, i.imm = operandImm, int64(n)
			i.src = []reg{s.use(a)}
			return
		}
	}
	if v.op != opAndNot {
		if a.op == opNot && s.foldable(a) && b.op != opNot {
			a, b = b, a
		}
		if b.op == opNot && s.foldable(b) {
			i.op = map[op]mop{opAnd: mBic, opOr: mOrn, opXor: mEon}[v.op]
			b = b.args[0]
		} else if s.hasOperandForm(a, v.w) && !s.hasOperandForm(b, v.w) {
			a, b = b, a
		}
	}
	i.src = []reg{s.useZ(a)}
	s.operand(i, b, v.w, true)
}

// shifted matches a constant right shift, possibly truncated afterwards.
func (s *isel) shifted(v *value) (x *value, lsb int64, ok bool) {
	for v.op == opTrunc {
		v = v.args[0]
	}
	if (v.op == opShr || v.op == opSar) && v.args[1].isConst() && v.uses <= 1 {
		return v.args[0], v.args[1].imm & int64(v.w-1), true
	}
	return nil, 0, false
}

func (s *isel) remainder(i *minstr, v *value) {
	d := &minstr{op: mUdiv, w: v.w, dst: s.mf.newReg()}
	if v.op == opSRem {
		d.op = mSdiv
	}
	a, b := s.use(v.args[0]), s.use(v.args[1])
	p := s.pending
	s.pending = nil
	i.op = mMsub
	i.src = []reg{d.dst, b, a}
	s.push(i)
	d.src = []reg{a, b}
	s.push(d)
	s.rev = append(s.rev, p...)
}

func (s *isel) shiftOp(i *minstr, v *value) {
	i.op = map[op]mop{opShl: mLsl, opShr: mLsr, opSar: mAsr, opRor: mRor}[v.op]
	a, c := v.args[0], v.args[1]
	if !c.isConst() {
		i.src = []reg{s.use(a), s.use(c)}
		return
	}
	n := c.imm & int64(v.w-1)
	i.opnd, i.imm = operandImm, n
	w := int64(v.w)
	if v.op == opShl && s.foldable(a) {
		width := int64(0)
		switch {
		case a.op == opZext8 && a.w == v.w:
			width = 8
		case a.op == opZext16 && a.w == v.w:
			width = 16
		case a.op == opZext32 && s.root(a) == a:
			width = 32
		case a.op == opAnd && a.args[1].isConst() && a.args[1].imm > 0 && a.args[1].imm&(a.args[1].imm+1) == 0:
			width = int64(bits.Len64(uint64(a.args[1].imm)))
		}
		if width > 0 {
			i.op, i.imm, i.imm2 = mBfiz, n, min(width, w-n)
			i.src = []reg{s.use(a.args[0])}
			return
		}
		if a.op == opSext32 && s.root(a) == a {
			i.op, i.imm, i.imm2, i.signed = mBfiz, n, min(32, w-n), true
			i.src = []reg{s.use(a.args[0])}
			return
		}
	}
	if (v.op == opShr || v.op == opSar) && a.op == opShl && a.args[1].isConst() && s.foldable(a) {
		m := a.args[1].imm & (w - 1)
		if m <= n {
			i.op, i.imm, i.imm2, i.signed = mBfx, n-m, w-n, v.op == opSar
			i.src = []reg{s.use(a.args[0])}
			return
		}
	}
	i.src = []reg{s.use(a)}
}

func (s *isel) extend(i *minstr, v *value) {
	i.op = mBfx
	a := v.args[0]
	switch v.op {
	case opZext8, opSext8:
		i.imm2 = 8
	case opZext16, opSext16:
		i.imm2 = 16
	default:
		i.imm2 = 32
		i.w = 64
	}
	i.signed = v.op == opSext8 || v.op == opSext16 || v.op == opSext32
	if x, lsb, ok := s.shifted(a); ok && lsb+i.imm2 <= int64(x.w) && i.imm2 < 32 {
		// A field that reaches beyond 32 bits needs the wide form, which sign-extends too far for a 32-bit value.
		wide := lsb+i.imm2 > 32
		if !wide || !i.signed || v.w == 64 {
			if wide {
				i.w = 64
			}
			i.imm = lsb
			i.src = []reg{s.use(x)}
			return
		}
	}
	i.src = []reg{s.use(a)}
}

func (s *isel) selectOp(i *minstr, v *value) {
	i.op = mCsel
	c, a, b := v.args[0], v.args[1], v.args[2]
	want := true
	isInc := func(x, y *value) bool {
		return x.op == opAdd && x.args[1].isConst() && x.args[1].imm == 1 && s.foldable(x) && x.args[0] == y
	}
	switch {
	case b.isConst() && b.imm == 1 && !(a.isConst() && a.imm == 1):
		i.op = mCsinc
		b = nil
	case a.isConst() && a.imm == 1 && !(b.isConst() && b.imm == 1):
		i.op = mCsinc
		want = false
		a, b = b, nil
	case isInc(b, a):
		i.op = mCsinc
		b = b.args[0]
	case isInc(a, b):
		i.op = mCsinc
		want = false
		a, b = b, a.args[0]
	}
	s.condition(i, c, want)
	i.src = append(i.src, s.useZ(a))
	if b == nil {
		i.src = append(i.src, regZR)
	} else {
		i.src = append(i.src, s.useZ(b))
	}
}

// address sets the address of an access of size bytes at p + off.
func (s *isel) address(i *minstr, p *value, off, size int64) {
	p = s.skipFree(p)
	if p.op == opAdd && p.args[1].isConst() {
		off += p.args[1].imm
		p = s.skipFree(p.args[0])
	}
	if p.op == opSlot {
		i.addr, i.imm2, i.imm = addrSlot, p.imm, off
		return
	}
	if off == 0 && p.op == opAdd && s.onlyAddress(p, size) {
		a, b := s.skipFree(p.args[0]), s.skipFree(p.args[1])
		sh := int64(bits.TrailingZeros64(uint64(size)))
		if s.indexForm(a, sh) && !s.indexForm(b, sh) {
			a, b = b, a
		}
		i.addr = addrIdx
		base := s.use(a)
		if b.op == opShl && b.args[1].isConst() && b.args[1].imm == sh && sh > 0 {
			i.amount = uint8(sh)
			b = b.args[0]
		}
		if (b.op == opZext32 || b.op == opSext32) && s.root(b) == b {
			i.extend = true
			i.shift = shiftLSL
			if b.op == opSext32 {
				i.shift = shiftASR
			}
			b = b.args[0]
		}
		i.src = append(i.src, base, s.use(b))
		return
	}
	if !asm.OffsetOK(int(size), off) {
		r := s.mf.newReg()
		base := s.use(p)
		a := &minstr{op: mAdd, w: 64, dst: r}
		if hi := off &^ 0xfff; asm.AddSubOK(hi) && asm.OffsetOK(int(size), off-hi) {
			a.opnd, a.imm, a.src = operandImm, hi, []reg{base}
			off -= hi
			s.pending = append([]*minstr{a}, s.pending...)
		} else {
			c := s.mf.newReg()
			a.src = []reg{base, c}
			s.pending = append([]*minstr{a, {op: mMovImm, w: 64, dst: c, imm: off}}, s.pending...)
			off = 0
		}
		i.addr, i.imm = addrImm, off
		i.src = append(i.src, r)
		return
	}
	i.addr, i.imm = addrImm, off
	i.src = append(i.src, s.use(p))
}

// indexForm says whether v is better as an index than as a base.
func (s *isel) indexForm(v *value, sh int64) bool {
	switch v.op {
	case opShl:
		return v.args[1].isConst() && v.args[1].imm == sh
	case opZext32, opSext32:
		return s.root(v) == v
	}
	return false
}

// onlyAddress says whether every use of p is as the plain address of an access of that size, so that computing it
// in each costs nothing.
func (s *isel) onlyAddress(p *value, size int64) bool {
	return p.uses == 1
}
