package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/rig/protocol"
)

// defaultEnv is what a command gets that names no environment.
var defaultEnv = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb"}

func runAll(job protocol.Job) *protocol.Report {
	var uts unix.Utsname
	unix.Uname(&uts)
	report := &protocol.Report{Kernel: unix.ByteSliceToString(uts.Release[:]), PageSize: os.Getpagesize()}
	for i, c := range job.Commands {
		out := run(i, c)
		report.Outcomes = append(report.Outcomes, out)
		if out.Status != 0 || out.Problem != "" {
			say("%s: status %d %s", out.Name, out.Status, out.Problem)
			if !job.KeepOn {
				break
			}
		}
	}
	return report
}

// run runs one command with its output going to files: a pipe would make this program part of what is measured.
func run(i int, c protocol.Command) (res protocol.Outcome) {
	res.Name, res.Status = c.Name, -1
	fail := func(err error) protocol.Outcome { res.Problem = err.Error(); return res }
	if len(c.Argv) == 0 {
		return fail(errors.New("no program given"))
	}
	res.Name = orDefault(c.Name, c.Argv[0])
	if c.Env == nil {
		c.Env = defaultEnv
	}
	dir := filepath.Join(protocol.Dir, "out")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err)
	}
	outPath, errPath := fmt.Sprintf("%s/%d.stdout", dir, i), fmt.Sprintf("%s/%d.stderr", dir, i)
	stdout, err := os.Create(outPath)
	if err != nil {
		return fail(err)
	}
	defer stdout.Close()
	stderr, err := os.Create(errPath)
	if err != nil {
		return fail(err)
	}
	defer stderr.Close()

	stdin := c.Stdin
	c.Stdin = nil
	described, err := json.Marshal(c)
	if err != nil {
		return fail(err)
	}
	// In a file: an environment may be larger than one argument can be.
	commandPath := fmt.Sprintf("%s/%d.command", dir, i)
	if err := os.WriteFile(commandPath, described, 0o644); err != nil {
		return fail(err)
	}
	cmd := exec.Command("/proc/self/exe", commandPath)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if stdin != nil {
		inPath := fmt.Sprintf("%s/%d.stdin", dir, i)
		if err := os.WriteFile(inPath, stdin, 0o644); err != nil {
			return fail(err)
		}
		in, err := os.Open(inPath)
		if err != nil {
			return fail(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.Root != "" {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
	}
	limit := c.Timeout
	if limit == 0 {
		limit = 10 * time.Minute
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	timer := time.AfterFunc(limit, func() {
		say("%s: still running after %v, killed", res.Name, limit)
		unix.Kill(-1, unix.SIGKILL)
	})
	err = cmd.Wait()
	res.Elapsed = time.Since(start)
	if !timer.Stop() {
		res.Problem = fmt.Sprintf("killed: still running after %v of the VM's time", limit)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fail(err)
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Status = 128 + int(ws.Signal())
	} else {
		res.Status = cmd.ProcessState.ExitCode()
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		res.Switches = usage.Nvcsw
	}
	reap()
	if res.Stdout, err = os.ReadFile(outPath); err != nil {
		return fail(err)
	}
	if res.Stderr, err = os.ReadFile(errPath); err != nil {
		return fail(err)
	}
	if res.Problem != "" {
		say("its last output: %s", bytes.TrimSpace(lastBytes(append(res.Stdout, res.Stderr...), 2000)))
	}
	return res
}

// reap buries orphans that a command left behind.
func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}

func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
