package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// broken are changes of one line of the library's sources, and the check that must notice each.
var broken = []struct {
	name, file, was, is, check string
}{
	{"a pointer to read is believed", "../nocgo/probe.go",
		"return !tagged(addr) && Raw(SysRtSigprocmask, ^uintptr(0), addr, 0, 8, 0, 0) == Fail(EINVAL)", "return !tagged(addr)", "straddle"},
	{"a pointer to read is believed, and faults", "../nocgo/probe.go",
		"return !tagged(addr) && Raw(SysRtSigprocmask, ^uintptr(0), addr, 0, 8, 0, 0) == Fail(EINVAL)", "return !tagged(addr)", "segv"},
	{"a page to write is believed", "../nocgo/probe.go",
		"addr&(probeGranule-1) <= probeGranule-8 && Raw(SysRtSigprocmask, 0, 0, addr, 8, 0, 0) == 0", "addr > probeGranule", "freed"},
	{"too much is written", "../translate/memory.go", "for ; i+32 <= n; i += 32 {", "for ; i <= n; i += 32 {", "straddle"},
	{"a descriptor is left", "../translate/memory.go", "\ti := uintptr(0)\n", "\tconst dup = 23\n\tnocgo.Raw(dup, 0, 0, 0, 0, 0, 0)\n\ti := uintptr(0)\n", "leftovers"},
	{"those who unwind do not know the page", "unwind.go", "\tnocgo.StoreRelease64(&u.page, pageAddr)\n", "", "unwinding"},
	{"libgcc does not know the page", "unwind.go", "\tcodeSize, 0, 0, //", "\t0, 0, 0, //", "backtrace"},
	{"an answer that nobody expects is another", "dispatch.go", "\treturn ret, 0\n", "\tif ret > 999 && ret < 1010 {\n\t\tret = 3\n\t}\n\treturn ret, 0\n", "result-changed"},
}

// TestBrokenSourcesAreNoticed runs the checks of memory with libraries in which one line is wrong.
func TestBrokenSourcesAreNoticed(t *testing.T) {
	exe := abiProgram(t)
	for _, b := range broken {
		text, err := os.ReadFile(filepath.Join("..", b.file))
		if err != nil {
			t.Fatal(err)
		}
		wrong := strings.Replace(string(text), b.was, b.is, 1)
		if wrong == string(text) {
			t.Errorf("%s: %s has no such line", b.name, b.file)
			continue
		}
		lib := believer(t, map[string]string{b.file: wrong})
		if out, err := abi(lib, exe, "-n", "2", b.check); err == nil || !strings.Contains(out, b.check+" FAIL") {
			t.Errorf("%s: %s does not notice: %v\n%s", b.name, b.check, err, out)
		}
	}
}
