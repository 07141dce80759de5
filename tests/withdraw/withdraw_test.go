package withdraw

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// Where things are in the guest.
const (
	program = "/opt/withdraw"
	work    = "/tmp/work"
)

// kinds are what the guest program does, and which of its looks must have reached PRoot. Everything else must have been
// answered without it.
var kinds = map[string][]string{
	"nothing":        nil,
	"mount":          {"self, after", "executed", "beside, after", "executed beside"},
	"mount-refused":  nil,
	"umount-refused": nil,
	"pivot-refused":  nil,
	"chroot":         {"self, after"}, // there is nothing to execute there
	"chroot-refused": nil,
	"unshare-mounts": {"self, after", "executed"},
	"unshare-files":  nil,
	"setns-refused":  nil,
	"filter":         {"self, after", "executed"},
	"trace-me":       {"traced", "executed, traced"},
	"attach":         {"beside, after", "executed beside"},
	"auxv":           nil, // Termux's fork: "self, after"
	"long-socket":    {"self, after", "executed", "beside, after", "executed beside"},
}

// How a look ends: whether PRoot was asked.
var ending = regexp.MustCompile(`(?m)^(.*?): .* (answered|stopped)$`)

func TestWithdrawn(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	root := guest.Root("bookworm")
	job := rig.Job{Kernel: "6.1", ICount: true, KeepOn: true, Guests: []string{"bookworm"}, Timeout: 5 * time.Minute}
	if err := errors.Join(product.Add(&job, ""), product.Compile(ctx, &job, t.TempDir(), "bookworm", "withdraw.c", program)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for kind := range kinds {
		names = append(names, kind)
		for _, with := range []bool{false, true} {
			job.Commands = append(job.Commands, look(root, kind, with))
		}
	}
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range names {
		t.Run(kind, func(t *testing.T) { judge(t, kinds[kind], res.Outcomes[2*i], res.Outcomes[2*i+1]) })
	}
}

// look is the command that runs the guest program once, in a session of its own.
func look(root, kind string, with bool) rig.Command {
	proot := []string{rig.PRootPath, "-r", root, "-w", "/", "-b", "/proc", "-b", "/dev", "-b", "/sys"}
	line := `umount "$0" 2>/dev/null; rm -rf "$0" && mkdir -p "$0" && exec "$@"`
	if with {
		proot = product.Run(proot)
	}
	argv := append([]string{"/bin/sh", "-c", line, root + work}, append(proot, program, kind, work)...)
	return rig.Command{Name: kind, Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second}
}

// judge compares what the guest program saw with what it saw without the library, and who was asked.
func judge(t *testing.T, stopped []string, without, with rig.Outcome) {
	t.Helper()
	plain := regexp.MustCompile(`(?m) (answered|stopped)$`)
	a, b := plain.ReplaceAllString(string(without.Stdout), ""), plain.ReplaceAllString(string(with.Stdout), "")
	if a != b || without.Status != with.Status || with.Problem != "" {
		t.Errorf("without the library (status %d, %s):\n%s\nwith it (status %d, %s):\n%s%s", without.Status, without.Problem, without.Stdout,
			with.Status, with.Problem, with.Stdout, with.Stderr)
	}
	seen := 0
	for _, m := range ending.FindAllStringSubmatch(string(with.Stdout), -1) {
		must := false
		for _, s := range stopped {
			must = must || s == m[1]
		}
		if must {
			seen++
		}
		if (m[2] == "stopped") != must {
			t.Errorf("%s was %s", m[1], m[2])
		}
	}
	if seen != len(stopped) || !strings.Contains(string(with.Stdout), "self, before") {
		t.Errorf("%d looks of %q:\n%s", seen, stopped, with.Stdout)
	}
}
