package abi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/repo"
)

// few is how much of what is repeated often is done in most cells, in percent.
const few = "5"

// TestCells runs every check in every cell and writes out/abi.json.
func TestCells(t *testing.T) {
	rig.NeedVM(t)
	cells := make([][]Cell, len(machines))
	t.Run("on", func(t *testing.T) {
		for i, m := range machines {
			t.Run(m.kernel+" "+m.cpu, func(t *testing.T) {
				t.Parallel() // as many at a time as the rig has places for
				cells[i] = boot(t, m)
			})
		}
	})
	if err := write(cells); err != nil {
		t.Error(err)
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
	first := len(j.Commands)
	var cells []Cell
	add := func(g string, library bool, c rig.Command) {
		j.Commands = append(j.Commands, c)
		cells = append(cells, Cell{Kernel: m.kernel, CPU: m.cpu, Libc: libcs[g], Library: library})
	}
	for _, g := range guests {
		percent := few
		if g == m.full {
			percent = "100"
		}
		add(g, true, with(g, library, "-n", percent))
	}
	if m.alone != "" {
		add(m.alone, false, alone(m.alone, "-n", few))
	}
	res, err := rig.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Outcomes) != len(j.Commands) {
		t.Fatalf("%d of %d commands ran", len(res.Outcomes), len(j.Commands))
	}
	for i := range cells {
		c := &cells[i]
		c.PageSize = res.PageSize
		c.judge(t, res.Outcomes[first+i])
	}
	return cells
}

// judge takes one cell's results and prints its line.
func (c *Cell) judge(t *testing.T, o rig.Outcome) {
	c.Seconds = o.Elapsed.Seconds()
	var complaints []string
	c.Relays, c.Checks, complaints = read(o)
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
		if s := made[check]; s == "" || s == "none" && c.Library && c.needs(check) {
			complain("%s was not checked", check)
		}
	}
	if c.Library != (c.Relays > 0) && c.Libc != "musl" {
		complain("%d relays", c.Relays)
	}
	verdict := "ok"
	if bad > 0 {
		verdict = "FAIL"
		t.Logf("%s\n%s\n%v\n%s", o.Stdout, o.Stderr, complaints, o.Problem)
	}
	fmt.Printf("abi: %s: %s, %d relays, %d checks ok, %d not possible, %.1f s\n", name, verdict, c.Relays, count["ok"], count["none"], c.Seconds)
}

// write saves the results for people and other programs.
func write(cells [][]Cell) error {
	top, err := repo.Root()
	if err != nil {
		return err
	}
	var all []Cell
	for _, list := range cells {
		all = append(all, list...)
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(top, "out"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(top, "out/abi.json"), append(text, '\n'), 0o644)
}
