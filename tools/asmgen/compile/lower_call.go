package compile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

func (l *lowerer) call(in *ssa.Call) lval {
	cc := &in.Call
	if b, ok := cc.Value.(*ssa.Builtin); ok {
		return l.builtin(b.Name(), cc.Args, in.Type())
	}
	callee := cc.StaticCallee()
	if callee == nil {
		l.unsupported("the callee is not known statically")
		return lval{}
	}
	if k := intrinsicOf(callee); k != intrinsicNone {
		return l.intrinsic(k, cc.Args, in.Pos())
	}
	target := l.m.fns[callee]
	if target == nil {
		l.unsupported("%s is not compiled", callee)
		return lval{}
	}
	var args []*value
	for _, a := range cc.Args {
		lv := l.get(a)
		if lv.mem != nil {
			args = append(args, lv.mem)
		} else {
			args = append(args, lv.sc...)
		}
	}
	sig := callee.Signature
	var hidden *value
	if bigResults(sig) {
		_, size := resultOffsets(sig)
		hidden = l.emit(opSlot, 64)
		hidden.imm = l.f.newSlot(size, 8)
		hidden.nonNil = true
		args = append(args, hidden)
	}
	c := l.emit(opCall, 0, args...)
	c.callee = target
	if hidden != nil {
		if sig.Results().Len() == 1 {
			t := sig.Results().At(0).Type()
			if isBig(t) {
				return lval{mem: hidden}
			}
			return l.loadScalars(hidden, t)
		}
		return lval{mem: hidden}
	}
	var lv lval
	for i, k := range target.results {
		r := l.emit(opResult, k.w(), c)
		r.imm = int64(i)
		r.nonNeg = k.length
		r.known = k.bits()
		lv.sc = append(lv.sc, r)
	}
	return lv
}

func (l *lowerer) builtin(name string, args []ssa.Value, t types.Type) lval {
	one := func(v *value) lval { return lval{sc: []*value{v}} }
	switch name {
	case "len", "cap":
		switch u := args[0].Type().Underlying().(type) {
		case *types.Slice:
			if name == "cap" {
				return one(l.get(args[0]).sc[2])
			}
			return one(l.get(args[0]).sc[1])
		case *types.Array:
			return one(l.constant(64, u.Len()))
		case *types.Pointer:
			return one(l.constant(64, u.Elem().Underlying().(*types.Array).Len()))
		}
		return one(l.get(args[0]).sc[1])
	case "min", "max":
		k, ok := scalarKind(t)
		if !ok {
			l.unsupported("%s of %s is outside the subset", name, t)
			return l.zero(t)
		}
		c := condLT
		if name == "max" {
			c = condGT
		}
		if !k.signed {
			c += condULT - condLT
		}
		v := l.scalar(args[0])
		for _, a := range args[1:] {
			y := l.scalar(a)
			v = l.emit(opSelect, k.w(), l.cmp(c, v, y), v, y)
		}
		return one(v)
	case "copy":
		dst, src := l.get(args[0]), l.get(args[1])
		n := l.emit(opSelect, 64, l.cmp(condLT, dst.sc[1], src.sc[1]), dst.sc[1], src.sc[1])
		n.nonNeg = true
		l.runtimeCall("Move", dst.sc[0], src.sc[0], l.scale(n, elemSize(args[0].Type())))
		return one(n)
	case "clear":
		x := l.get(args[0])
		l.runtimeCall("Zero", x.sc[0], l.scale(x.sc[1], elemSize(args[0].Type())))
		return lval{}
	case "String":
		n := l.wideIndex(args[1])
		l.check(condGE, n, l.constant(64, 0), abortIndex)
		return lval{sc: []*value{l.notNilUnless0(l.scalar(args[0]), n), n}}
	case "Slice":
		n := l.wideIndex(args[1])
		l.check(condGE, n, l.constant(64, 0), abortIndex)
		return lval{sc: []*value{l.notNilUnless0(l.scalar(args[0]), n), n, n}}
	case "StringData", "SliceData":
		return one(l.get(args[0]).sc[0])
	case "Add":
		return one(l.emit(opAdd, 64, l.scalar(args[0]), l.wideIndex(args[1])))
	case "ssa:deferstack":
		return one(l.constant(64, 0))
	case "ssa:wrapnilchk":
		p := l.scalar(args[0])
		l.nilCheck(p)
		return one(p)
	}
	l.unsupported("%s is outside the subset", name)
	return l.zero(t)
}

// notNilUnless0 aborts if p is nil and n is not 0: elements of a slice are not checked for nil.
func (l *lowerer) notNilUnless0(p, n *value) *value {
	l.nilCheck(l.emit(opSelect, 64, l.cmp(condEQ, n, l.constant(64, 0)), l.constant(64, 1), p))
	return p
}
