//go:build linux

// Command vm runs the programs inside the test VM, each on a guest of its own for every way, compares what they leave
// and writes a report.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/programs"
	"svcrelay/tests/rig/bare"
	"svcrelay/tests/rig/inside"
)

// Where things are in the VM.
const (
	root  = "/guests/programs"
	saved = "/saved" // what the guest's state was
)

func main() {
	bare.Main(mountSystem)
	inside.Main(serve)
}

func serve(req programs.Request) (*programs.Reply, error) {
	s := session{reply: programs.Reply{Seconds: map[string]float64{}}, ways: []way{alone, with}}
	if req.Native {
		s.ways = append(s.ways, native)
	}
	if err := s.timed("finishing the guest", s.prepare); err != nil {
		return nil, err
	}
	logging = req.Log
	end := time.Now().Add(time.Duration(req.Seconds) * time.Second)
	for _, p := range req.Programs {
		if time.Now().After(end) {
			s.reply.Left = append(s.reply.Left, p.Name)
			continue
		}
		if err := s.program(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	s.timed("looking for changes", s.rest)
	return &s.reply, nil
}

type session struct {
	reply programs.Reply
	ways  []way
	start int64
}

// timed notes how long something took.
func (s *session) timed(what string, do func() error) error {
	begin := time.Now()
	err := do()
	s.reply.Seconds[what] += time.Since(begin).Seconds()
	return err
}

// tell writes a line for whoever waits outside.
func tell(format string, args ...any) {
	if c, err := os.OpenFile("/dev/console", os.O_WRONLY, 0); err == nil {
		fmt.Fprintf(c, programs.Mark+format+"\n", args...)
		c.Close()
	}
}

// prepare finishes the guest: what is best made by its programs themselves, and what an archive cannot hold.
func (s *session) prepare() error {
	s.start = time.Now().Unix()
	for _, d := range []string{"/var/lib/dpkg/info", "/var/lib/dpkg/updates", "/var/lib/dpkg/triggers", "/var/lib/dpkg/parts", "/var/lib/dpkg/alternatives",
		"/var/lib/apt/lists/partial", "/var/cache/apt/archives/partial", "/var/log/apt", "/var/lib/apt/periodic", "/etc/apt/preferences.d", "/etc/apt/apt.conf.d",
		"/etc/dpkg/dpkg.cfg.d"} {
		if err := os.MkdirAll(root+d, 0o755); err != nil {
			return err
		}
	}
	for d := range programs.TreeDirs {
		dir := fmt.Sprintf("%s%s/d%d", root, programs.Tree, d)
		if err := errors.Join(os.Link(dir+"/f2.txt", dir+"/hard"), os.Chmod(dir+"/f3.txt", 0o600)); err != nil {
			return err
		}
	}
	cmd := bare.Command(context.Background(), bare.Guest{Root: root, Dir: "/tmp", UID: user}, "/bin/sh", "-c",
		"set -e; git init -q --bare repo.git; git -C repo.git fast-import --quiet < /srv/inputs/history; git -C repo.git symbolic-ref HEAD refs/heads/main")
	cmd.Env = environment
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making a repository: %w: %s", err, said)
	}
	if err := os.Rename(root+"/tmp/repo.git", root+programs.Work+"/repo.git"); err != nil {
		return err
	}
	for _, d := range state {
		if err := errors.Join(os.MkdirAll(root+d, 0o755), own(root+d), copyTree(root+d, saved+d)); err != nil {
			return err
		}
	}
	return own(root + programs.Tree)
}

// state are the directories that installing packages changes. Each run finds them as they were.
var state = []string{"/etc", "/var", "/usr/share/" + programs.Packages[0], "/usr/share/" + programs.Packages[1], "/usr/share/" + programs.Packages[2], "/usr/share/" + programs.Packages[3]}

// fresh brings the guest back to what it was before any program ran: all that programs with this one's options change.
func fresh(p programs.Program, w way) error {
	dir := root + programs.Work + "/" + p.Name
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755), os.Chown(dir, user, user)); err != nil {
		return err
	}
	if installs(p) {
		for _, d := range state {
			if err := errors.Join(os.RemoveAll(root+d), copyTree(saved+d, root+d)); err != nil {
				return err
			}
		}
	}
	preload := ""
	if w == with {
		preload = inside.Library + "\n"
	}
	return os.WriteFile(root+preloads, []byte(preload), 0o644)
}

// installs says whether a program is meant to change the system's state.
func installs(p programs.Program) bool { return len(p.Options) > 0 }

// maxTries is how often a run is begun that PRoot's chance ends.
const maxTries = 5

// run makes the guest anew and runs a program, again where PRoot denied what the kernel had allowed.
func (s *session) run(p programs.Program, w way, o **outcome) error {
	for try := 0; try == 0 || try < maxTries && (*o).denied(p); try++ {
		err := errors.Join(
			s.timed("making the guest anew", func() error { return fresh(p, w) }),
			s.timed("running programs", func() (err error) {
				*o, err = run(p, w)
				return err
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

// program runs one program in all ways.
func (s *session) program(p programs.Program) error {
	r := programs.Result{Name: p.Name}
	left, begin := []string{programs.Work + "/" + p.Name}, time.Now()
	if installs(p) {
		left = append(left, state...)
	}
	var ran [3]*outcome
	var trees [3][]string
	for _, w := range s.ways {
		err := errors.Join(
			s.run(p, w, &ran[w]),
			s.timed("looking at what is left", func() error {
				for _, d := range left {
					trees[w] = append(trees[w], snapshot(d, s.start)...)
				}
				return nil
			}))
		if err != nil {
			return err
		}
	}
	r.Alone, r.With = ran[alone].Run, ran[with].Run
	if ran[native] != nil {
		r.Native = ran[native].Run
	}
	if r.Alone.Status != r.With.Status {
		r.Differences = append(r.Differences, "status: "+r.Alone.Status+" / "+r.With.Status)
	}
	r.Differences = append(r.Differences, differences("standard output", lines(ran[alone].out), lines(ran[with].out))...)
	r.Differences = append(r.Differences, differences("standard error", lines(ran[alone].errs), lines(ran[with].errs))...)
	r.Differences = append(r.Differences, differences("tree", trees[alone], trees[with])...)
	if !installs(p) {
		for _, d := range state {
			for _, c := range changed(root+d, begin) {
				r.Differences = append(r.Differences, "changed the system: "+c)
			}
		}
	}
	r.Output = last(ran[with].out, 400) + last(ran[with].errs, 600)
	s.reply.Files += len(trees[with])
	s.reply.Results = append(s.reply.Results, r)
	tell("%s", programs.Line(&r))
	return nil
}

// rest looks for changes in the parts of the guest that no program should change.
func (s *session) rest() error {
	for _, rel := range changed(root, time.Unix(s.start+2, 0)) {
		within := func(d string) bool { return rel == d || strings.HasPrefix(rel, d+"/") }
		if rel != inside.Library && !within(programs.Work) && !within("/tmp") && !slices.ContainsFunc(state, within) {
			s.reply.Changed = append(s.reply.Changed, rel)
		}
	}
	return nil
}

// preloads is where the library is named or not, for each run anew.
const preloads = "/etc/ld.so.preload"

// changed gives the files below a directory, the guest's paths, that have been changed since a moment.
func changed(top string, since time.Time) (out []string) {
	filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		var st unix.Stat_t
		rel := strings.TrimPrefix(p, root)
		if err == nil && !d.IsDir() && rel != preloads && unix.Lstat(p, &st) == nil && !time.Unix(st.Ctim.Unix()).Before(since) {
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// differences shows the first few lines that only one side has.
func differences(what string, a, b []string) []string {
	if slices.Equal(a, b) {
		return nil
	}
	var out []string
	for _, side := range []struct {
		name      string
		has, want []string
	}{{"PRoot alone", a, b}, {"with svcrelay", b, a}} {
		have := map[string]int{}
		for _, l := range side.want {
			have[l]++
		}
		shown := 0
		for _, l := range side.has {
			if have[l]--; have[l] < 0 && shown < 5 {
				out = append(out, fmt.Sprintf("%s, only %s: %.300s", what, side.name, l))
				shown++
			}
		}
	}
	if out == nil {
		out = append(out, what+": other order")
	}
	return out
}
