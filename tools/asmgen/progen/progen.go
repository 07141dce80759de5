// Package progen writes random programs in the freestanding subset. A program
// is type-correct and ends; it may panic, but only where a panic's place among
// the other effects is defined by the language. The same seed gives the same
// program.
package progen

import (
	"fmt"
	"math/rand"
	"strings"
)

// Program writes the program of a seed: declarations that can share a package
// with other programs, and the name of its entry point, a
// func(m *Mem, a, b, c, d uint64) uint64.
func Program(seed int64) (src, entry string) {
	g := &gen{r: rand.New(rand.NewSource(seed)), prefix: fmt.Sprintf("p%d", seed)}
	entry = fmt.Sprintf("P%d", seed)
	switch seed % 4 {
	case 1:
		g.bounds(entry)
		return g.out.String(), entry
	case 3:
		g.alias(entry)
		return g.out.String(), entry
	}
	g.declareTypes()
	g.declareGlobals()
	for range g.r.Intn(5) {
		g.function()
	}
	g.entry(entry)
	return g.out.String(), entry
}

// variable is something in scope that has a value.
type variable struct {
	expr  string // how it is written
	t     *typ
	fixed bool // not to be assigned: a loop variable, a constant table
	plain bool // a simple name whose address may be taken
	depth int  // the depth of the loop it was declared in
}

// function is a function that can be called.
type function struct {
	name    string
	method  *typ // the receiver's type, if it is a method
	params  []*typ
	results []*typ
	loops   bool // contains loops: not to be called from deep inside loops
}

type gen struct {
	r       *rand.Rand
	out     strings.Builder
	prefix  string
	names   int
	structs []*typ
	arrays  []*typ
	globals []variable
	funcs   []function

	// The function being written.
	scope   []variable
	indent  int
	budget  int // statements left
	loop    int // depth of loops
	labels  []*label
	results []*typ
	looped  bool
	common  []commonExpr
}

// commonExpr is an expression that a function uses in several places: on ways
// that meet, on ways that exclude each other, before and after its operands change.
type commonExpr struct {
	expr string
	t    *typ
}

// label belongs to a loop; it is written only if something refers to it.
type label struct {
	name string
	used bool
	// swtch: innermost is a switch, so a plain break would leave that.
	swtch bool
}

func (g *gen) chance(percent int) bool { return g.r.Intn(100) < percent }

func (g *gen) name(s string) string {
	g.names++
	return fmt.Sprintf("%s%d", s, g.names)
}

func (g *gen) int() *typ { return ints[g.r.Intn(len(ints))] }

func (g *gen) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
}

func (g *gen) declareTypes() {
	for range 1 + g.r.Intn(3) {
		t := &typ{kind: kStruct, name: g.prefix + g.name("T")}
		for i := range 1 + g.r.Intn(5) {
			f := field{name: fmt.Sprintf("f%d", i), t: g.int()}
			switch g.r.Intn(8) {
			case 0:
				f.t = tBool
			case 1:
				f.t = arrayOf(1+g.r.Intn(5), g.int())
			case 2:
				if len(g.structs) > 0 {
					f.t = g.structs[g.r.Intn(len(g.structs))]
				}
			case 3:
				if g.chance(40) {
					f.t = tString
				} else if g.chance(30) {
					f.t = arrayOf(12+g.r.Intn(12), g.int()) // too big for registers
				}
			}
			t.fields = append(t.fields, f)
		}
		g.structs = append(g.structs, t)
		g.line("type %s struct {", t.name)
		for _, f := range t.fields {
			g.line("\t%s %s", f.name, f.t.name)
		}
		g.line("}")
	}
	for range 2 {
		g.arrays = append(g.arrays, arrayOf(1<<g.r.Intn(6), g.int()))
	}
	g.arrays = append(g.arrays, arrayOf(1+g.r.Intn(6), g.structs[g.r.Intn(len(g.structs))]))
}

// literal is a composite or basic constant of any type but pointers and slices.
func (g *gen) literal(t *typ) string {
	switch t.kind {
	case kInt:
		return constant(g.r, t)
	case kBool:
		return []string{"false", "true"}[g.r.Intn(2)]
	case kString:
		return fmt.Sprintf("%q", []string{"", "a", "abc", "abd", "hello, world"}[g.r.Intn(5)])
	case kArray:
		var e []string
		for range t.n {
			e = append(e, g.literal(t.elem))
		}
		return t.name + "{" + strings.Join(e, ", ") + "}"
	case kStruct:
		var e []string
		for _, f := range t.fields {
			if g.chance(80) {
				e = append(e, f.name+": "+g.literal(f.t))
			}
		}
		return t.name + "{" + strings.Join(e, ", ") + "}"
	}
	panic("progen: no literal of " + t.name)
}

func (g *gen) anyType() *typ {
	switch g.r.Intn(10) {
	case 0:
		return tBool
	case 1:
		return g.structs[g.r.Intn(len(g.structs))]
	case 2:
		return g.arrays[g.r.Intn(len(g.arrays))]
	}
	return g.int()
}

func (g *gen) declareGlobals() {
	for range g.r.Intn(3) {
		t := g.anyType()
		n := g.prefix + g.name("v")
		if g.chance(50) {
			g.line("var %s %s", n, t.name)
			g.globals = append(g.globals, variable{expr: n, t: t, plain: true})
		} else {
			g.line("var %s = %s", n, g.literal(t))
			g.globals = append(g.globals, variable{expr: n, t: t, fixed: true})
		}
	}
}

// begin starts a function's body with its parameters in scope.
func (g *gen) begin(params []variable, results []*typ, budget int) {
	g.scope = append(append([]variable(nil), g.globals...), params...)
	g.results, g.budget, g.loop, g.labels, g.looped, g.indent = results, budget, 0, nil, false, 1
	g.common = nil
	var common []commonExpr
	for range 1 + g.r.Intn(4) {
		t := g.int()
		common = append(common, commonExpr{g.integer(t, 2), t})
	}
	g.common = common
}

func (g *gen) function() {
	f := function{name: g.prefix + g.name("f")}
	var params []variable
	var list []string
	add := func(t *typ) {
		n := g.name("x")
		params = append(params, variable{expr: n, t: t, plain: true})
		list = append(list, n+" "+t.name)
		f.params = append(f.params, t)
	}
	head := "func "
	if g.chance(25) {
		f.method = g.structs[g.r.Intn(len(g.structs))]
		f.name = g.name("m")
		n := g.name("r")
		if g.chance(50) {
			head += fmt.Sprintf("(%s *%s) ", n, f.method.name)
			params = append(params, variable{expr: n, t: pointerTo(f.method)})
		} else {
			head += fmt.Sprintf("(%s %s) ", n, f.method.name)
			params = append(params, variable{expr: n, t: f.method, plain: true})
		}
	}
	add(g.int())
	for range g.r.Intn(7) {
		switch g.r.Intn(8) {
		case 0:
			add(pointerTo(g.anyType()))
		case 1:
			if g.chance(30) {
				add(sliceOf(g.structs[g.r.Intn(len(g.structs))]))
			} else {
				add(sliceOf(g.int()))
			}
		case 2:
			add(tString)
		case 3:
			add(g.anyType())
		default:
			add(g.int())
		}
	}
	var rs []string
	for range g.r.Intn(4) {
		t := g.anyType()
		if scalars(t) > 8-resultScalars(f.results) {
			t = g.int()
		}
		f.results = append(f.results, t)
		rs = append(rs, t.name)
	}
	result := ""
	if len(rs) > 0 {
		result = "(" + strings.Join(rs, ", ") + ") "
	}
	g.indent = 0
	g.line("%s%s(%s) %s{", head, f.name, strings.Join(list, ", "), result)
	g.begin(params, f.results, 2+g.r.Intn(10))
	g.block()
	g.returnStmt()
	g.indent = 0
	g.line("}")
	f.loops = g.looped
	g.funcs = append(g.funcs, f)
}

// scalars is how many registers a value takes.
func scalars(t *typ) int {
	switch t.kind {
	case kArray:
		return t.n * scalars(t.elem)
	case kStruct:
		return resultScalars(fieldTypes(t))
	case kSlice:
		return 3
	case kString:
		return 2
	}
	return 1
}

func fieldTypes(t *typ) []*typ {
	var ts []*typ
	for _, f := range t.fields {
		ts = append(ts, f.t)
	}
	return ts
}

func resultScalars(ts []*typ) (n int) {
	for _, t := range ts {
		n += scalars(t)
	}
	return n
}

func (g *gen) entry(name string) {
	g.indent = 0
	g.line("// %s is a random program.", name)
	g.line("func %s(m *Mem, a, b, c, d uint64) uint64 {", name)
	params := []variable{{expr: "m", t: pointerTo(memType), fixed: true}}
	for _, n := range []string{"a", "b", "c", "d"} {
		params = append(params, variable{expr: n, t: tU64, plain: true})
	}
	g.begin(params, []*typ{tU64}, 6+g.r.Intn(18))
	g.line("fuel = %d", 200+g.r.Intn(300))
	for _, f := range g.funcs {
		if g.chance(80) {
			g.callStmt(f)
		}
	}
	g.block()
	// Everything in scope counts.
	sum := "a"
	for _, v := range g.scope {
		switch v.t.kind {
		case kInt:
			sum = fmt.Sprintf("(%s*31 + uint64(%s))", sum, v.expr)
		case kSlice, kString:
			sum = fmt.Sprintf("(%s ^ uint64(len(%s)))", sum, v.expr)
		case kStruct, kArray:
			if e, t, ok := g.part(v.expr, v.t); ok && t.kind == kInt {
				sum = fmt.Sprintf("(%s*31 + uint64(%s))", sum, e)
			}
		}
	}
	g.line("return %s", sum)
	g.indent = 0
	g.line("}")
	g.line("")
}

// part names some scalar inside a value.
func (g *gen) part(expr string, t *typ) (string, *typ, bool) {
	for {
		switch t.kind {
		case kStruct:
			f := t.fields[g.r.Intn(len(t.fields))]
			expr, t = expr+"."+f.name, f.t
		case kArray:
			expr, t = fmt.Sprintf("%s[%d]", expr, g.r.Intn(t.n)), t.elem
		default:
			return expr, t, true
		}
	}
}
