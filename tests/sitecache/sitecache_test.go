// Package sitecache tests the cache of sites in the VM: with every kind of file that must not be believed, in places
// where nothing can be written, with all glibcs, and what a start costs with and without it.
package sitecache

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/figures"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/toolchain"
)

//go:embed guest.sh
var script []byte

const (
	progDir = "/opt/sitecache"
	libPath = "/usr/local/lib/svcrelay/libsvcrelay.so"
)

// session is one PRoot with the script in it.
type session struct {
	guest   string
	uid     int
	options []string // PRoot's
	parts   []string // of the script
	lasting bool     // no start finds a cache
}

// command returns the command of the VM that runs a session.
func (s session) command() rig.Command {
	argv := []string{product.Command, "run", rig.PRootPath}
	argv = append(argv, s.options...)
	argv = append(argv, "-r", guest.Root(s.guest), "-b", "/proc", "-b", "/dev", "-b", "/sys", "-w", "/", "/bin/sh", progDir+"/guest.sh")
	return rig.Command{Argv: append(argv, s.parts...), UID: s.uid, GID: s.uid, Timeout: 2 * time.Minute,
		Env: []string{"PATH=/usr/bin:/bin", "PROOT_FP_STATS=1", "LC_ALL=C"}}
}

var sessions = map[string]session{
	"bad files":       {guest: "bookworm", parts: []string{"kinds"}},
	"other settings":  {guest: "bookworm", parts: []string{"others"}},
	"another user":    {guest: "bookworm", uid: 1000, parts: []string{"twice"}},
	"as another root": {guest: "bookworm", uid: 1000, options: []string{"-0"}, parts: []string{"twice"}},
	"unwritable":      {guest: "bookworm", uid: 1001, parts: []string{"twice"}, lasting: true},
	"read-only":       {guest: "bookworm", options: []string{"-b", "/mnt/ro:/tmp"}, parts: []string{"twice"}, lasting: true},
	"full":            {guest: "bookworm", options: []string{"-b", "/mnt/full:/tmp"}, parts: []string{"twice"}, lasting: true},
	"no inodes":       {guest: "bookworm", options: []string{"-b", "/mnt/inodes:/tmp"}, parts: []string{"twice"}, lasting: true},
	"glibc 2.31":      {guest: "bullseye", parts: []string{"twice"}},
	"glibc 2.41":      {guest: "trixie", parts: []string{"twice"}},
	"glibc 2.43":      {guest: "forky", parts: []string{"twice"}},
	"cost":            {guest: "bookworm", parts: []string{"cost"}},
}

// before prepares the places in which nothing can be written.
const before = `set -e
for g in /guests/*; do echo ` + libPath + ` > $g/etc/ld.so.preload; done
mkdir -p /mnt/ro /mnt/full /mnt/inodes
mount -t tmpfs -o ro none /mnt/ro
mount -t tmpfs -o size=4k none /mnt/full; mkdir -m 700 /mnt/full/svcrelay-0; dd if=/dev/zero of=/mnt/full/x bs=4k count=1
mount -t tmpfs -o nr_inodes=1 none /mnt/inodes
mkdir -m 700 /guests/bookworm/tmp/svcrelay-1001; busybox chown 1001 /guests/bookworm/tmp/svcrelay-1001; chmod 500 /guests/bookworm/tmp/svcrelay-1001
find /guests -xdev | grep -v '^/guests/[a-z]*/tmp/' | sort > /before`

// after says what has been made anywhere but in /tmp, and what is left in the places where nothing can be written.
const after = `find /guests -xdev | grep -v '^/guests/[a-z]*/tmp/' | sort > /after
diff /before /after && ls -A /mnt/ro /mnt/inodes /mnt/full/svcrelay-0`

func TestSiteCache(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	job := rig.Job{ICount: true, Guests: []string{"bookworm", "bullseye", "trixie", "forky"}, KeepOn: true, Timeout: 15 * time.Minute}
	if err := addFiles(ctx, &job, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for name := range sessions {
		names = append(names, name)
	}
	slices.Sort(names)
	job.Commands = []rig.Command{{Name: "before", Argv: rig.Shell(before)}}
	for _, name := range names {
		c := sessions[name].command()
		c.Name = name
		job.Commands = append(job.Commands, c)
	}
	job.Commands = append(job.Commands, rig.Command{Name: "after", Argv: rig.Shell(after)})
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outcomes) != len(names)+2 {
		t.Fatalf("%d outcomes", len(res.Outcomes))
	}
	for _, o := range res.Outcomes {
		t.Logf("%s: status %d, %v", o.Name, o.Status, o.Elapsed)
		if o.Status != 0 {
			t.Errorf("%s: status %d: %s%s%s", o.Name, o.Status, o.Problem, o.Stdout, o.Stderr)
		}
		s, is := sessions[o.Name]
		switch {
		case o.Name == "cost":
			cost(t, string(o.Stdout))
		case is:
			t.Run(o.Name, func(t *testing.T) { judge(t, s, o) })
		case o.Name == "after":
			for _, f := range strings.Fields(string(o.Stdout)) {
				if !strings.HasSuffix(f, ":") { // not the name of a directory that is listed
					t.Errorf("made: %s", f)
				}
			}
		}
	}
}

// judge compares what a session's starts have searched with what they should have. They all find the same sites.
func judge(t *testing.T, s session, o rig.Outcome) {
	sites, lines := "", 0
	for line := range strings.Lines(string(o.Stdout)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			t.Errorf("said: %s", line)
			continue
		}
		lines++
		name, lasting := strings.CutPrefix(f[0], "lasting: ")
		again := strings.HasSuffix(name, " again")
		warm := strings.HasPrefix(name, "warm") || again && !lasting && !s.lasting ||
			name == "twice" && !s.lasting // the shell was the first
		if got := strings.HasPrefix(f[1], "0/"); got != warm {
			t.Errorf("%s: searched %s", f[0], f[1])
		}
		if name == "TMPDIR" { // a good one was made before
			continue
		}
		if strings.HasPrefix(name, "no build-id") {
			continue
		}
		if sites == "" {
			sites = f[2]
		}
		if f[2] != sites || !regexp.MustCompile(`^[1-9][0-9]* ld\.so=[1-9][0-9]* of=[1-9]`).MatchString(f[2]) {
			t.Errorf("%s: found libc=%s, others libc=%s", f[0], f[2], sites)
		}
	}
	if lines < 2 {
		t.Errorf("said %q and %q", o.Stdout, o.Stderr)
	}
	// The only thing that may be on standard error is the line of figures.
	for line := range strings.Lines(string(o.Stderr)) {
		if !strings.HasPrefix(line, figures.Begin) {
			t.Errorf("on standard error: %s", line)
		}
	}
}

// cost checks that a warm start is cheaper than one that searches, and says what all cost.
func cost(t *testing.T, out string) {
	least := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^cost (\w+)\|timed ns (\d+) status 0$`).FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[2])
		if old, is := least[m[1]]; !is || n < old {
			least[m[1]] = n
		}
	}
	for _, name := range []string{"inert", "none", "cold", "warm"} {
		t.Logf("cost of a start, %s: %d instructions, %d more than inert", name, least[name], least[name]-least["inert"])
	}
	if len(least) != 4 || least["warm"] >= least["none"] || least["none"] >= least["cold"] || least["inert"] >= least["warm"] {
		t.Errorf("costs %v of\n%s", least, out)
	}
}

// addFiles puts the library, the command and the script into the VM, and a C library without a build-id.
func addFiles(ctx context.Context, job *rig.Job, tmp string) error {
	if err := errors.Join(product.Add(job, "", libPath), product.Compile(ctx, job, tmp, "bookworm", "timed.c", progDir+"/timed")); err != nil {
		return err
	}
	for _, g := range job.Guests {
		job.Files[guest.Root(g)+progDir+"/guest.sh"] = rig.File{Data: script, Mode: 0o644}
	}
	cc, err := toolchain.For(ctx, "bookworm")
	if err != nil {
		return err
	}
	unnamed, err := withoutID(filepath.Join(cc.Sysroot, "usr/lib/aarch64-linux-gnu/libc.so.6"))
	job.Files[guest.Root("bookworm")+progDir+"/unnamed/libc.so.6"] = rig.File{Data: unnamed}
	return err
}

// withoutID gives a library whose build-id note is of another kind.
func withoutID(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	at := bytes.Index(b, []byte("\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"))
	if at < 0 {
		return nil, fmt.Errorf("%s: no build-id", path)
	}
	b[at+4] = 0x33
	return b, nil
}
