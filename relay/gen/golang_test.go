package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"svcrelay/tests/rig/toolchain"
)

// TestGoProgram runs a program with the note that Go's linker leaves, and one without: only that has relays, and says so at
// its end.
func TestGoProgram(t *testing.T) {
	source := filepath.Join(t.TempDir(), "main.c")
	text := `#include <sys/stat.h>
#ifdef GO
__asm__(".pushsection .note.go.buildid, \"a\", %note\n.long 4, 8, 4\n.ascii \"Go\\0\\0build-id\"\n.popsection");
#endif
int main(void) { struct stat st; return stat("/", &st); }
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := believer(t, nil)
	for _, flags := range [][]string{nil, {"-no-pie"}} {
		for _, of := range []string{"-UGO", "-DGO"} {
			exe := filepath.Join(t.TempDir(), "program")
			if msg, err := exec.Command(toolchain.Prefix+"gcc", append(flags, of, "-o", exe, source)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, msg)
			}
			_, errs := emulate(t, lib, []string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_STATS=1"}, exe)
			if (errs == "") != (of == "-DGO") {
				t.Errorf("%v %s: %q", flags, of, errs)
			}
		}
	}
}
