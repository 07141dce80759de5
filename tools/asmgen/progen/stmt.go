package progen

import (
	"fmt"
	"strings"
)

// block writes statements until the budget is used up.
func (g *gen) block() {
	for n := 1 + g.r.Intn(6); n > 0 && g.budget > 0; n-- {
		g.statement()
	}
	// An unused variable is an error of the language.
}

// nested writes a block in braces with a scope of its own.
func (g *gen) nested() {
	scope := g.scope[:len(g.scope):len(g.scope)]
	g.indent++
	g.block()
	g.indent--
	g.scope = scope
}

func (g *gen) declare(name string, t *typ) {
	g.scope = append(g.scope, variable{expr: name, t: t, plain: true, depth: g.loop})
	g.line("_ = %s", name)
}

func (g *gen) statement() {
	g.budget--
	switch g.r.Intn(22) {
	case 0, 1, 2, 3:
		g.declareStmt()
	case 4, 5, 6, 7, 8:
		g.assignStmt()
	case 9, 10, 11:
		g.ifStmt()
	case 12, 13, 14:
		if g.loop < 3 {
			g.loopStmt()
		}
	case 15:
		g.switchStmt()
	case 16, 17:
		if len(g.funcs) > 0 {
			g.callStmt(g.funcs[g.r.Intn(len(g.funcs))])
		}
	case 18:
		g.copyStmt()
	case 19:
		g.swapStmt()
	case 20:
		g.leaveStmt()
	case 21:
		g.pointerStmt()
	}
}

func (g *gen) declareStmt() {
	t := g.anyType()
	switch g.r.Intn(8) {
	case 0:
		t = sliceOf(g.int())
		if v, ok := g.pick(func(v variable) bool { return v.t.kind == kArray && !v.fixed }); ok {
			t = sliceOf(v.t.elem)
		}
	case 1:
		t = tString
	case 2: // zero value
		n := g.name("z")
		g.line("var %s %s", n, t.name)
		g.declare(n, t)
		return
	}
	e, ok := g.value(t, 3)
	if !ok {
		return
	}
	n := g.name("v")
	g.line("var %s %s = %s", n, t.name, e)
	g.declare(n, t)
}

// pointerStmt declares a pointer, or writes through one.
func (g *gen) pointerStmt() {
	v, ok := g.pick(func(v variable) bool {
		return v.plain && !v.fixed && v.t.kind != kPointer && v.t.kind != kSlice && v.t.kind != kString
	})
	if !ok {
		return
	}
	t := pointerTo(v.t)
	e, ok := g.pointerValue(t)
	if !ok {
		return
	}
	n := g.name("q")
	g.line("var %s %s = %s", n, t.name, e)
	g.declare(n, t)
}

func (g *gen) assignStmt() {
	v, ok := g.pick(assignable)
	if !ok {
		return
	}
	// A pointer or slice must not lead to what lives shorter than its variable.
	if v.t.kind == kPointer || v.t.kind == kSlice {
		if !v.fixed && g.chance(30) {
			g.shallow(v.depth, func() {
				if e, ok := g.value(v.t, 1); ok {
					g.line("%s = %s", v.expr, e)
				}
			})
			return
		}
	}
	t := g.int()
	if g.chance(25) {
		t = g.anyType()
	}
	if !g.leadsTo(v.t, t, 0) {
		if v.fixed && v.t.kind != kPointer && v.t.kind != kSlice {
			return
		}
		for t = v.t; t.kind != kInt && t.kind != kBool && t.kind != kString; {
			switch t.kind {
			case kStruct:
				t = t.fields[g.r.Intn(len(t.fields))].t
			default:
				t = t.elem
			}
		}
	}
	if v.fixed && same(v.t, t) {
		return
	}
	place := g.path(v.expr, v.t, t)
	if t.kind == kInt {
		switch g.r.Intn(6) {
		case 0:
			g.line("%s%s", place, []string{"++", "--"}[g.r.Intn(2)])
			return
		case 1, 2:
			op := []string{"+", "-", "*", "&", "|", "^", "&^"}[g.r.Intn(7)]
			g.line("%s %s= %s", place, op, g.integer(t, 2))
			return
		}
	}
	if e, ok := g.value(t, 3); ok {
		g.line("%s = %s", place, e)
	}
}

// shallow runs f with the variables of loops deeper than depth out of scope.
func (g *gen) shallow(depth int, f func()) {
	all := g.scope
	g.scope = nil
	for _, v := range all {
		if v.depth <= depth {
			g.scope = append(g.scope, v)
		}
	}
	f()
	g.scope = all
}

func (g *gen) ifStmt() {
	g.line("if %s {", g.boolean(2))
	g.nested()
	for g.chance(25) {
		g.line("} else if %s {", g.boolean(1))
		g.nested()
	}
	if g.chance(50) {
		g.line("} else {")
		g.nested()
	}
	g.line("}")
}

// loopStmt writes a loop that ends: its counter is fixed in the body.
func (g *gen) loopStmt() {
	g.looped = true
	scope := g.scope[:len(g.scope):len(g.scope)]
	l := &label{name: g.name("L")}
	n := g.name("i")
	loopVar := func(name string, t *typ) {
		g.scope = append(g.scope, variable{expr: name, t: t, fixed: true, depth: g.loop + 1})
	}
	start := g.out.Len()
	indexed, fixedCount := false, 1+g.r.Intn(9)
	switch g.r.Intn(6) {
	case 0:
		g.line("for %s := range %d {", n, fixedCount)
		loopVar(n, tInt)
		indexed = true
	case 1:
		t := g.int()
		g.line("for %s := %s(0); %s < %d; %s++ {", n, t.name, n, fixedCount, n)
		loopVar(n, t)
		indexed = true
	case 2:
		t := g.int()
		g.line("for %s := %s(%d); %s > 0; %s-- {", n, t.name, fixedCount, n, n)
		loopVar(n, t)
		indexed = true
	case 3:
		v, ok := g.pick(func(v variable) bool {
			return v.t.kind == kSlice || v.t.kind == kArray || v.t.kind == kPointer && v.t.elem.kind == kArray
		})
		if !ok {
			g.line("for %s := range uint8(%s) %% 7 {", n, g.simple(tU8))
			loopVar(n, tU8)
			indexed = true
			break
		}
		x, elem := g.name("e"), v.t.elem
		if v.t.kind == kPointer {
			elem = v.t.elem.elem
		}
		g.line("for %s, %s := range %s {", n, x, v.expr)
		loopVar(n, tInt)
		g.scope = append(g.scope, variable{expr: x, t: elem, plain: true, depth: g.loop + 1})
		g.line("\t_ = %s", x)
		indexed = true
	case 4:
		v, ok := g.pick(func(v variable) bool { return v.t.kind == kString })
		if ok {
			g.line("for %s := 0; %s < len(%s) && %s < 20; %s++ {", n, n, v.expr, n, n)
			loopVar(n, tInt)
			x := g.name("c")
			g.line("\tvar %s uint8 = %s[%s]", x, v.expr, n)
			g.line("\t_ = %s", x)
			g.scope = append(g.scope, variable{expr: x, t: tU8, plain: true, depth: g.loop + 1})
			// The string itself must stay as long as it is.
			for i := range g.scope {
				if g.scope[i].expr == v.expr {
					g.scope = append([]variable(nil), g.scope...)
					g.scope[i].fixed = true
				}
			}
			indexed = true
			break
		}
		fallthrough
	default:
		g.line("for %s {", g.boolean(1))
	}
	g.indent++
	if indexed {
		g.line("_ = %s", n)
	}
	g.line("if fuel == 0 {")
	g.line("\tbreak")
	g.line("}")
	g.line("fuel--")
	g.indent--
	g.loop++
	g.labels = append(g.labels, l)
	g.nested()
	g.labels = g.labels[:len(g.labels)-1]
	g.loop--
	g.line("}")
	if l.used {
		body := g.out.String()
		g.out.Reset()
		g.out.WriteString(body[:start])
		fmt.Fprintf(&g.out, "%s:\n", l.name)
		g.out.WriteString(body[start:])
	}
	g.scope = scope
}

// leaveStmt leaves a loop or the function under a condition.
func (g *gen) leaveStmt() {
	g.line("if %s {", g.boolean(1))
	g.indent++
	switch {
	case len(g.labels) > 0 && g.chance(80):
		l := g.labels[g.r.Intn(len(g.labels))]
		word := []string{"break", "continue"}[g.r.Intn(2)]
		if l == g.labels[len(g.labels)-1] && !l.swtch && g.chance(60) {
			g.line("%s", word)
			break
		}
		l.used = true
		g.line("%s %s", word, l.name)
	case g.chance(8):
		g.line("panic(%q)", "told to")
	default:
		g.returnStmt()
	}
	g.indent--
	g.line("}")
}

func (g *gen) switchStmt() {
	scope := g.scope
	// Inside, a plain break would leave the switch: labels are needed.
	for _, l := range g.labels {
		l.swtch = true
	}
	defer func() {
		for _, l := range g.labels {
			l.swtch = false
		}
		g.scope = scope
	}()
	if g.chance(20) {
		if v, ok := g.pick(func(v variable) bool { return v.t.kind == kString }); ok {
			g.line("switch %s {", v.expr)
			for _, s := range []string{"abc", "", "hello, world"}[:1+g.r.Intn(3)] {
				g.line("case %q:", s)
				g.nested()
			}
			g.line("default:")
			g.nested()
			g.line("}")
			return
		}
	}
	t := g.int()
	if g.chance(50) {
		g.line("switch %s {", g.integer(t, 2))
	} else {
		g.line("switch %s %% 8 {", g.integer(t, 2))
	}
	next := g.r.Intn(3)
	n := 1 + g.r.Intn(7)
	def := g.r.Intn(2 * n)
	for i := range n {
		if i == def {
			g.line("default:")
		} else {
			var cs []string
			for range 1 + g.r.Intn(2) {
				cs = append(cs, fmt.Sprint(next))
				next += 1 + g.r.Intn(4)
			}
			g.line("case %s:", strings.Join(cs, ", "))
		}
		g.nested()
		if i < n-1 && g.chance(15) {
			g.line("\tfallthrough")
		}
	}
	g.line("}")
}

// callStmt calls a function with expressions that contain no calls.
func (g *gen) callStmt(f function) {
	if f.loops && g.loop > 1 {
		return
	}
	target := f.name
	if f.method != nil {
		v, ok := g.pick(func(v variable) bool {
			return same(v.t, f.method) && v.plain && !v.fixed || v.t.kind == kPointer && same(v.t.elem, f.method)
		})
		if !ok {
			return
		}
		target = v.expr + "." + f.name
	}
	var args []string
	for _, t := range f.params {
		e, ok := g.value(t, 2)
		for tries := 0; !ok && tries < 3; tries++ {
			e, ok = g.value(t, 2)
		}
		if !ok {
			if g.chance(80) {
				return
			}
			e = "nil"
		}
		args = append(args, e)
	}
	call := fmt.Sprintf("%s(%s)", target, strings.Join(args, ", "))
	if len(f.results) == 0 || g.chance(10) {
		g.line("%s", call)
		return
	}
	var names []string
	for range f.results {
		names = append(names, g.name("r"))
	}
	g.line("%s := %s", strings.Join(names, ", "), call)
	for i, n := range names {
		g.declare(n, f.results[i])
	}
}

func (g *gen) returnStmt() {
	var es []string
	for _, t := range g.results {
		e, _ := g.value(t, 2)
		es = append(es, e)
	}
	g.line("return %s", strings.Join(es, ", "))
}

// copyStmt uses copy and clear.
func (g *gen) copyStmt() {
	v, ok := g.pick(func(v variable) bool { return v.t.kind == kSlice })
	if !ok {
		return
	}
	if g.chance(15) {
		g.line("clear(%s)", v.expr)
		return
	}
	e, ok := g.sliceValue(v.t)
	if !ok || e == "nil" {
		return
	}
	if g.chance(40) {
		n := g.name("n")
		g.line("%s := copy(%s, %s)", n, v.expr, e)
		g.declare(n, tInt)
		return
	}
	g.line("copy(%s, %s)", v.expr, e)
}

// swapStmt assigns several plain variables at once.
func (g *gen) swapStmt() {
	plain := func(v variable) bool { return v.plain && !v.fixed && v.t.kind != kPointer && v.t.kind != kSlice }
	a, ok := g.pick(plain)
	if !ok {
		return
	}
	b, ok := g.pick(func(v variable) bool { return plain(v) && same(v.t, a.t) && v.expr != a.expr })
	if !ok {
		return
	}
	if c, ok := g.pick(func(v variable) bool {
		return plain(v) && same(v.t, a.t) && v.expr != a.expr && v.expr != b.expr
	}); ok && g.chance(50) {
		g.line("%s, %s, %s = %s, %s, %s", a.expr, b.expr, c.expr, b.expr, c.expr, a.expr)
		return
	}
	g.line("%s, %s = %s, %s", a.expr, b.expr, b.expr, a.expr)
}
