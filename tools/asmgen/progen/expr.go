package progen

import "fmt"

// An expression is made of operands that are read only, without calls, so that
// the order in which they are evaluated cannot be told.

// pick chooses a variable in scope that ok accepts.
func (g *gen) pick(ok func(v variable) bool) (variable, bool) {
	var fit []variable
	for _, v := range g.scope {
		if ok(v) {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return variable{}, false
	}
	return fit[g.r.Intn(len(fit))], true
}

// integer is an expression of type t that is not a constant.
func (g *gen) integer(t *typ, depth int) string {
	if depth <= 0 {
		return g.leaf(t)
	}
	if len(g.common) > 0 && g.chance(12) {
		c := g.common[g.r.Intn(len(g.common))]
		if same(c.t, t) {
			return c.expr
		}
		return fmt.Sprintf("%s(%s)", t.name, c.expr)
	}
	switch g.r.Intn(14) {
	case 0, 1:
		return g.leaf(t)
	case 2, 3:
		o := g.int()
		return fmt.Sprintf("%s(%s)", t.name, g.integer(o, depth-1))
	case 4:
		return fmt.Sprintf("(%s%s)", []string{"-", "^"}[g.r.Intn(2)], g.integer(t, depth-1))
	case 5:
		return g.divide(t, depth)
	case 6, 7:
		return g.shift(t, depth)
	case 8:
		return fmt.Sprintf("%s(%s, %s)", []string{"min", "max"}[g.r.Intn(2)], g.integer(t, depth-1), g.operand(t, depth-1))
	}
	op := []string{"+", "-", "*", "&", "|", "^", "&^"}[g.r.Intn(7)]
	x, y := g.integer(t, depth-1), g.operand(t, depth-1)
	if g.chance(20) {
		x, y = y, x
	}
	return fmt.Sprintf("(%s %s %s)", x, op, y)
}

// operand may be a constant.
func (g *gen) operand(t *typ, depth int) string {
	if g.chance(30) {
		return constant(g.r, t)
	}
	return g.integer(t, depth)
}

func (g *gen) divide(t *typ, depth int) string {
	op := []string{"/", "%"}[g.r.Intn(2)]
	x := g.integer(t, depth-1)
	switch n := g.r.Intn(40); {
	case n == 0: // may panic
		return fmt.Sprintf("(%s %s %s)", x, op, g.integer(t, depth-1))
	case n < 18:
		c := constant(g.r, t)
		if c == t.name+"(0)" {
			c = t.name + "(3)"
		}
		return fmt.Sprintf("(%s %s %s)", x, op, c)
	}
	return fmt.Sprintf("(%s %s (%s | 1))", x, op, g.integer(t, depth-1))
}

func (g *gen) shift(t *typ, depth int) string {
	op := []string{"<<", ">>"}[g.r.Intn(2)]
	x := g.integer(t, depth-1)
	c := g.int()
	switch n := g.r.Intn(40); {
	case n < 12:
		return fmt.Sprintf("(%s %s %d)", x, op, g.r.Intn(t.bits+3))
	case n < 22:
		return fmt.Sprintf("(%s %s (%s & %d))", x, op, g.integer(c, depth-1), t.bits-1)
	case n < 30:
		return fmt.Sprintf("(%s %s %s)", x, op, g.integer(ints[g.r.Intn(4)], depth-1))
	case n == 30: // may panic, if the count is signed
		return fmt.Sprintf("(%s %s %s)", x, op, g.integer(c, depth-1))
	}
	c = ints[g.r.Intn(4)]
	return fmt.Sprintf("(%s %s (%s %% 80))", x, op, g.integer(c, depth-1))
}

// leaf is a variable of the type, or another converted.
func (g *gen) leaf(t *typ) string {
	for range 4 {
		if e, ok := g.place(t, false); ok && g.chance(85) {
			return e
		}
	}
	if v, ok := g.pick(func(v variable) bool { return v.t.kind == kInt }); ok {
		return fmt.Sprintf("%s(%s)", t.name, v.expr)
	}
	panic("progen: no integer in scope")
}

// place finds something of type t: a variable or a part of one. If it is to be
// assigned, it is not fixed.
func (g *gen) place(t *typ, assign bool) (string, bool) {
	v, ok := g.pick(func(v variable) bool { return (!assign || assignable(v)) && g.leadsTo(v.t, t, 0) })
	if !ok {
		return "", false
	}
	return g.path(v.expr, v.t, t), true
}

// assignable: what a fixed pointer or slice leads to may be assigned all the same.
func assignable(v variable) bool { return !v.fixed || v.t.kind == kPointer || v.t.kind == kSlice }

// leadsTo reports whether a value of type from has a part of type to.
func (g *gen) leadsTo(from, to *typ, depth int) bool {
	if same(from, to) {
		return true
	}
	switch from.kind {
	case kStruct:
		for _, f := range from.fields {
			if g.leadsTo(f.t, to, depth+1) {
				return true
			}
		}
	case kArray, kSlice, kPointer:
		return g.leadsTo(from.elem, to, depth+1)
	}
	return false
}

// path goes from a value of type t to a part of type to.
func (g *gen) path(expr string, t, to *typ) string {
	for !same(t, to) {
		switch t.kind {
		case kStruct:
			var fit []field
			for _, f := range t.fields {
				if g.leadsTo(f.t, to, 1) {
					fit = append(fit, f)
				}
			}
			f := fit[g.r.Intn(len(fit))]
			expr, t = expr+"."+f.name, f.t
		case kPointer:
			if t.elem.kind == kStruct && !same(t.elem, to) {
				t = t.elem
			} else {
				expr, t = "(*"+expr+")", t.elem
			}
		case kArray:
			expr, t = fmt.Sprintf("%s[%s]", expr, g.index(t.n)), t.elem
		case kSlice:
			expr, t = fmt.Sprintf("%s[%s]", expr, g.sliceIndex(expr)), t.elem
		}
	}
	return expr
}

// index is an index for n elements: constant, masked or, rarely, unchecked.
func (g *gen) index(n int) string {
	switch k := g.r.Intn(80); {
	case k == 0:
		return g.simple(g.int()) // may panic
	case k < 28:
		return fmt.Sprint(g.r.Intn(n))
	}
	t := ints[g.r.Intn(4)]
	if n&(n-1) == 0 {
		return fmt.Sprintf("%s&%d", g.simple(t), n-1)
	}
	return fmt.Sprintf("%s%%%d", g.simple(t), n)
}

// simple is a variable of the type, or one converted to it.
func (g *gen) simple(t *typ) string {
	if v, ok := g.pick(func(v variable) bool { return same(v.t, t) }); ok {
		return v.expr
	}
	v, _ := g.pick(func(v variable) bool { return v.t.kind == kInt })
	return fmt.Sprintf("%s(%s)", t.name, v.expr)
}

// sliceIndex is an index into a slice or string that may be empty: then it panics.
func (g *gen) sliceIndex(expr string) string {
	if g.chance(5) {
		return fmt.Sprint(g.r.Intn(3))
	}
	return fmt.Sprintf("uint(%s)%%uint(len(%s))", g.simple(tUint), expr)
}

// boolean is a condition that is not a constant.
func (g *gen) boolean(depth int) string {
	if depth > 0 {
		switch g.r.Intn(6) {
		case 0:
			return fmt.Sprintf("(%s && %s)", g.boolean(depth-1), g.boolean(depth-1))
		case 1:
			return fmt.Sprintf("(%s || %s)", g.boolean(depth-1), g.boolean(depth-1))
		case 2:
			return fmt.Sprintf("!%s", g.boolean(depth-1))
		}
	}
	switch g.r.Intn(8) {
	case 0:
		if e, ok := g.place(tBool, false); ok {
			return e
		}
	case 1: // structs and arrays
		a, ok := g.pick(func(v variable) bool { return v.t.kind == kStruct || v.t.kind == kArray })
		if ok {
			if b, ok := g.pick(func(v variable) bool { return same(v.t, a.t) }); ok {
				return fmt.Sprintf("(%s %s %s)", a.expr, []string{"==", "!="}[g.r.Intn(2)], b.expr)
			}
		}
	case 2:
		if v, ok := g.pick(func(v variable) bool { return v.t.kind == kPointer || v.t.kind == kSlice }); ok {
			return fmt.Sprintf("(%s %s nil)", v.expr, []string{"==", "!="}[g.r.Intn(2)])
		}
	case 3:
		if v, ok := g.pick(func(v variable) bool { return v.t.kind == kString }); ok {
			return fmt.Sprintf("(%s %s %s)", v.expr, []string{"==", "!="}[g.r.Intn(2)], g.literal(tString))
		}
	}
	t := g.int()
	return fmt.Sprintf("(%s %s %s)", g.integer(t, depth), []string{"<", "<=", ">", ">=", "==", "!="}[g.r.Intn(6)], g.operand(t, depth))
}

// value is an expression of any type that can be computed or found; ok is false if there is none.
func (g *gen) value(t *typ, depth int) (string, bool) {
	switch t.kind {
	case kInt:
		if g.chance(10) {
			return constant(g.r, t), true
		}
		return g.integer(t, depth), true
	case kBool:
		return g.boolean(depth), true
	case kString:
		return g.stringValue(), true
	case kStruct:
		if g.chance(50) {
			if e, ok := g.place(t, false); ok {
				return e, true
			}
		}
		s := t.name + "{"
		for i, f := range t.fields {
			if i > 0 {
				s += ", "
			}
			e, _ := g.value(f.t, depth-1)
			s += f.name + ": " + e
		}
		return s + "}", true
	case kArray:
		if g.chance(60) {
			if e, ok := g.place(t, false); ok {
				return e, true
			}
		}
		s := t.name + "{"
		for i := range min(t.n, 1+g.r.Intn(4)) {
			if i > 0 {
				s += ", "
			}
			e, _ := g.value(t.elem, depth-1)
			s += e
		}
		return s + "}", true
	case kSlice:
		return g.sliceValue(t)
	case kPointer:
		return g.pointerValue(t)
	}
	return "", false
}

func (g *gen) stringValue() string {
	if v, ok := g.pick(func(v variable) bool { return v.t.kind == kString }); ok && g.chance(60) {
		switch g.r.Intn(3) {
		case 0:
			return fmt.Sprintf("%s[uint(%s)%%(uint(len(%s))+1):]", v.expr, g.simple(tUint), v.expr)
		case 1:
			return fmt.Sprintf("%s[:uint(%s)%%(uint(len(%s))+1)]", v.expr, g.simple(tUint), v.expr)
		}
		return v.expr
	}
	return g.literal(tString)
}

// sliceValue cuts an array or another slice.
func (g *gen) sliceValue(t *typ) (string, bool) {
	ok := func(v variable) bool {
		return same(v.t, t) || v.t.kind == kArray && same(v.t.elem, t.elem) && v.plain && !v.fixed ||
			v.t.kind == kPointer && v.t.elem.kind == kArray && same(v.t.elem.elem, t.elem)
	}
	if v, found := g.pick(ok); found && g.chance(75) {
		n := v.t.n
		if v.t.kind == kPointer {
			n = v.t.elem.n
		}
		if v.t.kind == kSlice {
			switch k := g.r.Intn(16); {
			case k < 5:
				return fmt.Sprintf("%s[uint(%s)%%(uint(len(%s))+1):]", v.expr, g.simple(tUint), v.expr), true
			case k == 5: // may panic
				return fmt.Sprintf("%s[%d:%s]", v.expr, g.r.Intn(3), g.simple(tInt)), true
			case k < 10:
				return fmt.Sprintf("%s[:cap(%s)]", v.expr, v.expr), true
			}
			return v.expr, true
		}
		lo := g.r.Intn(n + 1)
		hi := lo + g.r.Intn(n-lo+1)
		switch g.r.Intn(4) {
		case 0:
			return v.expr + "[:]", true
		case 1:
			return fmt.Sprintf("%s[%d:%d:%d]", v.expr, lo, hi, hi+g.r.Intn(n-hi+1)), true
		case 2:
			return fmt.Sprintf("%s[uint(%s)%%%d:]", v.expr, g.simple(tUint), n+1), true
		}
		return fmt.Sprintf("%s[%d:%d]", v.expr, lo, hi), true
	}
	for _, f := range memType.fields {
		if f.t.kind == kArray && same(f.t.elem, t.elem) && g.inScope("m") {
			return fmt.Sprintf("m.%s[%d:]", f.name, g.r.Intn(f.t.n)), true
		}
	}
	return "nil", g.chance(8)
}

func (g *gen) inScope(name string) bool {
	for _, v := range g.scope {
		if v.expr == name {
			return true
		}
	}
	return false
}

// pointerValue takes the address of a variable declared at no greater depth of
// loops than here, of a part of one, or copies a pointer.
func (g *gen) pointerValue(t *typ) (string, bool) {
	if v, ok := g.pick(func(v variable) bool { return same(v.t, t) }); ok && g.chance(40) {
		return v.expr, true
	}
	if v, ok := g.pick(func(v variable) bool {
		return (v.plain && !v.fixed && v.t.kind != kPointer && v.t.kind != kSlice || v.t.kind == kPointer && v.t.elem.kind == kStruct) && g.leadsTo(v.t, t.elem, 0)
	}); ok && g.chance(90) {
		return "&" + g.path(v.expr, v.t, t.elem), true
	}
	return "nil", g.chance(10)
}
