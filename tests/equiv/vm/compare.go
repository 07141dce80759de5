package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// difference is the first of each kind of difference between two outcomes.
type difference struct {
	Kind string   // "operation NAME", "tree", "status", "standard error" or "internal error"; "" for none
	At   int      // line of the script, or -1
	Text []string // both sides
}

// unsteady is what two runs under PRoot alone do not have in common: lines of the log by their number, and files. Nothing
// can be said about them.
type unsteady struct {
	lines map[int]bool
	files map[string]bool
	all   bool // the runs went different ways
}

// mostUnsteady is the share of lines, in percent, above which two runs are taken to have gone different ways.
const mostUnsteady = 5

// add notes how two runs under PRoot alone differ.
func (u *unsteady) add(a, b *outcome) {
	if u.lines == nil {
		u.lines, u.files = map[int]bool{}, map[string]bool{}
	}
	u.all = u.all || len(a.log) != len(b.log) || a.status != b.status || !slices.Equal(a.errs, b.errs)
	for i := range min(len(a.log), len(b.log)) {
		if a.log[i] != b.log[i] {
			u.lines[i] = true
		}
	}
	x, y := byFile(a.tree), byFile(b.tree)
	for f, l := range x {
		if y[f] != l {
			u.files[f] = true
		}
	}
	for f := range y {
		if _, ok := x[f]; !ok {
			u.files[f] = true
		}
	}
	u.all = u.all || len(u.lines)*100 > len(a.log)*mostUnsteady
}

// examples shows some of what is unsteady, as it is in two outcomes.
func (u *unsteady) examples(name string, a, b *outcome) []string {
	var out []string
	for _, i := range slices.Sorted(maps.Keys(u.lines)) {
		if x, y := line(a.log, i), line(b.log, i); x != y && len(out) < 3 {
			out = append(out, fmt.Sprintf("%s: %q and %q", name, x, y))
		}
	}
	for _, f := range slices.Sorted(maps.Keys(u.files)) {
		if len(out) < 5 {
			out = append(out, fmt.Sprintf("%s: file %s", name, f))
		}
	}
	return out
}

// byFile keys the lines of a tree by the file that they are about.
func byFile(tree []string) map[string]string {
	out := map[string]string{}
	for _, l := range tree {
		out[fileOf(l)] = l
	}
	return out
}

// fileOf is the quoted path at the beginning of a line of a tree.
func fileOf(l string) string {
	p, err := strconv.QuotedPrefix(l)
	if err != nil {
		return l
	}
	return p
}

// without returns an outcome without what is unsteady.
func (o *outcome) without(u unsteady) *outcome {
	if len(u.lines) == 0 && len(u.files) == 0 {
		return o
	}
	c := *o
	c.log = slices.Clone(o.log)
	for i := range c.log {
		if u.lines[i] {
			c.log[i] = ""
		}
	}
	c.tree = slices.DeleteFunc(slices.Clone(o.tree), func(l string) bool { return u.files[fileOf(l)] })
	return &c
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
