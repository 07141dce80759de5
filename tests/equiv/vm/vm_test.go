//go:build linux

package main

import (
	"slices"
	"testing"
	"time"
)

func TestMinimal(t *testing.T) {
	all := make([]int, 300)
	for i := range all {
		all[i] = i
	}
	for _, wanted := range [][]int{{0}, {299}, {17, 18, 200}, {5, 100, 101, 250}, {}} {
		tries := 0
		got := minimal(all, time.Now().Add(time.Minute), func(some []int) bool {
			tries++
			for _, w := range wanted {
				if !slices.Contains(some, w) {
					return false
				}
			}
			return true
		})
		if !slices.Equal(got, wanted) {
			t.Errorf("of what needs %v, %v is left", wanted, got)
		}
		t.Logf("%v: %d tries", wanted, tries)
	}
	options := []string{"-0", "-b", "/a:/b", "-b", "/c:/d", "-w", "/"}
	got := minimalOptions(options, time.Now().Add(time.Minute), func(some []string) bool { return slices.Contains(some, "/c:/d") })
	if !slices.Equal(got, []string{"-b", "/c:/d"}) {
		t.Errorf("options: %v", got)
	}
}

func TestCompare(t *testing.T) {
	base := func() *outcome {
		return &outcome{log: []string{"0 stat = 0", "1 open = 3", "end"}, tree: []string{"a", "b"}, status: "exit status 0"}
	}
	for _, c := range []struct {
		kind   string
		change func(o *outcome)
	}{
		{"", func(*outcome) {}},
		{"operation open", func(o *outcome) { o.log[1] = "1 open = -1 errno 2" }},
		{"operation end", func(o *outcome) { o.log = o.log[:2] }},
		{"status", func(o *outcome) { o.status = "signal: killed" }},
		{"standard error", func(o *outcome) { o.errs = []string{"said"} }},
		{"tree", func(o *outcome) { o.tree = o.tree[:1] }},
		{"internal error", func(o *outcome) { o.stats = map[string]int{"errors": 1} }},
	} {
		b := base()
		c.change(b)
		if d := compare(base(), b); d.Kind != c.kind {
			t.Errorf("%q instead of %q", d.Kind, c.kind)
		}
	}
}

func TestFigures(t *testing.T) {
	o := &outcome{stats: map[string]int{}, counts: map[string][2]int{}}
	for _, l := range []string{"svcrelay: pid=12 answered=30 errors=0 last=0 libc=450 ld.so=90 of=5031 declined:number=3",
		"svcrelay: pid=13 answered=12 errors=1 last=5 libc=450 ld.so=90 of=5031 declined:too long=3"} {
		if !o.figures(l) {
			t.Errorf("not taken for statistics: %s", l)
		}
	}
	if o.stats["answered"] != 42 || o.stats["errors"] != 1 || o.stats["processes"] != 2 || o.stats["declined:number"] != 3 {
		t.Errorf("%v", o.stats)
	}
	if !o.count("count stat 7 5") || o.counts["stat"] != [2]int{7, 5} || o.count("7 stat = 0") {
		t.Errorf("%v", o.counts)
	}
}
