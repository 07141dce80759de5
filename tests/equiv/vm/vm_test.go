//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
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

func TestUnsteady(t *testing.T) {
	run := func(third, file string) *outcome {
		o := &outcome{status: "exit status 0", tree: []string{`"/a" mode 1`, `"/b" mode ` + file}}
		for i := range 100 {
			o.log = append(o.log, fmt.Sprintf("%d stat = 0", i))
		}
		o.log[3] = "3 stat = " + third
		return o
	}
	var u unsteady
	a := run("7", "2")
	u.add(a, run("8", "3"))
	if u.all || len(u.lines) != 1 || len(u.files) != 1 {
		t.Fatalf("%+v", u)
	}
	b := run("9", "4")
	if d := compare(a.without(u), b.without(u)); d.Kind != "" {
		t.Errorf("what is unsteady counts: %v", d)
	}
	b.log[4] = "4 stat = 1"
	if d := compare(a.without(u), b.without(u)); d.Kind != "operation stat" || d.At != 4 {
		t.Errorf("%+v", d)
	}
	other := run("7", "2")
	other.log = other.log[:50]
	if u.add(a, other); !u.all {
		t.Error("a run that ends earlier went another way")
	}
}

func TestFigures(t *testing.T) {
	o := &outcome{stats: map[string]int{}, counts: map[string][2]int{}}
	for _, l := range []string{"svcrelay: pid=12 answered=30 errors=0 last=0 libc=450 ld.so=90 of=5031 answered:79=30 declined:56/number=3",
		"svcrelay: pid=13 answered=12 errors=1 last=5 libc=450 ld.so=90 of=5031 answered:79=12 declined:56/too-long=3"} {
		if !o.takeFigures(l) {
			t.Errorf("not taken for statistics: %s", l)
		}
	}
	if o.stats["answered"] != 42 || o.stats["errors"] != 1 || o.stats["processes"] != 2 || o.stats["answered:79"] != 42 || o.stats["declined:56/number"] != 3 {
		t.Errorf("%v", o.stats)
	}
	if !o.count("count stat 7 5") || o.counts["stat"] != [2]int{7, 5} || o.count("7 stat = 0") {
		t.Errorf("%v", o.counts)
	}
}

func TestPartly(t *testing.T) {
	for line, want := range map[string]string{
		"9 fstat = -1 errno 14 touched 103 last 103": "9 fstat = -1 errno 14 touched",
		"9 fstat = -1 errno 14":                      "9 fstat = -1 errno 14",
		"9 fstat = -1 errno 1 touched 128 last 127":  "9 fstat = -1 errno 1 touched 128 last 127",
	} {
		if got := partly.ReplaceAllString(line, "$1"); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestByChance(t *testing.T) {
	const st = "0 ino 1 mode 40755 nlink 3"
	for _, c := range []struct {
		x, y string
		same bool
	}{
		{"9 fstat = -1 errno 1 touched 128 last 127", "9 fstat = " + st, true},
		{"9 fstatat = " + st, "9 fstatat = -1 errno 1 touched 127 last 127", true},
		{"9 statx = -1 errno 1 touched 256 last 255", "9 statx = 0 mask fff", true},
		{"9 fstat = -1 errno 1", "9 fstat = " + st, false},                           // denied before the kernel did anything
		{"9 fstat = -1 errno 9", "9 fstat = " + st, false},                           // another error
		{"9 fstat = -1 errno 1 touched 128 last 127", "9 fstat = -1 errno 2", false}, // the kernel found it here, and not there
		{"9 stat = -1 errno 1 touched 128 last 127", "9 stat = " + st, false},        // no such call
		{"9 fstat = -1 errno 1 touched 128 last 127", "8 fstat = " + st, false},      // another line
		{"9 ls = -1 errno 1", `9 ls 4"." 4".." errno 0`, true},
		{`9 lsat 4"." 4".." errno 0`, "9 lsat = -1 errno 1", true},
		{"9 ls = -1 errno 13", `9 ls 4"." 4".." errno 0`, false},
		{`9 ls 4"." 4".." 8"a" errno 0`, `9 ls 4"." 4".." errno 0`, false},
		{"9 open = -1 errno 1", "9 open = 3", false},
		{"9 link = -558298896 errno 0", "9 link = -1077936128 errno 0", true},
		{"9 linkat = 1358954496", "9 linkat = -1077936128 errno 0", true},
		{"9 sys_linkat = 548545093872", "9 sys_linkat = 548545093616", true},
		{"9 link = -558298896 errno 0", "9 link = 0", false},
		{"9 link = -558298896 errno 0", "9 link = -1 errno 17", false},
		{"9 link = -1 errno 2", "9 link = -1 errno 17", false},
		{"9 symlink = -558298896 errno 0", "9 symlink = -1077936128 errno 0", false},
	} {
		a, b := &outcome{log: []string{c.x}, chance: true}, &outcome{log: []string{c.y}, chance: true}
		n := agree(a, b)
		if (n == 1) != c.same || (compare(a, b).Kind == "") != c.same {
			t.Errorf("%s / %s: equal by chance: %v", c.x, c.y, n == 1)
		}
		a, b = &outcome{log: []string{c.x}}, &outcome{log: []string{c.y}}
		if agree(a, b) != 0 || compare(a, b).Kind == "" {
			t.Errorf("%s / %s: equal without --link2symlink", c.x, c.y)
		}
	}
	denied := []string{"/equiv: error while loading shared libraries: libc.so.6: cannot stat shared object: Operation not permitted"}
	if o := (&outcome{log: []string{""}, errs: denied, chance: true}); !o.notStarted() {
		t.Error("a program that was not loaded has started")
	}
	if o := (&outcome{log: []string{"0 open = 3"}, errs: denied, chance: true}); o.notStarted() {
		t.Error("a program that did something has not started")
	}
	if o := (&outcome{log: []string{""}, errs: denied}); o.notStarted() {
		t.Error("without --link2symlink that is no chance")
	}
}

func TestLikely(t *testing.T) {
	script := []string{`0 >1 open "/t" 0 0`, "0 fork 1", `1 stat "a" b128`, `1 unlink "a"`, `0 sys_readlinkat cwd "a" b1 1`, `0 mkdir "b" 0`, `1 lstat "b" b128`}
	var got []int
	for _, l := range likely(script) {
		got = append(got, len(l))
		if l[len(l)-1] != script[len(script)-1] {
			t.Errorf("the last line is left out: %q", l)
		}
	}
	// Changes of actor 1 and what starts it; all changes; all of actor 1.
	if !slices.Equal(got, []int{3, 5, 4}) {
		t.Errorf("%v lines of %q", got, likely(script))
	}
}

func TestReset(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	if err := os.WriteFile(f, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	was, err := rightsOf(f)
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(f, 0)
	if err := reset(map[string]rights{f: was, filepath.Join(dir, "gone"): {}}); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	if now, _ := rightsOf(f); now != was {
		t.Errorf("%+v instead of %+v", now, was)
	}
}
