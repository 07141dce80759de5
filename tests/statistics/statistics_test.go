// Package statistics checks in the VM what PROOT_FP_STATS=1 and PROOT_FP_LOG say about programs, in whatever way they end.
package statistics

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// ways are the ways in which a program ends, and how often the calls of ends.c are found in each of its lines, in any
// order. 0 stands for a process or program that made none of them.
var ways = map[string][]int{
	"return": {1}, "exit": {1}, "_exit": {1}, "exit_group": {1}, "thread": {2}, "closed": {1},
	"exec":        {1, 1}, // one line for each program of the process
	"failed-exec": {1},
	"fork":        {1, 1},
	"fork-exec":   {1, 1, 1},
	"vfork":       {1}, // the child has its parent's memory, and what it counts is its parent's
	"killed":      {},  // nobody can say anything
}

// TestLines runs a program that ends in every way and adds up what was said about it.
func TestLines(t *testing.T) {
	rig.NeedVM(t)
	root := guest.Root("bookworm")
	job := rig.Job{ICount: true, Kernel: "6.1", Guests: []string{"bookworm"}, KeepOn: true, Return: []string{root + "/tmp/log-*"}}
	if err := errors.Join(product.Add(&job, ""), product.Compile(t.Context(), &job, t.TempDir(), "bookworm", "ends.c", "/opt/ends", "-pthread")); err != nil {
		t.Fatal(err)
	}
	for way := range ways {
		job.Commands = append(job.Commands, rig.Command{Name: way, Argv: product.Run(rig.PRootArgs("bookworm", nil), "/opt/ends", way),
			Env: []string{"PATH=/usr/bin:/bin", "PROOT_FP_STATS=1", "PROOT_FP_LOG=/tmp/log-" + way}})
	}
	res, err := rig.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range res.Outcomes {
		checkLines(t, o.Name, string(o.Stderr), string(res.Files[root+"/tmp/log-"+o.Name]))
	}
}

func checkLines(t *testing.T, way, said, log string) {
	line := regexp.MustCompile(`^svcrelay: pid=(\d+) answered=(\d+) errors=(\d+) last=\d+ libc=\d+ ld\.so=\d+ of=\d+(?: scanned=\d+/\d+)?(.*)$`)
	var found []int
	declined, answered := 0, 0
	for l := range strings.Lines(said) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Errorf("%s: this is no line of statistics: %q", way, l)
			continue
		}
		if m[3] != "0" {
			t.Errorf("%s: failed checks: %s", way, l)
		}
		sum := 0
		for _, w := range strings.Fields(m[4]) {
			name, value, _ := strings.Cut(w, "=")
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Errorf("%s: %q in %s", way, w, l)
			}
			switch {
			case strings.HasPrefix(name, "answered:"):
				sum += n
			case strings.HasPrefix(name, "declined:"):
				declined += n
			}
		}
		if total, _ := strconv.Atoi(m[2]); total != sum {
			t.Errorf("%s: %d answered, but %d by number: %s", way, total, sum, l)
		}
		answered += sum
		if n := strings.Count(m[4], " declined:79/flags="); n > 0 {
			var times int
			fmt.Sscanf(m[4][strings.Index(m[4], "declined:79/flags="):], "declined:79/flags=%d", &times)
			found = append(found, times)
		}
	}
	slices.Sort(found)
	if want := ways[way]; !slices.Equal(found, want) {
		t.Errorf("%s: the calls are found %v times in its lines instead of %v:\n%s", way, found, want, said)
	}
	calls := 0
	for _, n := range ways[way] {
		calls += n
	}
	if answered < 3*calls {
		t.Errorf("%s: only %d calls answered:\n%s", way, answered, said)
	}
	logged := strings.Count(log, " syscall 79 declined: flags\n")
	if wanted := max(calls, 1); logged != wanted {
		t.Errorf("%s: the log has %d of %d declined calls:\n%s", way, logged, wanted, log)
	}
	if way != "killed" && strings.Count(log, "\n") != declined {
		t.Errorf("%s: %d lines in the log, but %d declined calls counted", way, strings.Count(log, "\n"), declined)
	}
}
