package abi

import (
	"context"
	"fmt"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/product"
)

// few is how much of what is repeated often is done in most cells, in percent.
const few = "2"

// TestCells runs every check in every cell and writes out/abi.json.
func TestCells(t *testing.T) {
	rig.NeedVM(t)
	cells := make([][]Cell, len(machines))
	t.Run("on", func(t *testing.T) {
		for i, m := range machines {
			t.Run(m.kernel+" "+m.cpu, func(t *testing.T) {
				t.Parallel()        // as many at a time as the rig has places for
				cells[i] = []Cell{} // not nil: earlier results of this machine are over
				cells[i] = boot(t, m)
			})
		}
	})
	if err := save(cells); err != nil {
		t.Error(err)
	}
}

// TestMany makes all of 10,000 signals, 1,000 jumps out of relays and 100,000 calls in one cell.
func TestMany(t *testing.T) {
	rig.NeedVM(t)
	rig.NeedTime(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	j, err := job(ctx, "6.1", "cortex-a76", []string{"bookworm"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	many := []string{"storm", "jump-out", "moved-away", "unwinding", "everywhere", "exec-storm", "leaks", "leftovers", "clones", "straddle", "freed", "raced", "starts"}
	j.Commands = append(j.Commands, with("bookworm", product.Library, append([]string{program}, many...)...))
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	o := res.Outcomes[len(res.Outcomes)-1]
	_, results := read(o)
	said := map[string]Check{} // in the program's own order
	for _, c := range results {
		said[c.Name] = c
	}
	for _, name := range many {
		if said[name].State != "ok" {
			t.Fatalf("%s:\n%s%s%s", name, o.Stdout, o.Stderr, o.Problem)
		}
		fmt.Printf("abi: many: %s %s\n", name, said[name].Detail)
	}
}

// boot runs one machine's cells.
func boot(t *testing.T, m machine) []Cell {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	j, err := job(ctx, m.kernel, m.cpu, guests, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var cells []Cell
	var at [][]int // the commands of each
	add := func(g string, library bool, commands ...rig.Command) {
		var places []int
		for _, c := range commands {
			places = append(places, len(j.Commands))
			j.Commands = append(j.Commands, c)
		}
		cells = append(cells, Cell{Kernel: m.kernel, CPU: m.cpu, Libc: libcs[g], Library: library})
		at = append(at, places)
	}
	for _, g := range guests {
		if g == "musl" {
			add(g, true, with(g, product.Library, program, "-n", few))
			continue
		}
		add(g, true, with(g, product.Library, program, "-n", few), with(g, product.Library, throwing("20")...))
	}
	if m.alone != "" {
		j.Commands = append(j.Commands, fresh(m.alone)) // nothing of what the checks with the library did
		add(m.alone, false, alone(m.alone, program, "-n", few), alone(m.alone, throwing("20")...))
	}
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outcomes) != len(j.Commands) {
		t.Fatalf("%d of %d commands ran", len(res.Outcomes), len(j.Commands))
	}
	fmt.Printf("abi: %s %s: the machine ran for %.0f s\n", m.kernel, m.cpu, res.Took.Seconds())
	for i := range cells {
		c := &cells[i]
		c.PageSize = res.PageSize
		var outcomes []rig.Outcome
		for _, k := range at[i] {
			outcomes = append(outcomes, res.Outcomes[k])
		}
		c.judge(t, outcomes)
	}
	return cells
}

// judge takes one cell's results and prints its line.
func (c *Cell) judge(t *testing.T, outcomes []rig.Outcome) {
	for _, o := range outcomes {
		relays, results := read(o)
		c.Relays = max(c.Relays, relays)
		c.Checks = append(c.Checks, results...)
		c.Seconds += o.Elapsed.Seconds()
	}
	name := fmt.Sprintf("%s %s %s", c.Kernel, c.CPU, c.Libc)
	if !c.Library {
		name += " without the library"
	}
	made, bad := map[string]string{}, 0
	complain := func(format string, args ...any) {
		bad++
		t.Errorf("%s: "+format, append([]any{name}, args...)...)
	}
	count := map[string]int{}
	for _, r := range c.Checks {
		made[r.Name] = r.State
		count[r.State]++
		if r.State != "ok" && r.State != "none" {
			complain("%s %s %s", r.Name, r.State, r.Detail)
		}
	}
	for _, check := range checks {
		if s := made[check]; c.needs(check) && (s == "" || s == "none" && c.Library) {
			complain("%s was not checked", check)
		}
	}
	if c.Library != (c.Relays > 0) {
		complain("%d relays", c.Relays)
	}
	verdict := "ok"
	if bad > 0 {
		verdict = "FAIL"
		for _, o := range outcomes {
			t.Logf("%s\n%s%s", o.Stdout, o.Stderr, o.Problem)
		}
	}
	fmt.Printf("abi: %s: %s, %d relays, %d checks ok, %d not possible, %.1f s\n", name, verdict, c.Relays, count["ok"], count["none"], c.Seconds)
}
