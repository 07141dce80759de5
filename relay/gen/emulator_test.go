package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// believing is an attest.go that believes everything: the emulator has no tracer and no filter, so that raw calls
// work without one.
const believing = `package relay

func attest() bool { return true }
`

// believer makes a library that runs its relays under the user-mode emulator, where the guest's view is the host's.
func believer(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../attest.go")
	if err != nil {
		t.Fatal(err)
	}
	ask, err := filepath.Abs("../ask.go")
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := assemble(map[string][]byte{file: []byte(believing), ask: []byte(layOnly)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(t.TempDir(), "believer.o")
	if err := os.WriteFile(object, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return link(t, object)
}

// layOnly is what the rest of the package needs of ask.go.
const layOnly = `package relay

const askHost, askMax = 0, 4096

func lay(at int, s string) bool {
	if len(s) == 0 || s[0] != '/' || len(s) >= askMax {
		return false
	}
	for i := range len(s) {
		buffer[at+i] = s[i]
	}
	buffer[at+len(s)] = 0
	return true
}
`

const sysroot = "/usr/aarch64-linux-gnu"

// emulate runs a guest program with the library preloaded.
func emulate(t *testing.T, lib string, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command("qemu-aarch64", append([]string{"-L", sysroot, "-E", "LD_PRELOAD=" + lib}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// TestRegisters enters every relayed site of the cross compiler's C library with all registers set.
func TestRegisters(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "regs")
	if msg, err := exec.Command("aarch64-linux-gnu-gcc", "-O1", "-o", exe, "../../tests/guest/regs.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	out, errs := emulate(t, believer(t), []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_STATS=1"}, exe)
	t.Logf("%s%s", out, errs)
	if strings.HasPrefix(out, "sites 0 ") {
		t.Error("no site was relayed")
	}
}
