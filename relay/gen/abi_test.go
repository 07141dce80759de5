package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/tests/faults"
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
	args := []string{"-O2", "-pthread", "-mbranch-protection=standard", `-DBASE="` + dir + `"`, "-o", exe}
	for _, name := range []string{"abi.c", "abigate.c", "abigate.S", "abiregs.c", "abisig.c", "abifind.c", "abiproc.c",
		"abiclone.c", "abifault.c", "abimem.c", "abidebug.c", "abistep.c", "abistart.c"} {
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
		"moved-away", "interrupted", "unwinding", "threads", "cancelled", "no-descriptors", "leaks",
		"segv", "result-changed", "straddle", "freed", "leftovers", "backtrace"}
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

// ownFaults are faults of places in the entry that only the generator knows.
var ownFaults = []faults.Fault{
	{Name: "more stack than there may be", Check: "stack-depth", Mask: ^uint32(0), Was: 0xd10003ff | uint32(scratchSize)<<10, Is: 0xd10003ff | 4080<<10},
	{Name: "the end of the stack not looked for", Check: "stack-end", Mask: 0xff00001f, Was: 0xb500001d, Is: 0xd503201f},
}

// TestFaultsAreNoticed runs the checks with libraries in which one instruction of the entry is wrong.
func TestFaultsAreNoticed(t *testing.T) {
	exe, good := abiProgram(t), believer(t, nil)
	lib, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(ownFaults, faults.All...) {
		broken, err := f.Apply(lib)
		if err != nil {
			t.Error(err)
			continue
		}
		file := filepath.Join(t.TempDir(), "libsvcrelay.so")
		if err := os.WriteFile(file, broken, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := abi(file, exe, f.Check); err == nil || !strings.Contains(out, f.Check+" FAIL") {
			t.Errorf("%s: %s does not notice: %v\n%s", f.Name, f.Check, err, out)
		}
	}
}
