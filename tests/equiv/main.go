// Command equiv compares PRoot with PRoot and svcrelay: generated and kept cases are run both ways on fresh copies of
// the same files, and every result and the files that are left must be equal.
//
//	./build.sh equiv -ops 100000
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/gen"
	"svcrelay/tests/equiv/session"
)

func main() {
	var ops, perCase, shrink, boot, nth int
	var seed uint64
	var configs []string
	var out, file string
	var tools session.Tools
	f := pflag.NewFlagSet("equiv", pflag.ContinueOnError)
	f.IntVar(&ops, "ops", 100000, "operations, all configurations together")
	f.Uint64Var(&seed, "seed", 1, "where the generator starts")
	f.StringSliceVar(&configs, "config", nil, "only these configurations: "+strings.Join(gen.Configs, ", "))
	f.IntVar(&perCase, "per-case", 2500, "operations of one case, at most")
	f.IntVar(&shrink, "shrink", 8, "how many differences to make small")
	f.IntVar(&boot, "boot", 900, "seconds for one VM")
	f.IntVar(&nth, "corpora", 1, "every which path of the hand-written cases, with all configurations; 0: none of them")
	f.StringVar(&out, "out", "out/equiv.json", "where the figures go")
	f.StringVar(&file, "case", "", "run only the case in this file")
	f.StringVar(&tools.Dist, "dist", "", "directory with the built files; default dist/ of the source tree")
	f.StringVar(&tools.Library, "library", "", "another libsvcrelay.so")
	f.StringVar(&tools.PRoot, "proot", "", "another PRoot")
	f.BoolVar(&tools.ICount, "icount", false, "the VM's clock counts instructions: to see where the time goes, whatever else the machine does")
	f.StringVar(&tools.Kernel, "kernel", "6.12", "the VM's kernel")
	if err := f.Parse(singleDashes(f, os.Args[1:])); err != nil {
		os.Exit(2)
	}
	if len(configs) == 0 {
		configs = gen.Configs
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	each := (ops + len(configs) - 1) / len(configs)
	req := cases.Request{Seed: seed, Configs: configs, Ops: each, PerCase: max(1, min(perCase, each)), Shrink: shrink, Seconds: boot, ShrinkIn: 120, GoOn: true}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			fail(err)
		}
		req.Ops, req.Kept = 0, []cases.Kept{{Name: filepath.Base(file), Config: "kept", Text: string(text)}}
	}
	if len(configs) == len(gen.Configs) && file == "" && nth > 0 {
		var err error
		if req.Kept, err = session.Corpora(nth); err != nil {
			fail(err)
		}
	}
	reply, err := session.All(ctx, tools, req, func(m cases.Mismatch) { fmt.Printf("\n%s\n", session.Describe(m)) })
	if err != nil {
		fail(err)
	}
	if err := session.Report(os.Stdout, reply, out); err != nil {
		fail(err)
	}
	if err := session.Verdict(reply); err != nil {
		fail(err)
	}
}

// singleDashes lets long options begin with one dash, as build.sh's users write them.
func singleDashes(f *pflag.FlagSet, args []string) []string {
	args = slices.Clone(args)
	for i, a := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if len(a) > 2 && a[0] == '-' && a[1] != '-' && f.Lookup(name) != nil {
			args[i] = "-" + a
		}
	}
	return args
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "equiv:", err)
	os.Exit(1)
}
