package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/programs"
	"svcrelay/tests/rig/bare"
	"svcrelay/tests/rig/inside"
)

// way is how a program is run.
type way int

const (
	alone  way = iota // under PRoot
	with              // under PRoot, with svcrelay
	native            // without PRoot
)

const (
	user     = 1000 // who runs PRoot
	runLimit = 200 * time.Second
)

// environment is that of the programs: whatever depends on the time of day is fixed.
var environment = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/srv", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb",
	"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org", "GIT_AUTHOR_DATE=1100000000 +0000", "GIT_COMMITTER_NAME=A Person",
	"GIT_COMMITTER_EMAIL=person@example.org", "GIT_COMMITTER_DATE=1100000000 +0000", "GIT_CONFIG_NOSYSTEM=1", "DEBIAN_FRONTEND=noninteractive",
	"SOURCE_DATE_EPOCH=1000000000", "PYTHONDONTWRITEBYTECODE=1"}

// logging is set where calls that are left to PRoot are written down.
var logging bool

// outcome is what one run left.
type outcome struct {
	programs.Run
	out, errs string
}

// run runs a program in the guest at root.
func run(p programs.Program, w way) (*outcome, error) {
	os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte("5000"), 0) // process ids of one length
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := command(ctx, p, w)
	var out, errs bytes.Buffer
	outFile, err := os.Create("/tmp/programs.out")
	if err != nil {
		return nil, err
	}
	defer outFile.Close()
	errFile, err := os.Create("/tmp/programs.err")
	if err != nil {
		return nil, err
	}
	defer errFile.Close()
	cmd.Stdout, cmd.Stderr, cmd.Dir = outFile, errFile, "/"
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(runLimit, func() { unix.Kill(-1, unix.SIGKILL) })
	o := &outcome{}
	o.Stops = stops(cmd.Process.Pid)
	o.Seconds = time.Since(begin).Seconds()
	if !timer.Stop() {
		o.errs = fmt.Sprintf("killed after %v\n", runLimit)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	o.Status = cmd.ProcessState.String()
	for _, f := range []struct {
		path string
		to   *bytes.Buffer
	}{{"/tmp/programs.out", &out}, {"/tmp/programs.err", &errs}} {
		text, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		for l := range strings.Lines(string(text)) {
			if w == with && o.take(l) {
				continue
			}
			f.to.WriteString(l)
		}
	}
	o.out, o.errs = out.String(), o.errs+errs.String()
	return o, nil
}

// denied says whether the dynamic linker of some program was denied what the kernel had allowed. With --link2symlink PRoot
// 5.4.0 decides that out of memory that it has not set: it is chance, with and without svcrelay.
func (o *outcome) denied(p programs.Program) bool {
	return slices.Contains(p.Options, "--link2symlink") && strings.Contains(o.out+o.errs, "error while loading shared libraries") &&
		strings.Contains(o.out+o.errs, ": Operation not permitted")
}

func (o *outcome) take(l string) bool {
	if o.Stats == nil {
		o.Stats = &programs.Stats{}
	}
	return o.Stats.Take(l) || strings.HasPrefix(l, "svcrelay: ") // the command says when guests run without the library
}

// stops waits for the end of a process and says how often it has waited: a PRoot waits for its guests only.
func stops(pid int) int {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(l, "voluntary_ctxt_switches:"); ok {
			v, _ := strconv.Atoi(strings.TrimSpace(n))
			return v
		}
	}
	return 0
}

func command(ctx context.Context, p programs.Program, w way) *exec.Cmd {
	dir := programs.Work + "/" + p.Name
	argv := []string{"/bin/sh", "-c", p.Script}
	if w == native {
		uid := user
		if len(p.Options) > 0 {
			uid = 0
		}
		cmd := bare.Command(ctx, bare.Guest{Root: root, Dir: dir, UID: uid}, argv...)
		cmd.Env = environment
		return cmd
	}
	args := append([]string{"/usr/bin/proot", "-r", root, "-b", "/dev", "-b", "/proc", "-w", dir}, p.Options...)
	args = append(args, argv...)
	if w == with {
		args = append([]string{inside.Command, "run", "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = environment
	if w == with {
		cmd.Env = append(cmd.Env, "PROOT_FP_STATS=1")
		if logging {
			cmd.Env = append(cmd.Env, "PROOT_FP_LOG=/tmp/left")
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: &syscall.Credential{Uid: user, Gid: user}}
	return cmd
}

// mountSystem shows the guest what PRoot binds. The arguments are what is to run.
func mountSystem(argv []string) ([]string, error) {
	for _, m := range []string{"/proc", "/dev"} {
		if err := unix.Mount(m, root+m, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return nil, fmt.Errorf("mount %s: %w", m, err)
		}
	}
	return argv, nil
}
