package tracer

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
)

const archArm = 0x40000028

// section is one architecture's part of a PRoot filter: the traced numbers with their trace values.
type section struct {
	arch    uint32
	numbers []traced
}

type traced struct{ nr, flag uint32 }

// prootFilter lays out a filter as PRoot does: per architecture a check, a chain of comparisons that end in a
// question to the tracer, "allow"; at the end "kill".
func prootFilter(sections ...section) []Insn {
	var p []Insn
	for _, s := range sections {
		p = append(p,
			Insn{opLoad, 0, 0, offArch},
			Insn{opJumpEqual, 1, 0, s.arch},
			Insn{opJump, 0, 0, uint32(2*len(s.numbers) + 2)},
			Insn{opLoad, 0, 0, offNumber})
		for _, n := range s.numbers {
			p = append(p, Insn{opJumpEqual, 0, 1, n.nr}, Insn{opReturn, 0, 0, actionTrace + n.flag})
		}
		p = append(p, Insn{opReturn, 0, 0, actionAllow})
	}
	return append(p, Insn{opReturn, 0, 0, actionKillThread})
}

// numbers makes n traced numbers, every third of which wants an exit stop.
func numbers(n int, first, step uint32) []traced {
	var out []traced
	for i := range n {
		flag := uint32(0)
		if i%3 == 0 {
			flag = 1
		}
		out = append(out, traced{first + uint32(i)*step, flag})
	}
	return out
}

func upstreamFilter() []Insn { return prootFilter(section{archAarch64, numbers(51, 33, 5)}) }

func termuxFilter() []Insn {
	return prootFilter(section{archAarch64, numbers(66, 17, 6)}, section{archArm, numbers(88, 3, 4)})
}

// verdicts runs a program on seccomp data. The VM reads big-endian where the kernel reads native words, so the
// data is laid out as big-endian words, with the instruction pointer's low word first as on arm64.
type verdicts struct{ vm *bpf.VM }

func load(t testing.TB, p []Insn) verdicts {
	t.Helper()
	var ins []bpf.Instruction
	for _, in := range p {
		ins = append(ins, bpf.RawInstruction{Op: in.Code, Jt: in.JT, Jf: in.JF, K: in.K}.Disassemble())
	}
	vm, err := bpf.NewVM(ins)
	if err != nil {
		t.Fatalf("program of %d instructions: %v", len(p), err)
	}
	return verdicts{vm}
}

func (v verdicts) of(t testing.TB, nr, arch uint32, ip uint64, args [6]uint64) uint32 {
	t.Helper()
	var b [sizeData]byte
	binary.BigEndian.PutUint32(b[0:], nr)
	binary.BigEndian.PutUint32(b[4:], arch)
	put64 := func(at int, v uint64) {
		binary.BigEndian.PutUint32(b[at:], uint32(v))
		binary.BigEndian.PutUint32(b[at+4:], uint32(v>>32))
	}
	put64(8, ip)
	for i, a := range args {
		put64(16+8*i, a)
	}
	r, err := v.vm.Run(b[:])
	if err != nil {
		t.Fatal(err)
	}
	return uint32(r)
}

// inPage is the rule, stated a second time.
func inPage(ip uint64) bool { return ip>>12 == 0xffff00000>>12 }

var places = []uint64{
	0, 4, 0xffff0000, 0xffff0004, 0xffefffffc, 0xffff00000 - 4, 0xffff00000, 0xffff00004, 0xffff00ffc, 0xffff00fff,
	0xffff01000, 0xffff01004, 0x10ffff0004, 0xfffff0004, 0x1ffff00004, 0xfffff00000004, 0x7fb7e00000, 1 << 47, ^uint64(0), ^uint64(0) - 0xffff,
	0xfff00004_0000000f, 0xfff00004, 0xe_fff00004, 0xf_ffef0004, 0xf_fff01000, 0xf_fff10004, 0x1f_fff00004, 0xf_00000000,
}

// compare runs both programs everywhere and wants the same answer, except that a question to the tracer
// becomes "allow" inside the page.
func compare(t *testing.T, before, after []Insn) {
	t.Helper()
	b, a := load(t, before), load(t, after)
	for _, arch := range []uint32{archAarch64, archArm, 0xc000003e, 0} {
		for nr := range uint32(512) {
			for _, ip := range places {
				want := b.of(t, nr, arch, ip, [6]uint64{})
				if want&actionMask == actionTrace && inPage(ip) {
					want = actionAllow
				}
				if got := a.of(t, nr, arch, ip, [6]uint64{}); got != want {
					t.Fatalf("number %d, architecture %#x, from %#x: %#x, want %#x", nr, arch, ip, got, want)
				}
			}
		}
	}
}

func rewrite(t *testing.T, src []Insn) []Insn {
	t.Helper()
	dst := make([]Insn, MaxProgram)
	n, what, at := Rewrite(dst, src)
	if what != Rewritten {
		t.Fatalf("found %d at %d (%s)", what, at, why(what))
	}
	return dst[:n]
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		name          string
		src           []Insn
		before, after int
	}{
		{"upstream", upstreamFilter(), 108, 122},
		{"termux", termuxFilter(), 319, 333},
		{"one kind", prootFilter(section{archAarch64, []traced{{56, 0}, {79, 0}}}), 10, 17},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := slices.Clone(c.src)
			got := rewrite(t, src)
			if !slices.Equal(src, c.src) {
				t.Error("the original was changed")
			}
			if len(src) != c.before || len(got) != c.after {
				t.Errorf("%d became %d instructions, want %d and %d", len(src), len(got), c.before, c.after)
			}
			compare(t, src, got)
		})
	}
}

// TestRewriteKeepsConstantAllow checks what the kernel's cache of always-allowed numbers needs: no load but
// of number and architecture before an untraced number is allowed.
func TestRewriteKeepsConstantAllow(t *testing.T) {
	p := rewrite(t, termuxFilter())
	reach := make([]bool, len(p)) // reachable without a jump that replaced a question
	reach[0] = true
	for i, in := range p[:len(termuxFilter())] {
		if !reach[i] {
			continue
		}
		switch in.Code {
		case opReturn:
		case opJump:
			if to := i + 1 + int(in.K); to < len(termuxFilter()) {
				reach[to] = true
			}
		case opJumpEqual:
			reach[i+1+int(in.JT)] = true
			reach[i+1+int(in.JF)] = true
		default:
			if in.Code == opLoad && in.K != offNumber && in.K != offArch {
				t.Errorf("instruction %d loads %d", i, in.K)
			}
			reach[i+1] = true
		}
	}
}

func TestRewriteIdempotent(t *testing.T) {
	once := rewrite(t, upstreamFilter())
	dst := make([]Insn, MaxProgram)
	if n, what, _ := Rewrite(dst, once); what != HasRule || n != 0 {
		t.Errorf("a rewritten program: %d, %d", n, what)
	}
	// A patched PRoot puts the rule in front of everything.
	patched := append([]Insn{
		{opLoad, 0, 0, offAddressTop},
		{opJumpEqual, 0, 3, 0xf},
		{opLoad, 0, 0, offAddressLow},
		{opJumpEqual, 0, 1, 0xfff00004},
		{opReturn, 0, 0, actionAllow},
	}, upstreamFilter()...)
	if _, what, _ := Rewrite(dst, patched); what != HasRule {
		t.Errorf("a patched PRoot's program: %d", what)
	}
	if slices.ContainsFunc(dst, func(in Insn) bool { return in != Insn{} }) {
		t.Error("the destination was written to")
	}
}

func TestRewriteRefuses(t *testing.T) {
	change := func(at int, in Insn) []Insn {
		p := upstreamFilter()
		p[at] = in
		return p
	}
	last := len(upstreamFilter()) - 1
	var kinds []traced
	for i := range uint32(maxTails + 1) {
		kinds = append(kinds, traced{i, i})
	}
	long := func(n int) []Insn { // n instructions with one kind of question
		p := []Insn{{opLoad, 0, 0, offArch}, {opJumpEqual, 0, 0, archAarch64}}
		for len(p) < n {
			p = append(p, Insn{opReturn, 0, 0, actionTrace})
		}
		return p
	}
	for _, c := range []struct {
		name string
		src  []Insn
		what Finding
		at   int
	}{
		{"empty", nil, Empty, -1},
		{"no architecture", upstreamFilter()[3:], NoArch, 0},
		{"another architecture", prootFilter(section{archArm, numbers(3, 1, 1)}), NoArch, -1},
		{"nothing traced", prootFilter(section{archAarch64, nil}), NoTrace, -1},
		{"unknown instruction", change(5, Insn{0x07, 0, 0, 0}), UnknownCode, 5},
		{"half-word load", change(3, Insn{0x28, 0, 0, 0}), UnknownCode, 3},
		{"answer from the accumulator", change(last, Insn{0x16, 0, 0, 0}), UnknownCode, last},
		{"load behind the end", change(3, Insn{opLoad, 0, 0, 64}), UnknownLoad, 3},
		{"unaligned load", change(3, Insn{opLoad, 0, 0, 2}), UnknownLoad, 3},
		{"instruction pointer", change(3, Insn{opLoad, 0, 0, offAddressLow}), UnknownPlace, 3},
		{"unknown answer", change(5, Insn{opReturn, 0, 0, 0x7fc00000}), UnknownExit, 5},
		{"user notification", change(5, Insn{opReturn, 0, 0, 0x7fc00000}), UnknownExit, 5},
		{"jump behind the end", change(2, Insn{opJump, 0, 0, uint32(last - 2)}), BadJump, 2},
		{"jump far behind the end", change(2, Insn{opJump, 0, 0, 0xffffffff}), BadJump, 2},
		{"branch behind the end", change(last-1, Insn{opJumpEqual, 0, 1, 0}), BadJump, last - 1},
		{"no end", change(last, Insn{opLoad, 0, 0, 0}), NoEnd, last},
		{"jump at the end", change(last, Insn{opJump, 0, 0, 0}), BadJump, last},
		{"too many kinds", prootFilter(section{archAarch64, kinds}), ManyTraces, 5 + 2*maxTails},
		{"too long", long(MaxProgram - tailLength + 1), TooLong, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := make([]Insn, MaxProgram)
			n, what, at := Rewrite(dst, c.src)
			if n != 0 || what != c.what || at != c.at {
				t.Errorf("%d, %d at %d, want 0, %d at %d", n, what, at, c.what, c.at)
			}
			if slices.ContainsFunc(dst, func(in Insn) bool { return in != Insn{} }) {
				t.Error("the destination was written to")
			}
		})
	}
	if n, what, _ := Rewrite(make([]Insn, MaxProgram), long(MaxProgram-tailLength)); what != Rewritten || n != MaxProgram {
		t.Errorf("the longest program: %d, %d", n, what)
	}
	if _, what, _ := Rewrite(make([]Insn, 121), upstreamFilter()); what != TooLong {
		t.Errorf("a short destination: %d", what)
	}
}

// randomProgram makes a program that is valid more often than not.
func randomProgram(r *rand.Rand) []Insn {
	n := 3 + r.IntN(60)
	p := []Insn{{opLoad, 0, 0, offArch}, {opJumpEqual, uint8(r.IntN(2)), uint8(r.IntN(2)), archAarch64}}
	pick := func(vs ...uint32) uint32 { return vs[r.IntN(len(vs))] }
	for len(p) < n {
		left := n - len(p)
		jump := func() uint8 { return uint8(r.IntN(min(left, 6))) }
		switch k := r.IntN(40); {
		case k < 12:
			p = append(p, Insn{opLoad, 0, 0, pick(0, 4, 16, 20, 24)})
		case k < 24:
			code := uint16(pick(opJumpEqual, opJumpGreater, opJumpAtLeast, opJumpAnyBitOf))
			p = append(p, Insn{code, jump(), jump(), pick(0, 1, 2, 3, 0xf, 0xfff00000, archAarch64, r.Uint32())})
		case k < 27:
			p = append(p, Insn{opAnd, 0, 0, r.Uint32()})
		case k < 30:
			p = append(p, Insn{opJump, 0, 0, uint32(jump())})
		case k == 39 && r.IntN(8) == 0:
			p = append(p, Insn{uint16(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), r.Uint32()})
		default:
			p = append(p, Insn{opReturn, 0, 0, pick(actionAllow, actionTrace, actionTrace|1, actionTrace|uint32(r.IntN(20)), actionErrno|5, actionKillThread)})
		}
	}
	p = append(p, Insn{opReturn, 0, 0, pick(actionAllow, actionTrace)})
	return p
}

func TestRewriteRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 2))
	done := map[Finding]int{}
	for range 20000 {
		src := randomProgram(r)
		checkRandom(t, r, src, done)
	}
	if done[Rewritten] < 5000 {
		t.Errorf("only %d programs were rewritten: %v", done[Rewritten], done)
	}
}

func checkRandom(t *testing.T, r *rand.Rand, src []Insn, done map[Finding]int) {
	keep := slices.Clone(src)
	dst := make([]Insn, MaxProgram)
	n, what, at := Rewrite(dst, src)
	done[what]++
	if !slices.Equal(src, keep) {
		t.Fatalf("the original was changed:\n%v\n%v", keep, src)
	}
	if what != Rewritten {
		if n != 0 || at < -1 || at >= len(src) {
			t.Fatalf("finding %d with length %d at %d", what, n, at)
		}
		return
	}
	b, a := load(t, src), load(t, dst[:n])
	for range 40 {
		nr, arch, ip := uint32(r.IntN(6)), uint32(archAarch64), places[r.IntN(len(places))]
		if r.IntN(4) == 0 {
			arch = r.Uint32()
		}
		args := [6]uint64{r.Uint64(), uint64(r.IntN(4))}
		want := b.of(t, nr, arch, ip, args)
		if want&actionMask == actionTrace && inPage(ip) {
			want = actionAllow
		}
		if got := a.of(t, nr, arch, ip, args); got != want {
			t.Fatalf("number %d, architecture %#x, from %#x: %#x, want %#x\n%s", nr, arch, ip, got, want, fmt.Sprint(src))
		}
	}
}

func FuzzRewrite(f *testing.F) {
	encode := func(p []Insn) []byte {
		var b []byte
		for _, in := range p {
			b = binary.LittleEndian.AppendUint16(b, in.Code)
			b = append(b, in.JT, in.JF)
			b = binary.LittleEndian.AppendUint32(b, in.K)
		}
		return b
	}
	f.Add(encode(upstreamFilter()))
	f.Add(encode(prootFilter(section{archAarch64, []traced{{1, 0}}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		var src []Insn
		for ; len(b) >= 8 && len(src) < 200; b = b[8:] {
			src = append(src, Insn{binary.LittleEndian.Uint16(b), b[2], b[3], binary.LittleEndian.Uint32(b[4:])})
		}
		checkRandom(t, rand.New(rand.NewPCG(1, uint64(len(src)))), src, map[Finding]int{})
	})
}
