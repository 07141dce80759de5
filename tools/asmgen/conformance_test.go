package main

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"path/filepath"
	"sort"
	"sync"
	"testing"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tools/asmgen/testdata/corpus"
)

const corpusPath = "svcrelay/tools/asmgen/testdata/corpus"

// corpusNames are the functions of the corpus in order.
func corpusNames() []string {
	var names []string
	for n := range corpus.Functions {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// compileCorpus compiles the corpus once for all tests.
var compileCorpus = sync.OnceValues(func() (*compile.Program, error) {
	entries := map[string]string{}
	for _, n := range corpusNames() {
		entries[corpusPath+"."+n] = n
	}
	return compile.Compile(compile.Config{Patterns: []string{"./" + filepath.Join("testdata", "corpus")}, Entries: entries})
})

func mustCompileCorpus(t *testing.T) *compile.Program {
	t.Helper()
	p, err := compileCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// seedOf gives each function inputs of its own that do not change when others come and go.
func seedOf(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

// TestConformance calls every function of the corpus here and compiled, with
// the same arguments, fixed and random, and compares results, memory and panics.
func TestConformance(t *testing.T) {
	p := mustCompileCorpus(t)
	const each = 60
	var cases []*harness.Case
	var calls []harness.Call
	fixed := 0
	for _, n := range corpusNames() {
		cs := harness.EdgeCases(n, corpus.Functions[n])
		fixed += len(cs)
		rng := rand.New(rand.NewSource(seedOf(n)))
		for range each {
			cs = append(cs, harness.NewCase(n, corpus.Functions[n], rng))
		}
		for _, c := range cs {
			cases = append(cases, c)
			calls = append(calls, c.Call)
		}
	}
	rs, err := harness.Run(p, harness.Bases[0], calls)
	if err != nil {
		if len(rs) < len(cases) {
			t.Errorf("at %v", cases[len(rs)])
		}
		t.Error(err)
	}
	failed := map[string]int{}
	panics, returns := map[string]int{}, map[string]int{}
	for i, r := range rs {
		c := cases[i]
		args := c.String()
		want := c.Native()
		if want.Aborted {
			panics[c.Call.Entry]++
		} else {
			returns[c.Call.Entry]++
		}
		diff := want.Diff(c.Compiled(r))
		if diff == "" && r.Broken != "" {
			diff = r.Broken
		}
		if diff == "" {
			continue
		}
		if failed[c.Call.Entry]++; failed[c.Call.Entry] <= 2 {
			code := ""
			if r.Aborted && int(r.Code) < len(p.Aborts) {
				code = fmt.Sprintf(" (compiled: %+v)", p.Aborts[r.Code])
			}
			t.Errorf("%s: native and compiled differ: %s%s", args, diff, code)
		}
	}
	if len(failed) > 0 {
		t.Errorf("%d of %d functions fail", len(failed), len(corpus.Functions))
	}
	for _, n := range corpusNames() {
		if returns[n] == 0 {
			t.Errorf("%s never returned: its arguments are no test", n)
		}
	}
	t.Logf("%d functions, %d calls, %d of them with fixed arguments, %d panics", len(corpus.Functions), len(rs), fixed, sum(panics))
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
