//go:build linux

// Command vm runs the programs inside the test VM, each on a guest of its own for every way, compares what they leave
// and writes a report.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/programs"
)

// Where things are in the VM.
const (
	requestPath = "/opt/programs/request.json"
	replyPath   = "/tmp/programs.json"
	template    = "/guests/programs"
	root        = "/guests/in-use" // the guest of the way that is running
	library     = "/usr/lib/libsvcrelay.so"
)

//go:embed prepare.sh
var prepareScript string

func main() {
	if len(os.Args) > 1 && os.Args[1] == "native" {
		fmt.Fprintln(os.Stderr, "native:", enterNative(os.Args[2:]))
		os.Exit(127)
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "programs:", err)
		os.Exit(1)
	}
}

func serve() error {
	text, err := os.ReadFile(requestPath)
	if err != nil {
		return err
	}
	var req programs.Request
	if err := json.Unmarshal(text, &req); err != nil {
		return err
	}
	s := session{reply: programs.Reply{Seconds: map[string]float64{}}, ways: []way{alone, with}}
	if req.Native {
		s.ways = append(s.ways, native)
	}
	if err := s.prepare(req); err != nil {
		return err
	}
	for _, p := range req.Programs {
		if err := s.program(p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	s.rest()
	out, err := json.Marshal(s.reply)
	if err != nil {
		return err
	}
	return os.WriteFile(replyPath, out, 0o644)
}

type session struct {
	reply programs.Reply
	ways  []way
	start int64
	old   map[uint64]bool // the template's files
}

func guestOf(w way) string { return fmt.Sprintf("/guests/way-%d", w) }

// timed notes how long something took.
func (s *session) timed(what string, do func() error) error {
	begin := time.Now()
	err := do()
	s.reply.Seconds[what] += time.Since(begin).Seconds()
	return err
}

// prepare makes the inputs and a guest for each way.
func (s *session) prepare(req programs.Request) error {
	err := s.timed("making inputs", func() error {
		lib, err := os.ReadFile("/opt/programs/libsvcrelay.so")
		if err != nil {
			return err
		}
		if err := errors.Join(inputs(template), os.WriteFile(template+library, lib, 0o755), os.WriteFile(template+"/etc/ld.so.preload", nil, 0o644)); err != nil {
			return err
		}
		if err := os.Rename(template, root); err != nil {
			return err
		}
		cmd := exec.Command("/proc/self/exe", "native", "0", "/", "/bin/sh", "-c", prepareScript)
		cmd.Env = environment
		cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("prepare.sh: %w: %s", err, said)
		}
		for _, p := range req.Programs {
			if err := os.Mkdir(filepath.Join(root, programs.Work, p.Name), 0o755); err != nil {
				return err
			}
		}
		if err := os.Rename(root, template); err != nil {
			return err
		}
		return errors.Join(own(template+programs.Work), own(template+"/var"), own(template+"/etc"))
	})
	if err != nil {
		return err
	}
	err = s.timed("copying guests", func() error {
		for _, w := range s.ways {
			if err := copyTree(template, guestOf(w)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.old = map[uint64]bool{}
	filepath.WalkDir(template, func(p string, d os.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && d.Type().IsRegular() && unix.Lstat(p, &st) == nil {
			s.old[st.Ino] = true
		}
		return nil
	})
	s.start = time.Now().Unix()
	return os.WriteFile(guestOf(with)+"/etc/ld.so.preload", []byte(library+"\n"), 0o644)
}

// program runs one program in all ways.
func (s *session) program(p programs.Program) error {
	r := programs.Result{Name: p.Name}
	var ran [3]*outcome
	var trees [3][]string
	for _, w := range s.ways {
		if err := os.Rename(guestOf(w), root); err != nil {
			return err
		}
		var err error
		if ran[w], err = run(p, w); err != nil {
			return err
		}
		trees[w] = snapshot(filepath.Join(root, programs.Work, p.Name), s.start, nil)
		if err := os.Rename(root, guestOf(w)); err != nil {
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
	r.Output = last(ran[with].out, 400) + last(ran[with].errs, 600)
	s.reply.Results = append(s.reply.Results, r)
	return nil
}

// rest compares what the programs left outside their own directories.
func (s *session) rest() {
	s.timed("comparing guests", func() error {
		a, b := snapshot(guestOf(alone), s.start, s.old), snapshot(guestOf(with), s.start, s.old)
		s.reply.Files = len(a)
		s.reply.Differences = differences("guest", a, b)
		return nil
	})
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
