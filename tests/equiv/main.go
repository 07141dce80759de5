// Command equiv compares PRoot with PRoot and svcrelay: generated and kept cases are run both ways on fresh copies of
// the same files, and every result and the files that are left must be equal.
//
//	./build.sh equiv -ops 100000
package main

import (
	"context"
	"encoding/json"
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
	f.IntVar(&perCase, "per-case", 600, "operations of one case")
	f.IntVar(&shrink, "shrink", 8, "how many differences to make small")
	f.IntVar(&boot, "boot", 900, "seconds for one VM")
	f.IntVar(&nth, "corpora", 1, "every which path of the hand-written cases, with all configurations; 0: none of them")
	f.StringVar(&out, "out", "out/equiv.json", "where the figures go")
	f.StringVar(&file, "case", "", "run only the case in this file")
	f.StringVar(&tools.Dist, "dist", "", "directory with the built files; default dist/ of the source tree")
	f.StringVar(&tools.Library, "library", "", "another libsvcrelay.so")
	f.StringVar(&tools.PRoot, "proot", "", "another PRoot")
	f.StringVar(&tools.Kernel, "kernel", "6.12", "the VM's kernel")
	if err := f.Parse(singleDashes(f, os.Args[1:])); err != nil {
		os.Exit(2)
	}
	if len(configs) == 0 {
		configs = gen.Configs
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	req := cases.Request{Seed: seed, Configs: configs, Ops: (ops + len(configs) - 1) / len(configs), PerCase: perCase, Shrink: shrink, Seconds: boot, ShrinkIn: 60}
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
	reply, err := runAll(ctx, tools, req)
	if err != nil {
		fail(err)
	}
	if err := report(reply, out); err != nil {
		fail(err)
	}
}

// runAll boots one VM after the other until everything has been compared.
func runAll(ctx context.Context, tools session.Tools, req cases.Request) (*cases.Reply, error) {
	all := &cases.Reply{Configs: map[string]*cases.Figures{}}
	for {
		reply, err := session.Run(ctx, tools, req)
		if err != nil && len(all.Configs) > 0 {
			// What was found before is worth more than the reason why it ends here.
			all.Problems = append(all.Problems, err.Error())
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, m := range reply.Mismatches {
			fmt.Print("\n", session.Describe(m))
		}
		stuck := reply.Next == req.First && reply.Kept == 0
		all.Add(reply)
		if reply.Done || stuck || len(all.Problems) > 20 {
			return all, nil
		}
		fmt.Fprintf(os.Stderr, "equiv: round %d of %d\n", reply.Next, (req.Ops+req.PerCase-1)/req.PerCase)
		req.First, req.Kept = reply.Next, req.Kept[reply.Kept:]
		req.Shrink = max(0, req.Shrink-len(reply.Mismatches))
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

// result is what out/equiv.json holds.
type result struct {
	Ops        int                  `json:"ops"`
	Mismatches int                  `json:"mismatches"`
	Answered   float64              `json:"answered"`
	Configs    map[string]configRun `json:"configs"`
}

type configRun struct {
	Ops        int                `json:"ops"`
	Cases      int                `json:"cases"`
	Mismatches int                `json:"mismatches"`
	Unsteady   int                `json:"unsteady"`
	Answered   float64            `json:"answered"`
	Seconds    map[string]float64 `json:"seconds"`
	Calls      map[string]string  `json:"calls"`
	Statistics map[string]int     `json:"statistics"`
}

func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(int(float64(part)/float64(all)*10000)) / 10000
}

func report(reply *cases.Reply, out string) error {
	r := result{Configs: map[string]configRun{}}
	var calls, answered int
	for name, f := range reply.Configs {
		c := configRun{Ops: f.Ops, Cases: f.Cases, Mismatches: f.Mismatches, Unsteady: f.Unsteady, Answered: share(f.Answered, f.Calls),
			Seconds: f.Seconds, Statistics: f.Stats, Calls: map[string]string{}}
		for op, n := range f.Counts {
			c.Calls[op] = fmt.Sprintf("%d of %d", n.Answered, n.Calls)
		}
		r.Configs[name] = c
		r.Ops += f.Ops
		r.Mismatches += f.Mismatches
		calls += f.Calls
		answered += f.Answered
		fmt.Printf("%-14s %7d operations in %4d cases: %d mismatches, %d unsteady, %.1f %% answered without a stop (PRoot alone: %.1f %%), %.0f s\n", name, f.Ops, f.Cases,
			f.Mismatches, f.Unsteady, 100*share(f.Answered, f.Calls), 100*share(f.Alone, f.Calls), f.Seconds["alone"]+f.Seconds["with"]+f.Seconds["looking into differences"])
	}
	r.Answered = share(answered, calls)
	for _, u := range reply.Unsteady {
		fmt.Println("unsteady:", u)
	}
	for _, p := range reply.Problems {
		fmt.Println("problem:", p)
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	switch {
	case r.Mismatches > 0:
		return fmt.Errorf("%d of the cases differ", r.Mismatches)
	case len(reply.Problems) > 0:
		return fmt.Errorf("%d problems", len(reply.Problems))
	case !reply.Done:
		return fmt.Errorf("time ran out after %d operations; allow more with -boot", r.Ops)
	}
	return nil
}
