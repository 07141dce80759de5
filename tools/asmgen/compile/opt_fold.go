package compile

import "math/bits"

// fold returns a value that can replace v, or v itself if it was changed in place, or nil.
func (s *simplifier) fold(v *value) *value {
	switch v.op {
	case opPhi:
		return foldPhi(v)
	case opLoad, opStore, opLoadAcq, opStoreRel:
		return s.foldMem(v)
	case opNilCheck:
		if p := v.args[0]; p.op == opPtr && !p.nonNil && !p.noCheck {
			v.args[0] = p.args[0]
			return v
		}
		return nil
	case opCheck:
		return s.foldCheck(v)
	case opCmp:
		return s.foldCmp(v)
	case opSelect:
		return s.foldSelect(v)
	case opPtr:
		if v.args[0].nonNil {
			return v.args[0]
		}
		return nil
	case opZext8, opZext16, opZext32, opSext8, opSext16, opSext32, opTrunc:
		return s.foldExt(v)
	}
	if !v.op.pure() || len(v.args) == 0 {
		return nil
	}
	if r := s.foldConst(v); r != nil {
		return r
	}
	switch v.op {
	case opAdd, opMul, opAnd, opOr, opXor:
		if a, b := v.args[0], v.args[1]; a.isConst() && !b.isConst() || !b.isConst() && a.id > b.id {
			v.args[0], v.args[1] = b, a
			if a.isConst() {
				return v
			}
		}
	}
	switch v.op {
	case opAdd:
		return s.foldAdd(v)
	case opSub:
		return s.foldSub(v)
	case opMul:
		return s.foldMul(v)
	case opAnd, opOr, opXor, opAndNot:
		return s.foldLogic(v)
	case opShl, opShr, opSar, opRor:
		return s.foldShift(v)
	case opUDiv, opURem, opSDiv, opSRem:
		return s.foldDiv(v)
	case opNeg:
		if a := v.args[0]; a.op == opNeg {
			return a.args[0]
		} else if a.op == opSub {
			return v.change(opSub, a.args[1], a.args[0])
		}
	case opNot:
		if a := v.args[0]; a.op == opNot {
			return a.args[0]
		}
	}
	return nil
}

func foldPhi(v *value) *value {
	var same *value
	for _, a := range v.args {
		a = resolve(a)
		if a == v || a == same {
			continue
		}
		if same != nil {
			if same.isConst() && a.isConst() && same.imm == a.imm && same.w == a.w {
				continue
			}
			return nil
		}
		same = a
	}
	if same == nil {
		return nil
	}
	return same
}

// foldConst evaluates an operation on constants.
func (s *simplifier) foldConst(v *value) *value {
	for _, a := range v.args {
		if !a.isConst() {
			return nil
		}
	}
	x := v.args[0].imm
	ux := uint64(x)
	if v.args[0].w == 32 {
		ux = uint64(uint32(x))
	}
	var y int64
	var uy uint64
	if len(v.args) > 1 {
		y = v.args[1].imm
		uy = uint64(y)
		if v.args[1].w == 32 {
			uy = uint64(uint32(y))
		}
	}
	w := uint64(v.w)
	var r int64
	switch v.op {
	case opAdd:
		r = x + y
	case opSub:
		r = x - y
	case opMul:
		r = x * y
	case opAnd:
		r = x & y
	case opOr:
		r = x | y
	case opXor:
		r = x ^ y
	case opAndNot:
		r = x &^ y
	case opNeg:
		r = -x
	case opNot:
		r = ^x
	case opShl:
		r = x << (uy & (w - 1))
	case opShr:
		r = int64(ux >> (uy & (w - 1)))
	case opSar:
		r = x >> (uy & (w - 1))
	case opSDiv, opSRem:
		switch {
		case y == 0:
			return nil
		case y == -1 && v.op == opSDiv:
			r = -x
		case y == -1:
			r = 0
		case v.op == opSDiv:
			r = x / y
		default:
			r = x % y
		}
	case opUDiv, opURem:
		if uy == 0 {
			return nil
		}
		if v.op == opUDiv {
			r = int64(ux / uy)
		} else {
			r = int64(ux % uy)
		}
	case opClz:
		r = int64(bits.LeadingZeros64(ux)) - int64(64-w)
	default:
		return nil
	}
	return s.c(v.w, r)
}

func (s *simplifier) foldAdd(v *value) *value {
	a, b := v.args[0], v.args[1]
	if b.isConst() {
		if b.imm == 0 {
			if v.nonNil && !a.nonNil {
				v.change(opPtr, a)
				return v
			}
			return a
		}
		switch {
		case a.op == opAdd && a.args[1].isConst():
			v.args[0], v.args[1] = a.args[0], s.c(v.w, a.args[1].imm+b.imm)
			return v
		case a.op == opSym:
			off := a.imm + b.imm
			if off < -1<<24 || off > 1<<24 {
				// An index out of range, behind a check that fails: too far for a relocation.
				return nil
			}
			v.change(opSym)
			v.sym, v.imm = a.sym, off
			return v
		case a.op == opPtr:
			v.args[0] = a.args[0]
			return v
		}
		return nil
	}
	switch {
	case b.op == opNeg:
		return v.change(opSub, a, b.args[0])
	case a.op == opNeg:
		return v.change(opSub, b, a.args[0])
	case b.op == opSub && b.args[1] == a:
		return b.args[0]
	case a.op == opSub && a.args[1] == b:
		return a.args[0]
	}
	// (x + c) + y = (x + y) + c, so that constants meet and become address offsets. Only for addresses: elsewhere
	// it would lengthen loops' dependency on x + c, which is needed anyway.
	if v.nonNil {
		if a.op == opAdd && a.args[1].isConst() && !isStep(a) {
			n := s.mk(opAdd, v.w, a.args[0], b)
			v.args[0], v.args[1] = n, a.args[1]
			return v
		}
		if b.op == opAdd && b.args[1].isConst() && !isStep(b) {
			n := s.mk(opAdd, v.w, a, b.args[0])
			v.args[0], v.args[1] = n, b.args[1]
			return v
		}
	}
	return nil
}

// isStep says whether v is the next value of a loop counter, which has a register of its own anyway.
func isStep(v *value) bool {
	x := v.args[0]
	if x.op != opPhi {
		return false
	}
	for _, a := range x.args {
		if resolve(a) == v {
			return true
		}
	}
	return false
}

func (s *simplifier) foldSub(v *value) *value {
	a, b := v.args[0], v.args[1]
	switch {
	case a == b:
		return s.c(v.w, 0)
	case b.isConst():
		nn := v.nonNeg
		v.change(opAdd, a, s.c(v.w, -b.imm))
		v.nonNeg = nn
		return v
	case a.isConst() && a.imm == 0:
		return v.change(opNeg, b)
	case a.op == opAdd && a.args[0] == b:
		return a.args[1]
	case a.op == opAdd && a.args[1] == b:
		return a.args[0]
	case b.op == opNeg:
		return v.change(opAdd, a, b.args[0])
	case b.op == opAdd && b.args[0] == a:
		return v.change(opNeg, b.args[1])
	}
	return nil
}

func (s *simplifier) foldMul(v *value) *value {
	a, b := v.args[0], v.args[1]
	if !b.isConst() {
		return nil
	}
	n := uint64(b.imm)
	if v.w == 32 {
		n = uint64(uint32(b.imm))
	}
	switch {
	case n == 0:
		return b
	case n == 1:
		return a
	case b.imm == -1:
		return v.change(opNeg, a)
	case n&(n-1) == 0:
		return v.change(opShl, a, s.c(v.w, int64(bits.TrailingZeros64(n))))
	case a.op == opMul && a.args[1].isConst():
		return v.change(opMul, a.args[0], s.c(v.w, a.args[1].imm*b.imm))
	}
	// 2^k + 1 is an addition with a shifted operand.
	if m := n - 1; m&(m-1) == 0 {
		return v.change(opAdd, a, s.mk(opShl, v.w, a, s.c(v.w, int64(bits.TrailingZeros64(m)))))
	}
	return nil
}

func (s *simplifier) foldLogic(v *value) *value {
	a, b := v.args[0], v.args[1]
	if a == b {
		switch v.op {
		case opAnd, opOr:
			return a
		}
		return s.c(v.w, 0)
	}
	if v.op == opAndNot && b.isConst() {
		return v.change(opAnd, a, s.c(v.w, ^b.imm))
	}
	if v.op == opAnd && b.op == opNot {
		return v.change(opAndNot, a, b.args[0])
	}
	if v.op == opAnd && a.op == opNot {
		return v.change(opAndNot, b, a.args[0])
	}
	if v.op == opAndNot && a.isConst() && a.imm == 0 {
		return a
	}
	if !b.isConst() {
		return nil
	}
	switch {
	case b.imm == 0 && v.op == opAnd:
		return b
	case b.imm == 0:
		return a
	case b.imm == -1 && v.op == opAnd:
		return a
	case b.imm == -1 && v.op == opOr:
		return b
	case b.imm == -1 && v.op == opXor:
		return v.change(opNot, a)
	case v.op == a.op && a.args[1].isConst():
		r := int64(0)
		switch v.op {
		case opAnd:
			r = a.args[1].imm & b.imm
		case opOr:
			r = a.args[1].imm | b.imm
		case opXor:
			r = a.args[1].imm ^ b.imm
		}
		return v.change(v.op, a.args[0], s.c(v.w, r))
	case v.op == opXor && b.imm == 1 && a.op == opCmp:
		c := a.cond.not()
		v.change(opCmp, a.args[0], a.args[1])
		v.cond = c
		return v
	}
	if v.op == opAnd {
		// A mask that keeps every bit that can be set.
		if n := ubits(a, 4); n < 64 && uint64(b.imm)&(1<<n-1) == 1<<n-1 {
			return a
		}
		if x := stripExt(a, uint(bits.Len64(uint64(b.imm)))); x != a && b.imm > 0 {
			v.args[0] = x
			return v
		}
	}
	return nil
}

// stripExt removes extensions and masks that do not change the low n bits of v.
func stripExt(v *value, n uint) *value {
	for {
		switch {
		case (v.op == opZext8 || v.op == opSext8) && n <= 8,
			(v.op == opZext16 || v.op == opSext16) && n <= 16:
			v = v.args[0]
		case v.op == opAnd && v.args[1].isConst() && n < 64 && uint64(v.args[1].imm)&(1<<n-1) == 1<<n-1:
			v = v.args[0]
		default:
			return v
		}
	}
}

func (s *simplifier) foldShift(v *value) *value {
	a, c := v.args[0], v.args[1]
	if !c.isConst() {
		// The machine takes the count modulo the width.
		x := c
		for (x.op == opZext8 || x.op == opSext8 || x.op == opZext16 || x.op == opSext16 || x.op == opZext32 ||
			x.op == opSext32 || x.op == opTrunc) || x.op == opAnd && x.args[1].isConst() && x.args[1].imm&int64(v.w-1) == int64(v.w-1) {
			x = x.args[0]
		}
		if x != c {
			v.args[1] = x
			return v
		}
		return nil
	}
	n := uint(c.imm) & uint(v.w-1)
	if n == 0 {
		return a
	}
	if a.op == v.op && a.args[1].isConst() && v.op != opRor {
		m := uint(a.args[1].imm)&uint(v.w-1) + n
		if m < uint(v.w) {
			return v.change(v.op, a.args[0], s.c(v.w, int64(m)))
		}
		if v.op != opSar {
			return s.c(v.w, 0)
		}
		return v.change(opSar, a.args[0], s.c(v.w, int64(v.w)-1))
	}
	switch v.op {
	case opShr:
		if ubits(a, 4) <= n {
			return s.c(v.w, 0)
		}
	case opSar:
		if nonNeg(a, 4) {
			return v.change(opShr, a, c)
		}
	}
	return nil
}

func (s *simplifier) foldDiv(v *value) *value {
	a, b := v.args[0], v.args[1]
	if !b.isConst() {
		return nil
	}
	n := uint64(b.imm)
	if v.w == 32 {
		n = uint64(uint32(b.imm))
	}
	if n == 0 {
		return nil
	}
	signed := v.op == opSDiv || v.op == opSRem
	rem := v.op == opURem || v.op == opSRem
	if n == 1 {
		if rem {
			return s.c(v.w, 0)
		}
		return a
	}
	if n&(n-1) != 0 || signed && b.imm < 0 {
		if signed && b.imm > 0 && nonNeg(a, 4) {
			if rem {
				return v.change(opURem, a, b)
			}
			return v.change(opUDiv, a, b)
		}
		return nil
	}
	k := int64(bits.TrailingZeros64(n))
	if !signed || nonNeg(a, 4) {
		if rem {
			return v.change(opAnd, a, s.c(v.w, int64(n-1)))
		}
		return v.change(opShr, a, s.c(v.w, k))
	}
	// Round towards zero: add 2^k - 1 to negative numbers.
	sign := s.mk(opSar, v.w, a, s.c(v.w, int64(v.w)-1))
	bias := s.mk(opShr, v.w, sign, s.c(v.w, int64(v.w)-k))
	sum := s.mk(opAdd, v.w, a, bias)
	if !rem {
		return v.change(opSar, sum, s.c(v.w, k))
	}
	return v.change(opSub, a, s.mk(opAnd, v.w, sum, s.c(v.w, -int64(n))))
}

func (s *simplifier) foldExt(v *value) *value {
	a := v.args[0]
	if a.isConst() {
		r := a.imm
		switch v.op {
		case opZext8:
			r = int64(uint8(r))
		case opZext16:
			r = int64(uint16(r))
		case opZext32:
			r = int64(uint32(r))
		case opSext8:
			r = int64(int8(r))
		case opSext16:
			r = int64(int16(r))
		}
		return s.c(v.w, r)
	}
	switch v.op {
	case opZext8, opZext16, opSext8, opSext16:
		n, significant := uint(8), ubits
		if v.op == opZext16 || v.op == opSext16 {
			n = 16
		}
		if v.op == opSext8 || v.op == opSext16 {
			significant = sbits
		}
		if significant(a, 4) <= n {
			return a
		}
		if x := stripExt(a, n); x != a {
			return v.change(v.op, x)
		}
	case opZext32:
		if a.op == opTrunc {
			x := a.args[0]
			if ubits(x, 4) <= 32 {
				return x
			}
			return v.change(opAnd, x, s.c(64, 0xffffffff))
		}
	case opSext32:
		if a.op == opTrunc && sbits(a.args[0], 4) <= 32 {
			return a.args[0]
		}
		if a.op != opConst && nonNeg(a, 4) {
			return v.change(opZext32, a)
		}
	case opTrunc:
		switch {
		case a.op == opZext32 || a.op == opSext32:
			return a.args[0]
		case a.op == opAnd && a.args[1].isConst() && uint32(a.args[1].imm) == 0xffffffff:
			return v.change(opTrunc, a.args[0])
		case a.op == opLoad && a.size < 8 && !a.signed && a.w == 64:
			return nil
		}
	}
	return nil
}

// foldMem moves constant offsets into the access and drops extensions of stored values.
func (s *simplifier) foldMem(v *value) *value {
	if v.op == opLoad || v.op == opStore {
		p := v.args[0]
		switch {
		case p.op == opAdd && p.args[1].isConst():
			v.args[0] = p.args[0]
			v.imm += p.args[1].imm
			return v
		case p.op == opPtr:
			v.args[0] = p.args[0]
			return v
		}
	}
	if v.op == opStore && v.size < 4 {
		if x := stripExt(v.args[1], uint(v.size)*8); x != v.args[1] {
			v.args[1] = x
			return v
		}
	}
	return nil
}

func (s *simplifier) foldCheck(v *value) *value {
	a, b := v.args[0], v.args[1]
	if a.isConst() && !b.isConst() {
		v.args[0], v.args[1] = b, a
		v.cond = v.cond.swapped()
		return v
	}
	return nil
}

func (s *simplifier) foldCmp(v *value) *value {
	a, b := v.args[0], v.args[1]
	if r, ok := evalCond(v.cond, a, b); ok {
		if r {
			return s.c(32, 1)
		}
		return s.c(32, 0)
	}
	if a.isConst() {
		v.args[0], v.args[1] = b, a
		v.cond = v.cond.swapped()
		return v
	}
	if !b.isConst() {
		if v.cond <= condNE {
			// a ^ c == b ^ c and the like are rare; a - b == 0 is not.
			return nil
		}
		return nil
	}
	eq := v.cond <= condNE
	switch {
	case eq && b.imm == 0 && (a.op == opXor || a.op == opSub) && len(a.args) == 2:
		v.args = []*value{a.args[0], a.args[1]}
		return v
	case eq && b.imm == 0 && (a.op == opZext32 || a.op == opSext32 || a.op == opNeg || a.op == opPtr):
		v.args = []*value{a.args[0], s.c(a.args[0].w, 0)}
		return v
	case eq && a.op == opZext32 && b.imm>>32 == 0:
		v.args = []*value{a.args[0], s.c(32, b.imm)}
		return v
	case eq && a.op == opAdd && a.args[1].isConst():
		v.args = []*value{a.args[0], s.c(a.w, b.imm-a.args[1].imm)}
		return v
	case v.cond == condEQ && b.imm == 0 && isBool(a):
		return v.change(opXor, s.as32(a), s.c(32, 1))
	case v.cond == condNE && b.imm == 0 && isBool(a) && a.w == 32:
		return a
	case v.cond == condNE && b.imm == 1 && isBool(a):
		return v.change(opXor, s.as32(a), s.c(32, 1))
	case v.cond == condEQ && b.imm == 1 && isBool(a) && a.w == 32:
		return a
	case v.cond == condUGE && b.imm == 1:
		v.cond, v.args[1] = condNE, s.c(a.w, 0)
		return v
	case v.cond == condULT && b.imm == 1:
		v.cond, v.args[1] = condEQ, s.c(a.w, 0)
		return v
	case v.cond == condUGT && b.imm == 0:
		v.cond = condNE
		return v
	case v.cond == condULE && b.imm == 0:
		v.cond = condEQ
		return v
	case v.cond == condLT && b.imm == 1:
		v.cond, v.args[1] = condLE, s.c(a.w, 0)
		return v
	case v.cond == condGE && b.imm == 1:
		v.cond, v.args[1] = condGT, s.c(a.w, 0)
		return v
	}
	return nil
}

func (s *simplifier) as32(v *value) *value {
	if v.w == 64 {
		return s.mk(opTrunc, 32, v)
	}
	return v
}

func (s *simplifier) foldSelect(v *value) *value {
	c, a, b := v.args[0], v.args[1], v.args[2]
	switch {
	case c.isConst() && c.imm != 0, a == b:
		return a
	case c.isConst():
		return b
	case a.isConst() && b.isConst() && v.w == 32 && a.imm == 1 && b.imm == 0 && isBool(c):
		return c
	case a.isConst() && b.isConst() && v.w == 32 && a.imm == 0 && b.imm == 1 && isBool(c):
		return v.change(opXor, c, s.c(32, 1))
	case v.w == 32 && b.isConst() && b.imm == 0 && isBool(c) && isBool(a):
		return v.change(opAnd, c, a)
	case v.w == 32 && a.isConst() && a.imm == 1 && isBool(c) && isBool(b):
		return v.change(opOr, c, b)
	case c.op == opXor && c.args[1].isConst() && c.args[1].imm == 1 && isBool(c.args[0]):
		v.args = []*value{c.args[0], b, a}
		return v
	case c.op == opCmp && c.cond == condNE && c.args[1].isConst() && c.args[1].imm == 0 && isBool(c.args[0]) && c.args[0].w == 32:
		v.args[0] = c.args[0]
		return v
	}
	return nil
}
