package harness

import (
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
)

// program makes a compiled program of hand-laid functions that claim stack bytes each.
func program(t *testing.T, stack int, fs map[string]func(b *asm.Builder)) *compile.Program {
	t.Helper()
	p := &compile.Program{}
	for name, f := range fs {
		b := asm.New(name)
		f(b)
		fn, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		p.Functions = append(p.Functions, &compile.Function{Func: fn, Global: true})
		p.Entries = append(p.Entries, compile.Entry{Name: name, Stack: stack})
	}
	return p
}

// TestDriver checks that arguments, results and memory go where they should,
// and that broken promises are noticed.
func TestDriver(t *testing.T) {
	p := program(t, 32, map[string]func(b *asm.Builder){
		"sum": func(b *asm.Builder) { // of registers and stack arguments
			b.Ldr(asm.X, asm.X9, asm.At(asm.SP, 0))
			b.Ldr(asm.X, asm.X10, asm.At(asm.SP, 8*(MaxStackArgs-1)))
			b.Sub(asm.X, asm.X1, asm.X9, asm.X10)
			b.Add(asm.X, asm.X0, asm.X0, asm.X7)
			b.Ret()
		},
		"memory": func(b *asm.Builder) { // x0 points to a pointer to the number to change
			b.Ldr(asm.X, asm.X1, asm.At(asm.X0, 8))
			b.Ldr(asm.X, asm.X2, asm.At(asm.X1, 0))
			b.Add(asm.X, asm.X2, asm.X2, asm.Imm(1))
			b.Str(asm.X, asm.X2, asm.At(asm.X1, 0))
			b.MovReg(asm.X, asm.X0, asm.X1)
			b.Ret()
		},
		"clobber": func(b *asm.Builder) { b.MovImm(asm.X, asm.X19, 0); b.MovImm(asm.X, asm.X29, 0); b.Ret() },
		"leak":    func(b *asm.Builder) { b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(16)); b.Ret() },
		"deep":    func(b *asm.Builder) { b.Str(asm.X, asm.XZR, asm.At(asm.SP, -48)); b.Ret() },
		"shallow": func(b *asm.Builder) { b.Str(asm.X, asm.XZR, asm.At(asm.SP, -24)); b.Ret() },
		"abort": func(b *asm.Builder) {
			b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(16))
			b.MovImm(asm.X, asm.X19, 0)
			b.MovImm(asm.X, asm.X0, 77)
			b.MovReg(asm.X, asm.SP, asm.X28)
			b.Ldr(asm.X, asm.X16, asm.At(asm.SP, 0))
			b.Br(asm.X16)
		},
		"crash": func(b *asm.Builder) { b.Udf(0) },
	})
	args := make([]Arg, 8+MaxStackArgs)
	for i := range args {
		args[i].Value = uint64(100 * i)
	}
	arena := make([]byte, 24)
	binary.LittleEndian.PutUint64(arena[16:], 41)
	calls := []Call{
		{Entry: "abort"}, {Entry: "sum", Args: args},
		{Entry: "memory", Args: []Arg{{0, true}}, Arena: arena, Pointers: []Pointer{{8, 16}}},
		{Entry: "clobber"}, {Entry: "leak"}, {Entry: "deep"}, {Entry: "shallow"}, {Entry: "abort"},
	}
	for _, base := range Bases {
		rs, err := Run(p, base, calls)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 7} {
			if r := rs[i]; !r.Aborted || r.Code != 77 || r.Broken != "" {
				t.Errorf("abort: %+v", r)
			}
		}
		if r := rs[1]; r.Aborted || r.Regs[0] != 700 || int64(r.Regs[1]) != -2300 || r.Broken != "" {
			t.Errorf("sum: %+v", r)
		}
		if r := rs[2]; r.Regs[0] != r.ArenaBase+16 || binary.LittleEndian.Uint64(r.Arena[16:]) != 42 {
			t.Errorf("memory: %+v", r)
		}
		for i, want := range map[int]string{3: "x19 changed; x29 changed; ", 4: "sp is not what it was; ", 5: "the stack was written 48 bytes deep, 32 were promised; ", 6: ""} {
			if rs[i].Broken != want {
				t.Errorf("%s: %q", calls[i].Entry, rs[i].Broken)
			}
		}
	}
	if rs, err := Run(p, Bases[0], []Call{{Entry: "shallow"}, {Entry: "crash"}, {Entry: "shallow"}}); len(rs) != 1 || err == nil || !strings.Contains(err.Error(), "call 1, of crash,") {
		t.Errorf("a crash gives %d results and %v", len(rs), err)
	}
	if _, err := Run(p, Bases[0], []Call{{Entry: "absent"}}); err == nil {
		t.Error("a call of nothing is accepted")
	}
}

type pt struct {
	x int8
	s []uint16
}

func tested(a uint8, s string, p *pt, v pt) (int8, []uint16, *pt) {
	if len(p.s) > 0 {
		p.s[0] = uint16(a)
	}
	p.x++
	return p.x + v.x, v.s, p
}

// TestCase plays a compiled function with the native one's outcome, seen at another address.
func TestCase(t *testing.T) {
	panics := 0
	for seed := range int64(200) {
		c := NewCase("tested", tested, rand.New(rand.NewSource(seed)))
		d := NewCase("tested", tested, rand.New(rand.NewSource(seed)))
		if len(c.Call.Args) != 1+2+1+4 {
			t.Fatalf("%d arguments", len(c.Call.Args))
		}
		o := c.Native()
		if o.Aborted {
			panics++
			continue
		}
		// What a guest with its arena at base would have left.
		const base = 0x430000
		r := Result{ArenaBase: base, Arena: d.bytes(d.used)}
		out := d.fn.Call(d.in)
		r.Arena = d.bytes(d.used)
		for _, pp := range d.ptrAt {
			if p := binary.LittleEndian.Uint64(r.Arena[pp.at:]); p != 0 {
				binary.LittleEndian.PutUint64(r.Arena[pp.at:], p-d.base()+base)
			}
		}
		var ss []scalar
		for _, v := range out {
			ss = flatten(ss, v)
		}
		for i, s := range ss {
			r.Regs[i] = s.v
			if s.ptr && s.v != 0 {
				r.Regs[i] = s.v - d.base() + base
			} else if !s.ptr {
				r.Regs[i] |= 0xaa << 56 &^ mask(s.size)
			}
		}
		if diff := o.Diff(d.Compiled(r)); diff != "" {
			t.Errorf("%v: %s", d, diff)
		}
		r.Regs[0] ^= 1
		if diff := o.Diff(d.Compiled(r)); !strings.Contains(diff, "result scalar 0") {
			t.Errorf("a wrong result gives %q", diff)
		}
	}
	if panics == 0 || panics > 60 {
		t.Errorf("%d of 200 calls panic", panics)
	}
}
