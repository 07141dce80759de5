package compile

import (
	"math/bits"

	"svcrelay/tools/asmgen/asm"
)

// Instruction selection walks each block backwards and emits an operation only when something emitted later needs
// its result in a register; an operation folded into its user needs none.

type isel struct {
	m       *module
	f       *fn
	mf      *mfn
	regs    []reg  // by value id: its virtual register
	clean   []bool // by value id: the upper half of the 32-bit value is zero
	mb      map[*block]*mblock
	cur     *mblock
	b       *block
	v       *value
	rev     []*minstr // the current block, backwards
	pending []*minstr // operands to materialise before the current instruction
	tails   map[*block]map[matKey]reg
	tailOrd map[*block][]*minstr
	results map[*value][]reg
}

// matKey names something that can be materialised anywhere.
type matKey struct {
	op       op
	w        uint8
	imm, off int64
	sym      string
}

func (m *module) selectCode(f *fn) *mfn {
	f.splitCritical()
	f.addPreheaders()
	f.countUses()
	s := &isel{m: m, f: f, mf: &mfn{f: f, nregs: firstVir}, mb: map[*block]*mblock{}, tails: map[*block]map[matKey]reg{},
		tailOrd: map[*block][]*minstr{}, results: map[*value][]reg{}}
	s.regs = make([]reg, f.nextVal)
	for i := range s.regs {
		s.regs[i] = regNone
	}
	s.findClean()
	for _, b := range f.layout() {
		mb := &mblock{id: len(s.mf.blocks), ir: b}
		if b.loop != nil {
			mb.depth = b.loop.depth
		}
		s.mb[b] = mb
		s.mf.blocks = append(s.mf.blocks, mb)
	}
	for i := len(f.order) - 1; i >= 0; i-- {
		s.block(f.order[i])
	}
	for _, b := range f.order {
		for _, t := range b.succs {
			s.mb[b].succs = append(s.mb[b].succs, s.mb[t])
		}
	}
	s.mf.shareConstants()
	s.mf.foldLow12(m.alignOf)
	return s.mf
}

// layout orders the blocks: loops contiguous, each loop's exit test at its bottom, aborts last.
func (f *fn) layout() []*block {
	placed := make([]bool, f.nextBlk)
	var out, cold []*block
	var place func(l *loop)
	place = func(l *loop) {
		for _, b := range f.order {
			if placed[b.id] || l != nil && !l.blocks[b] {
				continue
			}
			if b.kind == blockAbort && b != f.blocks[0] {
				placed[b.id] = true
				cold = append(cold, b)
				continue
			}
			if b.loop != l && b.loop != nil && b.loop.head == b {
				start := len(out)
				place(b.loop)
				rotate(out[start:], b.loop)
				continue
			}
			placed[b.id] = true
			out = append(out, b)
		}
	}
	// A loop's own place call sees its header with b.loop == l.
	place(nil)
	return append(out, cold...)
}

// rotate moves the header of a loop that ends in an exit test to the loop's end.
func rotate(bs []*block, l *loop) {
	h := l.head
	if len(bs) < 2 || bs[0] != h || h.kind != blockIf {
		return
	}
	in0, in1 := l.blocks[h.succs[0]], l.blocks[h.succs[1]]
	if in0 == in1 {
		return
	}
	last := bs[len(bs)-1]
	if last.kind != blockJump || last.succs[0] != h {
		return
	}
	copy(bs, bs[1:])
	bs[len(bs)-1] = h
}

// findClean finds the 32-bit values whose register has a zero upper half.
func (s *isel) findClean() {
	s.clean = make([]bool, s.f.nextVal)
	set := func(v *value) bool {
		if v.w != 32 {
			return false
		}
		switch v.op {
		case opParam, opResult, opTrunc, opPtr:
			return false
		case opLoad:
			return !v.signed
		case opPhi:
			for _, a := range v.args {
				if !s.clean[a.id] {
					return false
				}
			}
		case opZext8, opZext16:
			return true
		}
		return true
	}
	for _, b := range s.f.order {
		for _, v := range b.vals {
			s.clean[v.id] = v.op == opPhi && v.w == 32 || set(v)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range s.f.order {
			for _, v := range b.vals {
				if v.op == opPhi && s.clean[v.id] && !set(v) {
					s.clean[v.id] = false
					changed = true
				}
			}
		}
	}
}

// root strips operations that leave the register as it is.
func (s *isel) root(v *value) *value {
	for {
		switch {
		case v.op == opTrunc, v.op == opPtr:
			v = v.args[0]
		case v.op == opZext32 && s.clean[v.args[0].id]:
			v = v.args[0]
		case v.op == opSext32 && v.args[0].op == opLoad && v.args[0].signed:
			v = v.args[0]
		default:
			return v
		}
	}
}

func (s *isel) block(b *block) {
	s.b, s.cur, s.rev, s.v = b, s.mb[b], nil, nil
	s.terminator(b)
	for _, t := range s.tailOrd[b] {
		s.rev = append(s.rev, t)
	}
	for i := len(b.vals) - 1; i >= 0; i-- {
		v := b.vals[i]
		if v.op == opPhi || v.op == opParam {
			continue
		}
		s.v = v
		s.value(v)
	}
	if b == s.f.blocks[0] {
		s.params()
	}
	for i, j := 0, len(s.rev)-1; i < j; i, j = i+1, j-1 {
		s.rev[i], s.rev[j] = s.rev[j], s.rev[i]
	}
	s.cur.code = s.rev
}

// push emits an instruction in front of those emitted so far, and its operands in front of it.
func (s *isel) push(i *minstr) {
	i.pos = s.b.pos
	if s.v != nil {
		i.pos = s.v.pos
	}
	s.rev = append(s.rev, i)
	p := s.pending
	s.pending = nil
	s.rev = append(s.rev, p...)
}

// needed says whether something wants v in a register.
func (s *isel) needed(v *value) bool { return s.regs[v.id] != regNone }

// use wants v in a register.
func (s *isel) use(v *value) reg {
	v = s.root(v)
	switch v.op {
	case opConst, opSym, opSlot, opGot:
		return s.materialize(v, 0)
	case opAdd:
		if v.args[0].op == opSlot && v.args[1].isConst() {
			return s.materialize(v.args[0], v.args[1].imm)
		}
	}
	if s.regs[v.id] == regNone {
		s.regs[v.id] = s.mf.newReg()
	}
	return s.regs[v.id]
}

// useZ is use, for operands that may be the zero register.
func (s *isel) useZ(v *value) reg {
	if r := s.root(v); r.isConst() && r.imm == 0 {
		return regZR
	}
	return s.use(v)
}

// materialize makes a constant or address. In a loop without calls it is made once, before the loop.
func (s *isel) materialize(v *value, off int64) reg {
	k := matKey{op: v.op, w: v.w, imm: v.imm, off: off, sym: v.sym}
	var at *block
	for l := s.b.loop; l != nil && !l.calls; l = l.outer {
		for _, p := range l.head.preds {
			if !l.blocks[p] {
				at = p
			}
		}
	}
	if at == nil || v.op == opSlot {
		r := s.mf.newReg()
		s.pending = append(s.pending, s.material(v, off, r))
		return r
	}
	if s.tails[at] == nil {
		s.tails[at] = map[matKey]reg{}
	}
	r, ok := s.tails[at][k]
	if !ok {
		r = s.mf.newReg()
		s.tails[at][k] = r
		s.tailOrd[at] = append(s.tailOrd[at], s.material(v, off, r))
	}
	return r
}

func (s *isel) material(v *value, off int64, r reg) *minstr {
	switch v.op {
	case opSym:
		return &minstr{op: mSymAddr, w: 64, dst: r, sym: v.sym, imm: v.imm}
	case opGot:
		return &minstr{op: mGot, w: 64, dst: r, sym: v.sym}
	case opSlot:
		return &minstr{op: mSlotAddr, w: 64, dst: r, imm2: v.imm, imm: off}
	}
	return &minstr{op: mMovImm, w: v.w, dst: r, imm: v.imm}
}

// copyOf makes the source of a parallel copy.
func (s *isel) copyOf(dst reg, v *value) move {
	r := s.root(v)
	switch r.op {
	case opConst:
		return move{dst: dst, src: regNone, imm: r.imm, w: r.w}
	case opSlot:
		return move{dst: dst, src: regNone, imm2: r.imm, slotAddr: true, w: 64}
	case opSym:
		if s.b.loop == nil || s.b.loop.calls {
			return move{dst: dst, src: regNone, symAddr: r.sym, imm: r.imm, w: 64}
		}
	}
	return move{dst: dst, src: s.use(v)}
}

func (s *isel) params() {
	var ms []move
	for _, v := range s.f.blocks[0].vals {
		if v.op != opParam || !s.needed(v) {
			continue
		}
		if v.imm < 8 {
			ms = append(ms, move{dst: s.regs[v.id], src: reg(v.imm)})
		} else {
			s.push(&minstr{op: mLoadArg, w: 64, dst: s.regs[v.id], imm: v.imm - 8})
		}
	}
	if len(ms) > 0 {
		s.push(&minstr{op: mParCopy, dst: regNone, moves: ms})
	}
}

func (s *isel) terminator(b *block) {
	switch b.kind {
	case blockAbort:
		s.push(&minstr{op: mAbort, dst: regNone, abort: b.code})
	case blockRet:
		var ms []move
		i := &minstr{op: mRet, dst: regNone}
		for k, v := range b.ctl {
			ms = append(ms, s.copyOf(reg(k), v))
			i.uses = append(i.uses, reg(k))
		}
		p := s.pending
		s.pending = nil
		s.push(i)
		if len(ms) > 0 {
			s.push(&minstr{op: mParCopy, dst: regNone, moves: ms})
		}
		s.rev = append(s.rev, p...)
	case blockJump:
		s.push(&minstr{op: mJump, dst: regNone, target: s.mb[b.succs[0]]})
		s.phiCopies(b, b.succs[0])
	case blockIf:
		// A jump follows the conditional branch; emission drops the one that falls through.
		s.push(&minstr{op: mJump, dst: regNone, target: s.mb[b.succs[1]]})
		i := &minstr{op: mBr, dst: regNone, target: s.mb[b.succs[0]]}
		s.condition(i, b.ctl[0], true)
		s.push(i)
	}
}

func (s *isel) phiCopies(b, t *block) {
	at := 0
	for i, p := range t.preds {
		if p == b {
			at = i
		}
	}
	var ms []move
	for _, v := range t.vals {
		if v.op != opPhi {
			break
		}
		if s.regs[v.id] == regNone {
			s.regs[v.id] = s.mf.newReg()
		}
		ms = append(ms, s.copyOf(s.regs[v.id], v.args[at]))
	}
	if len(ms) > 0 {
		s.push(&minstr{op: mParCopy, dst: regNone, moves: ms})
	}
}

// condition sets up the comparison of i for c != 0, or c == 0 if !want.
func (s *isel) condition(i *minstr, c *value, want bool) {
	c = s.root(c)
	if c.op == opXor && c.args[1].isConst() && c.args[1].imm == 1 && isBool(c.args[0]) {
		s.condition(i, c.args[0], !want)
		return
	}
	if c.op == opCmp {
		k := c.cond
		if !want {
			k = k.not()
		}
		s.compare(i, k, c.args[0], c.args[1])
		return
	}
	i.cond = condNE
	if !want {
		i.cond = condEQ
	}
	s.zeroTest(i, c, 32)
}

// direct says whether i can test a register without setting flags.
func (i *minstr) direct() bool { return i.op == mBr || i.op == mCheck }

// zeroTest sets up v == 0 or v != 0, by i.cond.
func (s *isel) zeroTest(i *minstr, v *value, w uint8) {
	i.cw = w
	r := s.root(v)
	if r.op == opAnd && (r.w == w || w == 32) && s.foldable(r) {
		a, b := r.args[0], r.args[1]
		if b.isConst() {
			n := uint64(b.imm)
			if r.w == 32 || w == 32 {
				n = uint64(uint32(n))
			}
			if i.direct() && n != 0 && n&(n-1) == 0 {
				i.cmp, i.imm = cmpBit, int64(bits.TrailingZeros64(n))
				i.src = append(i.src, s.use(a))
				return
			}
			if asm.BitmaskOK(asm.Width(w), n) {
				i.cmp, i.opnd, i.imm = cmpTst, operandImm, int64(n)
				i.src = append(i.src, s.use(a))
				return
			}
		}
		i.cmp = cmpTst
		i.src = append(i.src, s.use(a), s.use(b))
		return
	}
	if i.direct() {
		i.cmp = cmpZero
		i.src = append(i.src, s.use(v))
		return
	}
	i.cmp, i.opnd, i.imm = cmpCmp, operandImm, 0
	i.src = append(i.src, s.use(v))
}

// foldable says whether v can be computed as part of its user instead of on its own.
func (s *isel) foldable(v *value) bool { return v.uses == 1 }

// compare sets up a cond b.
func (s *isel) compare(i *minstr, c cond, a, b *value) {
	w := a.w
	i.cond, i.cw = c, w
	if a.isConst() && !b.isConst() {
		a, b = b, a
		i.cond = c.swapped()
	}
	if b.isConst() {
		n := b.imm
		switch {
		case n == 0 && i.cond <= condNE:
			s.zeroTest(i, a, w)
			return
		case n == 0 && i.direct() && (i.cond == condLT || i.cond == condGE):
			i.cmp, i.imm = cmpBit, int64(w)-1
			if i.cond == condLT {
				i.cond = condNE
			} else {
				i.cond = condEQ
			}
			i.src = append(i.src, s.use(a))
			return
		case asm.AddSubOK(n):
			i.cmp, i.opnd, i.imm = cmpCmp, operandImm, n
			i.src = append(i.src, s.use(a))
			return
		}
		// x < c is x <= c-1 and so on, when that constant fits.
		if m, k, ok := neighbour(i.cond, n, w); ok && asm.AddSubOK(m) {
			i.cond = k
			i.cmp, i.opnd, i.imm = cmpCmp, operandImm, m
			i.src = append(i.src, s.use(a))
			return
		}
	}
	i.cmp = cmpCmp
	if !s.hasOperandForm(b, w) && s.hasOperandForm(a, w) {
		a, b = b, a
		i.cond = i.cond.swapped()
	}
	i.src = append(i.src, s.useZ(a))
	s.operand(i, b, w, false)
}

// neighbour turns an ordering with the constant n into one with n-1 or n+1.
func neighbour(c cond, n int64, w uint8) (int64, cond, bool) {
	lo, hi := int64(-1<<63), int64(1<<63-1)
	if w == 32 {
		lo, hi = -1<<31, 1<<31-1
	}
	switch c {
	case condLT:
		return n - 1, condLE, n != lo
	case condGE:
		return n - 1, condGT, n != lo
	case condLE:
		return n + 1, condLT, n != hi
	case condGT:
		return n + 1, condGE, n != hi
	case condULT:
		return n - 1, condULE, n != 0
	case condUGE:
		return n - 1, condUGT, n != 0
	case condULE:
		return n + 1, condULT, n != -1
	case condUGT:
		return n + 1, condUGE, n != -1
	}
	return 0, c, false
}

// hasOperandForm says whether v would be folded by operand.
func (s *isel) hasOperandForm(v *value, w uint8) bool {
	v = s.skipFree(v)
	if v.w != w || !s.foldable(v) {
		return false
	}
	switch v.op {
	case opShl, opShr, opSar:
		return v.args[1].isConst()
	case opZext32, opSext32:
		return true
	}
	return false
}

func (s *isel) skipFree(v *value) *value {
	if v.op == opPtr {
		return s.skipFree(v.args[0])
	}
	return v
}

// operand appends the last operand, as a shifted or extended register where that saves an instruction.
func (s *isel) operand(i *minstr, v *value, w uint8, logic bool) {
	v = s.skipFree(v)
	if v.w == w && s.foldable(v) {
		switch v.op {
		case opShl, opShr, opSar, opRor:
			if !v.args[1].isConst() || v.op == opRor && !logic {
				break
			}
			n := uint8(v.args[1].imm) & (w - 1)
			x := v.args[0]
			if v.op == opShl && !logic && n <= 4 && (x.op == opZext32 || x.op == opSext32) && s.foldable(x) && s.root(x) == x {
				i.opnd, i.extend, i.signed, i.amount = operandExt, true, x.op == opSext32, n
				i.src = append(i.src, s.use(x.args[0]))
				return
			}
			i.opnd, i.amount = operandShift, n
			i.shift = map[op]shiftOp{opShl: shiftLSL, opShr: shiftLSR, opSar: shiftASR, opRor: shiftROR}[v.op]
			i.src = append(i.src, s.use(x))
			return
		case opZext32, opSext32:
			if !logic && s.root(v) == v {
				i.opnd, i.extend, i.signed = operandExt, true, v.op == opSext32
				i.src = append(i.src, s.use(v.args[0]))
				return
			}
		}
	}
	i.src = append(i.src, s.useZ(v))
}
