package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// compileSource compiles one file as a module of its own; functions are entry points by comment.
func compileSource(t *testing.T, src string) (*Program, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("m.go", "package m\n"+src)
	return Compile(Config{Dir: dir, Patterns: []string{"."}})
}

// positions shortens an error list to line: message.
func positions(t *testing.T, err error) []string {
	t.Helper()
	list, ok := err.(ErrorList)
	if !ok {
		t.Fatalf("not an ErrorList: %v", err)
	}
	var out []string
	for _, d := range list {
		if d.Pos.Line == 0 || d.Pos.Column == 0 || filepath.Base(d.Pos.Filename) != "m.go" {
			t.Errorf("no position: %v", d)
		}
		out = append(out, strings.TrimPrefix(d.String()[strings.LastIndex(d.String()[:len(d.String())-len(d.Msg)], "m.go:")+5:], ""))
	}
	return out
}

func TestViolations(t *testing.T) {
	_, err := compileSource(t, `
//asmgen:entry e
func E(n int) int {
	s := make([]int, n)
	s = append(s, 1)
	m := map[int]int{}
	m[1] = 2
	defer f()
	go f()
	x := 1.5
	c := make(chan int)
	c <- 1
	var i interface{} = n
	_ = i
	g := func() int { return n }
	h := f
	h()
	str := "a" + string(rune(n))
	b := []byte(str)
	for _, r := range str {
		n += int(r)
	}
	return n + len(b) + int(x) + g() + r(n) + v(1, 2)
}

func f() {}

func r(n int) int {
	if n == 0 {
		return 0
	}
	return r(n - 1)
}

func v(a ...int) int { return len(a) }

// Not reached: not reported.
func u() chan int { return make(chan int) }
`)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Join(positions(t, err), "\n")
	for _, want := range []string{
		"5:11: make is outside the subset",
		"6:12: append is outside the subset",
		"7:18: maps are outside the subset",
		"9:2: defer is outside the subset",
		"10:2: goroutines are outside the subset",
		"11:2: variable x has type float64: floating-point",
		"12:11: channels are outside the subset",
		"13:4: channels are outside the subset",
		"14:6: interfaces are outside the subset",
		"16:7: closures are outside the subset",
		"function values are outside the subset",
		"19:13: string concatenation is outside the subset",
		"conversion of a number to a string is outside the subset",
		"20:13: conversion between string and slice copies",
		"a range over a string decodes UTF-8",
		"recursion is outside the subset: m.r calls m.r",
		"variadic functions are outside the subset",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q", want)
		}
	}
	if strings.Contains(got, "m.go:45") || strings.Contains(got, "\n44:") {
		t.Error("unreachable code is reported")
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestMutualRecursion(t *testing.T) {
	_, err := compileSource(t, `
//asmgen:entry e
func E(n int) int { return a(n) }

func a(n int) int { return b(n) }
func b(n int) int { return c(n) }
func c(n int) int { return a(n) }
`)
	if err == nil || !strings.Contains(err.Error(), "recursion is outside the subset: m.a calls m.b calls m.c calls m.a") {
		t.Errorf("got %v", err)
	}
}

func TestEntryErrors(t *testing.T) {
	for src, want := range map[string]string{
		"func F() {}": "no entry points",
		"//asmgen:entry a\nfunc F() {}\n\n//asmgen:entry a\nfunc G() {}": "entry point a is already m.F",
		"//asmgen:entry \nfunc F() {}\n":                                 "needs one symbol name",
		"//asmgen:entry a\nfunc F() [9]int { return [9]int{} }":          "more than eight scalars",
		"//asmgen:entry a\nfunc F() { undefined() }":                     "undefined: undefined",
	} {
		_, err := compileSource(t, src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", src, err, want)
		}
	}
}

func TestInitialValues(t *testing.T) {
	_, err := compileSource(t, `
var ok = [3]struct{ s string; p *int }{{"a", &n}, {}, {"b", nil}}
var n = 7
var slice = []uint8{1, 2, 3}
var computed = f()
var unused = f()

func f() int { return 1 }

//asmgen:entry e
func E(i int) int { return len(ok[i].s) + *ok[i].p + int(slice[i]) + computed }
`)
	if err == nil {
		t.Fatal("no error")
	}
	got := positions(t, err)
	if len(got) != 1 || !strings.Contains(got[0], "variable m.computed has no constant initial value") {
		t.Errorf("got %q", got)
	}
}

func TestEscapes(t *testing.T) {
	good := map[string]string{
		"a pointer passed down": `
			var x [4]int
			return use(&x[1])`,
		"a pointer kept in a variable": `
			var x int
			p := &x
			*p = n
			return x`,
		"a slice of a buffer in a structure": `
			var buf [16]int
			w := writer{b: buf[:]}
			w.put(n)
			return w.b[0]`,
		"a structure filled by a method": `
			var buf [16]int
			var w writer
			w.init(buf[:])
			w.put(n)
			return w.b[0]`,
		"declared anew each time": `
			for i := range n {
				var x int
				p := &x
				*p = i
				n += *p
			}
			return n`,
		"returned from the callee it was passed to": `
			var x [4]int
			return *id(&x[2])`,
	}
	bad := map[string][2]string{
		"returned":         {`return *leak(n)`, "the address of x leaves the function in a result"},
		"stored globally":  {"var x int\nglobal = &x\nreturn n", "the address of x is stored in memory that is not on the stack"},
		"stored by callee": {"var x int\nkeep(&x)\nreturn n", "the address of x is stored in memory that is not on the stack"},
		"in a parameter":   {"into(nil)\nreturn n", "the address of x is stored in memory that parameter w leads to"},
		"outlives the iteration": {"var p *int\nfor i := range n {\nx := i\np = &x\n}\nreturn *p",
			"the address of x, declared in a loop, is kept in p"},
	}
	const common = `
type writer struct { b []int; n int }

func (w *writer) put(v int)    { w.b[w.n] = v; w.n++ }
func (w *writer) init(b []int) { w.b = b }

var global *int

func use(p *int) int  { return *p }
func id(p *int) *int  { return p }
func keep(p *int)     { global = p }
func leak(x int) *int { return &x }
func into(w *writer)  { var x [3]int; w.b = x[:] }

//asmgen:entry e
func E(n int) int {
`
	for name, body := range good {
		if _, err := compileSource(t, common+body+"\n}\n"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range bad {
		_, err := compileSource(t, common+b[0]+"\n}\n")
		if err == nil || !strings.Contains(err.Error(), b[1]) {
			t.Errorf("%s: got %v, want %s", name, err, b[1])
		}
	}
}
