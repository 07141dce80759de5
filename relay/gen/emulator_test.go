package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// believing is an attest.go that believes everything: the emulator has no tracer and no filter, so that raw calls
// work without one.
const believing = `package relay

func attest() bool {
	proc.alone = true
	return true
}
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

// TestAnswers runs a program that makes calls of every kind with and without relays, whose view is the host's: the
// outputs must be equal, and the statistics must say that the relays answered and that none of their checks failed.
func TestAnswers(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "calls")
	if msg, err := exec.Command("aarch64-linux-gnu-gcc", "-O1", "-o", exe, "testdata/calls.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	lib := believer(t)
	dir := t.TempDir()
	want, errs := emulate(t, lib, nil, exe, dir)
	if errs != "" {
		t.Errorf("without a configuration the library says %q", errs)
	}
	got, errs := emulate(t, lib, []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_STATS=1"}, exe, dir)
	if got != want {
		t.Errorf("with relays:\n%s\nwithout:\n%s", got, want)
	}
	m := regexp.MustCompile(`^svcrelay: pid=\d+ answered=(\d+) errors=0 .* libc=(\d+) ld.so=(\d+) `).FindStringSubmatch(errs)
	if m == nil {
		t.Fatalf("statistics: %q", errs)
	}
	for i, least := range []int{10, 20, 5} {
		if n, _ := strconv.Atoi(m[i+1]); n < least {
			t.Errorf("figure %d of %q is below %d", i+1, errs, least)
		}
	}
}
