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

	"svcrelay/tests/emulated"
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
// Further files of the relay may be replaced.
func believer(t *testing.T, replaced map[string]string) string {
	t.Helper()
	overlay, err := emulated.Overlay()
	if err != nil {
		t.Fatal(err)
	}
	overlay[source(t, "attest.go")], overlay[source(t, "ask.go")] = []byte(believing), []byte(layOnly)
	for name, text := range replaced {
		overlay[source(t, name)] = []byte(text)
	}
	o, _, err := assemble(overlay)
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

// source is the absolute name of a file of the relay.
func source(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
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

// program compiles ../../tests/guest/calls.c.
func program(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "calls")
	if msg, err := exec.Command("aarch64-linux-gnu-gcc", "-O2", "-o", exe, "../../tests/guest/calls.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return exe
}

// sameOutput runs the program with and without relays and returns the numbers of answers and failed checks, and how
// many sites of libc and of the dynamic linker were patched.
func sameOutput(t *testing.T, lib string) (figures [4]int) {
	t.Helper()
	exe, dir := program(t), t.TempDir()
	want, errs := emulate(t, lib, nil, exe, dir)
	if errs != "" {
		t.Errorf("without a configuration the library says %q", errs)
	}
	got, errs := emulate(t, lib, []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_SVC_CACHE=0", "PROOT_FP_STATS=1"}, exe, dir)
	if got != want {
		t.Errorf("with relays:\n%s\nwithout:\n%s", got, want)
	}
	m := regexp.MustCompile(`^svcrelay: pid=\d+ answered=(\d+) errors=(\d+) .* libc=(\d+) ld.so=(\d+) `).FindStringSubmatch(errs)
	if m == nil {
		t.Fatalf("statistics: %q", errs)
	}
	for i := range figures {
		figures[i], _ = strconv.Atoi(m[i+1])
	}
	return figures
}

// TestAnswers runs a program that makes calls of every kind: the relays must have answered, and none of their checks
// may have failed.
func TestAnswers(t *testing.T) {
	f := sameOutput(t, believer(t, nil))
	if f[0] < 10 || f[1] != 0 || f[2] < 20 || f[3] < 5 {
		t.Errorf("figures %d", f)
	}
}

// TestFailedChecks runs it with a dispatcher whose own check fails for many calls: they must be declined, with all
// registers as they were.
func TestFailedChecks(t *testing.T) {
	text, err := os.ReadFile("../dispatch.go")
	if err != nil {
		t.Fatal(err)
	}
	const place = "\tret, why := view.Handle(s, &f.Call)\n"
	failing := strings.Replace(string(text), place, place+"\tif few[f.Call.Arg[1]%7] != 0 {\n\t\treturn 0, 1\n\t}\n", 1)
	f := sameOutput(t, believer(t, map[string]string{"dispatch.go": failing + "\nvar few [2]byte\n"}))
	if f[0] == 0 || f[1] == 0 {
		t.Errorf("figures %d", f)
	}
}

// TestFailedConstructor runs it with a constructor whose own check fails when everything is mapped and patched: the
// process must be as without the library.
func TestFailedConstructor(t *testing.T) {
	text, err := os.ReadFile("../construct.go")
	if err != nil {
		t.Fatal(err)
	}
	const place = "\tstats.begin()\n"
	failing := strings.Replace(string(text), place, "\tif few[plan.Count] != 0 {\n\t\treturn\n\t}\n"+place, 1)
	lib := believer(t, map[string]string{"construct.go": failing + "\nvar few [2]byte\n"})
	exe, dir := program(t), t.TempDir()
	want, _ := emulate(t, lib, nil, exe, dir)
	got, errs := emulate(t, lib, []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_SVC_CACHE=0", "PROOT_FP_STATS=1"}, exe, dir)
	if got != want || errs != "" {
		t.Errorf("after a failed constructor:\n%s%s\nwithout:\n%s", got, errs, want)
	}
}
