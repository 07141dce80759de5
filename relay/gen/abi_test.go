package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// abiProgram compiles the ABI suite, to work in a directory of its own.
func abiProgram(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "abi")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(t.TempDir(), "abi")
	args := []string{"-O2", "-pthread", `-DBASE="` + dir + `"`, "-o", exe}
	for _, name := range []string{"abi.c", "abigate.c", "abigate.S", "abiregs.c", "abisig.c", "abifind.c", "abiproc.c"} {
		args = append(args, filepath.Join("../../tests/guest", name))
	}
	if msg, err := exec.Command("aarch64-linux-gnu-gcc", append(args, "-lgcc_eh")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return exe
}

// abi runs checks of the suite with relays, under the user-mode emulator.
func abi(lib, exe string, checks ...string) (string, error) {
	cmd := exec.Command("qemu-aarch64", append([]string{"-L", sysroot, "-E", "LD_PRELOAD=" + lib, exe}, checks...)...)
	cmd.Env = append(os.Environ(), "PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_SVC_CACHE=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestInvisible makes the checks of registers and stacks that need no kernel of their own: the emulator has vectors of
// five lengths, streaming mode and memory tags.
func TestInvisible(t *testing.T) {
	checks := []string{"registers", "stack-end", "stack-depth", "stack-growth", "errno", "mte", "sve", "sme", "small-stacks", "local-stack", "contexts", "jump-out",
		"moved-away", "interrupted", "unwinding", "threads", "cancelled", "no-descriptors", "leaks"}
	out, err := abi(believer(t, nil), abiProgram(t), checks...)
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	for _, c := range checks {
		if !strings.Contains(out, "\n"+c+" ok") {
			t.Errorf("%s was not checked:\n%s", c, out)
		}
	}
}

const nop = 0xd503201f

// pairAt encodes a store or a load of two registers of the frame.
func pairAt(op, first, second uint32, off int64) uint32 {
	return op | uint32(off/8)<<15 | second<<10 | 31<<5 | first
}

// faults are changes of one instruction of the library, and the check that must notice each.
var faults = []struct {
	name, check   string
	mask, was, is uint32
}{
	{"flags not given back", "registers", ^uint32(0), 0xd51b4210, nop},
	{"a vector register cleared", "registers", ^uint32(0), 0xd51b4210, 0x6f00e409},
	{"fpsr changed", "registers", ^uint32(0), 0xd51b4210, 0xd51b4430},
	{"x9 and x10 not given back", "registers", ^uint32(0), pairAt(0xa9400000, 9, 10, offX9), nop},
	{"x15 and x16 not saved", "registers", ^uint32(0), pairAt(0xa9000000, 15, 16, offX9+48), nop},
	{"more stack than there may be", "stack-depth", ^uint32(0), 0xd10003ff | uint32(scratchSize)<<10, 0xd10003ff | 4080<<10},
	{"the end of the stack not looked for", "stack-end", 0xff00001f, 0xb500001d, nop},
}

// TestFaultsAreNoticed runs the checks with libraries in which one instruction of the entry is wrong.
func TestFaultsAreNoticed(t *testing.T) {
	exe, good := abiProgram(t), believer(t, nil)
	lib, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		found := -1
		for i := 0; i+4 <= len(lib) && found < 0; i += 4 {
			if binary.LittleEndian.Uint32(lib[i:])&f.mask == f.was {
				found = i
			}
		}
		if found < 0 {
			t.Errorf("%s: the instruction %#x is not there", f.name, f.was)
			continue
		}
		broken := append([]byte(nil), lib...)
		binary.LittleEndian.PutUint32(broken[found:], f.is)
		file := filepath.Join(t.TempDir(), "libsvcrelay.so")
		if err := os.WriteFile(file, broken, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := abi(file, exe, f.check); err == nil || !strings.Contains(out, f.check+" FAIL") {
			t.Errorf("%s: %s does not notice: %v\n%s", f.name, f.check, err, out)
		}
	}
}
