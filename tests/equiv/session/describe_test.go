package session

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/gen"
)

// long is a case with lines as long as they get, and with what must be quoted.
func long() *cases.Case {
	name := strings.Repeat("n", 5000)
	return &cases.Case{
		Name: "long", Note: "What it is about.\n", UID: 1000,
		Options: []string{"-b", "/world/" + name + ":/t", "--kernel-release=6.6.6\n\t\"…"}, Env: []string{"LONG=" + name}, Mounts: []string{"/a:/b"},
		World: []cases.Entry{
			{Kind: cases.Dir, Path: "/world/root/t", Mode: 0o755, UID: 1000, GID: 1000},
			{Kind: cases.File, Path: "/world/root/t/\xff", Mode: 0o4000, Text: name + "\n\x00\xfe# "},
			{Kind: cases.Link, Path: "/world/root/t/link", Mode: 0o777, UID: 65534, GID: 1, Text: strings.Repeat("../", 1300)},
		},
		Script: []string{`0 >1 open "/t" 0 0`, `0 stat "/` + name + `" b128`, `0 readlinkat @1 u"` + strings.Repeat(`\xff/`, 1<<19) + `" b4096 4096`},
	}
}

// again is a case read from text, under the name and the note of another.
func again(t *testing.T, text string, like *cases.Case) *cases.Case {
	t.Helper()
	c, err := cases.Parse(like.Name, text)
	if err != nil {
		t.Fatal(err)
	}
	c.Note = like.Note
	return c
}

func mismatch(c *cases.Case) cases.Mismatch {
	end := strings.Repeat("x", 4000)
	return cases.Mismatch{Config: "plain", Name: c.Name, Kind: "standard error", Alone: "script\n" + end + "1" + end, With: "script\n" + end + "2" + end, Native: "option\n" + end,
		Case: c.Format(), Size: len(c.Script), Original: 2500}
}

// TestDescribedCaseRunsAgain reads what is printed of a difference as the file that it can be kept in: it must be the same case.
func TestDescribedCaseRunsAgain(t *testing.T) {
	all := []*cases.Case{long()}
	for _, config := range gen.Configs {
		c, err := gen.Case(config, 11, 500)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		text := Describe(mismatch(c))
		if got := again(t, text, c); !reflect.DeepEqual(got, c) {
			t.Errorf("%s: it is another case when it is read again", c.Name)
		}
		// As go test prints it.
		if got := again(t, "\n    "+strings.ReplaceAll(text, "\n", "\n    "), c); !reflect.DeepEqual(got, c) {
			t.Errorf("%s: it is another case when it is read again from the output of a test", c.Name)
		}
		head, _, _ := strings.Cut(text, "\nuid ")
		if len(head) > 4*mostShown || !strings.Contains(head, "x1x") || !strings.Contains(head, "x2x") {
			t.Errorf("the difference is not shown, or too much of it:\n%s", head)
		}
	}
	m := mismatch(long())
	m.Size = 0
	if text := Describe(m); strings.Contains(text, "\nscript\n") {
		t.Errorf("a case that was not made small is printed:\n%.1000s", text)
	}
}

// TestReportedCaseRunsAgain does so with the report, where even the differences are complete.
func TestReportedCaseRunsAgain(t *testing.T) {
	c, file := long(), filepath.Join(t.TempDir(), "equiv.json")
	want := mismatch(c)
	reply := &cases.Reply{Configs: map[string]*cases.Figures{"plain": {Mismatches: 1}}, Mismatches: []cases.Mismatch{want}}
	if err := Report(io.Discard, reply, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Mismatches  int
		Differences []cases.Mismatch
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Mismatches != 1 || len(got.Differences) != 1 || got.Differences[0] != want {
		t.Fatalf("the report has %.1000s", text)
	}
	if read := again(t, got.Differences[0].Case, c); !reflect.DeepEqual(read, c) {
		t.Error("it is another case when it is read again")
	}
}

// TestBytesThatAreNoText: JSON would make others of them on the way to the VM.
func TestBytesThatAreNoText(t *testing.T) {
	if _, err := cases.Parse("bytes", "uid 0\nscript\n0 stat \"/\xff\" b128\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v", err)
	}
}
