package session

import (
	"fmt"
	"strings"

	"svcrelay/tests/equiv/cases"
)

// mostShown is how much of each side of a difference is shown.
const mostShown = 300

// Describe writes a difference for people. All of it is a case, which begins with what is different as comments: the command
// runs it again from a file. A case that was not made small is as long as it was made, and only in the report.
func Describe(m cases.Mismatch) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		for l := range strings.Lines(fmt.Sprintf(format, args...)) {
			fmt.Fprintf(&b, "# %s\n", strings.TrimRight(l, "\r\n"))
		}
	}
	at := parting(m.Alone, m.With)
	say("%s: %s", m.Name, m.Kind)
	say("PRoot alone:   %s", shown(m.Alone, at))
	say("with svcrelay: %s", shown(m.With, at))
	if m.Native != "" {
		say("without PRoot: %s", shown(m.Native, at))
	}
	if m.Size == 0 {
		say("Not made small: the %d operations are in the report.", m.Original)
		return b.String()
	}
	say("Made small, from %d operations to %d. To run it again, put all of this into FILE: go run ./tests/equiv -case FILE", m.Original, m.Size)
	b.WriteString(m.Case)
	return b.String()
}

// parting is where two texts begin to differ.
func parting(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// shown is a text, or of a long one the part around a place.
func shown(s string, at int) string {
	if len(s) <= mostShown {
		return s
	}
	from := min(max(0, at-mostShown/3), len(s)-mostShown/2)
	to := min(len(s), from+mostShown)
	begin, end := "", ""
	if from > 0 {
		begin = "…"
	}
	if to < len(s) {
		end = "…"
	}
	return strings.ToValidUTF8(begin+s[from:to]+end, "")
}
