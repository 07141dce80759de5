package abi

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

// session is what is asked of gdb, and what it must answer, in this order.
var session = []struct {
	ask     string
	answers string // a regular expression for all that it says; none: anything
}{
	{"set startup-with-shell off", ""},
	{"break work", ""},
	{"run", `Breakpoint 1, work \(`},
	{"tbreak look", ""},
	{"continue", `Temporary breakpoint 2, look \(`},
	{"bt", `(?s)#0 .*look \(.*#1 .* work \(.*#2 .* main \(`},
	{"finish", `(?s) work \(.*Value returned is \$1 = 0`},
	{"next", `^\d+\s`},
	{"break reached", ""},
	{"continue", `Breakpoint 3, reached \(`},
	{"bt", `(?s)#0 .*reached \(.*#1 .* handler \(.*#2 +<signal handler called>.*#3 .*#\d .* work \(.*#\d .* main \(`},
	{"finish", `(?s) handler \(`},
	{"bt", `(?s)#0 .* handler \(.*#1 +<signal handler called>.*#2 .*#\d .* work \(.*#\d .* main \(`},
	{"delete", ""},
	{"catch syscall 103", ""}, // setitimer
	{"continue", `Catchpoint 4 \((call to|returned from) syscall 103\)`},
	{"bt", `(?s)#0 .* setitimer \(\) .*#1 .* work \(.*#2 .* main \(`},
	{"delete", ""},
	{"tbreak setitimer", ""},
	{"continue", `Temporary breakpoint 5, `},
	{"stepi 5", `\t\d+\s|work \(`}, // past the call and back
	{"bt", `(?s)#0 .* work \(.*#1 .* main \(`},
	{"finish", `(?s)main \(.*Value returned is \$2 = 0`},
	{"continue", `(?s)reached [1-9]\d* bad 0\n.*exited normally`},
}

// TestGDB has gdb run a program, under PRoot alone and with the library: what it says must be right.
func TestGDB(t *testing.T) {
	rig.NeedVM(t)
	rig.NeedTime(t)
	const in, target = "debugger", "/opt/debuggee"
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	top, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	cc, err := toolchain.For(ctx, "bookworm")
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "debuggee")
	if err := cc.Compile(ctx, exe, []string{filepath.Join(top, "tests/guest/debuggee.c")}, "-g", "-O1"); err != nil {
		t.Fatal(err)
	}
	j := rig.Job{Kernel: "6.1", CPU: "cortex-a76", Guests: []string{in}, KeepOn: true, Timeout: 15 * time.Minute}
	if err := product.Add(&j, ""); err != nil {
		t.Fatal(err)
	}
	j.Files[guest.Root(in)+target] = rig.File{HostPath: exe}
	const mark = ">>> "
	argv := []string{"/usr/bin/gdb", "-batch", "-nx"}
	for _, s := range session {
		argv = append(argv, "-ex", "echo "+mark+"\\n", "-ex", s.ask)
	}
	argv = append(argv, target)
	j.Commands = []rig.Command{fresh(in), alone(in, argv...), with(in, product.Library, argv...)}
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range res.Outcomes[1:] {
		said := strings.Split(string(o.Stdout), mark+"\n")[1:]
		if len(said) != len(session) {
			t.Errorf("%s: %d answers: %s\n%s%s", o.Name, len(said), o.Stdout, o.Stderr, o.Problem)
			continue
		}
		for i, s := range session {
			if !regexp.MustCompile(s.answers).MatchString(said[i]) {
				t.Errorf("%s: %s: %q, want something like %s", o.Name, s.ask, said[i], s.answers)
			}
		}
		t.Logf("%s: %.1f s", o.Name, o.Elapsed.Seconds())
	}
}
