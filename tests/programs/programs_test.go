package programs

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
)

var (
	only = flag.String("only", "", "run only these programs, separated by commas")
	bare = flag.Bool("native", false, "run them without PRoot, too")
	left = flag.String("left", "", "a file that gets a line for every call that was left to PRoot")
	out  = flag.String("out", "out/programs.json", "where the report goes, below the top of the tree")
)

// leastShare is the part of a program's calls with paths that must have been answered without PRoot.
const leastShare = 0.98

// TestPrograms runs all programs and prints a table.
func TestPrograms(t *testing.T) {
	rig.NeedVM(t)
	req := Request{Native: *bare, Log: *left != "", Seconds: 600}
	for _, p := range All {
		if *only == "" || slices.Contains(strings.Split(*only, ","), p.Name) {
			req.Programs = append(req.Programs, p)
		}
	}
	reply := runAll(t, req)
	t.Logf("%s", Table(reply))
	for _, r := range reply.Results {
		if r.Alone.Status != "exit status 0" {
			t.Errorf("%s: %s under PRoot alone; it ends:\n%s", r.Name, r.Alone.Status, r.Output)
		}
		for _, d := range r.Differences {
			t.Errorf("%s: %s", r.Name, d)
		}
		s := r.With.Stats
		switch {
		case s == nil || s.Lines == 0:
			t.Errorf("%s: no line of statistics: the library was not at work", r.Name)
		case s.Errors > 0:
			t.Errorf("%s: %d failed checks in the library", r.Name, s.Errors)
		case s.Share() < leastShare:
			t.Errorf("%s: only %.1f %% of its calls with paths were answered without PRoot; the others: %s", r.Name, 100*s.Share(), strings.Join(s.Rest(), ", "))
		}
	}
	if len(reply.Left) > 0 {
		t.Errorf("no time was left for %s", reply.Left)
	}
	for _, c := range reply.Changed {
		t.Errorf("a program changed what it should not: %s", c)
	}
}

func runAll(t *testing.T, req Request) *Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Minute)
	defer cancel()
	top, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	job := rig.Job{Kernel: "6.12", Guests: []string{"programs"}, MemoryMB: 3072, KeepOn: true, Timeout: 15 * time.Minute,
		Return: []string{"/guests/programs/tmp/left"},
		Said: func(line string) {
			if l, ok := strings.CutPrefix(line, Mark); ok {
				t.Log(l)
			}
		}}
	if err := errors.Join(product.Add(&job, ""), product.AddProgram(&job, t.TempDir(), "tests/programs/vm", "/opt/programs", req, 14*time.Minute)); err != nil {
		t.Fatal(err)
	}
	inputs, err := Inputs(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range inputs {
		f := rig.File{Data: []byte(text), UID: 1000, GID: 1000, Mode: 0o644}
		if link, ok := LinkOf(text); ok {
			f = rig.File{Link: link, UID: 1000, GID: 1000}
		}
		job.Files["/guests/programs"+p] = f
	}
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	if *left != "" {
		if err := os.WriteFile(*left, res.Files["/guests/programs/tmp/left"], 0o644); err != nil {
			t.Error(err)
		}
	}
	said, err := product.Reply(res)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the VM ran for %.0f s", res.Took.Seconds())
	to := filepath.Join(top, *out)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, said, 0o644); err != nil {
		t.Fatal(err)
	}
	reply := &Reply{}
	if err := json.Unmarshal(said, reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestStats(t *testing.T) {
	var s Stats
	for _, l := range []string{
		"svcrelay: pid=12 answered=30 errors=0 last=0 libc=450 ld.so=90 of=5031 answered:79=20 answered:80=10 passed:49=3 declined:56/too-long=2\n",
		"text before it svcrelay: pid=13 answered=1 errors=1 last=9 libc=450 ld.so=90 of=5031 answered:79=1 declined:56/proc=5 declined:260/effect=7 declined:437/unstopped=9\r\n",
	} {
		if !s.Take(l) {
			t.Errorf("not taken: %s", l)
		}
	}
	if s.Take("svcrelay: guests run without it\n") {
		t.Error("taken for statistics")
	}
	if answered, all := s.Paths(); answered != 21 || all != 31 || s.Lines != 2 || s.Errors != 1 {
		t.Errorf("%d of %d: %+v", answered, all, s)
	}
	if got := fmt.Sprint(s.Rest()); got != "[5 openat proc 3 chdir passed on 2 openat too-long]" {
		t.Error(got)
	}
}
