package compile

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// alloc makes a stack slot and clears it: Go's variables start at zero each time control passes the declaration.
func (l *lowerer) alloc(in *ssa.Alloc) {
	t := deref(in.Type())
	p := l.temp(t)
	l.vals[in] = lval{sc: []*value{p}}
	if overwritten(in) {
		return
	}
	if isBig(t) {
		l.emit(opZero, 0, p).imm = sizes.Sizeof(t)
		return
	}
	l.storeScalars(p, t, l.zero(t).sc)
}

// overwritten says whether the variable is stored to as a whole before anything else looks at it.
func overwritten(in *ssa.Alloc) bool {
	instrs := in.Block().Instrs
	for i, x := range instrs {
		if x != ssa.Instruction(in) {
			continue
		}
		for _, y := range instrs[i+1:] {
			if st, ok := y.(*ssa.Store); ok && st.Addr == ssa.Value(in) && st.Val != ssa.Value(in) {
				return true
			}
			for _, op := range y.Operands(nil) {
				if *op == ssa.Value(in) {
					return false
				}
			}
		}
	}
	return false
}

func (l *lowerer) store(in *ssa.Store) {
	p := l.scalar(in.Addr)
	l.nilCheck(p)
	l.storeValue(p, in.Val)
}

func (l *lowerer) storeValue(p *value, v ssa.Value) {
	t := v.Type()
	if !isBig(t) {
		l.storeScalars(p, t, l.get(v).sc)
		return
	}
	if c, ok := v.(*ssa.Const); ok && c.Value == nil {
		l.emit(opZero, 0, p).imm = sizes.Sizeof(t)
		return
	}
	l.emit(opMove, 0, p, l.get(v).mem).imm = sizes.Sizeof(t)
}

func (l *lowerer) load(in *ssa.UnOp) lval {
	t := in.Type()
	p := l.scalar(in.X)
	l.nilCheck(p)
	if !isBig(t) {
		return l.loadScalars(p, t)
	}
	if unchangedUntilUsed(in) {
		return lval{mem: p}
	}
	tmp := l.temp(t)
	l.emit(opMove, 0, tmp, p).imm = sizes.Sizeof(t)
	return lval{mem: tmp}
}

// unchangedUntilUsed says whether a loaded big value is used only by instructions of the same block before any
// memory is written, so that it needs no copy of its own.
func unchangedUntilUsed(in *ssa.UnOp) bool {
	left := 0
	for _, r := range *in.Referrers() {
		if r.Block() != in.Block() {
			return false
		}
		switch r := r.(type) {
		case *ssa.Store, *ssa.Index, *ssa.Field:
			if v, ok := r.(ssa.Value); ok && isBig(v.Type()) {
				return false
			}
			left++
		default:
			return false
		}
	}
	instrs := in.Block().Instrs
	for i, x := range instrs {
		if x != ssa.Instruction(in) {
			continue
		}
		for _, y := range instrs[i+1:] {
			for _, op := range y.Operands(nil) {
				if *op == ssa.Value(in) {
					left--
				}
			}
			if left <= 0 {
				return true
			}
			switch y.(type) {
			case *ssa.Store, *ssa.Call, *ssa.Alloc:
				return false
			}
		}
	}
	return left <= 0
}

// runtimeCall calls one of the functions of package rt.
func (l *lowerer) runtimeCall(name string, args ...*value) *value {
	c := l.emit(opCall, 0, args...)
	c.callee = l.m.fns[l.s.rt.Func(name)]
	return c
}

func elemSize(t types.Type) int64 {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return sizes.Sizeof(t.Elem())
	case *types.Pointer:
		return elemSize(t.Elem())
	case *types.Array:
		return sizes.Sizeof(t.Elem())
	}
	return 1
}
