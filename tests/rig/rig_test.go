package rig

import (
	"context"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig/proot"
)

// TestJob runs one job that has everything in it: each way to run a command, files in both directions, failures
// and a command that hangs.
func TestJob(t *testing.T) {
	NeedVM(t)
	commands := []Command{
		{Name: "vm", Argv: Shell("cat /data/in; echo no >&2; ln -s in /data/link; test -x /usr/bin/proot")},
		{Name: "stdin", Argv: []string{"/bin/cat"}, Stdin: []byte("typed")},
		{Name: "environment", Argv: Shell("echo $A; pwd; id -u"), Env: []string{"A=b c", "PATH=/bin"}, Dir: "/data", UID: 1000, GID: 1000},
		{Name: "status", Argv: Shell("exit 3")},
		{Name: "signal", Argv: Shell("kill -SEGV $$")},
		{Name: "missing", Argv: []string{"/no/such/program"}},
		{Name: "hang", Argv: Shell("echo before; sleep 1000"), Timeout: 3 * time.Second},
		Native("bookworm", Shell("grep -c ^processor /proc/cpuinfo; ls -d /lib/x /tmp; stat -c %a /tmp")...),
		UnderPRoot("bookworm", nil, Shell("readlink /proc/self/exe; ls /lib/x; test ! -e /data")...),
		UnderPRoot("bookworm", []string{"-0"}, Shell("id -u")...),
	}
	commands[9].UID, commands[9].GID = 1000, 1000
	res, err := Run(context.Background(), Job{ICount: true, KeepOn: true, Guests: []string{"bookworm"}, Commands: commands,
		Files: map[string]File{
			"/data/in":                {Data: []byte("input"), Mode: 0o644},
			"/guests/bookworm/lib/x":  {Data: []byte("x"), Mode: 0o644},
			"/guests/bookworm/tmp/y":  {Data: []byte("y"), Mode: 0o644},
			"/guests/bookworm/run/ln": {Link: "/lib/x"},
		},
		Return: []string{"/data", "/guests/*/lib/x"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		status         int
		stdout, stderr string
	}{
		{0, "input", "no\n"},
		{0, "typed", ""},
		{0, "b c\n/data\n1000\n", ""},
		{3, "", ""},
		{128 + 11, "", ""},
		{127, "", "rig: "},
		{128 + 9, "before\n", ""},
		{0, "1\n/lib/x\n/tmp\n1777\n", ""},
		{0, "/usr/bin/readlink\n/lib/x\n", ""},
		{0, "0\n", ""},
	} {
		got := res.Outcomes[i]
		if got.Status != want.status || string(got.Stdout) != want.stdout || !strings.HasPrefix(string(got.Stderr), want.stderr) {
			t.Errorf("%s (%d): status %d, stdout %q, stderr %q; want %d, %q, %q", got.Name, i, got.Status, got.Stdout, got.Stderr, want.status, want.stdout, want.stderr)
		}
	}
	if got := res.Outcomes[6]; !strings.Contains(got.Problem, "still running") {
		t.Errorf("a command that hangs has the problem %q", got.Problem)
	}
	if got := res.Outcomes[8]; got.Switches < 10 {
		t.Errorf("%d context switches under PRoot: it does not stop its programs?", got.Switches)
	}
	if string(res.Files["/data/in"]) != "input" || res.Links["/data/link"] != "in" || string(res.Files["/guests/bookworm/usr/lib/x"])+string(res.Files["/guests/bookworm/lib/x"]) != "x" {
		t.Errorf("returned files %q and links %q", res.Files, res.Links)
	}
	if res.Status != 3 || !strings.HasPrefix(res.Kernel, "6.1.") || res.PageSize != 4096 {
		t.Errorf("status %d, kernel %s, page size %d", res.Status, res.Kernel, res.PageSize)
	}
}

// TestHang: a machine that does not come to an end is killed, and the error shows its console.
func TestHang(t *testing.T) {
	NeedVM(t)
	start := time.Now()
	_, err := Run(context.Background(), Job{Timeout: 20 * time.Second, Commands: []Command{{Argv: Shell("echo stuck here >/dev/console; while :; do :; done")}}})
	if err == nil || !strings.Contains(err.Error(), "stuck here") || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("error %v, want one with the console", err)
	}
	t.Logf("took %v", time.Since(start))
}

// TestPRoot: the PRoot that everything is compared with is the release, with its accelerator.
func TestPRoot(t *testing.T) {
	NeedVM(t)
	res, err := Run(context.Background(), Job{Commands: []Command{{Argv: []string{PRootPath, "--version"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if out := string(res.Outcomes[0].Stdout); !strings.Contains(out, proot.Version) || !strings.Contains(out, "seccomp_filter = yes") {
		t.Errorf("proot --version says:\n%s", out)
	}
}
