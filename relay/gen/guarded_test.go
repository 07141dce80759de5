package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuardedText patches sites of a library whose text may only be entered at landing pads.
func TestGuardedText(t *testing.T) {
	dir := t.TempDir()
	lib, exe := filepath.Join(dir, "librt.so.1"), filepath.Join(dir, "guarded")
	for _, args := range [][]string{
		{"-DLIBRARY", "-shared", "-Wl,-soname,librt.so.1", "-Wl,-z,force-bti", "-nostdlib", "-o", lib, "../../tests/guest/guarded.c"},
		{"-O2", "-o", exe, "../../tests/guest/guarded.c", lib},
	} {
		if msg, err := exec.Command("aarch64-linux-gnu-gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, msg)
		}
	}
	relays := believer(t, nil)
	run := func(env ...string) string {
		args := []string{"-cpu", "max", "-L", sysroot, "-E", "LD_PRELOAD=" + relays, "-E", "LD_LIBRARY_PATH=" + dir, exe, exe}
		cmd := exec.Command("qemu-aarch64", args...)
		cmd.Env = append(cmd.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		return string(out)
	}
	without := run()
	want := strings.Replace(without, "patched 0", "patched 2", 1)
	if !strings.HasPrefix(without, "guarded 1\npatched 0\nopen 1, missing -2\nstat 0 1\npid 1, no call -38\n") {
		t.Fatalf("without relays:\n%s", without)
	}
	if got := run("PROOT_FP_ROOT=/", "PROOT_FP_KEY=k"); got != want {
		t.Errorf("with relays:\n%s", got)
	}
}
