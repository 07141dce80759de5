package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/tests/rig/toolchain"
)

// TestUnwinding leaves relayed calls by exceptions, by forced unwinding, and looks at backtraces from signal handlers.
func TestUnwinding(t *testing.T) {
	exe, dir := filepath.Join(t.TempDir(), "unwind"), t.TempDir()
	args := []string{"-O2", "-pthread", "-fnon-call-exceptions", "-fasynchronous-unwind-tables", "-o", exe, "../../tests/guest/unwind.cc"}
	if msg, err := exec.Command("aarch64-linux-gnu-g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	lib := believer(t, nil)
	env := []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_STATS=1"}
	for _, env := range [][]string{nil, env} {
		out, errs := emulate(t, lib, env, exe, dir, "200")
		for _, check := range []string{"backtrace", "exception", "blocked", "cancelled", "asynchronous", "anywhere"} {
			if !strings.Contains(out, check+" ok\n") {
				t.Errorf("environment %q: %s:\n%s%s", env, check, out, errs)
			}
		}
		if (errs == "") != (env == nil) {
			t.Errorf("environment %q: %s", env, errs)
		}
	}
}

// TestAsked has another library that wants to be asked for loaded objects, for the C libraries that are at hand: it must be
// asked as it would be without ours, whichever table of symbols it has, and be the first library that is shown.
func TestAsked(t *testing.T) {
	lib := believer(t, nil)
	for _, name := range []string{"bullseye", "bookworm", "trixie", "forky", "musl", "musl-sid"} {
		cc, err := toolchain.For(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"gnu", "sysv"} {
			dir := t.TempDir()
			exe, other := filepath.Join(dir, "asks"), filepath.Join(dir, "libasked.so")
			source, style := []string{"../../tests/guest/asked.c"}, "-Wl,--hash-style="+table
			args := append(cc.CompileFlags(), "-O2", "-fPIC", "-shared", "-nostdlib", style, "-o", other)
			if out, err := exec.Command(toolchain.Prefix+"gcc", append(args, source...)...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", name, err, out)
			}
			flags := []string{"-DPROGRAM", other, "-Wl,-rpath," + dir}
			if name == "bullseye" {
				flags = append(flags, "-Wl,--no-as-needed", "-ldl") // where dlsym was then
			}
			if err := cc.Compile(t.Context(), exe, source, flags...); err != nil {
				t.Fatal(err)
			}
			for ours, preload := range []string{"", lib} {
				want := fmt.Sprintf("objects some, asked 1, first libasked.so, ours %d\n", ours)
				cmd := exec.Command("qemu-aarch64", "-L", cc.Sysroot, "-E", "LD_PRELOAD="+preload, exe)
				cmd.Env = append(os.Environ(), "PROOT_FP_ROOT=/", "PROOT_FP_KEY=k")
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
					t.Errorf("%s, table %s, with %q: %v: %s, not %s", name, table, preload, err, out, want)
				}
			}
		}
	}
}

// TestSanitized runs a program that does not start where the first library is not its own.
func TestSanitized(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "sanitized")
	source := filepath.Join(t.TempDir(), "sanitized.c")
	text := `#include <stdio.h>
#include <sys/stat.h>
int main(void) { struct stat st; return printf("stat %d\n", stat("/", &st)) < 0; }
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(toolchain.Prefix+"gcc", "-fsanitize=address", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	for _, env := range [][]string{nil, {"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k"}} {
		// What looks for leaks does not work in the emulator.
		out, errs := emulate(t, believer(t, nil), append(env, "ASAN_OPTIONS=detect_leaks=0"), exe)
		if out != "stat 0\n" || errs != "" {
			t.Errorf("environment %q: %s%s", env, out, errs)
		}
	}
}
