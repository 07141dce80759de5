package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/figures"
	"svcrelay/tests/rig/bare"
	"svcrelay/tests/rig/inside"
)

// way is how a case is run.
type way int

const (
	alone  way = iota // under PRoot
	with              // under PRoot, with svcrelay
	native            // without PRoot: its bindings are mounts
)

// outcome is what one run of a case left.
type outcome struct {
	log    []string
	tree   []string
	errs   []string // standard error
	status string
	stats  map[string]int // figures of the library's statistics, summed over processes
	counts map[string][2]int
	took   map[string]float64
	chance bool // see linksByChance
}

const runLimit = 45 * time.Second

// starts is how often a case is begun anew if the program was not even started, see notStarted.
const starts = 8

// run runs a case in a fresh world.
func (s stock) run(c *cases.Case, w way) (*outcome, error) {
	for n := 1; ; n++ {
		o, err := s.runOnce(c, w)
		if err != nil || n == starts || !o.notStarted() {
			return o, err
		}
	}
}

func (s stock) runOnce(c *cases.Case, w way) (*outcome, error) {
	preload := ""
	if w == with {
		preload = inside.Library + "\n"
	}
	began := time.Now()
	dev, err := s.build(c, preload)
	built := time.Now()
	if err != nil {
		return nil, err
	}
	defer unmount(c)
	if err := reset(s.outside); err != nil {
		return nil, err
	}
	// Process ids become texts of links: they should be of one length.
	os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte("20000"), 0)

	streams, err := openStreams(c)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	os.Remove("/tmp/equiv.log")
	log, err := os.OpenFile("/tmp/equiv.log", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// The guest gets it by this number.
	if err := unix.Dup3(int(log.Fd()), cases.LogFD, 0); err != nil {
		return nil, err
	}
	defer unix.Close(cases.LogFD)
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := s.command(ctx, c, w, fmt.Sprintf("%#x", dev))
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.in, streams.out, &said
	cmd.WaitDelay = time.Second // for what has stayed behind with standard error
	cmd.Dir = "/"
	cmd.Cancel = func() error { return unix.Kill(-1, unix.SIGKILL) }
	start := time.Now().Unix()
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	o := &outcome{status: cmd.ProcessState.String(), stats: map[string]int{}, counts: map[string][2]int{}, chance: w != native && linksByChance(c)}
	if ctx.Err() != nil {
		o.status = "killed after " + runLimit.String()
	}
	o.took = map[string]float64{"build": built.Sub(began).Seconds(), "run": time.Since(built).Seconds()}
	defer func(ran time.Time) { o.took["read"] = time.Since(ran).Seconds() }(time.Now())
	text, err := os.ReadFile("/tmp/equiv.log")
	if err != nil {
		return nil, err
	}
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	for _, l := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if !o.count(l) {
			o.log = append(o.log, partly.ReplaceAllString(l, "$1"))
		}
	}
	// A script may have written there what does not end a line.
	for _, l := range strings.Split(strings.TrimSpace(strings.ReplaceAll(said.String(), figures.Begin, "\n"+figures.Begin)), "\n") {
		if !o.takeFigures(l) && l != "" {
			o.errs = append(o.errs, l)
		}
	}
	o.tree = snapshot(start)
	for i, l := range o.tree {
		o.tree[i] = invented.ReplaceAllString(l, "$1#")
	}
	slices.Sort(o.tree) // several of them may come in any order
	// It differs, wherever a script has moved it.
	o.tree = slices.DeleteFunc(o.tree, func(l string) bool { return strings.Contains(l, "/ld.so.preload\" mode ") })
	return o, nil
}

// invented is a name that PRoot makes up, of its guest's process and of letters.
var invented = regexp.MustCompile(`(/prooted-)\d+-\w{6}`)

// partly is how much of a buffer was written before the kernel came to memory that it could not write. What is written there
// may be what had been there, so that it does not count.
var partly = regexp.MustCompile(`( errno 14 touched) \d+ last \d+`)

func (s stock) command(ctx context.Context, c *cases.Case, w way, dev string) *exec.Cmd {
	env := append([]string{"PATH=/usr/bin:/bin", "HOME=/", "LANG=C"}, c.Env...)
	id := &syscall.Credential{Uid: uint32(c.UID), Gid: uint32(c.UID)}
	if w == native {
		g := bare.Guest{Root: cases.Root, Dir: "/", UID: c.UID}
		for dir := range options(c.Options, "-w") {
			g.Dir = dir
		}
		cmd := bare.Command(ctx, g, append([]string{dev}, c.Options...)...)
		cmd.Env = env
		return cmd
	}
	args := append([]string{"/usr/bin/proot", "-r", cases.Root, "-b", "/proc", "-b", cases.Dev + ":/dev"}, c.Options...)
	args = append(args, cases.Program, dev)
	if w == with {
		args = append([]string{inside.Command, "run", "--"}, args...)
		// What is kept for the next program would be a file that PRoot alone does not have.
		env = append(env, "PROOT_FP_STATS=1", "PROOT_FP_SVC_CACHE=0")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: id}
	return cmd
}

// mountWorld makes mounts of PRoot's bindings. The arguments are those that the executor gets, and PRoot's options.
func mountWorld(args []string) ([]string, error) {
	bind := func(from, to string) {
		st, err := os.Stat(from)
		if err != nil {
			return
		}
		to = cases.Root + to
		if st.IsDir() {
			os.MkdirAll(to, 0o755)
		} else if _, err := os.Stat(to); err != nil {
			write(to, nil)
		}
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			fmt.Fprintf(os.Stderr, "mount %s at %s: %v\n", from, to, err)
		}
	}
	if err := unix.Mount("proc", cases.Root+"/proc", "proc", 0, ""); err != nil {
		return nil, err
	}
	bind(cases.Dev, "/dev")
	for b := range options(args[1:], "-b") {
		from, to, ok := strings.Cut(b, ":")
		if !ok {
			to = from
		}
		bind(from, to)
	}
	return []string{cases.Program, args[0]}, nil
}

// options gives the values of an option of PRoot's.
func options(list []string, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i+1 < len(list); i++ {
			if list[i] == name && !yield(list[i+1]) {
				return
			}
		}
	}
}

// count takes a line of the log that is no result: how often an operation was done, and how often without a stop.
func (o *outcome) count(l string) bool {
	var name string
	var calls, without int
	if !strings.HasPrefix(l, "count ") {
		return false
	}
	if n, _ := fmt.Sscanf(l, "count %s %d %d", &name, &calls, &without); n == 3 {
		o.counts[name] = [2]int{calls, without}
	}
	return true
}

// takeFigures takes a line of statistics of the library.
func (o *outcome) takeFigures(l string) bool {
	all, ok := figures.Read(l)
	if !ok {
		return false
	}
	for name, n := range all {
		o.stats[name] += n
	}
	o.stats["processes"]++
	return true
}
