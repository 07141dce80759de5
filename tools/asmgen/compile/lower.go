package compile

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// lval is a Go value in the IR: its scalars, or, of a big struct or array, the address of memory that holds it
// and is not written any more.
type lval struct {
	sc  []*value
	mem *value
}

// lowerer turns one ssa function into IR.
type lowerer struct {
	s     *source
	m     *module
	sf    *ssa.Function
	f     *fn
	cur   *block
	vals  map[ssa.Value]lval
	start map[*ssa.BasicBlock]*block
	end   map[*ssa.BasicBlock]*block
	pos   token.Pos
	hide  *value // where a big result goes
	noNil bool
	bad   bool
}

// lowerSignature fills in the flattened parameters and results.
func lowerSignature(f *fn, sf *ssa.Function) {
	for _, p := range sf.Params {
		if isBig(p.Type()) {
			f.params = append(f.params, kindPtr)
			continue
		}
		for _, l := range leaves(p.Type(), maxScalars) {
			f.params = append(f.params, l.kind)
		}
	}
	if bigResults(sf.Signature) {
		f.params = append(f.params, kindPtr)
		return
	}
	for _, l := range leaves(sf.Signature.Results(), maxScalars) {
		f.results = append(f.results, l.kind)
	}
}

// bigResults says whether the results of a function go to memory whose address is an additional last argument:
// when they are more than eight scalars.
func bigResults(sig *types.Signature) bool { return len(leaves(sig.Results(), 8)) > 8 }

// resultOffsets lays out results in memory.
func resultOffsets(sig *types.Signature) (offs []int64, size int64) {
	for i := range sig.Results().Len() {
		t := sig.Results().At(i).Type()
		a := max(sizes.Alignof(t), 8)
		size = (size + a - 1) / a * a
		offs = append(offs, size)
		size += sizes.Sizeof(t)
	}
	return offs, size
}

func (m *module) lower(sf *ssa.Function, f *fn) {
	l := &lowerer{s: m.src, m: m, sf: sf, f: f, vals: map[ssa.Value]lval{}, start: map[*ssa.BasicBlock]*block{},
		end: map[*ssa.BasicBlock]*block{}, noNil: sf.Pkg == m.src.rt}
	entry := f.newBlock(blockJump)
	l.cur = entry
	n := int64(0)
	param := func(k kind) *value {
		v := l.emit(opParam, k.w())
		v.imm = n
		n++
		v.nonNeg = k.length
		if f.entry {
			v = l.canon(v, k)
		} else {
			v.known = k.bits()
		}
		return v
	}
	for _, p := range sf.Params {
		if isBig(p.Type()) {
			l.vals[p] = lval{mem: param(kindPtr)}
			l.vals[p].mem.nonNil = true
			continue
		}
		var lv lval
		for _, lf := range leaves(p.Type(), maxScalars) {
			lv.sc = append(lv.sc, param(lf.kind))
		}
		l.vals[p] = lv
	}
	if bigResults(sf.Signature) {
		l.hide = param(kindPtr)
		l.hide.nonNil = true
	}
	order := ssaOrder(sf)
	for _, b := range order {
		l.start[b] = f.newBlock(blockJump)
	}
	addEdge(entry, l.start[sf.Blocks[0]])
	var phis []*ssa.Phi
	for _, b := range order {
		l.cur = l.start[b]
		for _, in := range b.Instrs {
			if p, ok := in.(*ssa.Phi); ok {
				phis = append(phis, p)
			}
			if in.Pos().IsValid() {
				l.pos = in.Pos()
			}
			l.instr(in)
		}
		l.end[b] = l.cur
	}
	for _, b := range order {
		e := l.end[b]
		if e.kind == blockAbort || e.kind == blockRet {
			continue
		}
		for _, s := range b.Succs {
			e.succs = append(e.succs, l.start[s])
		}
	}
	for _, b := range order {
		for _, p := range b.Preds {
			if e := l.end[p]; e != nil {
				l.start[b].preds = append(l.start[b].preds, e)
			}
		}
	}
	for _, p := range phis {
		for i, pred := range p.Block().Preds {
			if l.end[pred] == nil {
				continue
			}
			// Constants of the edge go to the entry block, which dominates everything.
			l.cur = entry
			for j, a := range l.get(p.Edges[i]).sc {
				v := l.vals[p].sc[j]
				v.args = append(v.args, a)
			}
		}
	}
}

// ssaOrder lists the reachable blocks in reverse postorder.
func ssaOrder(sf *ssa.Function) []*ssa.BasicBlock {
	seen := map[*ssa.BasicBlock]bool{}
	var post []*ssa.BasicBlock
	var walk func(b *ssa.BasicBlock)
	walk = func(b *ssa.BasicBlock) {
		seen[b] = true
		for i := len(b.Succs) - 1; i >= 0; i-- {
			if !seen[b.Succs[i]] {
				walk(b.Succs[i])
			}
		}
		post = append(post, b)
	}
	walk(sf.Blocks[0])
	for i, j := 0, len(post)-1; i < j; i, j = i+1, j-1 {
		post[i], post[j] = post[j], post[i]
	}
	return post
}

func (l *lowerer) emit(o op, w uint8, args ...*value) *value {
	v := l.f.add(l.cur, o, w, args...)
	v.pos = l.pos
	return v
}

func (l *lowerer) constant(w uint8, imm int64) *value {
	v := l.f.newValue(opConst, w)
	v.imm = normConst(w, imm)
	v.blk = l.f.blocks[0]
	l.f.blocks[0].vals = append(l.f.blocks[0].vals, v)
	return v
}

// unsupported reports what the checker let pass and lowering cannot do.
func (l *lowerer) unsupported(format string, args ...any) {
	l.s.diags.add(l.pos, format, args...)
	l.bad = true
}

// branch ends the current block with a conditional branch to two new blocks.
func (l *lowerer) branch(c *value) (yes, no *block) {
	yes, no = l.f.newBlock(blockJump), l.f.newBlock(blockJump)
	l.cur.kind = blockIf
	l.cur.ctl = []*value{c}
	addEdge(l.cur, yes)
	addEdge(l.cur, no)
	return yes, no
}

// get returns the IR of an operand.
func (l *lowerer) get(v ssa.Value) lval {
	switch v := v.(type) {
	case *ssa.Const:
		return l.constantOf(v)
	case *ssa.Global:
		s := l.emit(opSym, 64)
		s.sym = l.m.global(v)
		s.nonNil = true
		return lval{sc: []*value{s}}
	}
	lv, ok := l.vals[v]
	if !ok {
		l.unsupported("operand %s (%T) is outside the subset", v.Name(), v)
		return l.zero(v.Type())
	}
	return lv
}

func (l *lowerer) scalar(v ssa.Value) *value {
	lv := l.get(v)
	if len(lv.sc) != 1 {
		l.unsupported("value of type %s is not a scalar", v.Type())
		return l.constant(64, 0)
	}
	return lv.sc[0]
}

// memOf returns the address of memory that holds v, which must not be written.
func (l *lowerer) memOf(v ssa.Value) *value {
	lv := l.get(v)
	if lv.mem != nil {
		return lv.mem
	}
	p := l.temp(v.Type())
	l.storeScalars(p, v.Type(), lv.sc)
	return p
}

// temp makes a stack slot for a value of type t.
func (l *lowerer) temp(t types.Type) *value {
	s := l.emit(opSlot, 64)
	s.imm = l.f.newSlot(max(sizes.Sizeof(t), 1), max(sizes.Alignof(t), 8))
	s.nonNil = true
	return s
}

func (l *lowerer) storeScalars(p *value, t types.Type, sc []*value) {
	for i, lf := range leaves(t, maxScalars) {
		v := l.emit(opStore, 0, p, sc[i])
		v.imm, v.size = lf.off, lf.size
	}
}

func (l *lowerer) loadScalars(p *value, t types.Type) lval {
	var lv lval
	for _, lf := range leaves(t, maxScalars) {
		v := l.emit(opLoad, lf.w(), p)
		v.imm, v.size, v.signed, v.nonNeg = lf.off, lf.size, lf.signed, lf.length
		lv.sc = append(lv.sc, v)
	}
	return lv
}

func (l *lowerer) zero(t types.Type) lval {
	if isBig(t) {
		p := l.temp(t)
		l.emit(opZero, 0, p).imm = sizes.Sizeof(t)
		return lval{mem: p}
	}
	var lv lval
	for _, lf := range leaves(t, maxScalars) {
		lv.sc = append(lv.sc, l.constant(lf.w(), 0))
	}
	return lv
}

func (l *lowerer) constantOf(c *ssa.Const) lval {
	if c.Value == nil {
		return l.zero(c.Type())
	}
	t := c.Type().Underlying()
	if isString(t) {
		s := constant.StringVal(c.Value)
		var p *value
		if s == "" {
			p = l.constant(64, 0)
		} else {
			p = l.emit(opSym, 64)
			p.sym = l.m.str(s)
			p.nonNil = true
		}
		return lval{sc: []*value{p, l.constant(64, int64(len(s)))}}
	}
	k, ok := scalarKind(t)
	if !ok {
		l.unsupported("constant of type %s is outside the subset", c.Type())
		return lval{sc: []*value{l.constant(64, 0)}}
	}
	return lval{sc: []*value{l.constant(k.w(), constBits(c, k))}}
}

// constBits is the canonical register content of a constant.
func constBits(c *ssa.Const, k kind) int64 {
	if c.Value.Kind() == constant.Bool {
		if constant.BoolVal(c.Value) {
			return 1
		}
		return 0
	}
	v := constant.ToInt(c.Value)
	n, exact := constant.Int64Val(v)
	if !exact {
		u, _ := constant.Uint64Val(v)
		n = int64(u)
	}
	return n
}

func constString(v ssa.Value) string {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.String {
		return constant.StringVal(c.Value)
	}
	return ""
}

// canon brings an 8- or 16-bit value whose upper bits may be wrong to its canonical form.
func (l *lowerer) canon(v *value, k kind) *value {
	switch {
	case k.size == 1 && k.signed:
		return l.emit(opSext8, 32, v)
	case k.size == 1:
		return l.emit(opZext8, 32, v)
	case k.size == 2 && k.signed:
		return l.emit(opSext16, 32, v)
	case k.size == 2:
		return l.emit(opZext16, 32, v)
	}
	return v
}

// convert converts a scalar between integer kinds.
func (l *lowerer) convert(v *value, from, to kind) *value {
	switch {
	case to.size == 8 && from.size == 8:
		return v
	case to.size == 8:
		return l.wide(v, from)
	case from.size == 8:
		return l.canon(l.emit(opTrunc, 32, v), to)
	case to.size == 4, from.size < to.size && (!from.signed || to.signed), from == to:
		return v
	}
	return l.canon(v, to)
}

// wide extends a scalar to 64 bits.
func (l *lowerer) wide(v *value, from kind) *value {
	switch {
	case from.size == 8:
		return v
	case from.signed:
		return l.emit(opSext32, 64, v)
	}
	x := l.emit(opZext32, 64, v)
	x.nonNeg = true
	return x
}

func (l *lowerer) nilCheck(p *value) {
	if p.nonNil || p.noCheck || l.noNil {
		return
	}
	l.emit(opNilCheck, 0, p)
}

// check aborts unless a cond b.
func (l *lowerer) check(c cond, a, b *value, code abortKind) {
	v := l.emit(opCheck, 0, a, b)
	v.cond, v.code = c, code
}

func (l *lowerer) cmp(c cond, a, b *value) *value {
	v := l.emit(opCmp, 32, a, b)
	v.cond = c
	return v
}
