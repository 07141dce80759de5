package shim

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

var otherProot = flag.String("proot", "", "an arm64 PRoot to test with instead of the rig's, such as one of the Termux line")

// build adds the shim and the command to a job, and the test programs for its guests.
func build(t *testing.T, ctx context.Context, guests ...string) rig.Job {
	t.Helper()
	top, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	job := rig.Job{ICount: true, Guests: guests, KeepOn: true}
	if err := product.Add(&job, ""); err != nil {
		t.Fatal(err)
	}
	if *otherProot != "" {
		job.Files[rig.PRootPath] = rig.File{HostPath: *otherProot}
	}
	for _, g := range guests {
		cc, err := toolchain.For(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"raw", "prctl"} {
			out := filepath.Join(dir, g+"-"+name)
			if err := cc.Compile(ctx, out, []string{filepath.Join(top, "tests/shim/testdata", name+".c")}); err != nil {
				t.Fatal(err)
			}
			job.Files[guest.Root(g)+"/opt/"+name] = rig.File{HostPath: out}
		}
		job.Files[guest.Root(g)+product.Shim] = job.Files[product.Shim]
	}
	return job
}

func boot(t *testing.T, ctx context.Context, job rig.Job) []rig.Outcome {
	t.Helper()
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outcomes) != len(job.Commands) {
		t.Fatalf("%d of %d commands ran", len(res.Outcomes), len(job.Commands))
	}
	return res.Outcomes
}

const wantRaw = `stat of the host path from the page: done, no stop
stat of the guest path from libc: done, stopped
the same file: yes
stat of the host path from libc: failed, stopped
stat of the guest path from the page behind: done, stopped
open from the page: done, no stop
access from the page: done, no stop
readlink from the page: done, no stop
getcwd from the page, with an exit stop: done, no stop
getcwd from libc: done, stopped
uname from the page, with an exit stop: done, no stop
getppid from libc, which is not traced: done, no stop
LD_PRELOAD: `

const wantPrctl = `set name: 0
get name: 0
name: shimmed
unknown option: -1 errno 22
no such bad argument: -1 errno 22
no new privileges: 0
have no new privileges: 1
filter at an address that is not there: -1 errno 14
filter with instructions that are not there: -1 errno 14
empty filter: -1 errno 22
PRoot's filter: 0
  getppid from libc: -1 errno 38
  getppid from the page: 1
  getpgid from libc: -1 errno 38
  getpgid from the page: 1
  getsid from libc: 1
  filters installed: 2
another filter: 0
  getppid from libc: -1 errno 7
  getppid from the page: 0
  getpgid from libc: 1
  getpgid from the page: 1
  getsid from libc: 1
  filters installed: 2
LD_PRELOAD: unset
SVCRELAY_GUEST_LD_PRELOAD: unset
`

// TestShim runs the shim in PRoot, and by itself in programs of both C libraries.
func TestShim(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	job := build(t, ctx, "bookworm", "musl")
	root := guest.Root("bookworm")
	file := "/etc/debian_version"
	raw := []string{"-r", root, "-b", "/proc", "-w", "/tmp", "/opt/raw", root + file, file}
	run := func(options ...string) rig.Command {
		return rig.Command{Argv: append(append([]string{product.Command, "run"}, options...), raw...)}
	}
	preloaded := func(c rig.Command, list string) rig.Command {
		c.Env = append(c.Env, "LD_PRELOAD="+list)
		return c
	}
	cases := []struct {
		name    string
		command rig.Command
		status  int
		out     string
		errs    string // a part of it; empty: nothing
	}{
		{"svcrelay run", run(rig.PRootPath), 0, wantRaw + "unset\n", ""},
		{"svcrelay run, for the guest", run("--guest-preload", "/opt/none.so", rig.PRootPath), 0, wantRaw + "/opt/none.so\n", "/opt/none.so"},
		{"as root", rig.Command{Env: []string{"LD_PRELOAD=" + product.Shim}, Argv: append([]string{rig.PRootPath, "-0"}, raw...)}, 0, wantRaw + "unset\n", ""},
		{"exit status", rig.Command{Argv: []string{product.Command, "run", "-v", rig.PRootPath, "-r", root, "/bin/sh", "-c", "exit 37"}}, 37, "", "fast path for the guest in " + root},
		{"PRoot's mistakes", rig.Command{Argv: []string{product.Command, "run", rig.PRootPath, "-r", root, "--nonsense"}}, 1, "", "unknown option '--nonsense'"},
		{"glibc", preloaded(rig.Native("bookworm", "/opt/prctl"), product.Shim), 0, wantPrctl, "left unchanged, programs run at PRoot's own speed: it has an instruction of an unknown kind (instruction 1,"},
		{"glibc, among others", preloaded(rig.Native("bookworm", "/opt/prctl"), "/lib/aarch64-linux-gnu/libm.so.6:"+product.Shim), 0,
			strings.Replace(wantPrctl, "LD_PRELOAD: unset", "LD_PRELOAD: /lib/aarch64-linux-gnu/libm.so.6", 1), "unknown kind"},
		{"musl", preloaded(rig.Native("musl", "/opt/prctl"), product.Shim), 0, wantPrctl, "unknown kind"},
	}
	for _, c := range cases {
		c.command.Name = c.name
		job.Commands = append(job.Commands, c.command)
	}
	for i, o := range boot(t, ctx, job) {
		c := cases[i]
		if o.Problem != "" || o.Status != c.status || string(o.Stdout) != c.out || !strings.Contains(string(o.Stderr), c.errs) || (c.errs == "") != (len(o.Stderr) == 0) {
			t.Errorf("%s: status %d %s\n%s\nstandard error:\n%s\nwant status %d and\n%s\nand on standard error: %q",
				c.name, o.Status, o.Problem, o.Stdout, o.Stderr, c.status, c.out, c.errs)
		}
	}
}

// TestBindings compares what svcrelay tells guests with what PRoot itself says it shows where.
func TestBindings(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	job := build(t, ctx, "bookworm")
	root := guest.Root("bookworm")
	job.Files[root+"/real/x"] = rig.File{Data: []byte("x")}
	job.Files[root+"/link"] = rig.File{Link: "real"}
	job.Files[root+"/far"] = rig.File{Link: "/var/none/far"}
	job.Files["/data/dir/sub/x"] = rig.File{Data: []byte("x")}
	job.Files["/data/ln"] = rig.File{Link: "dir"}
	lines := [][]string{
		{"-r", root},
		{"-r", root, "-b", "/proc", "-b", "/dev", "-b", "/data/ln:/mnt"},
		{"--rootfs=" + root, "--bind=/data/ln", "--mount=/data/dir:/link", "-m", "/data:/link/deeper/still"},
		{"-b", "/data/dir:/link!", "-b", "/data:/far/x", "-r", root},
		{"-b /data:/a/../b/./c/", "-r " + root, "-b", "/nowhere:/x", "-b", "/data/dir:/b/c/dir/sub"},
		{"-r", root, "-b", "/data:/a", "-b", "/data/dir:/a", "-b", "/data:/b", "-b", "dir:/c", "-b", "ln"},
		{"-R", root},
		{"-r", root, "-b", "/data/dir/sub/x:/real/x", "-b", "/data/dir:/real/x/y"},
		{"-b", "/data/dir:/x"},
		{"-r", "/data", "-b", root + ":/", "-b", "/:/host"},
	}
	for _, options := range lines {
		argv := append([]string{product.Command, "run", "-v", rig.PRootPath, "-v", "1"}, options...)
		job.Commands = append(job.Commands, rig.Command{Argv: append(argv, "/bin/true"), Dir: "/data", Env: []string{"HOME=/data"}})
	}
	for i, o := range boot(t, ctx, job) {
		var ours, theirs []string
		for line := range strings.Lines(string(o.Stderr)) {
			line = strings.TrimSpace(line)
			if b, ok := strings.CutPrefix(line, "proot info: binding = "); ok {
				host, where, two := strings.Cut(b, ":")
				if !two {
					where = host
				}
				theirs = append(theirs, host+" is at "+where)
			}
			if b, ok := strings.CutPrefix(line, "svcrelay: "); ok && strings.Contains(b, " is at ") {
				ours = append(ours, b)
			}
			if b, ok := strings.CutPrefix(line, "svcrelay: fast path for the guest in "); ok {
				ours = append(ours, b+" is at /")
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if len(theirs) == 0 || !slices.Equal(ours, theirs) {
			t.Errorf("%q:\nsvcrelay: %q\nPRoot:    %q\n%s", lines[i], ours, theirs, o.Stderr)
		}
	}
}
