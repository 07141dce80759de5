package patcher

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"svcrelay/tests/disassembly"
	"svcrelay/tests/libraries"
)

// TestEveryWord compares the decoder with two independent ones on every word of the executable segments of all C
// libraries and loaders, data in between included: arm64asm, and objdump for what that does not know.
func TestEveryWord(t *testing.T) {
	words := allWords(t)
	gnu, both := 0, 0
	for i, text := range disassemble(t, words) {
		w := words[i]
		if strings.HasPrefix(text, ".inst") || strings.Contains(text, "undefined") {
			continue // no instruction; arm64asm takes some of these for one
		}
		gnu++
		if d := disagreement(w, disassembly.Read(text), goalOf(t, disassembly.Read(text), 4*i)); d != "" {
			t.Errorf("%#08x, to objdump %q: %s", w, text, d)
		}
		in, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, w))
		if err != nil {
			continue
		}
		both++
		if d := disagreement(w, disassembly.Read(arm64asm.GNUSyntax(in)), goal(in)); d != "" {
			t.Errorf("%#08x, to arm64asm %q: %s", w, arm64asm.GNUSyntax(in), d)
		}
	}
	t.Logf("%d different words; objdump knows %d of them, both know %d", len(words), gnu, both)
	if len(words) < 300000 || both < len(words)/2 {
		t.Error("too few were compared")
	}
}

// goalOf is where objdump says that the branch at an address goes, counted from itself.
func goalOf(t *testing.T, r disassembly.Reading, at int) int64 {
	if !r.Branches() {
		return 0
	}
	to, err := strconv.ParseUint(r.Ops[len(r.Ops)-1], 0, 64)
	if err != nil {
		t.Fatalf("objdump: %v", r)
	}
	return int64(to) - int64(at)
}

// allWords gives the words of all libraries, each once, in order.
func allWords(t *testing.T) []uint32 {
	words := map[uint32]bool{}
	for _, l := range libraries.All(t) {
		code, err := l.Code()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range code {
			for _, w := range c.Words {
				words[w] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(words))
}

// goal is where a branch goes, counted from itself.
func goal(in arm64asm.Inst) int64 {
	for _, a := range in.Args {
		if to, ok := a.(arm64asm.PCRel); ok {
			return int64(to)
		}
	}
	return 0
}

// disassemble gives objdump's text for each word, which it finds one after the other from address 0.
func disassemble(t *testing.T, words []uint32) []string {
	t.Helper()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	file := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("aarch64-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "aarch64", file).Output()
	if err != nil {
		t.Fatalf("objdump: %v (package binutils-aarch64-linux-gnu)", err)
	}
	var texts []string
	for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
		if f := strings.SplitN(in.Text(), "\t", 3); len(f) == 3 && strings.HasSuffix(f[0], ":") {
			if v, err := strconv.ParseUint(strings.TrimSpace(f[1]), 16, 32); err != nil || uint32(v) != words[len(texts)] {
				t.Fatalf("objdump: %q for %#x", in.Text(), words[len(texts)])
			}
			texts = append(texts, f[2])
		}
	}
	if len(texts) != len(words) {
		t.Fatalf("objdump gives %d lines for %d words", len(texts), len(words))
	}
	return texts
}

// disagreement says in what the decoder differs from a reading; it may only take more instructions of the load and store
// class and of the vector classes for writing a register than do.
func disagreement(w uint32, r disassembly.Reading, to int64) string {
	if is := r.Name == "svc" && slices.Equal(r.Ops, []string{"#0x0"}); is != (w == SVC) {
		return "svc #0"
	}
	if leaves(w) != r.Leaves() {
		return fmt.Sprintf("leaves: %v", leaves(w))
	}
	if isCall(w) != r.Calls() {
		return fmt.Sprintf("a call: %v", isCall(w))
	}
	const at = 1 << 30
	got, is := target(at, w)
	if is != r.Branches() || is && got != uintptr(at+to) {
		return fmt.Sprintf("a branch: %v, by %d", is, int64(got)-at)
	}
	if w&31 != 31 {
		v, is := constant(w)
		if want, ok := r.Constant(); is != ok || is && uint64(v) != want {
			return fmt.Sprintf("a constant: %v, %#x", is, v)
		}
		src, is := copied(w)
		if want, ok := r.Copies(); is != ok || is && src != want {
			return fmt.Sprintf("a copy: %v, of register %d", is, src)
		}
	}
	writes := r.Writes()
	class := w >> 25 & 15
	exact := class == 8 || class == 9 || class == 5 || class == 13
	for reg := uint32(0); reg < 31; reg++ {
		may, does := mayWrite(w, reg), slices.Contains(writes, reg)
		if isCall(w) {
			continue // Number asks for calls itself: they may write more than one register
		}
		if does && !may || exact && may != does {
			return fmt.Sprintf("writes x%d: %v, and the other says %d", reg, may, writes)
		}
	}
	return ""
}
