package libcs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"svcrelay/tests/rig"
)

// cancelSuite are the cases of tests/guest/libcs/cancel as plain C, where the thread library calls cleanup handlers. What
// PRoot gives with the library must be what it gives without. Where PRoot itself gives something else than the kernel (a
// call that it has translated fails when it is restarted after a signal), the kernel's outcome is as good.
var cancelSuite = suite{name: "cancel", sources: "cancel/*.c", flags: []string{"-pthread", "-ldl"}, args: []string{},
	ways: []way{natively, underPRoot, relayed}, judge: judgeCancel}

// unwoundSuite are the cases that differ as C with exceptions, where cleanup handlers run while the stack is unwound. musl
// never unwinds.
var unwoundSuite = suite{name: "unwound", sources: "cancel/*.c", noMusl: true,
	// The compiler's own libgcc_s may be newer than the guest's C library.
	flags: []string{"-pthread", "-ldl", "-fexceptions", "-fno-plt", "-Wl,--allow-shlib-undefined"},
	args:  []string{"open-read-", "-asynchronous", "wait-deferred", "waitpid-deferred", "waitid-deferred", "-order", "exit-in-handler", "nested", "specific", "deep"},
	ways:  []way{natively, underPRoot, relayed}, judge: judgeCancel}

func judgeCancel(t *testing.T, got []rig.Outcome) {
	for _, o := range got {
		ended(t, o, "all cases done\n")
	}
	n, problems := compare(string(got[0].Stdout), string(got[1].Stdout), string(got[2].Stdout))
	for _, p := range problems {
		t.Error(p)
	}
	t.Logf("%d cases; in %d PRoot differs from the kernel", n.cases, n.proots)
	loss(t, got)
}

// count is how many cases there are, and in how many of them PRoot alone differs from the kernel.
type count struct{ cases, proots int }

var hung = regexp.MustCompile(`(?m)^case (\S+) hung.*`)

// compare says what is wrong with the lines of a suite with the library.
func compare(native, without, with string) (n count, problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	a, b, c := strings.Split(native, "\n"), strings.Split(without, "\n"), strings.Split(with, "\n")
	if len(a) < 3 || len(a) != len(b) || len(a) != len(c) || !strings.HasSuffix(with, "all cases done\n") {
		wrong("%d lines natively, %d under PRoot, %d with the library", len(a), len(b), len(c))
		return n, problems
	}
	for i := range a {
		switch line := hung.FindString(c[i]); {
		case line != "":
			wrong("with the library: %s", line)
		case hung.MatchString(a[i]):
			wrong("without PRoot: %s", a[i])
		case c[i] != b[i] && c[i] != a[i]:
			wrong("with:    %s\nwithout: %s\nnative:  %s", c[i], b[i], a[i])
		}
		if a[i] != b[i] {
			n.proots++
		}
	}
	n.cases = len(a) - 2
	return n, problems
}

var left = regexp.MustCompile(`(?m)^(\S+) left (\d+) of (\d+)$`)

// loss compares how many descriptors were lost to cancellations at moments that differ from run to run.
func loss(t *testing.T, got []rig.Outcome) {
	t.Helper()
	for i := range left.FindAllStringSubmatch(string(got[1].Stderr), -1) {
		var text []string
		var lost [3]int
		for j, o := range got {
			m := left.FindAllStringSubmatch(string(o.Stderr), -1)
			if i >= len(m) {
				t.Fatalf("%s: %s", o.Name, o.Stderr)
			}
			text = append(text, m[i][0])
			fmt.Sscan(m[i][2], &lost[j])
		}
		t.Log("natively, under PRoot, with the library: ", strings.Join(text, ", "))
		// Where a cancellation may lose a descriptor, how many it loses depends on how long the thread is in open. A
		// second one in one round counts as wrong in the case itself.
		if lost[0] == 0 && lost[1] == 0 && lost[2] != 0 {
			t.Errorf("%d descriptors lost with the library, none without", lost[2])
		}
	}
}
