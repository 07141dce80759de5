package compile_test

import (
	"hash/fnv"
	"math/rand"
	"sort"
	"testing"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tools/asmgen/testdata/hot"
)

// TestTricky runs code that invites wrong optimisations natively and compiled.
func TestTricky(t *testing.T) { compareHot(t, 300) }

// TestFewRegisters does so with so few registers that nearly everything is spilled.
func TestFewRegisters(t *testing.T) {
	for _, mask := range []uint32{1<<0 | 1<<1 | 1<<2 | 1<<9 | 1<<19, 0xf | 3<<19, 1<<3 | 1<<8 | 1<<12 | 1<<15 | 0xf<<20} {
		func() {
			defer compile.RestrictRegisters(mask)()
			compareHot(t, 60)
		}()
	}
}

func compareHot(t *testing.T, each int) {
	t.Helper()
	const pkg = "svcrelay/tools/asmgen/testdata/hot"
	fns := map[string]any{
		"WrapUp": hot.WrapUp, "WrapUpMax": hot.WrapUpMax, "WrapDown": hot.WrapDown, "Wrap32": hot.Wrap32, "Wrap32s": hot.Wrap32s,
		"Wrap8": hot.Wrap8, "PlusOne": hot.PlusOne, "MinusOne": hot.MinusOne, "LessEqual": hot.LessEqual, "Shrinks": hot.Shrinks,
		"ShrinksMore": hot.ShrinksMore, "Strides": hot.Strides, "Backward": hot.Backward, "TwoCounters": hot.TwoCounters,
		"Nested": hot.Nested, "MinMax": hot.MinMax, "Slices": hot.Slices, "Unsigned": hot.Unsigned, "Branchy": hot.Branchy,
		"Threads": hot.Threads, "Alias": hot.Alias, "AliasLocal": hot.AliasLocal, "AliasCall": hot.AliasCall, "Signs": hot.Signs,
		"Zeroed": hot.Zeroed, "Swap": hot.Swap, "Divide": hot.Divide, "Shifts": hot.Shifts, "Fields": hot.Fields, "Views": hot.Views,
		"Hash": hot.Hash, "Hash31": hot.Hash31, "Copy": hot.Copy, "IndexByte": hot.IndexByte, "AppendAll": hot.AppendAll,
		"Component": hot.Component, "Backwards": hot.Backwards, "HasPrefix": hot.HasPrefix, "Word": hot.Word,
		"Number": hot.Number, "Switch": hot.Switch,
		"Generic": hot.Generic, "Embedded": hot.Embedded, "Immediate": hot.Immediate, "Jumps": hot.Jumps,
		"Irreducible": hot.Irreducible, "Words": hot.Words, "Equal": hot.Equal, "Globals": hot.Globals,
		"Huge": hot.Huge, "BigFrame": hot.BigFrame, "Pressure": hot.Pressure,
	}
	var names []string
	entries := map[string]string{}
	for n := range fns {
		names = append(names, n)
		entries[pkg+"."+n] = n
	}
	sort.Strings(names)
	p, err := compile.Compile(compile.Config{Dir: "..", Patterns: []string{"./testdata/hot"}, Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	var cases []*harness.Case
	var calls []harness.Call
	for _, n := range names {
		h := fnv.New64a()
		h.Write([]byte(n))
		rng := rand.New(rand.NewSource(int64(h.Sum64())))
		for range each {
			c := harness.NewCase(n, fns[n], rng)
			cases = append(cases, c)
			calls = append(calls, c.Call)
		}
	}
	rs, err := harness.Run(p, harness.Bases[0], calls)
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string]int{}
	for i, r := range rs {
		c := cases[i]
		args := c.String()
		want := c.Native()
		diff := want.Diff(c.Compiled(r))
		if diff == "" {
			diff = r.Broken
		}
		if diff != "" {
			if failed[c.Call.Entry]++; failed[c.Call.Entry] <= 2 {
				t.Errorf("%s: native and compiled differ: %s", args, diff)
			}
		}
	}
}
