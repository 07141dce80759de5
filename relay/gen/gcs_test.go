package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/emulator"
	"svcrelay/tests/rig/toolchain"
)

// How the C library is told whether to turn on the second stack of return addresses (glibc 2.42 and later).
const (
	gcsNever    = "0"
	gcsEnforced = "1" // and start no program of which a part is not made for it
	gcsOptional = "2" // if all parts are made for it
	gcsAlways   = "3"
)

// shadower runs programs of a C library that knows the second stack, with an emulator that has it.
type shadower struct {
	t    *testing.T
	qemu string
	cc   *toolchain.Toolchain
	dir  string
}

func newShadower(t *testing.T) *shadower {
	t.Helper()
	rig.NeedTime(t) // it downloads an emulator
	ctx := context.Background()
	qemu, err := emulator.User(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cc, err := toolchain.For(ctx, "forky")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "gcs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &shadower{t, qemu, cc, dir}
}

// compile makes a program of files of tests/guest.
func (s *shadower) compile(files []string, flags ...string) string {
	s.t.Helper()
	exe := filepath.Join(s.t.TempDir(), "program")
	var sources []string
	for _, f := range files {
		sources = append(sources, filepath.Join("../../tests/guest", f))
	}
	if err := s.cc.Compile(context.Background(), exe, sources, flags...); err != nil {
		s.t.Fatal(err)
	}
	return exe
}

// run starts a program with a library; an empty name stands for none.
func (s *shadower) run(mode, lib string, args ...string) (stdout, stderr string, err error) {
	// An address space of its own: beside the emulator's there is not always room where the checks want it.
	line := []string{"-R", "0x8000000000", "-cpu", "max,pauth-impdef=on", "-L", s.cc.Sysroot}
	if lib != "" {
		line = append(line, "-E", "LD_PRELOAD="+lib)
	}
	cmd := exec.Command(s.qemu, append(line, args...)...)
	cmd.Env = append(os.Environ(), "GLIBC_TUNABLES=glibc.cpu.aarch64_gcs="+mode,
		"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_SVC_CACHE=0", "PROOT_FP_STATS=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

const works = "svcrelay: pid=" // what a library whose relays are used says at the end

// failures matches what it says if checks of its own failed.
var failures = regexp.MustCompile(` errors=[1-9]`)

// TestRealShadowStack runs a program that has the second stack from its start, in each way in which the C library turns it
// on. The library must not keep it from that, and does nothing there.
func TestRealShadowStack(t *testing.T) {
	s, lib := newShadower(t), believer(t, nil)
	usr := filepath.Join(s.cc.Sysroot, "usr/lib/aarch64-linux-gnu")
	marked := s.compile([]string{"gcs.c"}, "-DMARKED", "-nostartfiles", "-pie", "-fPIE",
		filepath.Join(usr, "Scrt1.o"), filepath.Join(usr, "crti.o"), filepath.Join(usr, "crtn.o"))
	for _, c := range []struct {
		mode string
		on   bool
	}{{gcsNever, false}, {gcsEnforced, true}, {gcsOptional, true}, {gcsAlways, true}} {
		want, _, err := s.run(c.mode, "", marked, s.dir)
		if err != nil || strings.HasPrefix(want, "status 1\n") != c.on {
			t.Fatalf("mode %s, without the library: %v\n%s", c.mode, err, want)
		}
		got, errs, err := s.run(c.mode, lib, marked, s.dir)
		if err != nil || got != want || strings.Contains(errs, works) == c.on {
			t.Errorf("mode %s: %v\n%s%s\nwithout the library:\n%s", c.mode, err, got, errs, want)
		}
	}

	// A library that does not say what it is made for keeps such a program from starting: the test can tell.
	text, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	property := []byte{'G', 'N', 'U', 0, 0, 0, 0, 0xc0, 4, 0, 0, 0, 4}
	if bytes.Count(text, property) != 1 {
		t.Fatal("the library has no mark")
	}
	unmarked := filepath.Join(t.TempDir(), "libsvcrelay.so")
	if err := os.WriteFile(unmarked, bytes.Replace(text, property, append(property[:12:12], 0), 1), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, err := s.run(gcsEnforced, unmarked, marked, s.dir); err == nil {
		t.Errorf("without the mark: %s", out)
	}
}

// TestShadowStackLater runs a program that turns the second stack on when the relays are there.
func TestShadowStackLater(t *testing.T) {
	s := newShadower(t)
	exe := s.compile([]string{"gcs.c"})
	want, _, err := s.run(gcsNever, "", exe, s.dir, "later")
	if err != nil || !strings.HasPrefix(want, "status 1\n") {
		t.Fatalf("%v\n%s", err, want)
	}
	lib := believer(t, nil)
	got, errs, err := s.run(gcsNever, lib, exe, s.dir, "later")
	if err != nil || got != want || !strings.Contains(errs, works) {
		t.Errorf("%v\n%s%s\nwithout the library:\n%s", err, got, errs, want)
	}
	for _, n := range []string{" answered:", " declined:"} {
		if !strings.Contains(errs, n) {
			t.Errorf("nothing%s: %s", n, errs)
		}
	}
	if out, _, err := s.run(gcsNever, returning(t, lib), exe, s.dir, "later"); err == nil {
		t.Errorf("a library whose stack is not kept in order works: %s", out)
	}
}

// returning makes a copy of a library in which nothing is taken off the second stack.
func returning(t *testing.T, lib string) string {
	t.Helper()
	text, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	pop, nop := []byte{0x30, 0x77, 0x2b, 0xd5}, []byte{0x1f, 0x20, 0x03, 0xd5}
	if n := bytes.Count(text, pop); n < 3 {
		t.Fatalf("%d places take something off the second stack", n)
	}
	file := filepath.Join(t.TempDir(), "libsvcrelay.so")
	if err := os.WriteFile(file, bytes.ReplaceAll(text, pop, nop), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// unshadowed is a shadow.go that sees no second stack, so that relays work where there is one.
func unshadowed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../shadow.go")
	if err != nil {
		t.Fatal(err)
	}
	const answer = "&& shadowStack[0]&shadowStackOn != 0"
	if !strings.Contains(string(text), answer) {
		t.Fatal("the answer is not there")
	}
	return strings.Replace(string(text), answer, "&& shadowStack[0]&shadowStackOn > shadowStackOn", 1)
}

// TestInvisibleShadowed makes the checks with relays that work although the second stack is on from the start: every way
// through a relay must leave it in order. Left out is what a program cannot do there even without relays (moved-away), and
// what needs libraries to unwind with.
func TestInvisibleShadowed(t *testing.T) {
	s := newShadower(t)
	lib := believer(t, map[string]string{"shadow.go": unshadowed(t)})
	exe := s.compile([]string{"abi.c", "abigate.c", "abigate.S", "abiregs.c", "abisig.c", "abifind.c", "abiproc.c",
		"abiclone.c", "abifault.c", "abimem.c", "abidebug.c", "abistep.c", "abistart.c"}, "-pthread", "-mbranch-protection=standard", `-DBASE="`+s.dir+`"`, "-lgcc_eh")
	checks := []string{"registers", "stack-end", "stack-depth", "stack-growth", "errno", "mte", "sve", "sme", "small-stacks", "local-stack",
		"contexts", "jump-out", "interrupted", "threads", "no-descriptors", "leaks", "segv", "result-changed", "straddle", "freed", "leftovers"}
	out, errs, err := s.run(gcsAlways, lib, append([]string{exe, "-n", "10"}, checks...)...)
	if err != nil {
		t.Errorf("%v:\n%s%s", err, out, errs)
	}
	for _, c := range checks {
		if !strings.Contains(out, "\n"+c+" ok") {
			t.Errorf("%s was not checked:\n%s", c, out)
		}
	}
	if out, _, err := s.run(gcsAlways, returning(t, lib), exe, "-n", "10", "registers"); err == nil {
		t.Errorf("a library whose stack is not kept in order passes: %s", out)
	}
}

// TestFailedChecksShadowed is TestFailedChecks there: what was called when the check failed must be forgotten.
func TestFailedChecksShadowed(t *testing.T) {
	s := newShadower(t)
	text, err := os.ReadFile("../dispatch.go")
	if err != nil {
		t.Fatal(err)
	}
	const place = "\tret, why := view.Handle(s, &f.Call)\n"
	failing := strings.Replace(string(text), place, "\tif deeper(f.Call.Arg[1]) != 0 {\n\t\treturn 0, 1\n\t}\n"+place, 1) // before anything is done
	failing += "\nvar few [2]byte\n\n//go:noinline\nfunc deeper(n uintptr) uintptr {\n\treturn uintptr(few[n%7])\n}\n"
	lib := believer(t, map[string]string{"shadow.go": unshadowed(t), "dispatch.go": failing})
	exe := s.compile([]string{"gcs.c"})
	want, _, err := s.run(gcsAlways, "", exe, s.dir)
	if err != nil || !strings.HasPrefix(want, "status 1\n") {
		t.Fatalf("%v\n%s", err, want)
	}
	got, errs, err := s.run(gcsAlways, lib, exe, s.dir)
	if err != nil || got != want || !strings.Contains(errs, works) || !failures.MatchString(errs) {
		t.Errorf("%v\n%s%s\nwithout the library:\n%s", err, got, errs, want)
	}
}
