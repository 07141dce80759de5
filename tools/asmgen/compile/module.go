package compile

import (
	"fmt"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// module is a program under compilation.
type module struct {
	src       *source
	fns       map[*ssa.Function]*fn
	order     []*fn // callees before callers
	strs      map[string]string
	data      []*Datum
	globals   map[*ssa.Global]string
	inits     map[*ssa.Package]*initState
	aborts    []AbortSite
	callSites map[*fn]int // how many calls of a function there are in the source
	codes     map[AbortSite]int
}

func compileProgram(cfg Config) (*Program, error) {
	m, err := compileIR(cfg)
	if err != nil {
		return nil, err
	}
	return m.generate()
}

// compileIR loads, checks, lowers and optimises a program.
func compileIR(cfg Config) (*module, error) {
	src, err := load(cfg)
	if err != nil {
		return nil, err
	}
	m := &module{src: src, fns: map[*ssa.Function]*fn{}, strs: map[string]string{},
		globals: map[*ssa.Global]string{}, inits: map[*ssa.Package]*initState{}, codes: map[AbortSite]int{}}
	order := src.reachable()
	escape := newEscapes(src)
	for _, sf := range order {
		escape.function(sf)
	}
	syms := map[*ssa.Function]string{}
	for _, e := range src.entries {
		if o := syms[e.fn]; o != "" {
			src.diags.add(e.fn.Pos(), "%s is an entry point under two names: %s and %s", e.fn, o, e.sym)
		}
		syms[e.fn] = e.sym
		if bigResults(e.fn.Signature) {
			src.diags.add(e.fn.Pos(), "entry point %s has more than eight scalars as results", e.sym)
		}
	}
	for _, sf := range order {
		f := &fn{name: sf.String(), sym: sf.String(), entry: syms[sf] != ""}
		if f.entry {
			f.sym = syms[sf]
		}
		lowerSignature(f, sf)
		m.fns[sf] = f
	}
	for _, sf := range order {
		m.lower(sf, m.fns[sf])
	}
	if err := src.diags.err(); err != nil {
		return nil, err
	}
	m.callSites = map[*fn]int{}
	for _, sf := range order {
		for _, b := range m.fns[sf].blocks {
			for _, v := range b.vals {
				if v.op == opCall {
					m.callSites[v.callee]++
				}
			}
		}
	}
	for _, sf := range order {
		f := m.fns[sf]
		m.optimize(f)
		m.order = append(m.order, f)
	}
	m.dropUnused()
	if err := src.diags.err(); err != nil {
		return nil, err
	}
	return m, nil
}

// dropUnused removes functions that nothing calls any more and records who calls whom.
func (m *module) dropUnused() {
	used := map[*fn]bool{}
	for i := len(m.order) - 1; i >= 0; i-- {
		f := m.order[i]
		if f.entry {
			used[f] = true
		}
		if !used[f] {
			continue
		}
		f.calls = f.callees()
		for _, c := range f.calls {
			used[c] = true
		}
	}
	var keep []*fn
	for _, f := range m.order {
		if used[f] {
			keep = append(keep, f)
		}
	}
	m.order = keep
}

// callees are the functions f calls, each once, in order of name.
func (f *fn) callees() []*fn {
	seen := map[*fn]bool{}
	var out []*fn
	for _, b := range f.blocks {
		for _, v := range b.vals {
			if v.op == opCall && !seen[v.callee] {
				seen[v.callee] = true
				out = append(out, v.callee)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].sym < out[j].sym })
	return out
}

// generate turns the IR into code.
func (m *module) generate() (*Program, error) {
	p := &Program{}
	byFn := map[*fn]*Function{}
	for _, f := range m.order {
		fun, err := m.code(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		byFn[f] = fun
		fun.Stack = fun.FrameSize
		for _, c := range f.calls {
			fun.Calls = append(fun.Calls, c.sym)
			below := byFn[c].Stack
			if fun.nested[c.sym] {
				below += fun.FrameSize
			}
			fun.Stack = max(fun.Stack, below)
		}
		p.Functions = append(p.Functions, fun)
		if f.entry {
			p.Entries = append(p.Entries, Entry{Name: f.sym, Go: f.name, Stack: fun.Stack})
		}
	}
	sort.Slice(p.Entries, func(i, j int) bool { return p.Entries[i].Name < p.Entries[j].Name })
	p.Data = m.usedData(p.Functions)
	p.Aborts = m.aborts
	return p, nil
}

// usedData are the data symbols that the code needs, directly or through other data.
func (m *module) usedData(fs []*Function) []*Datum {
	byName := map[string]*Datum{}
	for _, d := range m.data {
		byName[d.Name] = d
	}
	used := map[string]bool{}
	var mark func(name string)
	mark = func(name string) {
		d := byName[name]
		if d == nil || used[name] {
			return
		}
		used[name] = true
		for _, r := range d.Relocs {
			mark(r.Sym)
		}
	}
	for _, f := range fs {
		for _, r := range f.Relocs {
			mark(r.Sym)
		}
	}
	var out []*Datum
	for _, d := range m.data {
		if used[d.Name] {
			out = append(out, d)
		}
	}
	return out
}

// str is the symbol of a string constant.
func (m *module) str(s string) string {
	if n, ok := m.strs[s]; ok {
		return n
	}
	n := fmt.Sprintf("asmgen.str.%d", len(m.strs))
	m.strs[s] = n
	m.data = append(m.data, &Datum{Name: n, Section: Rodata, Align: 1, Size: len(s), Bytes: []byte(s)})
	return n
}

// abortCode is the code of a reason to abort in f.
func (m *module) abortCode(f *fn, k abortKind) int {
	s := AbortSite{Go: f.name, Kind: abortNames[k]}
	c, ok := m.codes[s]
	if !ok {
		c = len(m.aborts)
		m.codes[s] = c
		m.aborts = append(m.aborts, s)
	}
	return c
}

// symbolName makes a Go name usable as an ELF symbol everywhere.
func symbolName(s string) string { return strings.ReplaceAll(s, " ", "") }
