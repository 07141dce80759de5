package compile

import "math/bits"

// vkey identifies a pure computation.
type vkey struct {
	op         op
	w          uint8
	cond       cond
	imm        int64
	sym        string
	a0, a1, a2 int
}

// simplify folds, and merges equal computations; it says whether it changed anything that matters.
func (f *fn) simplify() bool {
	s := &simplifier{f: f, seen: map[vkey][]*value{}}
	for _, b := range f.order {
		s.block(b)
	}
	f.resolveAll()
	return s.changed
}

type simplifier struct {
	f       *fn
	seen    map[vkey][]*value
	b       *block
	out     []*value
	changed bool
}

func (s *simplifier) block(b *block) {
	vals := b.vals
	s.b, s.out = b, make([]*value, 0, len(vals))
	for _, v := range vals {
		for i, a := range v.args {
			v.args[i] = resolve(a)
		}
		s.value(v)
	}
	b.vals = s.out
	for i, a := range b.ctl {
		b.ctl[i] = resolve(a)
	}
	if b.kind == blockIf {
		s.control(b)
	}
}

func (s *simplifier) value(v *value) {
	for range 8 {
		r := s.fold(v)
		if r == nil {
			break
		}
		s.changed = true
		if r == v {
			continue
		}
		v.fwd = resolve(r)
		return
	}
	if v.op == opConst || v.op == opSlot || v.op == opParam || v.op.pure() {
		k := s.key(v)
		for _, c := range s.seen[k] {
			if c.fwd == nil && c.blk.dominates(v.blk) {
				v.fwd = c
				return
			}
		}
		s.seen[k] = append(s.seen[k], v)
	}
	if v.op == opNilCheck && notNil(v.args[0]) || v.op == opCheck && s.holds(v) {
		s.changed = true
		return
	}
	s.out = append(s.out, v)
}

// notNil says whether p need not be checked for nil.
func notNil(p *value) bool {
	if p.op == opSelect && p.args[1].isConst() && p.args[1].imm != 0 {
		p = resolve(p.args[2]) // a check that is for some lengths only: see notNilUnless0
	}
	return p.nonNil || p.unchecked()
}

// unchecked says whether v is, or is computed from, a pointer that is not to be checked for nil.
func (v *value) unchecked() bool {
	for range 4 {
		if v.noCheck {
			return true
		}
		if v.op != opAdd && v.op != opPtr {
			break
		}
		v = resolve(v.args[0])
	}
	return false
}

func (s *simplifier) key(v *value) vkey {
	k := vkey{op: v.op, w: v.w, imm: v.imm, sym: v.sym, a0: -1, a1: -1, a2: -1}
	if v.op == opCmp {
		k.cond = v.cond
	}
	if len(v.args) > 0 {
		k.a0 = v.args[0].id
	}
	if len(v.args) > 1 {
		k.a1 = v.args[1].id
	}
	if len(v.args) > 2 {
		k.a2 = v.args[2].id
	}
	return k
}

// holds says whether a check of constants always succeeds. One that always fails stays.
func (s *simplifier) holds(v *value) bool {
	a, b := v.args[0], v.args[1]
	r, ok := evalCond(v.cond, a, b)
	return ok && r
}

// mk makes a value before the one being folded.
func (s *simplifier) mk(o op, w uint8, args ...*value) *value {
	v := s.f.newValue(o, w, args...)
	v.blk = s.b
	s.value(v)
	return resolve(v)
}

func (s *simplifier) c(w uint8, imm int64) *value {
	imm = normConst(w, imm)
	k := vkey{op: opConst, w: w, imm: imm, a0: -1, a1: -1, a2: -1}
	for _, c := range s.seen[k] {
		if c.fwd == nil {
			return c
		}
	}
	v := s.f.newValue(opConst, w)
	v.imm = imm
	e := s.f.blocks[0]
	v.blk = e
	if s.b == e {
		s.out = append(s.out, v)
	} else {
		e.vals = append(e.vals, v)
	}
	s.seen[k] = append(s.seen[k], v)
	return v
}

// change turns v into another operation.
func (v *value) change(o op, args ...*value) *value {
	v.op = o
	v.args = append(v.args[:0:0], args...)
	v.imm = 0
	return v
}

func evalCond(c cond, a, b *value) (result, known bool) {
	if a == b {
		switch c {
		case condEQ, condLE, condGE, condULE, condUGE:
			return true, true
		}
		return false, true
	}
	if a.isConst() && b.isConst() {
		x, y := a.imm, b.imm
		ux, uy := uint64(x), uint64(y)
		if a.w == 32 {
			ux, uy = uint64(uint32(x)), uint64(uint32(y))
		}
		switch c {
		case condEQ:
			return x == y, true
		case condNE:
			return x != y, true
		case condLT:
			return x < y, true
		case condLE:
			return x <= y, true
		case condGT:
			return x > y, true
		case condGE:
			return x >= y, true
		case condULT:
			return ux < uy, true
		case condULE:
			return ux <= uy, true
		case condUGT:
			return ux > uy, true
		case condUGE:
			return ux >= uy, true
		}
	}
	if b.isConst() {
		n := ubits(a, 4)
		if n < uint(a.w) && b.imm >= 0 {
			top := int64(1)<<n - 1 // a is at most this
			switch c {
			case condULT, condLT:
				if top < b.imm {
					return true, true
				}
			case condULE, condLE:
				if top <= b.imm {
					return true, true
				}
			case condUGT, condGT:
				if top <= b.imm {
					return false, true
				}
			case condUGE, condGE:
				if top < b.imm {
					return false, true
				}
			case condEQ:
				if top < b.imm {
					return false, true
				}
			case condNE:
				if top < b.imm {
					return true, true
				}
			}
		}
		switch {
		case b.imm == 0 && c == condULT:
			return false, true
		case b.imm == 0 && c == condUGE:
			return true, true
		case b.imm <= 0 && c == condGE && nonNeg(a, 4):
			return true, true
		case b.imm <= 0 && c == condLT && nonNeg(a, 4):
			return false, true
		}
		if (c == condEQ || c == condNE) && b.imm == 0 && a.nonNil {
			return c == condNE, true
		}
	}
	return false, false
}

// ubits bounds the number of significant bits of v read as unsigned.
func ubits(v *value, depth int) uint {
	w := uint(v.w)
	if v.known != 0 {
		return uint(v.known)
	}
	if depth == 0 {
		return w
	}
	switch v.op {
	case opConst:
		if v.w == 32 {
			return uint(bits.Len32(uint32(v.imm)))
		}
		return uint(bits.Len64(uint64(v.imm)))
	case opCmp, opCas:
		return 1
	case opZext8:
		return min(8, ubits(v.args[0], depth-1))
	case opZext16:
		return min(16, ubits(v.args[0], depth-1))
	case opZext32:
		return min(32, ubits(v.args[0], depth-1))
	case opLoad:
		if !v.signed {
			return min(w, uint(v.size)*8)
		}
	case opAnd:
		return min(ubits(v.args[0], depth-1), ubits(v.args[1], depth-1))
	case opAndNot:
		return ubits(v.args[0], depth-1)
	case opOr, opXor:
		return max(ubits(v.args[0], depth-1), ubits(v.args[1], depth-1))
	case opAdd:
		return min(w, max(ubits(v.args[0], depth-1), ubits(v.args[1], depth-1))+1)
	case opMul:
		return min(w, ubits(v.args[0], depth-1)+ubits(v.args[1], depth-1))
	case opURem, opUDiv:
		if v.op == opURem {
			return min(ubits(v.args[0], depth-1), ubits(v.args[1], depth-1))
		}
		return ubits(v.args[0], depth-1)
	case opShr:
		n := ubits(v.args[0], depth-1)
		if c := v.args[1]; c.isConst() {
			k := uint(c.imm) & (w - 1)
			return n - min(n, k)
		}
		return n
	case opShl:
		if c := v.args[1]; c.isConst() {
			return min(w, ubits(v.args[0], depth-1)+uint(c.imm)&(w-1))
		}
	case opSelect:
		return max(ubits(v.args[1], depth-1), ubits(v.args[2], depth-1))
	case opPhi:
		if len(v.args) > 3 {
			return w
		}
		n := uint(0)
		for _, a := range v.args {
			n = max(n, ubits(a, min(depth-1, 2)))
		}
		return n
	case opClz:
		return 7
	case opTrunc:
		return min(w, ubits(v.args[0], depth-1))
	case opParam:
		return w
	}
	return w
}

// sbits bounds the number of bits of v read as signed, the sign included.
func sbits(v *value, depth int) uint {
	w := uint(v.w)
	if depth == 0 {
		return w
	}
	switch v.op {
	case opConst:
		n := v.imm
		if n < 0 {
			n = ^n
		}
		return uint(bits.Len64(uint64(n))) + 1
	case opSext8:
		return min(8, sbits(v.args[0], depth-1))
	case opSext16:
		return min(16, sbits(v.args[0], depth-1))
	case opSext32:
		return min(32, sbits(v.args[0], depth-1))
	case opLoad:
		if v.signed {
			return min(w, uint(v.size)*8)
		}
	case opSelect:
		return max(sbits(v.args[1], depth-1), sbits(v.args[2], depth-1))
	case opSar:
		n := sbits(v.args[0], depth-1)
		if c := v.args[1]; c.isConst() {
			k := uint(c.imm) & (w - 1)
			return max(1, n-min(n, k))
		}
		return n
	case opAnd, opOr, opXor:
		return max(sbits(v.args[0], depth-1), sbits(v.args[1], depth-1))
	}
	return min(w, ubits(v, depth)+1)
}

// nonNeg says whether v read as signed is known not to be negative.
func nonNeg(v *value, depth int) bool {
	if v.nonNeg || ubits(v, depth) < uint(v.w) {
		return true
	}
	if v.op == opSelect && depth > 0 {
		return nonNeg(v.args[1], depth-1) && nonNeg(v.args[2], depth-1)
	}
	return false
}

// control simplifies the condition of a branch.
func (s *simplifier) control(b *block) {
	for range 8 {
		c := b.ctl[0]
		switch {
		case c.op == opXor && c.args[1].isConst() && c.args[1].imm == 1 && isBool(c.args[0]):
			b.ctl[0] = c.args[0]
			b.succs[0], b.succs[1] = b.succs[1], b.succs[0]
		case c.op == opCmp && c.cond == condNE && c.args[1].isConst() && c.args[1].imm == 0 && isBool(c.args[0]):
			b.ctl[0] = c.args[0]
		case c.op == opZext8:
			if !isBool(c.args[0]) {
				return
			}
			b.ctl[0] = c.args[0]
		default:
			return
		}
		s.changed = true
	}
}
