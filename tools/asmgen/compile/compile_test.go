package compile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// compileHot compiles testdata/hot with every function an entry point.
func compileHot(t *testing.T) map[string]*Function {
	t.Helper()
	const pkg = "svcrelay/tools/asmgen/testdata/hot"
	entries := map[string]string{}
	for _, n := range []string{"Hash", "Hash31", "Copy", "IndexByte", "Strlen", "AppendAll", "Component", "Backwards",
		"HasPrefix", "Word", "Number", "Switch"} {
		entries[pkg+"."+n] = n
	}
	entries["(*"+pkg+".Table).Get"] = "Get"
	p, err := Compile(Config{Dir: "..", Patterns: []string{"./testdata/hot"}, Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Function{}
	for _, f := range p.Functions {
		out[f.Name] = f
	}
	return out
}

// loopOf returns the instructions of the first backward branch's loop.
func loopOf(t *testing.T, f *Function) []string {
	t.Helper()
	var text []string
	for off := 0; off < len(f.Code); off += 4 {
		in, err := arm64asm.Decode(f.Code[off:])
		if err != nil {
			t.Fatalf("%s+%#x: %v", f.Name, off, err)
		}
		text = append(text, arm64asm.GNUSyntax(in))
		for _, a := range in.Args {
			if rel, ok := a.(arm64asm.PCRel); ok && rel < 0 {
				return text[off/4+int(rel)/4:]
			}
		}
	}
	return nil
}

// TestHotLoops bounds the instructions of loops that matter.
func TestHotLoops(t *testing.T) {
	fs := compileHot(t)
	for name, most := range map[string]int{
		"Hash": 6, "Hash31": 5, "Copy": 5, "IndexByte": 6, "Component": 6, "Backwards": 5, "HasPrefix": 7, "AppendAll": 15,
	} {
		l := loopOf(t, fs[name])
		if len(l) == 0 || len(l) > most {
			t.Errorf("%s: %d instructions in the loop, want at most %d: %q", name, len(l), most, l)
		}
	}
	for _, f := range fs {
		if f.FrameSize != 0 {
			t.Errorf("%s is a leaf with a frame of %d bytes", f.Name, f.FrameSize)
		}
	}
}

// TestChecksEliminated: these functions cannot index out of range, and the compiler sees it.
func TestChecksEliminated(t *testing.T) {
	fs := compileHot(t)
	for _, name := range []string{"Hash", "Hash31", "Copy", "IndexByte", "Component", "Backwards", "HasPrefix", "Number"} {
		for off := 0; off < len(fs[name].Code); off += 4 {
			// mov sp, x28 begins every abort.
			if binary.LittleEndian.Uint32(fs[name].Code[off:]) == 0x9100039f {
				t.Errorf("%s can abort", name)
			}
		}
	}
}

func TestDeterministic(t *testing.T) {
	a, b := compileHot(t), compileHot(t)
	for n, f := range a {
		if !bytes.Equal(f.Code, b[n].Code) || !reflect.DeepEqual(f.Relocs, b[n].Relocs) {
			t.Errorf("%s differs between two runs", n)
		}
	}
}

func TestStack(t *testing.T) {
	p, err := compileSource(t, `
type big [40]uint64

//asmgen:entry e
func E(a *big, i int) uint64 { return middle(a, i) + middle(a, i+1) }

func middle(a *big, i int) uint64 {
	b := *a
	return leaf(&b, i) + leaf(&b, i+1)
}

func leaf(a *big, i int) uint64 {
	b := *a
	b[i&31]++
	return b[0]
}
`)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*Function{}
	for _, f := range p.Functions {
		byName[f.Name] = f
	}
	var deepest func(name string) int
	deepest = func(name string) int {
		d := 0
		for _, c := range byName[name].Calls {
			d = max(d, deepest(c))
		}
		return d + byName[name].FrameSize
	}
	e := p.Entries[0]
	if e.Name != "e" || e.Stack != deepest("e") || e.Stack < 640 || e.Stack%16 != 0 {
		t.Errorf("entry %+v, deepest %d", e, deepest("e"))
	}
}

// TestSequence resolves random parallel copies and runs the result.
func TestSequence(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		n := 1 + r.Intn(8)
		dsts := r.Perm(10)[:n]
		var ms []move
		want := map[string]int{}
		key := func(p place) string { return fmt.Sprint(p.reg, ".", p.slot) }
		mk := func(k int) place {
			if k < 6 {
				return place{reg: reg(k)}
			}
			return place{reg: regNone, slot: int64(k)}
		}
		state := map[string]int{}
		for k := range 10 {
			state[key(mk(k))] = k
		}
		for _, d := range dsts {
			s := r.Intn(11)
			dp := mk(d)
			m := move{dst: dp.reg, dstSlot: dp.slot}
			if s == 10 {
				m.src, m.imm = regNone, 100
				want[key(dp)] = 100
			} else {
				sp := mk(s)
				m.src, m.srcSlot = sp.reg, sp.slot
				if sp.slot != 0 {
					m.src = 99
				}
				want[key(dp)] = s
			}
			ms = append(ms, m)
		}
		for _, st := range sequence(ms, func(r reg) reg { return r }) {
			v := 100
			if st.m == nil {
				v = state[key(st.src)]
			}
			state[key(st.dst)] = v
		}
		for k, v := range want {
			if state[k] != v {
				t.Fatalf("%+v: %s is %d, want %d", ms, k, state[k], v)
			}
		}
	}
}

// TestAborts names the checks of a function.
func TestAborts(t *testing.T) {
	p, err := compileSource(t, `
//asmgen:entry e
func E(a []int, p *int, i, d int) int {
	if d == 77 {
		panic("no")
	}
	return a[i]/d + *p<<d
}
`)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, a := range p.Aborts {
		if a.Go != "m.E" {
			t.Errorf("abort in %s", a.Go)
		}
		kinds = append(kinds, a.Kind)
	}
	if want := abortNames[:]; len(kinds) != len(want) {
		t.Errorf("got %q, want %q in some order", kinds, want)
	}
}

// TestLines: every function knows where its code comes from.
func TestLines(t *testing.T) {
	for _, f := range compileHot(t) {
		if len(f.Lines) == 0 {
			t.Errorf("%s has no lines", f.Name)
		}
		for i := 1; i < len(f.Lines); i++ {
			if f.Lines[i].Offset < f.Lines[i-1].Offset {
				t.Errorf("%s: lines go back at %d", f.Name, i)
			}
		}
	}
}
