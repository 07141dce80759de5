package scenarios

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"svcrelay/tests/rig"
)

// differences returns how two outcomes of one workload differ, or nothing.
func differences(without, with rig.Outcome) []string {
	var out []string
	if without.Problem != "" || with.Problem != "" {
		out = append(out, fmt.Sprintf("could not run: %q without the library, %q with it", without.Problem, with.Problem))
	}
	if without.Status != with.Status {
		out = append(out, fmt.Sprintf("exit status %d without the library, %d with it", without.Status, with.Status))
	}
	out = append(out, lines("standard output", without.Stdout, with.Stdout)...)
	return append(out, lines("standard error", without.Stderr, with.Stderr)...)
}

// lines compares two texts; of many differences it shows the first ones.
func lines(what string, without, with []byte) []string {
	if bytes.Equal(without, with) {
		return nil
	}
	const most = 12
	var out []string
	a, b := strings.Split(string(without), "\n"), strings.Split(string(with), "\n")
	n := 0
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			continue
		}
		if n++; n <= most {
			out = append(out, fmt.Sprintf("%s, line %d:\n  without: %.300s\n  with:    %.300s", what, i+1, x, y))
		}
	}
	return append(out, fmt.Sprintf("%s: %d lines differ", what, n))
}

// report is what the guest program "state" said.
type report struct {
	page, branches, otherwise bool
}

func parseState(text []byte) report {
	s := string(text)
	return report{
		page:      strings.Contains(s, "page at the trampoline's address yes"),
		branches:  strings.Contains(s, "changed branches"),
		otherwise: strings.Contains(s, "changed otherwise") || !strings.Contains(s, "text libc.") && !strings.Contains(s, "text ld-musl"),
	}
}

// judge says what is wrong with a process's state, given what the library must do there.
func judge(w wanted, without, with rig.Outcome) []string {
	r := parseState(with.Stdout)
	var out []string
	if r.otherwise && (w == active || string(without.Stdout) != string(with.Stdout)) {
		out = append(out, "text was changed into something other than branches:\n"+string(with.Stdout))
	}
	switch w {
	case inert:
		for _, d := range differences(without, with) {
			out = append(out, "not inert: "+d)
		}
	case active:
		if !r.branches || !r.page {
			out = append(out, fmt.Sprintf("not at work (trampoline page %v, patched text %v):\n%s%s", r.page, r.branches, with.Stdout, with.Stderr))
		}
	}
	if w != inert && (without.Status != with.Status || !bytes.Equal(without.Stderr, with.Stderr)) {
		out = append(out, fmt.Sprintf("status %d and %q, without the library %d and %q", with.Status, with.Stderr, without.Status, without.Stderr))
	}
	return out
}

func TestComparisonsFindDifferences(t *testing.T) {
	same := rig.Outcome{Stdout: []byte("a\nb\n"), Stderr: []byte("w\n")}
	for name, other := range map[string]rig.Outcome{
		"status":  {Status: 1, Stdout: same.Stdout, Stderr: same.Stderr},
		"output":  {Stdout: []byte("a\nc\n"), Stderr: same.Stderr},
		"shorter": {Stdout: []byte("a\n"), Stderr: same.Stderr},
		"errors":  {Stdout: same.Stdout},
		"problem": {Stdout: same.Stdout, Stderr: same.Stderr, Problem: "killed"},
	} {
		if len(differences(same, other)) == 0 {
			t.Errorf("%s: no difference found", name)
		}
	}
	if d := differences(same, same); len(d) != 0 {
		t.Errorf("equal outcomes: %v", d)
	}
	clean := rig.Outcome{Stdout: []byte("page at the trampoline's address no\ntext libc.so.6 changed no\n")}
	patched := rig.Outcome{Stdout: []byte("page at the trampoline's address yes\ntext libc.so.6 changed branches\n")}
	broken := rig.Outcome{Stdout: []byte("page at the trampoline's address yes\ntext libc.so.6 changed otherwise\n")}
	for _, c := range []struct {
		w    wanted
		with rig.Outcome
		ok   bool
	}{
		{inert, clean, true}, {inert, patched, false}, {active, patched, true}, {active, clean, false}, {active, broken, false},
		{either, clean, true}, {either, patched, true}, {either, broken, false}, {either, rig.Outcome{}, false},
	} {
		if got := len(judge(c.w, clean, c.with)) == 0; got != c.ok {
			t.Errorf("wanted %d, state %q: accepted %v", c.w, c.with.Stdout, got)
		}
	}
}
