package session

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"svcrelay/tests/equiv/cases"
)

// result is what out/equiv.json holds.
type result struct {
	Ops        int                  `json:"ops"`
	Mismatches int                  `json:"mismatches"`
	Answered   float64              `json:"answered"`
	Configs    map[string]configRun `json:"configs"`
	// Differences are the first few of each kind, with all of their cases.
	Differences []cases.Mismatch `json:"differences,omitempty"`
}

type configRun struct {
	Ops        int                `json:"ops"`
	Cases      int                `json:"cases"`
	Mismatches int                `json:"mismatches"`
	Unsteady   int                `json:"unsteady"`
	Masked     int                `json:"masked"`
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

// Report prints the figures and writes them to the file out.
func Report(w io.Writer, reply *cases.Reply, out string) error {
	r := result{Configs: map[string]configRun{}, Differences: reply.Mismatches}
	var calls, answered int
	for _, name := range slices.Sorted(maps.Keys(reply.Configs)) {
		f := reply.Configs[name]
		c := configRun{Ops: f.Ops, Cases: f.Cases, Mismatches: f.Mismatches, Unsteady: f.Unsteady, Masked: f.Masked, Answered: share(f.Answered, f.Calls),
			Seconds: f.Seconds, Statistics: f.Stats, Calls: map[string]string{}}
		for op, n := range f.Counts {
			c.Calls[op] = fmt.Sprintf("%d of %d", n.Answered, n.Calls)
		}
		r.Configs[name] = c
		r.Ops += f.Ops
		r.Mismatches += f.Mismatches
		calls += f.Calls
		answered += f.Answered
		fmt.Fprintf(w, "%-18s %7d operations in %4d cases: %d mismatches, %d unsteady and %d results masked, %.1f %% answered without a stop (PRoot alone: %.1f %%), %.0f s\n", name, f.Ops, f.Cases,
			f.Mismatches, f.Unsteady, f.Masked, 100*share(f.Answered, f.Calls), 100*share(f.Alone, f.Calls), f.Seconds["alone"]+f.Seconds["with"]+f.Seconds["looking into differences"])
	}
	r.Answered = share(answered, calls)
	for _, u := range reply.Unsteady {
		fmt.Fprintln(w, "unsteady:", u)
	}
	for _, m := range reply.Masks {
		fmt.Fprintf(w, "masked: %.300s\n", m)
	}
	for _, p := range reply.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

// Verdict is an error if a reply has anything that should not be.
func Verdict(reply *cases.Reply) error {
	ops, mismatches := 0, 0
	for _, f := range reply.Configs {
		ops += f.Ops
		mismatches += f.Mismatches
	}
	switch {
	case mismatches > 0:
		return fmt.Errorf("%d of the cases differ", mismatches)
	case len(reply.Problems) > 0:
		return fmt.Errorf("%d problems", len(reply.Problems))
	case !reply.Done:
		return fmt.Errorf("time ran out after %d operations; allow more with -boot", ops)
	}
	return nil
}
