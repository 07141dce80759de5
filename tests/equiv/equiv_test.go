package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/gen"
	"svcrelay/tests/equiv/session"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/repo"
)

var (
	ops     = flag.Int("ops", 100000, "generated operations, all configurations together")
	seed    = flag.Uint64("seed", 1, "where the generator starts")
	library = flag.String("library", "", "another libsvcrelay.so than the one in dist/")
)

// perCase is the number of operations of a generated case.
const perCase = 2500

// TestEquivalence compares the hand-written cases, the kept ones and many generated ones.
func TestEquivalence(t *testing.T) {
	rig.NeedVM(t)
	kept, err := keptCases(5)
	if err != nil {
		t.Fatal(err)
	}
	top, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d", *seed)
	req := cases.Request{Seed: *seed, Configs: gen.Configs, Ops: (*ops + len(gen.Configs) - 1) / len(gen.Configs), PerCase: perCase, Kept: kept, Shrink: 3, ShrinkIn: 30, Seconds: 600, GoOn: true}
	reply, err := session.All(t.Context(), session.Tools{Library: *library}, req, func(m cases.Mismatch) { t.Errorf("\n%s", session.Describe(m)) })
	if err != nil {
		t.Fatal(err)
	}
	var figures strings.Builder
	if err := session.Report(&figures, reply, filepath.Join(top, "out/equiv.json")); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + figures.String())
	if err := session.Verdict(reply); err != nil {
		t.Error(err)
	}
	if reply.Kept < len(kept) {
		t.Errorf("only %d of the %d hand-written cases were run", reply.Kept, len(kept))
	}
	for _, name := range gen.Configs {
		f := reply.Configs[name]
		switch {
		case f == nil || f.Cases == 0:
			t.Errorf("%s: nothing was compared", name)
		case f.Unsteady*2 > f.Cases:
			t.Errorf("%s: %d of %d cases are different or stuck in two runs under PRoot alone", name, f.Unsteady, f.Cases)
		case f.Answered*4 < f.Calls:
			t.Errorf("%s: the library hardly answers anything: %d of %d calls", name, f.Answered, f.Calls)
		}
	}
}

func compare(t *testing.T, tools session.Tools, req cases.Request) *cases.Reply {
	t.Helper()
	reply, err := session.All(t.Context(), tools, req, func(cases.Mismatch) {})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// keptCases are those in testdata, and the hand-written ones with every nth path.
func keptCases(nth int) ([]cases.Kept, error) {
	var out []cases.Kept
	files, err := filepath.Glob("testdata/*.case")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		out = append(out, cases.Kept{Name: filepath.Base(f), Config: "kept", Text: string(text)})
	}
	corpora, err := session.Corpora(nth)
	return append(out, corpora...), err
}
