package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestShadowStack runs programs with a library that takes the signal for a parent's death, which a program keeps when it
// turns into another, for the state of a second stack of return addresses, which the emulator does not have: with an odd one
// nothing may be patched.
func TestShadowStack(t *testing.T) {
	text, err := os.ReadFile("../shadow.go")
	if err != nil {
		t.Fatal(err)
	}
	feigned := strings.NewReplacer("hwcapGCS        = 1 << 32", "hwcapGCS        = 1", "getShadowStack  = 74", "getShadowStack  = 2").Replace(string(text))
	if strings.Contains(feigned, "= 1 << 32") || strings.Contains(feigned, "= 74") {
		t.Fatal("the constants are not there")
	}
	lib, exe, dir := believer(t, map[string]string{"shadow.go": feigned}), program(t), t.TempDir()
	for signal, at := range map[string]bool{"clear": true, "USR1": true, "USR2": true, "KILL": false} { // 0, 10, 12 and 9
		cmd := exec.Command("setpriv", "--pdeathsig", signal, "qemu-aarch64", "-L", sysroot, "-E", "LD_PRELOAD="+lib, exe, dir)
		cmd.Env = append(os.Environ(), "PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_SVC_CACHE=0", "PROOT_FP_STATS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if works := strings.Contains(string(out), "svcrelay: pid="); works != at {
			t.Errorf("signal %s: relays %v, want %v", signal, works, at)
		}
	}
}
