package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBridge redirects the calls of functions like those of glibc 2.41 and musl: every register but x8, x16 and x17, and
// what is made of the calls, must be as without relays.
func TestBridge(t *testing.T) {
	relays, dir := believer(t, nil), t.TempDir()
	file, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"GLIBC", "MUSL"} {
		dir := t.TempDir()
		lib, exe := filepath.Join(dir, "librt.so.1"), filepath.Join(dir, "bridge")
		for _, args := range [][]string{
			{"-DLIBRARY", "-D" + kind, "-shared", "-Wl,-soname,librt.so.1", "-nostdlib", "-o", lib, "../../tests/guest/bridge.c"},
			{"-O2", "-Wall", "-o", exe, "../../tests/guest/bridge.c", lib},
		} {
			if msg, err := exec.Command("aarch64-linux-gnu-gcc", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
		}
		run := func(env ...string) (out, figures string) {
			cmd := exec.Command("qemu-aarch64", "-L", sysroot, "-E", "LD_PRELOAD="+relays, "-E", "LD_LIBRARY_PATH="+dir, exe, file, fifo)
			cmd.Env = append(cmd.Environ(), env...)
			var errs strings.Builder
			cmd.Stderr = &errs
			text, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v:\n%s%s", kind, err, text, errs.String())
			}
			return string(text), errs.String()
		}
		without, _ := run()
		if strings.Contains(without, ", 1 changed") || strings.Count(without, ", 0 changed") != 200 || !strings.HasPrefix(without, "redirected 0\n") {
			t.Errorf("%s, without relays:\n%s", kind, without)
		}
		got, figures := run("PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_STATS=1")
		if want := strings.Replace(without, "redirected 0", "redirected 1", 1); got != want {
			t.Errorf("%s, with relays:\n%s", kind, got)
		}
		if !strings.Contains(figures, " answered:56=") || !strings.Contains(figures, " declined:56/waits=") || !strings.Contains(figures, " declined:260/effect=") {
			t.Errorf("%s: the calls were not seen: %s", kind, figures)
		}
	}
}
