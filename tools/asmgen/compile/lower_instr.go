package compile

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

func (l *lowerer) instr(in ssa.Instruction) {
	l.cur.pos = l.pos
	switch in := in.(type) {
	case *ssa.DebugRef, *ssa.MakeInterface, *ssa.RunDefers:
	case *ssa.Alloc:
		l.alloc(in)
	case *ssa.Store:
		l.store(in)
	case *ssa.UnOp:
		l.vals[in] = l.unop(in)
	case *ssa.BinOp:
		l.vals[in] = lval{sc: []*value{l.binop(in.Op, in.X, in.Y)}}
	case *ssa.Convert:
		l.vals[in] = l.conversion(in.X, in.Type())
	case *ssa.ChangeType:
		l.vals[in] = l.get(in.X)
	case *ssa.FieldAddr:
		p := l.scalar(in.X)
		l.nilCheck(p)
		st := deref(in.X.Type()).Underlying().(*types.Struct)
		l.vals[in] = lval{sc: []*value{l.offset(p, fieldOffset(st, in.Field))}}
	case *ssa.Field:
		l.vals[in] = l.field(in)
	case *ssa.IndexAddr:
		l.vals[in] = lval{sc: []*value{l.indexAddr(in)}}
	case *ssa.Index:
		l.vals[in] = l.index(in.X, in.Index, in.Type())
	case *ssa.Lookup:
		l.vals[in] = l.index(in.X, in.Index, in.Type())
	case *ssa.Slice:
		l.vals[in] = l.slice(in)
	case *ssa.SliceToArrayPointer:
		lv := l.get(in.X)
		n := deref(in.Type()).Underlying().(*types.Array).Len()
		l.check(condUGE, lv.sc[1], l.constant(64, n), abortIndex)
		l.vals[in] = lval{sc: []*value{lv.sc[0]}}
	case *ssa.Extract:
		l.vals[in] = l.extract(in)
	case *ssa.Phi:
		l.phi(in)
	case *ssa.Call:
		l.vals[in] = l.call(in)
	case *ssa.Return:
		l.ret(in)
	case *ssa.Jump:
		l.cur.kind = blockJump
	case *ssa.If:
		l.cur.kind = blockIf
		l.cur.ctl = []*value{l.scalar(in.Cond)}
	case *ssa.Panic:
		l.cur.kind = blockAbort
		l.cur.code = abortUnreachable
	default:
		l.unsupported("%T is outside the subset", in)
	}
}

func (l *lowerer) phi(in *ssa.Phi) {
	if isBig(in.Type()) {
		l.unsupported("a conditional value of type %s is too big", in.Type())
	}
	var lv lval
	for _, lf := range leaves(in.Type(), maxScalars) {
		v := l.emit(opPhi, lf.w())
		v.nonNeg = lf.length
		lv.sc = append(lv.sc, v)
	}
	l.vals[in] = lv
}

// offset is the address p+off, known not to be nil.
func (l *lowerer) offset(p *value, off int64) *value {
	if off == 0 {
		if p.nonNil {
			return p
		}
		v := l.emit(opPtr, 64, p)
		v.nonNil = true
		return v
	}
	v := l.emit(opAdd, 64, p, l.constant(64, off))
	v.nonNil = true
	return v
}

// element is the address of element i (64 bits) of size es at p.
func (l *lowerer) element(p, i *value, es int64) *value {
	if i.isConst() {
		return l.offset(p, i.imm*es)
	}
	v := l.emit(opAdd, 64, p, l.scale(i, es))
	v.nonNil = true
	return v
}

func (l *lowerer) scale(i *value, es int64) *value {
	if i.isConst() {
		return l.constant(64, i.imm*es)
	}
	if es == 1 {
		return i
	}
	return l.emit(opMul, 64, i, l.constant(64, es))
}

// wideIndex is an index operand extended to 64 bits.
func (l *lowerer) wideIndex(v ssa.Value) *value {
	k, _ := scalarKind(v.Type())
	i := l.scalar(v)
	if i.isConst() {
		if k.size == 4 && !k.signed {
			return l.constant(64, int64(uint32(i.imm)))
		}
		return l.constant(64, i.imm)
	}
	return l.wide(i, k)
}

func (l *lowerer) field(in *ssa.Field) lval {
	st := in.X.Type().Underlying().(*types.Struct)
	x := l.get(in.X)
	if x.mem != nil {
		p := l.offset(x.mem, fieldOffset(st, in.Field))
		if isBig(in.Type()) {
			return lval{mem: p}
		}
		return l.loadScalars(p, in.Type())
	}
	first := 0
	for i := range in.Field {
		first += len(leaves(st.Field(i).Type(), maxScalars))
	}
	return lval{sc: x.sc[first : first+len(leaves(in.Type(), maxScalars))]}
}

func (l *lowerer) indexAddr(in *ssa.IndexAddr) *value {
	i := l.wideIndex(in.Index)
	switch t := in.X.Type().Underlying().(type) {
	case *types.Slice:
		x := l.get(in.X)
		l.check(condULT, i, x.sc[1], abortIndex)
		return l.element(x.sc[0], i, sizes.Sizeof(t.Elem()))
	case *types.Pointer:
		p := l.scalar(in.X)
		l.nilCheck(p)
		at := t.Elem().Underlying().(*types.Array)
		l.check(condULT, i, l.constant(64, at.Len()), abortIndex)
		return l.element(p, i, sizes.Sizeof(at.Elem()))
	}
	l.unsupported("index of %s is outside the subset", in.X.Type())
	return l.constant(64, 0)
}

func (l *lowerer) index(xv, iv ssa.Value, t types.Type) lval {
	i := l.wideIndex(iv)
	if isString(xv.Type()) {
		x := l.get(xv)
		l.check(condULT, i, x.sc[1], abortIndex)
		return l.loadScalars(l.element(x.sc[0], i, 1), t)
	}
	at, ok := xv.Type().Underlying().(*types.Array)
	if !ok {
		l.unsupported("index of %s is outside the subset", xv.Type())
		return l.zero(t)
	}
	x := l.get(xv)
	if x.mem == nil && i.isConst() && uint64(i.imm) < uint64(at.Len()) {
		n := len(leaves(t, maxScalars))
		return lval{sc: x.sc[int(i.imm)*n : int(i.imm+1)*n]}
	}
	l.check(condULT, i, l.constant(64, at.Len()), abortIndex)
	p := l.element(l.memOf(xv), i, sizes.Sizeof(at.Elem()))
	if isBig(t) {
		return lval{mem: p}
	}
	return l.loadScalars(p, t)
}

func (l *lowerer) slice(in *ssa.Slice) lval {
	var ptr, length, capacity *value
	var es int64
	str := isString(in.X.Type())
	switch t := in.X.Type().Underlying().(type) {
	case *types.Slice:
		x := l.get(in.X)
		ptr, length, capacity = x.sc[0], x.sc[1], x.sc[2]
		es = sizes.Sizeof(t.Elem())
	case *types.Pointer:
		ptr = l.scalar(in.X)
		l.nilCheck(ptr)
		at := t.Elem().Underlying().(*types.Array)
		length = l.constant(64, at.Len())
		capacity = length
		es = sizes.Sizeof(at.Elem())
	default:
		x := l.get(in.X)
		ptr, length = x.sc[0], x.sc[1]
		capacity = length
		es = 1
	}
	// Bounds are checked from the outside in, each as unsigned numbers, as Go's compiler does.
	limit := capacity
	newCap := capacity
	if in.Max != nil {
		m := l.wideIndex(in.Max)
		l.check(condULE, m, capacity, abortIndex)
		m = l.nonNegative(m)
		limit, newCap = m, m
	}
	high := length
	if in.High != nil {
		high = l.wideIndex(in.High)
		l.check(condULE, high, limit, abortIndex)
		high = l.nonNegative(high)
	} else if in.Max != nil {
		l.check(condULE, high, limit, abortIndex)
	}
	if in.Low == nil {
		if str {
			return lval{sc: []*value{ptr, high}}
		}
		return lval{sc: []*value{ptr, high, newCap}}
	}
	low := l.wideIndex(in.Low)
	l.check(condULE, low, high, abortIndex)
	n := l.emit(opSub, 64, high, low)
	n.nonNeg = true
	p := l.emit(opAdd, 64, ptr, l.scale(low, es))
	if str {
		return lval{sc: []*value{p, n}}
	}
	c := n
	if newCap != high {
		c = l.emit(opSub, 64, newCap, low)
		c.nonNeg = true
	}
	return lval{sc: []*value{p, n, c}}
}

// nonNegative marks a value that has just been checked to lie below a length.
func (l *lowerer) nonNegative(v *value) *value { return v }

func (l *lowerer) extract(in *ssa.Extract) lval {
	call, ok := in.Tuple.(*ssa.Call)
	if !ok {
		l.unsupported("%T with two results is outside the subset", in.Tuple)
		return l.zero(in.Type())
	}
	res := call.Call.Signature().Results()
	tup := l.vals[in.Tuple]
	if tup.mem != nil {
		offs, _ := resultOffsets(call.Call.Signature())
		p := l.offset(tup.mem, offs[in.Index])
		if isBig(in.Type()) {
			return lval{mem: p}
		}
		return l.loadScalars(p, in.Type())
	}
	first := 0
	for i := range in.Index {
		first += len(leaves(res.At(i).Type(), maxScalars))
	}
	return lval{sc: tup.sc[first : first+len(leaves(in.Type(), maxScalars))]}
}

func (l *lowerer) ret(in *ssa.Return) {
	l.cur.kind = blockRet
	if l.hide != nil {
		offs, _ := resultOffsets(l.sf.Signature)
		for i, r := range in.Results {
			p := l.offset(l.hide, offs[i])
			l.storeValue(p, r)
		}
		return
	}
	for _, r := range in.Results {
		l.cur.ctl = append(l.cur.ctl, l.get(r).sc...)
	}
}

func (l *lowerer) unop(in *ssa.UnOp) lval {
	switch in.Op {
	case token.MUL:
		return l.load(in)
	case token.NOT:
		return lval{sc: []*value{l.emit(opXor, 32, l.scalar(in.X), l.constant(32, 1))}}
	}
	k, _ := scalarKind(in.Type())
	o := opNeg
	if in.Op == token.XOR {
		o = opNot
	}
	return lval{sc: []*value{l.canon(l.emit(o, k.w(), l.scalar(in.X)), k)}}
}

func (l *lowerer) conversion(x ssa.Value, t types.Type) lval {
	lv := l.get(x)
	if len(lv.sc) != 1 {
		return lv
	}
	from, ok1 := scalarKind(x.Type())
	to, ok2 := scalarKind(t)
	if !ok1 || !ok2 {
		return lv
	}
	return lval{sc: []*value{l.convert(lv.sc[0], from, to)}}
}
