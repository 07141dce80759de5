package libcs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

var (
	dist   = flag.String("dist", "", "directory with the built libraries and svcrelay-arm64; default dist/ of the source tree")
	guests = flag.String("guests", strings.Join(allGuests, ","), "guests to run")
	cases  = flag.String("cases", "", "run only cases of cancellation with one of these words in their names")
	suites = flag.String("suites", "", "run only suites whose name matches this regular expression")
	save   = flag.String("save", "", "directory to write all outputs to")
)

// allGuests are one for each C library: glibc 2.31, 2.36, 2.41, 2.43, and musl.
var allGuests = []string{"bullseye", "bookworm", "trixie", "forky", "musl"}

// Where things are.
const (
	progDir = "/opt/t"    // in a guest
	workDir = "/tmp/work" // in a guest; empty when a program starts
)

// suite is a guest program and what it must say.
type suite struct {
	name    string
	sources string   // pattern in tests/guest/libcs
	flags   []string // for compiler and linker
	noMusl  bool     // not for musl
	args    []string // besides the work directory
	ways    []way
	judge   func(t *testing.T, got []rig.Outcome) // the outcomes, one for each way
}

// way is how a guest is entered.
type way int

const (
	natively   way = iota // no PRoot
	underPRoot            // PRoot alone
	relayed               // PRoot started by svcrelay, the library preloaded
)

func (w way) String() string {
	return [...]string{"natively", "under PRoot", "with the library"}[w]
}

// TestEveryLibrary boots one VM with all guests and runs all suites in each.
func TestEveryLibrary(t *testing.T) {
	list := strings.Split(*guests, ",")
	run(t, rig.Job{Guests: list}, []suite{trapSuite, secondSuite, cancelSuite, unwoundSuite})
}

// run boots a VM for a job, runs suites in its guests and judges what they said.
func run(t *testing.T, job rig.Job, list []suite) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	type place struct {
		suite
		guest string
		first int
	}
	var places []place
	job.Files = map[string]rig.File{}
	tmp := t.TempDir()
	if err := product.Add(&job, *dist); err != nil {
		t.Fatal(err)
	}
	if err := addPlugin(ctx, &job, filepath.Join(tmp, "libplugin.so")); err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(*suites)
	for _, g := range job.Guests {
		// Debian's installation makes it; without it glibc 2.31 asks name servers before it looks into files.
		job.Files[guest.Root(g)+"/etc/nsswitch.conf"] = rig.File{Data: []byte("passwd: files\ngroup: files\nhosts: files dns\n"), Mode: 0o644}
		for _, s := range list {
			if s.noMusl && g == "musl" || !wanted.MatchString(s.name) {
				continue
			}
			if err := product.Compile(ctx, &job, tmp, g, "libcs/"+s.sources, progDir+"/"+s.name, s.flags...); err != nil {
				t.Fatal(err)
			}
			places = append(places, place{s, g, len(job.Commands)})
			for _, w := range s.ways {
				job.Commands = append(job.Commands, command(g, w, s))
			}
		}
	}
	outcomes := boot(ctx, t, job)
	for _, p := range places {
		t.Run(p.guest+"/"+p.name, func(t *testing.T) {
			p.judge(t, outcomes[p.first:p.first+len(p.ways)])
		})
	}
}

// addPlugin makes a library to load, which needs no C library and so suits all.
func addPlugin(ctx context.Context, job *rig.Job, out string) error {
	top, err := repo.Root()
	if err != nil {
		return err
	}
	cc, err := toolchain.For(ctx, "bookworm")
	if err != nil {
		return err
	}
	for _, g := range job.Guests {
		job.Files[guest.Root(g)+progDir+"/libplugin.so"] = rig.File{HostPath: out}
	}
	return cc.Compile(ctx, out, []string{filepath.Join(top, "tests/guest/libcs/plugin/plugin.c")}, "-shared", "-fPIC", "-nostdlib")
}

// prepare empties the work directory; it is the VM's shell, which needs nothing of the guest.
const prepare = `rm -rf "$0" && mkdir -m 777 "$0" && exec "$@"`

// command returns the command that runs a suite in a guest.
func command(name string, w way, s suite) rig.Command {
	argv := append([]string{progDir + "/" + s.name, workDir}, s.args...)
	if *cases != "" && s.args != nil {
		argv = append(argv[:2], strings.Fields(*cases)...)
	}
	c := rig.Command{Name: fmt.Sprintf("%s %s %v", name, s.name, w), Timeout: 3 * time.Minute,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb"}}
	root := guest.Root(name)
	switch w {
	case natively:
		c.Root = root
		c.Argv = append([]string{"/bin/sh", "-c", prepare, workDir}, argv...)
	case underPRoot:
		c.Argv = append([]string{"/bin/sh", "-c", prepare, root + workDir}, append(rig.PRootArgs(name, nil), argv...)...)
	default:
		c.Argv = append([]string{"/bin/sh", "-c", prepare, root + workDir}, product.Run(rig.PRootArgs(name, nil), argv...)...)
	}
	return c
}

// boot runs the commands and gives their outcomes.
func boot(ctx context.Context, t *testing.T, job rig.Job) []rig.Outcome {
	t.Helper()
	job.KeepOn, job.ICount, job.MemoryMB, job.Timeout = true, true, 3072, 25*time.Minute
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the machine ran for %.0f s", res.Took.Seconds())
	for _, o := range res.Outcomes {
		t.Logf("%6.0f ms, status %d: %s %s", o.Elapsed.Seconds()*1000, o.Status, o.Name, o.Problem)
		if *save != "" {
			name := regexp.MustCompile(`[^a-zA-Z0-9.]+`).ReplaceAllString(o.Name, "_")
			if err := os.WriteFile(filepath.Join(*save, name), append(o.Stdout, o.Stderr...), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	return res.Outcomes
}

// ended says whether a program came to its end; if not, that is an error of the test.
func ended(t *testing.T, o rig.Outcome, last string) bool {
	t.Helper()
	if o.Status != 0 || o.Problem != "" || !strings.HasSuffix(string(o.Stdout), last) {
		t.Errorf("%s: status %d %s: %.2000s%s", o.Name, o.Status, o.Problem, o.Stdout, o.Stderr)
		return false
	}
	return true
}
