package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
