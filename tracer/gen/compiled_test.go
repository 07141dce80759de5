package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tracer"
)

// compiled is the shim with two functions more that can be called.
func compiled(t *testing.T) *compile.Program {
	t.Helper()
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/tracer"}, Entries: map[string]string{
		"svcrelay/tracer.Rewrite": "rewrite", "svcrelay/tracer.CleanEnviron": "clean_environ",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomFilter makes something like PRoot's filter, with a mistake now and then.
func randomFilter(r *rand.Rand) []tracer.Insn {
	p := []tracer.Insn{{Code: 0x20, K: 4}, {Code: 0x15, JT: 1, K: 0xc00000b7}, {Code: 0x05, K: 0}, {Code: 0x20}}
	for range 1 + r.IntN(40) {
		p = append(p, tracer.Insn{Code: 0x15, JF: 1, K: r.Uint32N(450)}, tracer.Insn{Code: 0x06, K: 0x7ff00000 | r.Uint32N(3)})
	}
	p[2].K = uint32(len(p) - 2)
	p = append(p, tracer.Insn{Code: 0x06, K: 0x7fff0000}, tracer.Insn{Code: 0x06})
	if r.IntN(3) == 0 {
		p[r.IntN(len(p))] = tracer.Insn{Code: []uint16{0x20, 0x15, 0x06, 0x05, 0x54, 0x45, 7}[r.IntN(7)], JT: uint8(r.IntN(4)), JF: uint8(r.IntN(90)), K: r.Uint32N(100)}
	}
	if r.IntN(10) == 0 {
		p = p[:r.IntN(len(p))]
	}
	return p
}

// room is the space for a rewritten filter in the arena, in instructions.
const room = 110

// TestCompiledRewrite compares compiled with native rewriting.
func TestCompiledRewrite(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	var calls []harness.Call
	var filters [][]tracer.Insn
	for range 300 {
		f := randomFilter(r)
		arena := binary.LittleEndian.AppendUint64(make([]byte, 8*room), 0x5a5a5a5a5a5a5a5a)
		at := uint64(len(arena))
		arena, err := binary.Append(arena, binary.LittleEndian, f)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, harness.Call{Entry: "rewrite", Arena: arena, Args: []harness.Arg{
			{Value: 0, Pointer: true}, {Value: room}, {Value: room}, {Value: at, Pointer: true}, {Value: uint64(len(f))}, {Value: uint64(len(f))},
		}})
		filters = append(filters, f)
	}
	results, err := harness.Run(compiled(t), harness.Bases[0], calls)
	if err != nil {
		t.Fatal(err)
	}
	found := map[tracer.Finding]int{}
	for i, got := range results {
		dst := make([]tracer.Insn, room)
		n, what, at := tracer.Rewrite(dst, filters[i])
		found[what]++
		want, err := binary.Append(nil, binary.LittleEndian, dst)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, calls[i].Arena[8*room:]...)
		if got.Broken != "" || got.Aborted || int(got.Regs[0]) != n || tracer.Finding(got.Regs[1]) != what || int(got.Regs[2]) != at || !bytes.Equal(got.Arena[:len(want)], want) {
			t.Errorf("%v:\ncompiled %d %d %d %s, native %d %d %d", filters[i], got.Regs[0], uint8(got.Regs[1]), int(got.Regs[2]), got.Broken, n, what, at)
		}
	}
	if found[tracer.Rewritten] < 100 || len(found) < 6 {
		t.Errorf("findings %v", found)
	}
}

// TestCompiledCleanEnviron compares what is left of environments.
func TestCompiledCleanEnviron(t *testing.T) {
	const self = "/opt/svcrelay/libsvcrelay-tracer.so"
	blocks := [][]string{
		{},
		{"A=1", "LD_PRELOAD=" + self, "B=2"},
		{"LD_PRELOAD=/a.so:" + self + " /b.so", "LD_PRELOA=x", ""},
		{"LD_PRELOAD=:/x" + self + ":libsvcrelay-tracer.so::", "LD_PRELOAD=/c.so"},
		{"SVCRELAY_GUEST_LD_PRELOAD=/g.so", "Z=1", "LD_PRELOAD=" + self + ":/d.so"},
	}
	var calls []harness.Call
	for _, env := range blocks {
		c := harness.Call{Entry: "clean_environ", Arena: make([]byte, 8*(len(env)+1)), Args: []harness.Arg{{Value: 0, Pointer: true}}}
		for i, e := range env {
			c.Pointers = append(c.Pointers, harness.Pointer{At: 8 * i, To: len(c.Arena)})
			c.Arena = append(append(c.Arena, e...), 0)
		}
		c.Arena = append(c.Arena, make([]byte, -len(c.Arena)&7)...)
		calls = append(calls, c)
	}
	results, err := harness.Run(compiled(t), harness.Bases[1], calls)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range results {
		// The same block here, with addresses of this process.
		memory := bytes.Clone(calls[i].Arena)
		if len(memory) == 0 {
			continue
		}
		base := uint64(uintptr(unsafe.Pointer(&memory[0])))
		for _, p := range calls[i].Pointers {
			binary.LittleEndian.PutUint64(memory[p.At:], base+uint64(p.To))
		}
		tracer.CleanEnviron(uintptr(base))
		words := 8 * (len(blocks[i]) + 1)
		for at := 0; at < words; at += 8 {
			here, there := binary.LittleEndian.Uint64(memory[at:]), binary.LittleEndian.Uint64(got.Arena[at:])
			if here != 0 {
				here -= base
			}
			if there != 0 {
				there -= got.ArenaBase
			}
			if here != there {
				t.Errorf("%q: entry %d is at %#x natively and at %#x compiled", blocks[i], at/8, here, there)
			}
		}
		if got.Broken != "" || got.Aborted || !bytes.Equal(memory[words:], got.Arena[words:len(memory)]) {
			t.Errorf("%q: strings %q natively, %q compiled, %s", blocks[i], memory[words:], got.Arena[words:len(memory)], got.Broken)
		}
	}
}
