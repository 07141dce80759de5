package libcs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"svcrelay/tests/rig"
)

// trapSuite counts the stops at PRoot in each function of the C library, with one thread and with two. There must be
// none with the library, and some without: otherwise they would not be counted.
var trapSuite = suite{name: "traps", sources: "traps/*.c", flags: []string{"-pthread", "-ldl"},
	ways: []way{underPRoot, relayed}, judge: judgeTraps}

// untraced are functions whose calls PRoot without options leaves alone.
var untraced = map[string]bool{"fstat": true}

func judgeTraps(t *testing.T, got []rig.Outcome) {
	for _, o := range got {
		if !ended(t, o, "all cells done\n") {
			return
		}
	}
	before, after := cells(string(got[0].Stdout)), cells(string(got[1].Stdout))
	if len(after) == 0 || len(before) != len(after) {
		t.Fatalf("%d cells without the library, %d with it", len(before), len(after))
	}
	for j, c := range after {
		t.Logf("%s: %d stops, %d without the library", c.name, c.stops, before[j].stops)
		if !c.right || !before[j].right {
			t.Errorf("%s: a wrong answer: right %v, without the library %v", c.name, c.right, before[j].right)
		}
		if c.stops != 0 {
			t.Errorf("%s: %d stops", c.name, c.stops)
		}
		if before[j].stops == 0 && !untraced[strings.Fields(c.name)[0]] {
			t.Errorf("%s: no stops even without the library", c.name)
		}
	}
}

// cell is one function called in one way.
type cell struct {
	name  string
	stops int
	right bool
}

var cellLine = regexp.MustCompile(`(?m)^cell (\S+ \S+): (\d+) stops in \d+ calls, (right|WRONG)$`)

func cells(text string) []cell {
	var out []cell
	for _, m := range cellLine.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2])
		out = append(out, cell{m[1], n, m[3] == "right"})
	}
	return out
}
