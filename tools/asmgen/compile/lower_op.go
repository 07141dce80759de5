package compile

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

func (l *lowerer) binop(o token.Token, xv, yv ssa.Value) *value {
	switch o {
	case token.EQL, token.NEQ:
		eq := l.equal(xv.Type(), l.get(xv), l.get(yv), xv, yv)
		if o == token.EQL {
			return eq
		}
		return l.invert(eq)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return l.order(o, xv, yv)
	case token.SHL, token.SHR:
		return l.shift(o, xv, yv)
	}
	k, ok := scalarKind(xv.Type())
	if !ok {
		l.unsupported("operator %s on %s is outside the subset", o, xv.Type())
		return l.constant(64, 0)
	}
	x, y := l.scalar(xv), l.scalar(yv)
	w := k.w()
	switch o {
	case token.ADD:
		return l.canon(l.emit(opAdd, w, x, y), k)
	case token.SUB:
		return l.canon(l.emit(opSub, w, x, y), k)
	case token.MUL:
		return l.canon(l.emit(opMul, w, x, y), k)
	case token.AND:
		return l.emit(opAnd, w, x, y)
	case token.OR:
		return l.emit(opOr, w, x, y)
	case token.XOR:
		return l.emit(opXor, w, x, y)
	case token.AND_NOT:
		return l.emit(opAndNot, w, x, y)
	case token.QUO, token.REM:
		if !(y.isConst() && y.imm != 0) {
			l.check(condNE, y, l.constant(w, 0), abortDivide)
		}
		q, r := opUDiv, opURem
		if k.signed {
			q, r = opSDiv, opSRem
		}
		if o == token.REM {
			return l.emit(r, w, x, y)
		}
		return l.canon(l.emit(q, w, x, y), k)
	}
	l.unsupported("operator %s is outside the subset", o)
	return x
}

func (l *lowerer) invert(v *value) *value {
	if v.op == opCmp && v.blk == l.cur && l.cur.vals[len(l.cur.vals)-1] == v {
		v.cond = v.cond.not()
		return v
	}
	return l.emit(opXor, 32, v, l.constant(32, 1))
}

// shift follows Go: a count of the width or more gives 0 (or the sign); a negative count aborts.
func (l *lowerer) shift(o token.Token, xv, yv ssa.Value) *value {
	k, _ := scalarKind(xv.Type())
	ck, _ := scalarKind(yv.Type())
	x, c := l.scalar(xv), l.scalar(yv)
	w := k.w()
	left := o == token.SHL
	machine := opShl
	if !left {
		machine = opShr
		if k.signed {
			machine = opSar
		}
	}
	if c.isConst() {
		n := uint64(c.imm)
		if ck.w() == 32 && !ck.signed {
			n = uint64(uint32(c.imm))
		}
		if n >= uint64(k.size)*8 {
			if machine != opSar {
				return l.constant(w, 0)
			}
			n = uint64(k.size)*8 - 1
		}
		v := l.emit(machine, w, x, l.constant(w, int64(n)))
		if left {
			return l.canon(v, k)
		}
		return v
	}
	if ck.signed {
		l.check(condGE, c, l.constant(ck.w(), 0), abortShift)
	}
	inRange := l.cmp(condULT, c, l.constant(ck.w(), int64(w)))
	if machine == opSar {
		c = l.emit(opSelect, ck.w(), inRange, c, l.constant(ck.w(), int64(w)-1))
		return l.emit(opSar, w, x, c)
	}
	v := l.emit(opSelect, w, inRange, l.emit(machine, w, x, c), l.constant(w, 0))
	if left {
		return l.canon(v, k)
	}
	return v
}

func (l *lowerer) order(o token.Token, xv, yv ssa.Value) *value {
	var c cond
	switch o {
	case token.LSS:
		c = condLT
	case token.LEQ:
		c = condLE
	case token.GTR:
		c = condGT
	case token.GEQ:
		c = condGE
	}
	if isString(xv.Type()) {
		x, y := l.get(xv), l.get(yv)
		call := l.runtimeCall("Compare", x.sc[0], x.sc[1], y.sc[0], y.sc[1])
		return l.cmp(c, l.emit(opResult, 64, call), l.constant(64, 0))
	}
	k, ok := scalarKind(xv.Type())
	if !ok {
		l.unsupported("operator %s on %s is outside the subset", o, xv.Type())
		return l.constant(32, 0)
	}
	if !k.signed {
		c += condULT - condLT
	}
	return l.cmp(c, l.scalar(xv), l.scalar(yv))
}

// equal compares two values of type t; xv and yv are their origins, or nil.
func (l *lowerer) equal(t types.Type, x, y lval, xv, yv ssa.Value) *value {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return l.cmp(condEQ, x.sc[0], y.sc[0]) // one side is nil
	case *types.Basic:
		if isString(t) {
			if s, ok := constStringOf(yv); ok {
				return l.equalConst(x, s)
			}
			if s, ok := constStringOf(xv); ok {
				return l.equalConst(y, s)
			}
			return l.equalString(x, y)
		}
	case *types.Struct:
		if x.mem != nil || y.mem != nil {
			return l.equalFields(u, l.memOrSpill(x, t), l.memOrSpill(y, t))
		}
		var all *value
		at := 0
		for i := range u.NumFields() {
			ft := u.Field(i).Type()
			n := len(leaves(ft, maxScalars))
			if u.Field(i).Name() != "_" {
				all = l.and(all, l.equal(ft, lval{sc: x.sc[at : at+n]}, lval{sc: y.sc[at : at+n]}, nil, nil))
			}
			at += n
		}
		return l.orTrue(all)
	case *types.Array:
		return l.equalArray(u, t, x, y)
	}
	if len(x.sc) != 1 || len(y.sc) != 1 {
		l.unsupported("comparison of %s is outside the subset", t)
		return l.constant(32, 0)
	}
	return l.cmp(condEQ, x.sc[0], y.sc[0])
}

func constStringOf(v ssa.Value) (string, bool) {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		return constString(c), true
	}
	return "", false
}

func (l *lowerer) and(a, b *value) *value {
	if a == nil {
		return b
	}
	return l.emit(opAnd, 32, a, b)
}

func (l *lowerer) orTrue(v *value) *value {
	if v == nil {
		return l.constant(32, 1)
	}
	return v
}

func (l *lowerer) memOrSpill(x lval, t types.Type) *value {
	if x.mem != nil {
		return x.mem
	}
	p := l.temp(t)
	l.storeScalars(p, t, x.sc)
	return p
}

// part loads a component of a big value.
func (l *lowerer) part(p *value, off int64, t types.Type) lval {
	q := l.offset(p, off)
	if isBig(t) {
		return lval{mem: q}
	}
	return l.loadScalars(q, t)
}

func (l *lowerer) equalFields(u *types.Struct, x, y *value) *value {
	var all *value
	for i := range u.NumFields() {
		if u.Field(i).Name() == "_" {
			continue
		}
		ft, off := u.Field(i).Type(), fieldOffset(u, i)
		all = l.and(all, l.equal(ft, l.part(x, off, ft), l.part(y, off, ft), nil, nil))
	}
	return l.orTrue(all)
}

func (l *lowerer) equalArray(u *types.Array, t types.Type, x, y lval) *value {
	if x.mem == nil && y.mem == nil {
		var all *value
		n := 0
		if u.Len() > 0 {
			n = len(x.sc) / int(u.Len())
		}
		for i := range int(u.Len()) {
			all = l.and(all, l.equal(u.Elem(), lval{sc: x.sc[i*n : i*n+n]}, lval{sc: y.sc[i*n : i*n+n]}, nil, nil))
		}
		return l.orTrue(all)
	}
	p, q := l.memOrSpill(x, t), l.memOrSpill(y, t)
	if plainMemory(u.Elem()) {
		call := l.runtimeCall("Equal", p, q, l.constant(64, sizes.Sizeof(t)))
		return l.emit(opResult, 32, call)
	}
	// A loop over the elements.
	es := sizes.Sizeof(u.Elem())
	head := l.f.newBlock(blockJump)
	pre := l.cur
	addEdge(pre, head)
	l.cur = head
	i := l.emit(opPhi, 64)
	body, done := l.branch(l.cmp(condLT, i, l.constant(64, u.Len())))
	l.cur = body
	off := l.scale(i, es)
	e := l.equal(u.Elem(), l.partAt(p, off, u.Elem()), l.partAt(q, off, u.Elem()), nil, nil)
	next := l.emit(opAdd, 64, i, l.constant(64, 1))
	latch := l.cur
	back, stop := l.branch(e)
	_ = latch
	addEdge(back, head)
	i.args = []*value{l.constant(64, 0), next}
	join := l.f.newBlock(blockJump)
	addEdge(done, join)
	addEdge(stop, join)
	l.cur = join
	r := l.emit(opPhi, 32)
	r.args = []*value{l.constant(32, 1), l.constant(32, 0)}
	return r
}

func (l *lowerer) partAt(p, off *value, t types.Type) lval {
	q := l.emit(opAdd, 64, p, off)
	q.nonNil = true
	if isBig(t) {
		return lval{mem: q}
	}
	return l.loadScalars(q, t)
}

// plainMemory says whether values of t are equal exactly when their bytes are.
func plainMemory(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return !isString(t)
	case *types.Pointer:
		return true
	case *types.Array:
		return plainMemory(u.Elem())
	case *types.Struct:
		end := int64(0)
		for i := range u.NumFields() {
			if fieldOffset(u, i) != end || u.Field(i).Name() == "_" || !plainMemory(u.Field(i).Type()) {
				return false
			}
			end += sizes.Sizeof(u.Field(i).Type())
		}
		return end == sizes.Sizeof(t)
	}
	return false
}

// whenEqual runs f where cond holds and joins its boolean result with false.
func (l *lowerer) whenEqual(c *value, f func() *value) *value {
	from := l.cur
	yes, no := l.branch(c)
	_ = from
	l.cur = yes
	r := f()
	join := l.f.newBlock(blockJump)
	addEdge(l.cur, join)
	addEdge(no, join)
	l.cur = join
	p := l.emit(opPhi, 32)
	p.args = []*value{r, l.constant(32, 0)}
	return p
}

func (l *lowerer) equalString(x, y lval) *value {
	return l.whenEqual(l.cmp(condEQ, x.sc[1], y.sc[1]), func() *value {
		return l.emit(opResult, 32, l.runtimeCall("Equal", x.sc[0], y.sc[0], x.sc[1]))
	})
}

// equalConst compares with a constant by a few wide loads.
func (l *lowerer) equalConst(x lval, s string) *value {
	same := l.cmp(condEQ, x.sc[1], l.constant(64, int64(len(s))))
	if s == "" {
		return same
	}
	return l.whenEqual(same, func() *value {
		if len(s) > 32 {
			p := l.emit(opSym, 64)
			p.sym = l.m.str(s)
			p.nonNil = true
			return l.emit(opResult, 32, l.runtimeCall("Equal", x.sc[0], p, x.sc[1]))
		}
		var diff *value
		for _, c := range chunks(int64(len(s))) {
			var bits int64
			for i := c.size - 1; i >= 0; i-- {
				bits = bits<<8 | int64(s[c.off+i])
			}
			w := uint8(32)
			if c.size == 8 {
				w = 64
			}
			v := l.emit(opLoad, w, x.sc[0])
			v.imm, v.size = c.off, uint8(c.size)
			d := l.emit(opXor, w, v, l.constant(w, bits))
			if w == 32 {
				d = l.emit(opZext32, 64, d)
			}
			if diff == nil {
				diff = d
			} else {
				diff = l.emit(opOr, 64, diff, d)
			}
		}
		return l.cmp(condEQ, diff, l.constant(64, 0))
	})
}

type chunk struct{ off, size int64 }

// chunks splits n bytes into accesses of 8, 4, 2 and 1 bytes.
func chunks(n int64) []chunk {
	var out []chunk
	for off := int64(0); off < n; {
		s := int64(8)
		for s > n-off {
			s /= 2
		}
		out = append(out, chunk{off, s})
		off += s
	}
	return out
}
