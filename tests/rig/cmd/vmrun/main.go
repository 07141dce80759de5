// Command vmrun runs one line of shell in the test VM and shows what it said, for looking into things by hand:
//
//	go run ./tests/rig/cmd/vmrun --icount --in proot 'ls -l /'
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/kernel"
	"svcrelay/tests/rig/toolchain"
)

type options struct {
	job     rig.Job
	guest   string
	in      string
	proot   []string
	env     []string
	add     []string
	cc      []string
	get     []string
	outDir  string
	console bool
	prepare bool
	stats   bool
	limit   time.Duration
}

func main() {
	var o options
	f := pflag.CommandLine
	f.StringVar(&o.job.Kernel, "kernel", "6.1", "kernel: "+strings.Join(kernel.Names(), ", "))
	f.StringVar(&o.job.CPU, "cpu", "cortex-a76", "processor: cortex-a76, or max (SVE, SME, BTI, PAC, MTE)")
	f.IntVar(&o.job.CPUs, "cpus", 1, "processors, without --icount")
	f.BoolVar(&o.job.ICount, "icount", false, "one instruction is one nanosecond of the VM's time")
	f.StringVar(&o.guest, "guest", "bookworm", "guest: "+strings.Join(guest.Names(), ", "))
	f.StringVar(&o.in, "in", "proot", "where the line runs: proot, chroot (the guest without PRoot), vm (the VM's own root)")
	f.StringArrayVar(&o.proot, "proot", nil, "option for PRoot, may be repeated: --proot=-0")
	f.StringArrayVar(&o.env, "env", nil, "NAME=value for the line, may be repeated")
	f.StringArrayVar(&o.add, "add", nil, "file to add, HOSTFILE:/path/in/vm (a guest is at "+guest.Dir+"/NAME), may be repeated")
	f.StringArrayVar(&o.cc, "cc", nil, "C file to compile for the guest's libc and to add, FILE.c:/path/in/vm, may be repeated")
	f.StringArrayVar(&o.get, "get", nil, "VM path or glob to bring back, may be repeated")
	f.StringVar(&o.outDir, "out", "out/vm", "directory for what --get brings")
	f.BoolVar(&o.console, "console", false, "show the VM's console too")
	f.BoolVar(&o.stats, "stats", true, "say how long it took and how often the program was switched out")
	f.DurationVar(&o.limit, "limit", 10*time.Minute, "kill the line after so much of the VM's time")
	f.DurationVar(&o.job.Timeout, "timeout", 5*time.Minute, "kill the VM after so much time")
	f.BoolVar(&o.prepare, "prepare", false, "only fetch and build what such a run needs")
	pflag.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: vmrun [flags] 'a line of shell'\n%s", f.FlagUsages())
	}
	pflag.Parse()
	if pflag.NArg() == 0 && !o.prepare {
		pflag.Usage()
		os.Exit(2)
	}
	status, err := o.run(strings.Join(pflag.Args(), " "))
	if err != nil {
		fmt.Fprintln(os.Stderr, "vmrun:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

func (o *options) run(line string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	c, err := o.command(line)
	if err != nil {
		return 0, err
	}
	o.job.Guests = []string{o.guest}
	if o.prepare {
		return 0, rig.Prepare(ctx, o.job)
	}
	o.job.Commands = []rig.Command{c}
	o.job.Return = o.get
	o.job.Files = map[string]rig.File{}
	for _, pair := range o.add {
		from, to, ok := strings.Cut(pair, ":")
		if !ok {
			return 0, fmt.Errorf("--add %s: want HOSTFILE:/path/in/vm", pair)
		}
		o.job.Files[to] = rig.File{HostPath: from}
	}
	dir, err := os.MkdirTemp("", "svcrelay-vmrun-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for i, pair := range o.cc {
		from, to, ok := strings.Cut(pair, ":")
		if !ok {
			return 0, fmt.Errorf("--cc %s: want FILE.c:/path/in/vm", pair)
		}
		cc, err := toolchain.For(ctx, o.guest)
		if err != nil {
			return 0, err
		}
		program := filepath.Join(dir, fmt.Sprint(i))
		if err := cc.Compile(ctx, program, []string{from}); err != nil {
			return 0, err
		}
		o.job.Files[to] = rig.File{HostPath: program}
	}
	res, err := rig.Run(ctx, o.job)
	if err != nil {
		return 0, err
	}
	if o.console {
		fmt.Fprint(os.Stderr, res.Console)
	}
	out := res.Outcomes[0]
	os.Stdout.Write(out.Stdout)
	os.Stderr.Write(out.Stderr)
	if out.Problem != "" {
		fmt.Fprintln(os.Stderr, "vmrun:", out.Problem)
	}
	if o.stats {
		fmt.Fprintf(os.Stderr, "vmrun: status %d, %v of the VM's time, %d switches, kernel %s, %d-byte pages; the machine ran for %.1f s\n",
			out.Status, out.Elapsed, out.Switches, res.Kernel, res.PageSize, res.Took.Seconds())
	}
	for name, data := range res.Files {
		to := filepath.Join(o.outDir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return 0, err
		}
	}
	return out.Status, nil
}

func (o *options) command(line string) (rig.Command, error) {
	var c rig.Command
	switch o.in {
	case "proot":
		c = rig.UnderPRoot(o.guest, o.proot, rig.Shell(line)...)
	case "chroot":
		c = rig.Native(o.guest, rig.Shell(line)...)
	case "vm":
		c = rig.Command{Argv: rig.Shell(line)}
	default:
		return c, fmt.Errorf("--in %s: want proot, chroot or vm", o.in)
	}
	c.Timeout = o.limit
	if o.env != nil {
		c.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}, o.env...)
	}
	return c, nil
}
