package scenarios

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/corpus"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/proot"
	"svcrelay/tests/rig/toolchain"
)

var (
	dist     = flag.String("dist", "", "directory with the built libraries and svcrelay-arm64; default dist/ of the source tree")
	rehearse = flag.Bool("rehearse", false, "use no library at all, to test the scenarios themselves")
	save     = flag.String("save", "", "directory to write all outputs to")
	workload = flag.String("workload", "", "run only this workload")
	only     = flag.String("only", "", "run only settings whose name matches this regular expression")
)

//go:embed shell.sh
var shellScript []byte

// guestPrograms are compiled for every guest; the second word is what the linker needs besides.
var guestPrograms = map[string][]string{
	"paths": nil, "cwd": nil, "mutate": nil, "signals": nil, "state": nil, "refuse": nil,
	"threads": {"-pthread"}, "liboccupy.so": {"-shared", "-fPIC", "-nostartfiles"}, "libstarted.so": {"-shared", "-fPIC", "-pthread"},
}

// bookwormPrograms are compiled for that guest only. The text of what is after "@" is where the trampoline page would be.
var bookwormPrograms = map[string][]string{
	"static": {"-static-pie"}, "libhuge.so": {"-shared", "-fPIC"}, "libcrowd.so": {"-shared", "-fPIC"},
	"paths@fixed": {"-no-pie", "-Wl,-Ttext-segment=0xffff00000"},
}

// compareSettings boots one VM, runs all settings in it and reports every difference.
func compareSettings(t *testing.T, job rig.Job, settings []setting) {
	t.Helper()
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	if *only != "" {
		wanted := regexp.MustCompile(*only)
		var kept []setting
		for _, s := range settings {
			if wanted.MatchString(s.name) {
				kept = append(kept, s)
			}
		}
		settings = kept
	}
	if *workload != "" {
		for i := range settings {
			settings[i].workloads = []string{*workload}
		}
	}
	r := newRun(settings)
	if err := r.files(ctx, &job, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	job.Commands, job.KeepOn, job.ICount, job.Timeout = r.commands, true, true, 25*time.Minute
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	r.outcomes = res.Outcomes
	if err := r.save(); err != nil {
		t.Error(err)
	}
	for _, o := range res.Outcomes {
		t.Logf("%6.0f ms, %6d stops, status %d: %s", o.Elapsed.Seconds()*1000, o.Switches, o.Status, o.Name)
	}
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			for _, w := range append([]string{"state"}, s.work()...) {
				r.judge(t, s, w)
			}
		})
	}
}

// run is the list of commands for one boot, and where each workload's two outcomes will be.
type run struct {
	settings []setting
	commands []rig.Command
	without  map[string]int // setting and workload
	with     map[string]int
	outcomes []rig.Outcome
}

func newRun(settings []setting) *run {
	r := &run{settings: settings, without: map[string]int{}, with: map[string]int{}}
	plain := map[string]int{}
	guests := map[string]bool{}
	for _, s := range settings {
		guests[s.in()] = true
		for _, w := range append([]string{"state"}, s.work()...) {
			r.clear(s)
			c := s.command(w, false)
			text, _ := json.Marshal(c)
			at, known := plain[string(text)]
			if !known {
				at = r.add(c, s.name+", without")
				plain[string(text)] = at
			}
			r.without[s.name+" "+w] = at
		}
	}
	if *rehearse {
		for k, at := range r.without {
			c := r.commands[at]
			r.with[k] = r.add(c, c.Name)
		}
		return r
	}
	preloaded := func(how preload) {
		for _, s := range settings {
			if s.preload == how {
				for _, w := range append([]string{"state"}, s.work()...) {
					r.clear(s)
					r.with[s.name+" "+w] = r.add(s.command(w, true), s.name)
				}
			}
		}
	}
	for g := range guests {
		r.add(rig.Command{Name: "install", Argv: rig.Shell("echo " + product.Library + " > " + guest.Root(g) + "/etc/ld.so.preload")}, g)
	}
	preloaded(byFile)
	for g := range guests {
		r.add(rig.Command{Name: "remove", Argv: rig.Shell("rm " + guest.Root(g) + "/etc/ld.so.preload")}, g)
	}
	preloaded(byVariable)
	return r
}

// clear removes what root left in the work directory before a user's workload.
func (r *run) clear(s setting) {
	if s.uid != 0 {
		r.add(rig.Command{Name: "clear", Argv: rig.Shell("rm -rf " + guest.Root(s.in()) + workDir)}, s.name)
	}
}

func (r *run) add(c rig.Command, where string) int {
	c.Name = where + ": " + c.Name
	c.Timeout = 30 * time.Second
	r.commands = append(r.commands, c)
	return len(r.commands) - 1
}

// files puts everything the settings need into the job, and the commands that finish it before all others.
func (r *run) files(ctx context.Context, job *rig.Job, tmp string) error {
	job.Files = map[string]rig.File{}
	bound, err := corpus.Bound()
	if err != nil {
		return err
	}
	corpus.AddTo(job.Files, bound, corpus.BoundDir)
	for _, g := range job.Guests {
		if err := addGuest(ctx, job, g, tmp); err != nil {
			return err
		}
	}
	if !*rehearse {
		if err := product.Add(job, *dist, product.Library, copyPath); err != nil {
			return err
		}
	}
	// What the initramfs cannot carry.
	for _, g := range job.Guests {
		c := guest.Root(g) + "/c"
		line := fmt.Sprintf("mkfifo %s/fifo; chmod 0 %s/noperm; chmod 644 %s/noexec; mkdir -p %s/empty", c, c, c, c)
		r.insert(rig.Command{Name: "finish " + g, Argv: rig.Shell(line)})
	}
	return nil
}

func (r *run) insert(c rig.Command) {
	r.commands = append([]rig.Command{c}, r.commands...)
	for _, m := range []map[string]int{r.without, r.with} {
		for k := range m {
			m[k]++
		}
	}
}

func addGuest(ctx context.Context, job *rig.Job, name, tmp string) error {
	root := guest.Root(name)
	awkward, err := corpus.Awkward(root)
	if err != nil {
		return err
	}
	corpus.AddTo(job.Files, awkward, root+corpus.AwkwardDir)
	programs := maps.Clone(guestPrograms)
	if name == "bookworm" {
		maps.Copy(programs, bookwormPrograms)
	}
	for prog, extra := range programs {
		stem, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(prog, "lib"), ".so"), "@")
		if strings.HasPrefix(name, "musl") && strings.HasPrefix(prog, "lib") {
			continue
		}
		if err := product.Compile(ctx, job, tmp, name, stem+".c", progDir+"/"+prog, extra...); err != nil {
			return err
		}
	}
	job.Files[root+progDir+"/all.list"] = rig.File{Data: corpus.List(1), Mode: 0o644}
	job.Files[root+progDir+"/some.list"] = rig.File{Data: corpus.List(6), Mode: 0o644}
	job.Files[root+progDir+"/few.list"] = rig.File{Data: corpus.List(61), Mode: 0o644}
	job.Files[root+progDir+"/shell.sh"] = rig.File{Data: shellScript, Mode: 0o644}
	if name == "bookworm" {
		job.Files[toolDir+"/refuse"] = job.Files[root+progDir+"/refuse"] // the VM's C library is this guest's
		// A PRoot of the guest's own, for the nested settings.
		program, err := proot.Program(ctx)
		if err != nil {
			return err
		}
		job.Files[root+rig.PRootPath] = rig.File{HostPath: program}
		cc, err := toolchain.For(ctx, name)
		if err != nil {
			return err
		}
		libs, _ := filepath.Glob(filepath.Join(cc.Sysroot, "usr/lib/aarch64-linux-gnu/libtalloc.so.2.*"))
		if len(libs) == 0 {
			return fmt.Errorf("no libtalloc in %s", cc.Sysroot)
		}
		job.Files[root+"/usr/lib/aarch64-linux-gnu/libtalloc.so.2"] = rig.File{HostPath: libs[0]}
	}
	return nil
}

// save writes all outputs to the directory that was asked for.
func (r *run) save() error {
	if *save == "" {
		return nil
	}
	for suffix, where := range map[string]map[string]int{"without": r.without, "with": r.with} {
		for name, at := range where {
			file := filepath.Join(*save, strings.NewReplacer("/", "_", " ", "_").Replace(name)+"."+suffix)
			if err := os.WriteFile(file, append(r.outcomes[at].Stdout, r.outcomes[at].Stderr...), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge compares a workload's two outcomes.
func (r *run) judge(t *testing.T, s setting, workload string) {
	t.Helper()
	without, with := r.outcomes[r.without[s.name+" "+workload]], r.outcomes[r.with[s.name+" "+workload]]
	if workload == "state" {
		w := s.wanted
		if *rehearse {
			w = inert
		}
		for _, d := range judge(w, without, with) {
			t.Errorf("state: %s", d)
		}
		return
	}
	if len(without.Stdout) == 0 && workload != "true" {
		t.Errorf("%s wrote nothing even without the library (status %d): %s%s", workload, without.Status, without.Problem, without.Stderr)
	}
	for _, d := range differences(without, with) {
		t.Errorf("%s: %s", workload, d)
	}
}
