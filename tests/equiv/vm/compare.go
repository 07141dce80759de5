package main

import (
	"fmt"
	"strings"
)

// difference is the first of each kind of difference between two outcomes.
type difference struct {
	Kind string   // "operation NAME", "tree", "status", "standard error" or "internal error"; "" for none
	At   int      // line of the script, or -1
	Text []string // both sides
}

// compare says how two outcomes differ.
func compare(a, b *outcome) difference {
	n := max(len(a.log), len(b.log))
	for i := range n {
		x, y := line(a.log, i), line(b.log, i)
		if x == y {
			continue
		}
		var at int
		var op string
		if _, err := fmt.Sscanf(x, "%d %s", &at, &op); err != nil {
			if _, err := fmt.Sscanf(y, "%d %s", &at, &op); err != nil {
				at, op = -1, "end"
			}
		}
		return difference{Kind: "operation " + op, At: at, Text: []string{x, y}}
	}
	if a.status != b.status {
		return difference{Kind: "status", At: -1, Text: []string{a.status, b.status}}
	}
	if x, y := strings.Join(a.errs, "\n"), strings.Join(b.errs, "\n"); x != y {
		return difference{Kind: "standard error", At: -1, Text: []string{x, y}}
	}
	for i := range max(len(a.tree), len(b.tree)) {
		if x, y := line(a.tree, i), line(b.tree, i); x != y {
			return difference{Kind: "tree", At: -1, Text: []string{x, y}}
		}
	}
	if b.stats["errors"] != 0 {
		return difference{Kind: "internal error", At: -1, Text: []string{"", fmt.Sprintf("errors=%d last=%d", b.stats["errors"], b.stats["last"])}}
	}
	return difference{}
}

func line(l []string, i int) string {
	if i < len(l) {
		return l[i]
	}
	return "(none)"
}
