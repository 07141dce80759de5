package compile

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// There is no heap: every variable whose address is taken is a stack slot, so its address must not outlive the
// function, nor the loop iteration that declared it. escapes finds where it might. The analysis ignores the order of
// statements and does not look into memory behind parameters: a parameter stands for all memory reachable from it.

// place of the analysis: 0 is global or unknown memory, then the parameters, then the function's own variables.
type places map[int]bool

const placeGlobal = 0

// summary says where a function's parameters may go.
type summary struct {
	results []places       // by result: parameters and global memory it may point to
	stored  map[int]places // by parameter (1-based) or placeGlobal: parameters stored in its memory
}

type escapes struct {
	s    *source
	sums map[*ssa.Function]*summary
}

func newEscapes(s *source) *escapes { return &escapes{s: s, sums: map[*ssa.Function]*summary{}} }

type escapeFn struct {
	e       *escapes
	f       *ssa.Function
	params  int
	allocs  []*ssa.Alloc // place params+1+i
	placeOf map[*ssa.Alloc]int
	pts     map[ssa.Value]places
	holds   map[int]places
	results []places
	changed bool
}

// function analyses f, whose callees have been analysed, and reports what escapes.
func (e *escapes) function(f *ssa.Function) {
	a := &escapeFn{e: e, f: f, params: len(f.Params), placeOf: map[*ssa.Alloc]int{}, pts: map[ssa.Value]places{}, holds: map[int]places{}}
	for range f.Signature.Results().Len() {
		a.results = append(a.results, places{})
	}
	for i, p := range f.Params {
		if hasPointers(p.Type()) {
			a.pts[p] = places{i + 1: true}
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if al, ok := in.(*ssa.Alloc); ok {
				a.allocs = append(a.allocs, al)
				a.placeOf[al] = a.params + len(a.allocs)
				a.pts[al] = places{a.placeOf[al]: true}
			}
		}
	}
	for a.changed = true; a.changed; {
		a.changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				a.instr(in)
			}
		}
	}
	sum := &summary{stored: map[int]places{}}
	for _, r := range a.results {
		sum.results = append(sum.results, a.visible(r))
	}
	for p, h := range a.holds {
		if p <= a.params {
			sum.stored[p] = a.visible(h)
		}
	}
	e.sums[f] = sum
	if f.Pkg != e.s.rt {
		a.report()
	}
}

// visible keeps what a caller knows.
func (a *escapeFn) visible(p places) places {
	out := places{}
	for x := range a.deep(p) {
		if x <= a.params {
			out[x] = true
		}
	}
	return out
}

func hasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Info()&types.IsString != 0
	case *types.Pointer, *types.Slice:
		return true
	case *types.Array:
		return hasPointers(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if hasPointers(u.Field(i).Type()) {
				return true
			}
		}
	case *types.Tuple:
		for i := range u.Len() {
			if hasPointers(u.At(i).Type()) {
				return true
			}
		}
	}
	return false
}

func (a *escapeFn) of(v ssa.Value) places {
	switch v.(type) {
	case *ssa.Global:
		return places{placeGlobal: true}
	case *ssa.Const:
		return nil
	}
	return a.pts[v]
}

func (a *escapeFn) grow(m places, add places) places {
	for x := range add {
		if !m[x] {
			if m == nil {
				m = places{}
			}
			m[x] = true
			a.changed = true
		}
	}
	return m
}

func (a *escapeFn) set(v ssa.Value, add places) {
	if hasPointers(v.Type()) {
		a.pts[v] = a.grow(a.pts[v], add)
	}
}

// content is what loading from p may give.
func (a *escapeFn) content(p places) places {
	out := places{}
	for x := range p {
		if x <= a.params {
			out[x] = true
		}
		for y := range a.holds[x] {
			out[y] = true
		}
	}
	return out
}

// deep is p and everything reachable from it.
func (a *escapeFn) deep(p places) places {
	out := places{}
	var walk func(q places)
	walk = func(q places) {
		for x := range q {
			if !out[x] {
				out[x] = true
				walk(a.holds[x])
			}
		}
	}
	walk(p)
	return out
}

func (a *escapeFn) store(to, val places) {
	for x := range to {
		a.holds[x] = a.grow(a.holds[x], val)
	}
}

func (a *escapeFn) instr(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.Store:
		if hasPointers(in.Val.Type()) {
			a.store(a.of(in.Addr), a.of(in.Val))
		}
	case *ssa.UnOp:
		if in.Op == token.MUL {
			a.set(in, a.content(a.of(in.X)))
		}
	case *ssa.FieldAddr:
		a.set(in, a.of(in.X))
	case *ssa.IndexAddr:
		a.set(in, a.of(in.X))
	case *ssa.Field:
		a.set(in, a.of(in.X))
	case *ssa.Index:
		a.set(in, a.of(in.X))
	case *ssa.Slice:
		a.set(in, a.of(in.X))
	case *ssa.ChangeType:
		a.set(in, a.of(in.X))
	case *ssa.SliceToArrayPointer:
		a.set(in, a.of(in.X))
	case *ssa.Convert:
		if hasPointers(in.X.Type()) {
			a.set(in, a.of(in.X))
		} else {
			a.set(in, places{placeGlobal: true}) // a number made a pointer
		}
	case *ssa.Phi:
		for _, x := range in.Edges {
			a.set(in, a.of(x))
		}
	case *ssa.Extract:
		if c, ok := in.Tuple.(*ssa.Call); ok {
			a.set(in, a.callResult(c, in.Index))
		}
	case *ssa.Call:
		a.call(in)
	case *ssa.Return:
		for i, r := range in.Results {
			if hasPointers(r.Type()) {
				a.results[i] = a.grow(a.results[i], a.of(r))
			}
		}
	}
}

func (a *escapeFn) call(in *ssa.Call) {
	cc := &in.Call
	if b, ok := cc.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "copy":
			if hasPointers(cc.Args[0].Type().Underlying().(*types.Slice).Elem()) {
				a.store(a.of(cc.Args[0]), a.content(a.of(cc.Args[1])))
			}
		default:
			for _, x := range cc.Args {
				a.set(in, a.of(x))
			}
		}
		return
	}
	if cc.Signature().Results().Len() == 1 {
		a.set(in, a.callResult(in, 0))
	}
	sum := a.e.sums[cc.StaticCallee()]
	if sum == nil {
		return
	}
	for to, from := range sum.stored {
		dst := places{placeGlobal: true}
		if to != placeGlobal {
			dst = a.deep(a.of(cc.Args[to-1]))
		}
		for p := range from {
			switch {
			case p == to:
			case p == placeGlobal:
				a.store(dst, places{placeGlobal: true})
			default:
				a.store(dst, a.deep(a.of(cc.Args[p-1])))
			}
		}
	}
}

func (a *escapeFn) callResult(in *ssa.Call, i int) places {
	sum := a.e.sums[in.Call.StaticCallee()]
	if sum == nil {
		return places{placeGlobal: true}
	}
	out := places{}
	for p := range sum.results[i] {
		if p == placeGlobal {
			out[p] = true
			continue
		}
		for x := range a.deep(a.of(in.Call.Args[p-1])) {
			out[x] = true
		}
	}
	return out
}

// own lists the function's variables in p, in order of declaration.
func (a *escapeFn) own(p places) []*ssa.Alloc {
	var out []*ssa.Alloc
	for i, al := range a.allocs {
		if p[a.params+1+i] {
			out = append(out, al)
		}
	}
	return out
}

func allocName(al *ssa.Alloc) string {
	switch al.Comment {
	case "", "new", "complit", "slicelit", "makeslice", "varargs":
		return "a value"
	}
	return al.Comment
}

// report says what escapes and where.
func (a *escapeFn) report() {
	for _, b := range a.f.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Store:
				if hasPointers(in.Val.Type()) {
					a.reportStore(in.Pos(), a.of(in.Addr), a.of(in.Val))
				}
			case *ssa.Return:
				for _, r := range in.Results {
					if !hasPointers(r.Type()) {
						continue
					}
					for _, al := range a.own(a.deep(a.of(r))) {
						a.bad(in.Pos(), "the address of %s leaves the function in a result; it lives on the stack", allocName(al))
					}
				}
			case *ssa.Call:
				a.reportCall(in)
			}
		}
	}
	loops := ssaLoops(a.f)
	for _, al := range a.allocs {
		body := loops[al.Block()]
		if body == nil {
			continue
		}
		for i, h := range a.allocs {
			if a.holds[a.params+1+i][a.placeOf[al]] && !body[h.Block()] {
				a.bad(al.Pos(), "the address of %s, declared in a loop, is kept in %s, which outlives the iteration: declare it before the loop", allocName(al), allocName(h))
			}
		}
	}
}

func (a *escapeFn) bad(pos token.Pos, format string, args ...any) {
	if !pos.IsValid() {
		pos = a.f.Pos()
	}
	a.e.s.diags.add(pos, format, args...)
}

func (a *escapeFn) reportStore(pos token.Pos, to, val places) {
	for _, al := range a.own(val) {
		for x := 0; x <= a.params; x++ {
			if !to[x] {
				continue
			}
			where := "memory that is not on the stack"
			if x > 0 {
				where = "memory that parameter " + a.f.Params[x-1].Name() + " leads to"
			}
			a.bad(pos, "the address of %s is stored in %s; it lives on the stack", allocName(al), where)
		}
	}
}

func (a *escapeFn) reportCall(in *ssa.Call) {
	sum := a.e.sums[in.Call.StaticCallee()]
	if sum == nil {
		return
	}
	for to := 0; to <= len(in.Call.Args); to++ {
		for p := 1; p <= len(in.Call.Args); p++ {
			if p == to || !sum.stored[to][p] {
				continue
			}
			dst := places{placeGlobal: true}
			if to != placeGlobal {
				dst = a.deep(a.of(in.Call.Args[to-1]))
			}
			a.reportStore(in.Pos(), dst, a.deep(a.of(in.Call.Args[p-1])))
		}
	}
}

// ssaLoops gives, for each block in a loop, the blocks of the innermost one.
func ssaLoops(f *ssa.Function) map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool {
	out := map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool{}
	for _, h := range f.Blocks {
		var body map[*ssa.BasicBlock]bool
		for _, p := range h.Preds {
			if !h.Dominates(p) {
				continue
			}
			if body == nil {
				body = map[*ssa.BasicBlock]bool{h: true}
			}
			work := []*ssa.BasicBlock{p}
			for len(work) > 0 {
				b := work[len(work)-1]
				work = work[:len(work)-1]
				if !body[b] {
					body[b] = true
					work = append(work, b.Preds...)
				}
			}
		}
		for b := range body {
			if out[b] == nil || len(body) < len(out[b]) {
				out[b] = body
			}
		}
	}
	return out
}
