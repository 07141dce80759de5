package withdraw

import (
	"context"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// since are programs and shells in a guest that must see what they see under PRoot alone. The VM's directory /h has two
// directories and a file to bind. What a shell starts is configured after the change.
var since = []struct {
	name, guest string
	options     []string
	line        string
}{
	{"threads with directories of their own", "trixie", nil, "/opt/since threads"}, // glibc makes them by clone3 there
	{"threads", "bookworm", nil, "/opt/since threads"},
	{"clone without CLONE_FS", "bookworm", nil, "/opt/since clone"},
	{"other numbers", "bookworm", nil, "/opt/since numbers"},
	{"buffers over each other", "bookworm", []string{"-b", "/sys/kernel:/dev/shm"}, "/opt/since overlap"},
	{"a binding's directory becomes a link", "bookworm", []string{"-b", "/h/one:/tmp/work/b", "-b", "/h:/h"},
		"mv /h/one /h/old; ln -s two /h/one; /opt/since look /tmp/work/b /tmp/work/b/f /h/one/f"},
	{"a binding's directory is behind a link", "bookworm", []string{"-b", "/h/one/sub:/tmp/work/b", "-b", "/h:/h"},
		"mv /h/one /h/old; ln -s two /h/one; cd /tmp/work/b; /opt/since look f /proc/self/cwd; exec 7<f; readlink /proc/self/fd/7"},
	{"a link on the way to a binding", "bookworm", []string{"-b", "/h/one:/tmp/work/m/k"},
		"mv /tmp/work/m /tmp/work/m2; mkdir -p /tmp/work/u/k; echo other >/tmp/work/u/k/f; ln -s u /tmp/work/m; /opt/since look /tmp/work/m/k/f /tmp/work/u/k/f"},
	{"a link in the place of a bound file", "bookworm", []string{"-b", "/h/file:/tmp/work/m/file", "-b", "ROOT/tmp/work:/tmp/other"},
		"rm /tmp/other/m/file; echo other >/tmp/work/m/u; ln -s u /tmp/other/m/file; /opt/since look /tmp/work/m/file /tmp/work/m/u /tmp/other/m/file"},
}

// TestSince compares them.
func TestSince(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	guests := []string{"bookworm", "trixie"}
	job := rig.Job{Kernel: "6.12", ICount: true, KeepOn: true, Guests: guests, Timeout: 5 * time.Minute}
	if err := product.Add(&job, ""); err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	for _, g := range guests {
		if err := product.Compile(ctx, &job, tmp, g, "since.c", "/opt/since", "-pthread"); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range since {
		root := guest.Root(s.guest)
		for _, with := range []bool{false, true} {
			proot := []string{rig.PRootPath, "-r", root, "-w", "/", "-b", "/proc", "-b", "/dev", "-b", "/sys"}
			for _, o := range s.options {
				if rest, ok := strings.CutPrefix(o, "ROOT"); ok {
					o = root + rest
				}
				proot = append(proot, o)
			}
			if with {
				proot = product.Run(proot)
			}
			prepare := `rm -rf "$0/tmp/work" /h; mkdir -p "$0/tmp/work/m/k" "$0/tmp/work/b" /h/one/sub /h/two/sub; echo >"$0/tmp/work/m/file"
for d in one one/sub two two/sub; do echo $d >/h/$d/f; done; echo bound >/h/file; exec "$@"`
			argv := append([]string{"/bin/sh", "-c", prepare, root}, append(proot, "/bin/sh", "-c", s.line)...)
			job.Commands = append(job.Commands, rig.Command{Name: s.name, Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second})
		}
	}
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range since {
		t.Run(s.name, func(t *testing.T) {
			a, b := res.Outcomes[2*i], res.Outcomes[2*i+1]
			if string(a.Stdout) != string(b.Stdout) || string(a.Stderr) != string(b.Stderr) || a.Status != b.Status || len(a.Stdout) == 0 {
				t.Errorf("without the library (status %d, %s):\n%s%s\nwith it (status %d, %s):\n%s%s", a.Status, a.Problem, a.Stdout, a.Stderr,
					b.Status, b.Problem, b.Stdout, b.Stderr)
			}
		})
	}
}
