package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/svcrelay/internal/launch"
)

const runUsage = `Usage: svcrelay run [options] [--] proot ARGS...

Runs PRoot with ARGS, which are PRoot's own, and tells the guest's programs how PRoot shows them their files, so
that the library in the guest (see svcrelay install) can answer for PRoot. With options of PRoot under which it cannot, such as -q,
everything runs as without svcrelay; -v says so. The exit status is PRoot's.
`

// replaceProcess is the system call that ends this program if it succeeds. Tests put another one here.
var replaceProcess = defaultReplace

func defaultReplace(path string, argv, env []string) error { return unix.Exec(path, argv, env) }

// run starts PRoot in place of this program.
func run(args []string, out, errs io.Writer) int {
	f := flags("run", runUsage, out)
	f.SetInterspersed(false)
	verbose := f.BoolP("verbose", "v", false, "say on standard error what guests were told, or why they run without the fast path")
	shim := f.String("tracer", "", "the library to load into PRoot (default: "+launch.ShimName+" beside svcrelay)")
	preload := f.String("guest-preload", "", "a library inside the guest to set LD_PRELOAD to there (musl guests, or without svcrelay install)")
	if err := parse(f, args); err != nil {
		return status(errs, err)
	}
	if f.NArg() == 0 {
		return status(errs, fmt.Errorf("svcrelay run needs the PRoot to run: %w run", errUsage))
	}
	plan, err := launch.Make(launch.Request{
		Program: f.Arg(0), Args: f.Args()[1:], Shim: *shim, GuestPreload: *preload, Environ: os.Environ(),
	})
	if err != nil {
		return cannotRun(errs, err)
	}
	explain(errs, plan, *verbose)
	return cannotRun(errs, fmt.Errorf("running %s: %w", plan.Path, replaceProcess(plan.Path, plan.Argv, plan.Env)))
}

// explain says how the guest will run: with -v always, otherwise only where something should be put right.
func explain(errs io.Writer, p *launch.Plan, verbose bool) {
	switch {
	case p.Off != "" && (verbose || p.Trouble):
		fmt.Fprintf(errs, "svcrelay: no fast path for this guest: %s\n", p.Off)
	case p.Off == "" && verbose:
		for _, d := range p.View.Dropped {
			fmt.Fprintf(errs, "svcrelay: PRoot leaves out the binding of %s\n", d)
		}
		for _, b := range p.View.Binds {
			fmt.Fprintf(errs, "svcrelay: %s is at %s\n", b.Host, b.Guest)
		}
		fmt.Fprintf(errs, "svcrelay: fast path for the guest in %s\n", p.View.Root)
	}
}

func cannotRun(errs io.Writer, err error) int {
	fmt.Fprintln(errs, "svcrelay:", err)
	if errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitCannot
}
