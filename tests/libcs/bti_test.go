package libcs

import (
	"context"
	"path/filepath"
	"testing"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/toolchain"
)

// TestBranchTargets runs a program of protected code on a processor that enforces it, in a guest whose C library is
// protected too: the branches that the library writes there, and those back, need no targets.
func TestBranchTargets(t *testing.T) {
	rig.NeedVM(t)
	const g = "trixie"
	cc, err := toolchain.For(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	s := suite{name: "bti", sources: "bti/*.c", flags: []string{"-pthread", "-mbranch-protection=standard", "-Wl,-z,force-bti", "-nostartfiles"},
		ways: []way{underPRoot, relayed}, judge: judgeTargets}
	for _, start := range []string{"Scrt1.o", "crti.o", "crtn.o"} { // those of the compiler's own are not protected
		s.flags = append(s.flags, filepath.Join(cc.Sysroot, "usr/lib/aarch64-linux-gnu", start))
	}
	run(t, rig.Job{CPU: "max", Guests: []string{g}}, []suite{s})
}

func judgeTargets(t *testing.T, got []rig.Outcome) {
	for i, stops := range []string{"some", "none"} {
		want := "own code protected 1, C library's 1, enforced 1\nstops " + stops + "\nwrong 0\n"
		if ended(t, got[i], "") && string(got[i].Stdout) != want {
			t.Errorf("%s:\n%swant:\n%s", got[i].Name, got[i].Stdout, want)
		}
	}
}
