package compile

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// reachable lists the functions reachable from the entry points, callees before callers, checks each against
// the subset, and rejects recursion. Functions that are wrong, or call one that is, are left out.
func (s *source) reachable() []*ssa.Function {
	r := &reacher{s: s, state: map[*ssa.Function]int{}, bad: map[*ssa.Function]bool{}}
	for _, name := range []string{"Move", "Zero", "Equal", "Compare"} {
		r.visit(s.rt.Func(name))
	}
	for _, e := range s.entries {
		r.visit(e.fn)
	}
	return r.order
}

type reacher struct {
	s     *source
	state map[*ssa.Function]int // 1: on the path, 2: done
	bad   map[*ssa.Function]bool
	path  []*ssa.Function
	order []*ssa.Function
}

func (r *reacher) visit(f *ssa.Function) {
	if r.state[f] != 0 {
		return
	}
	r.state[f] = 1
	r.path = append(r.path, f)
	found := len(r.s.diags.list)
	c := &checker{s: r.s, f: f, isRT: f.Pkg == r.s.rt}
	c.function()
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			callee := call.Call.StaticCallee()
			if callee == nil || intrinsicOf(callee) != intrinsicNone {
				continue
			}
			if r.state[callee] == 1 {
				r.s.diags.add(call.Pos(), "recursion is outside the subset: %s", r.cycle(callee))
				continue
			}
			r.visit(callee)
		}
	}
	// What is wrong in callees counts too.
	r.bad[f] = len(r.s.diags.list) > found
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok && r.bad[call.Call.StaticCallee()] {
				r.bad[f] = true
			}
		}
	}
	r.path = r.path[:len(r.path)-1]
	r.state[f] = 2
	if !r.bad[f] {
		r.order = append(r.order, f)
	}
}

func (r *reacher) cycle(f *ssa.Function) string {
	var names []string
	on := false
	for _, p := range r.path {
		on = on || p == f
		if on {
			names = append(names, p.String())
		}
	}
	return strings.Join(append(names, f.String()), " calls ")
}

// checker reports what is outside the subset in one function.
type checker struct {
	s    *source
	f    *ssa.Function
	isRT bool
}

func (c *checker) bad(pos token.Pos, format string, args ...any) {
	if !pos.IsValid() {
		pos = c.f.Pos()
	}
	c.s.diags.add(pos, format, args...)
}

func (c *checker) function() {
	f := c.f
	if len(f.Blocks) == 0 {
		c.bad(f.Pos(), "%s has no body and is no intrinsic", f)
		return
	}
	if len(f.FreeVars) > 0 {
		c.bad(f.Pos(), "closures are outside the subset: %s uses variables of the function around it", f.Name())
	}
	if f.Signature.Variadic() {
		c.bad(f.Pos(), "variadic functions are outside the subset")
	}
	for _, p := range f.Params {
		c.typ(p.Pos(), p.Type(), "parameter "+p.Name())
	}
	res := f.Signature.Results()
	for i := range res.Len() {
		pos := res.At(i).Pos()
		if !pos.IsValid() {
			pos = f.Pos()
		}
		c.typ(pos, res.At(i).Type(), "result")
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			c.instr(in)
		}
	}
}

func (c *checker) typ(pos token.Pos, t types.Type, what string) bool {
	if why := outside(t); why != "" {
		c.bad(pos, "%s has type %s: %s", what, c.typeName(t), why)
		return false
	}
	return true
}

// typeName writes a type as it looks in the function's own package.
func (c *checker) typeName(t types.Type) string {
	if c.f.Pkg == nil {
		return t.String()
	}
	return types.TypeString(t, types.RelativeTo(c.f.Pkg.Pkg))
}

func (c *checker) instr(in ssa.Instruction) {
	pos := in.Pos()
	switch in := in.(type) {
	case *ssa.Alloc:
		what := "variable " + in.Comment
		if in.Comment == "complit" || in.Comment == "new" || in.Comment == "" || in.Comment == "slicelit" {
			what = "value"
		}
		c.typ(pos, deref(in.Type()), what)
	case *ssa.Call:
		c.call(in)
	case *ssa.MakeInterface:
		for _, ref := range *in.Referrers() {
			if _, ok := ref.(*ssa.Panic); !ok {
				if !pos.IsValid() {
					pos = ref.Pos() // an implicit conversion
				}
				c.bad(pos, "interfaces are outside the subset: conversion of %s to %s", in.X.Type(), in.Type())
				break
			}
		}
	case *ssa.Panic:
		if mi, ok := in.X.(*ssa.MakeInterface); !ok || !isConstant(mi.X) {
			c.bad(pos, "panic with anything but a constant is outside the subset")
		}
	case *ssa.MakeClosure:
		c.bad(in.Fn.Pos(), "closures are outside the subset")
	case *ssa.MakeMap, *ssa.MapUpdate:
		c.bad(pos, "maps are outside the subset")
	case *ssa.Lookup:
		if _, ok := in.X.Type().Underlying().(*types.Map); ok {
			c.bad(pos, "maps are outside the subset")
		}
	case *ssa.MakeChan, *ssa.Send, *ssa.Select:
		c.bad(pos, "channels are outside the subset")
	case *ssa.MakeSlice:
		c.bad(pos, "make is outside the subset: there is no heap")
	case *ssa.Go:
		c.bad(pos, "goroutines are outside the subset")
	case *ssa.Defer:
		c.bad(pos, "defer is outside the subset")
	case *ssa.RunDefers: // ends every function of the unoptimised form
	case *ssa.Range:
		if _, ok := in.X.Type().Underlying().(*types.Map); ok {
			c.bad(pos, "maps are outside the subset")
		} else {
			c.bad(pos, "a range over a string decodes UTF-8 and is outside the subset: range over its length")
		}
	case *ssa.Next:
	case *ssa.TypeAssert, *ssa.ChangeInterface:
		c.bad(pos, "interfaces are outside the subset")
	case *ssa.MultiConvert:
		c.bad(pos, "conversion between type parameters is outside the subset")
	case *ssa.UnOp:
		if in.Op == token.ARROW {
			c.bad(pos, "channels are outside the subset")
		} else if in.Op != token.MUL {
			c.typ(pos, in.Type(), "operand")
		}
	case *ssa.BinOp:
		if isString(in.X.Type()) && in.Op == token.ADD {
			c.bad(pos, "string concatenation is outside the subset: there is no heap")
			return
		}
		if c.typ(pos, in.X.Type(), "operand") {
			c.typ(pos, in.Type(), "operand")
		}
	case *ssa.Convert:
		c.convert(in)
	case *ssa.Phi, *ssa.Extract, *ssa.Field, *ssa.FieldAddr, *ssa.Index, *ssa.IndexAddr, *ssa.Slice, *ssa.Store,
		*ssa.If, *ssa.Jump, *ssa.Return, *ssa.ChangeType, *ssa.SliceToArrayPointer, *ssa.DebugRef:
	default:
		c.bad(pos, "%T is outside the subset", in)
	}
	switch in.(type) {
	case *ssa.Defer, *ssa.Go, *ssa.MakeClosure:
		return // what they call is wrong for the same reason
	}
	for _, op := range in.Operands(nil) {
		switch v := (*op).(type) {
		case *ssa.Function:
			if call, ok := in.(*ssa.Call); ok && call.Call.Value == v {
				continue
			}
			c.bad(pos, "function values are outside the subset: %s is used as a value", v.Name())
		case *ssa.Global:
			c.typ(v.Pos(), deref(v.Type()), "variable "+v.Name())
		}
	}
}

func isConstant(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}

func (c *checker) convert(in *ssa.Convert) {
	from, to := in.X.Type().Underlying(), in.Type().Underlying()
	_, fs := from.(*types.Slice)
	_, ts := to.(*types.Slice)
	switch {
	case isString(to) && fs, isString(from) && ts:
		c.bad(in.Pos(), "conversion between string and slice copies and is outside the subset: use unsafe.String or unsafe.Slice")
	case isString(to) && !isString(from):
		c.bad(in.Pos(), "conversion of a number to a string is outside the subset")
	default:
		if c.typ(in.Pos(), in.X.Type(), "operand") {
			c.typ(in.Pos(), in.Type(), "result")
		}
	}
}

func (c *checker) call(in *ssa.Call) {
	cc := &in.Call
	if cc.IsInvoke() {
		c.bad(in.Pos(), "interfaces are outside the subset: dynamic call of %s", cc.Method.Name())
		return
	}
	switch v := cc.Value.(type) {
	case *ssa.Builtin:
		switch v.Name() {
		case "len", "cap", "min", "max", "copy", "clear", "String", "StringData", "Slice", "SliceData", "Add", "ssa:wrapnilchk", "ssa:deferstack":
			if len(cc.Args) == 0 {
				return // made for every function, for defer
			}
			if t := cc.Args[0].Type().Underlying(); t != nil {
				switch t.(type) {
				case *types.Map:
					c.bad(in.Pos(), "maps are outside the subset")
				case *types.Chan:
					c.bad(in.Pos(), "channels are outside the subset")
				}
			}
		default:
			c.bad(in.Pos(), "%s is outside the subset", v.Name())
		}
	case *ssa.Function:
		k := intrinsicOf(v)
		if k == intrinsicUnknown {
			c.bad(in.Pos(), "%s is not an intrinsic that asmgen knows", v)
		}
		if k == intrinsicSymbol || k == intrinsicWeak {
			if !isConstant(cc.Args[0]) {
				c.bad(in.Pos(), "%s needs a constant name", v.Name())
			}
		}
	default:
		if _, ok := v.(*ssa.MakeClosure); ok {
			c.bad(in.Pos(), "closures are outside the subset")
			return
		}
		c.bad(in.Pos(), "function values are outside the subset: the callee is not known statically")
	}
}
