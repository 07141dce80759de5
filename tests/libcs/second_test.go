package libcs

import (
	"strings"
	"testing"

	"svcrelay/tests/rig"
)

// secondSuite loads libraries late, a second C library among them, through which the program then changes what the first
// one's calls mean. musl has no dlmopen.
var secondSuite = suite{name: "spaces", sources: "spaces/*.c", flags: []string{"-ldl"}, noMusl: true,
	ways: []way{natively, underPRoot, relayed}, judge: judgeSecond}

func judgeSecond(t *testing.T, got []rig.Outcome) {
	for _, o := range got {
		if !ended(t, o, "second access 0 errno 0\n") {
			return
		}
	}
	if !strings.Contains(string(got[2].Stdout), "two C libraries yes") {
		t.Errorf("no second C library:\n%s", got[2].Stdout)
	}
	native, without, with := lines(got[0]), lines(got[1]), lines(got[2])
	for i := range max(len(without), len(with)) {
		if x, y := at(without, i), at(with, i); x != y {
			t.Errorf("line %d\nwith:    %s\nwithout: %s\nnative:  %s", i+1, y, x, at(native, i))
		}
	}
}

func lines(o rig.Outcome) []string { return strings.Split(string(o.Stdout), "\n") }

func at(text []string, i int) string {
	if i < len(text) {
		return text[i]
	}
	return "(end)"
}
