package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tools/asmgen/obj"
	"svcrelay/tools/asmgen/testdata/corpus"

	"golang.org/x/arch/arm64/arm64asm"
)

// platformReg matches x18 and w18 as an operand or in one, but not #0x18.
var platformReg = regexp.MustCompile(`(^|[^0-9a-z#])[xw]18\b`)

// forbidden reports why an instruction must not be in compiled code: it touches
// SIMD or floating-point registers, or a register that is not the compiler's.
func forbidden(in arm64asm.Inst) string {
	for i, a := range in.Args {
		if a == nil {
			continue
		}
		name := strings.ToLower(a.String())
		switch a.(type) {
		case arm64asm.RegisterWithArrangement, arm64asm.RegisterWithArrangementAndIndex:
			return "a SIMD register"
		}
		if r, ok := a.(arm64asm.Reg); ok {
			if r >= arm64asm.B0 && r <= arm64asm.Q31 || r >= arm64asm.V0 && r <= arm64asm.V31 {
				return "a SIMD register"
			}
			stored := strings.HasPrefix(in.Op.String(), "ST") || in.Op == arm64asm.CMP || in.Op == arm64asm.CMN || in.Op == arm64asm.TST
			if i == 0 && !stored && (r == arm64asm.X28 || r == arm64asm.W28 || r == arm64asm.X29 || r == arm64asm.W29) {
				return "writes " + name
			}
		}
		if platformReg.MatchString(name) {
			return "x18"
		}
	}
	return ""
}

// TestWords checks every emitted word.
func TestWords(t *testing.T) {
	p := mustCompileCorpus(t)
	n := 0
	for _, f := range p.Functions {
		for off := 0; off < len(f.Code); off += 4 {
			if f.IsData(uint32(off)) {
				continue
			}
			n++
			in, err := arm64asm.Decode(f.Code[off:])
			if err != nil {
				if w := binary.LittleEndian.Uint32(f.Code[off:]); !asm.KnownUndecodable(w) {
					t.Errorf("%s+%#x: %08x: %v", f.Name, off, w, err)
				}
				continue
			}
			if why := forbidden(in); why != "" {
				t.Errorf("%s+%#x: %v: %s", f.Name, off, in, why)
			}
		}
	}
	t.Logf("%d words in %d functions", n, len(p.Functions))
}

// TestSameBytes compiles twice.
func TestSameBytes(t *testing.T) {
	object := func() []byte {
		entries := map[string]string{}
		for _, n := range corpusNames() {
			entries[corpusPath+"."+n] = n
		}
		p, err := compile.Compile(compile.Config{Patterns: []string{"./testdata/corpus"}, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		o := obj.New()
		o.AddProgram(p, obj.Hidden)
		data, err := o.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	a, b := object(), object()
	if !bytes.Equal(a, b) {
		t.Error("two runs give different objects")
	}
}

// TestAddresses runs the corpus at several load addresses: nothing but the
// addresses themselves may differ.
func TestAddresses(t *testing.T) {
	p := mustCompileCorpus(t)
	var cases []*harness.Case
	var calls []harness.Call
	for _, n := range corpusNames() {
		rng := rand.New(rand.NewSource(seedOf(n) + 1))
		for range 4 {
			c := harness.NewCase(n, corpus.Functions[n], rng)
			cases = append(cases, c)
			calls = append(calls, c.Call)
		}
	}
	var first []harness.Outcome
	for i, base := range harness.Bases {
		rs, err := harness.Run(p, base, calls)
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range cases {
			o := c.Compiled(rs[j])
			if i == 0 {
				first = append(first, o)
			} else if diff := first[j].Diff(o); diff != "" {
				t.Errorf("%v at %#x and %#x: %s", c, harness.Bases[0], base, diff)
			}
		}
	}
}

// TestObject checks that the linker and readelf take the compiled corpus, that
// the library linked from it has no relocations in its text, and that every
// function has frame information that covers it.
func TestObject(t *testing.T) {
	p := mustCompileCorpus(t)
	o := obj.New()
	o.AddProgram(p, obj.Global)
	data, err := o.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, lib := filepath.Join(dir, "corpus.o"), filepath.Join(dir, "corpus.so")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if msg := run("aarch64-linux-gnu-ld", "-shared", "-z", "text", "--eh-frame-hdr", "--no-undefined", "-o", lib, file); msg != "" {
		t.Errorf("ld says: %s", msg)
	}
	frames := run("aarch64-linux-gnu-readelf", "-W", "--debug-dump=frames-interp", lib)
	if strings.Contains(strings.ToLower(frames), "warning") {
		t.Error("readelf complains about the frame information")
	}
	if n := strings.Count(frames, " FDE "); n != len(p.Functions) {
		t.Errorf("%d functions have frame information, not %d", n, len(p.Functions))
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range syms {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			got = append(got, s.Name)
		}
	}
	if len(got) != len(corpus.Functions) {
		t.Errorf("%d functions are exported, not %d", len(got), len(corpus.Functions))
	}
}

// frameState is what call frame information says at one place.
type frameState struct {
	cfa   int64
	saved map[uint8]int64
}

// TestFrames follows the stack pointer and the saves through every function and
// compares them with the call frame information at every instruction.
func TestFrames(t *testing.T) {
	p := mustCompileCorpus(t)
	n := 0
	for _, f := range p.Functions {
		n += checkFrames(t, f)
	}
	if n < 20 {
		t.Errorf("only %d changes of sp were compared", n)
	}
}

// checkFrames walks the function in address order. Compiled code lowers sp at
// one place and restores it before each return, so the state at a branch target
// is the one that the information itself says; the walk checks each instruction
// that changes sp or returns, and counts the changes.
func checkFrames(t *testing.T, f *compile.Function) (changes int) {
	t.Helper()
	state := frameState{saved: map[uint8]int64{}}
	var stack []frameState
	next := 0
	before := int64(0)
	leaves := map[uint32]bool{} // jumps to other functions
	for _, r := range f.Relocs {
		leaves[r.Off] = r.Type == elf.R_AARCH64_JUMP26
	}
	for off := 0; off < len(f.Code); off += 4 {
		for next < len(f.Frame.Ops) && f.Frame.Ops[next].Off <= uint32(off) {
			op := f.Frame.Ops[next]
			next++
			switch op.Kind {
			case asm.CFIDefCfaOffset:
				state.cfa = op.Offset
			case asm.CFIOffset:
				state.saved[op.Reg] = op.Offset
			case asm.CFIRestore:
				delete(state.saved, op.Reg)
			case asm.CFIRememberState:
				c := frameState{state.cfa, map[uint8]int64{}}
				for k, v := range state.saved {
					c.saved[k] = v
				}
				stack = append(stack, c)
			case asm.CFIRestoreState:
				if len(stack) == 0 {
					t.Errorf("%s+%#x: restore_state without remember_state", f.Name, off)
					return
				}
				state, stack = stack[len(stack)-1], stack[:len(stack)-1]
			default:
				t.Errorf("%s+%#x: unexpected frame instruction %d", f.Name, off, op.Kind)
			}
		}
		in, err := arm64asm.Decode(f.Code[off:])
		if err != nil || f.IsData(uint32(off)) {
			continue
		}
		if (in.Op == arm64asm.RET || leaves[uint32(off)]) && (state.cfa != 0 || len(state.saved) != 0) {
			t.Errorf("%s+%#x: leaves with a frame of %d bytes, saved %v", f.Name, off, state.cfa, state.saved)
		}
		if int64(f.FrameSize) < state.cfa {
			t.Errorf("%s+%#x: frame of %d bytes, %d were declared", f.Name, off, state.cfa, f.FrameSize)
		}
		// The instruction before changed sp by as much as the frame address offset changed.
		if off > 0 {
			prev, err := arm64asm.Decode(f.Code[off-4:])
			if err == nil {
				d, ok := spChange(prev)
				if ok {
					changes++
				}
				if ok && state.cfa != before-d {
					t.Errorf("%s+%#x: after %v the frame address is sp+%d, before sp+%d", f.Name, off, prev, state.cfa, before)
				}
			}
		}
		before = state.cfa
	}
	return changes
}

// spChange is by how much an instruction moves sp.
func spChange(in arm64asm.Inst) (int64, bool) {
	for _, a := range in.Args {
		if m, ok := a.(arm64asm.MemImmediate); ok && m.Base == arm64asm.RegSP(arm64asm.SP) {
			s := m.String()
			if m.Mode == arm64asm.AddrPreIndex || m.Mode == arm64asm.AddrPostIndex {
				return parseImm(s), true
			}
		}
	}
	if in.Args[0] == nil || !reflect.DeepEqual(in.Args[0], arm64asm.RegSP(arm64asm.SP)) || in.Op != arm64asm.ADD && in.Op != arm64asm.SUB {
		return 0, false
	}
	if in.Args[1] == nil || !reflect.DeepEqual(in.Args[1], arm64asm.RegSP(arm64asm.SP)) || in.Args[2] == nil {
		return 0, false
	}
	v := parseImm(in.Args[2].String())
	if v == 0 {
		return 0, false // by a register: the information must not depend on it
	}
	if in.Op == arm64asm.SUB {
		v = -v
	}
	return v, true
}

// parseImm reads the number after the # of an operand, with a shift by 12.
func parseImm(s string) int64 {
	i := strings.IndexByte(s, '#')
	if i < 0 {
		return 0
	}
	neg, v, base := false, int64(0), int64(10)
	digits := s[i+1:]
	if strings.HasPrefix(digits, "-") {
		neg, digits = true, digits[1:]
	}
	if strings.HasPrefix(digits, "0x") {
		base, digits = 16, digits[2:]
	}
	for _, c := range strings.ToLower(digits) {
		d := int64(strings.IndexRune("0123456789abcdef", c))
		if d < 0 || d >= base {
			break
		}
		v = v*base + d
	}
	if strings.Contains(s, "LSL #12") {
		v <<= 12
	}
	if neg {
		v = -v
	}
	return v
}
