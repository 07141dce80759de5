package libcs

import (
	"strings"
	"testing"
)

func TestComparisonFindsDifferences(t *testing.T) {
	const good = "case a: cancelled; exit 0\ncase b: returned 0; exit 0\nall cases done\n"
	change := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, c := range []struct {
		name                  string
		native, without, with string
		problems, proots      int
	}{
		{"the same", good, good, good, 0, 0},
		{"another outcome", good, good, change("a: cancelled", "a: ended"), 1, 0},
		{"hangs", good, good, change("a: cancelled; exit 0", "a hung after: blocks;"), 1, 0},
		{"hangs everywhere", change("b: r", "b hung after: r"), change("b: r", "b hung after: r"), change("b: r", "b hung after: r"), 1, 0},
		{"PRoot's own fault", good, change("returned 0", "returned -1"), change("returned 0", "returned -1"), 0, 1},
		{"not PRoot's fault", good, change("returned 0", "returned -1"), good, 0, 1},
		{"a third outcome", good, change("returned 0", "returned -1"), change("returned 0", "returned -2"), 1, 1},
		{"a case less", good, good, "case a: cancelled; exit 0\nall cases done\n", 1, 0},
		{"not finished", good, good, change("all cases done\n", "\n"), 1, 0},
		{"nothing", "", "", "", 1, 0},
	} {
		n, problems := compare(c.native, c.without, c.with)
		if len(problems) != c.problems || n.proots != c.proots {
			t.Errorf("%s: %d problems %q, %d of PRoot's own", c.name, len(problems), problems, n.proots)
		}
	}
	if got := cells("cell open one-thread: 3 stops in 3 calls, right\ncell stat one-thread: 0 stops in 3 calls, WRONG\n"); len(got) != 2 ||
		got[0] != (cell{"open one-thread", 3, true}) || got[1] != (cell{"stat one-thread", 0, false}) {
		t.Errorf("cells: %+v", got)
	}
}
