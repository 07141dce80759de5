package main

import (
	"testing"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
)

// TestSymbols calls hand-laid code, which changes every register that a callee
// may, and refers to symbols that are and are not there.
func TestSymbols(t *testing.T) {
	const pkg = "svcrelay/tools/asmgen/testdata/symbols"
	p, err := compile.Compile(compile.Config{Patterns: []string{"./testdata/symbols"}, Entries: map[string]string{
		pkg + ".Twice": "Twice", pkg + ".Absent": "Absent", pkg + ".Present": "Present"}})
	if err != nil {
		t.Fatal(err)
	}
	b := asm.New("twice")
	b.Lsl(asm.X, asm.X0, asm.X0, asm.Imm(1))
	for r := asm.X1; r <= asm.X17; r++ {
		b.MovImm(asm.X, r, 0xdead0000+uint64(r))
	}
	b.Cmp(asm.X, asm.X0, asm.Imm(0))
	b.Ret()
	twice, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	calls := []harness.Call{{Entry: "Absent"}, {Entry: "Present"}}
	var want []uint64
	for n := range uint64(20) {
		x, y := n*3+1, n*5+2
		calls = append(calls, harness.Call{Entry: "Twice", Args: []harness.Arg{{Value: x}, {Value: y}, {Value: n}}})
		for range n {
			x, y = y, 2*x+y
		}
		want = append(want, x^y)
	}
	for _, base := range harness.Bases {
		rs, err := harness.Run(p, base, calls, twice)
		if err != nil {
			t.Fatal(err)
		}
		if rs[0].Regs[0] != 0 || rs[1].Regs[0]&1 != 1 {
			t.Errorf("absent is %#x, present %d", rs[0].Regs[0], rs[1].Regs[0])
		}
		for i, w := range want {
			if r := rs[2+i]; r.Regs[0] != w || r.Aborted || r.Broken != "" {
				t.Errorf("Twice of %v: %+v, want %d", calls[2+i].Args, r, w)
			}
		}
	}
}
