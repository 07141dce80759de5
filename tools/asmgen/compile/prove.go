package compile

// prover derives comparisons from known ones. All reasoning is about mathematical integers: a sum is used only
// where it cannot wrap.

// fact says that cond holds between two values.
type fact struct {
	cond cond
	a, b *value
}

type prover struct {
	f      *fn
	facts  []fact
	effort int // facts that may still be looked at for the current proof
}

// proofDepth and proofEffort bound the search for a proof.
const (
	proofDepth  = 6
	proofEffort = 20000
)

// prove says whether the facts make a cond b certain.
func (p *prover) prove(c cond, a, b *value) bool {
	p.effort = proofEffort
	for i := len(p.facts) - 1; i >= 0; i-- {
		f := p.facts[i]
		if f.a == a && f.b == b && implies(f.cond, c) || f.a == b && f.b == a && implies(f.cond.swapped(), c) {
			return true
		}
	}
	if r, ok := evalCond(c, a, b); ok {
		return r
	}
	switch c {
	case condLT:
		return p.less(a, b, 1, proofDepth)
	case condLE:
		return p.less(a, b, 0, proofDepth)
	case condGT:
		return p.less(b, a, 1, proofDepth)
	case condGE:
		return p.less(b, a, 0, proofDepth)
	case condULT:
		return p.less(a, b, 1, proofDepth) && p.atLeastZero(a, proofDepth)
	case condULE:
		return p.less(a, b, 0, proofDepth) && p.atLeastZero(a, proofDepth)
	case condUGT:
		return p.less(b, a, 1, proofDepth) && p.atLeastZero(b, proofDepth)
	case condUGE:
		return p.less(b, a, 0, proofDepth) && p.atLeastZero(b, proofDepth)
	case condNE:
		return a.w == b.w && (p.less(a, b, 1, 3) || p.less(b, a, 1, 3))
	}
	return false
}

// implies says whether c follows from f for the same operands.
func implies(f, c cond) bool {
	if f == c {
		return true
	}
	switch f {
	case condEQ:
		return c == condLE || c == condGE || c == condULE || c == condUGE
	case condLT:
		return c == condLE || c == condNE
	case condGT:
		return c == condGE || c == condNE
	case condULT:
		return c == condULE || c == condNE
	case condUGT:
		return c == condUGE || c == condNE
	}
	return false
}

// less says whether a + k <= b as signed numbers.
func (p *prover) less(a, b *value, k int64, depth int) bool {
	if a == b {
		return k <= 0
	}
	if a.isConst() && b.isConst() {
		return a.imm+k <= b.imm
	}
	if k < -1<<40 || k > 1<<40 {
		return false
	}
	// Known ranges.
	if hi, ok := upper(a); ok {
		if b.isConst() && hi+k <= b.imm {
			return true
		}
		if hi+k <= 0 && nonNeg(b, 3) {
			return true
		}
	}
	if depth <= 0 {
		return false
	}
	if a.isConst() && a.imm+k <= 0 && p.atLeastZero(b, depth-1) {
		return true
	}
	if p.effort -= len(p.facts) + 1; p.effort < 0 {
		return false
	}
	// Facts a + d <= y, then y + (k-d) <= b.
	for i := len(p.facts) - 1; i >= 0; i-- {
		for _, e := range edges(p.facts[i]) {
			if e.lo == a && (e.hi == b && k <= e.d || e.hi != b && e.hi != a && p.less(e.hi, b, k-e.d, depth-2)) {
				return true
			}
			// A fact that ends in b: lo + d <= b.
			if e.hi == b && e.lo.isConst() && a.isConst() && a.imm+k <= e.lo.imm+e.d {
				return true
			}
		}
	}
	return p.lessByForm(a, b, k, depth)
}

// upper is a constant that v, read as signed, cannot exceed.
func upper(v *value) (int64, bool) {
	if v.isConst() {
		return v.imm, true
	}
	if n := ubits(v, 3); n < uint(v.w) && n < 62 {
		return 1<<n - 1, true
	}
	return 0, false
}

// edge says lo + d <= hi as signed numbers.
type edge struct {
	lo, hi *value
	d      int64
}

// edges turns a fact into signed inequalities.
func edges(f fact) []edge {
	a, b := f.a, f.b
	switch f.cond {
	case condEQ:
		return []edge{{a, b, 0}, {b, a, 0}}
	case condLT:
		return []edge{{a, b, 1}}
	case condLE:
		return []edge{{a, b, 0}}
	case condGT:
		return []edge{{b, a, 1}}
	case condGE:
		return []edge{{b, a, 0}}
	case condULT, condULE:
		if nonNeg(b, 3) {
			d := int64(0)
			if f.cond == condULT {
				d = 1
			}
			return []edge{{a, b, d}}
		}
	case condUGT, condUGE:
		if nonNeg(a, 3) {
			d := int64(0)
			if f.cond == condUGT {
				d = 1
			}
			return []edge{{b, a, d}}
		}
	}
	return nil
}

// lessByForm uses how a and b are computed.
func (p *prover) lessByForm(a, b *value, k int64, depth int) bool {
	switch a.op {
	case opAdd:
		if c := a.args[1]; c.isConst() && p.noWrap(a.args[0], c.imm, depth) && p.less(a.args[0], b, k+c.imm, depth-1) {
			return true
		}
	case opSub:
		// x - y <= x for y >= 0, if the difference did not wrap.
		if x, y := a.args[0], a.args[1]; a.nonNeg && p.atLeastZero(y, depth-1) && p.less(x, b, k, depth-1) {
			return true
		}
	case opShr, opUDiv, opURem:
		if p.atLeastZero(a.args[0], depth-1) && p.less(a.args[0], b, k, depth-1) {
			return true
		}
		if y := a.args[1]; a.op == opURem && nonNeg(y, 3) && p.less(y, b, k-1, depth-1) {
			return true
		}
	case opAnd:
		for _, x := range a.args {
			if nonNeg(x, 3) && p.less(x, b, k, depth-1) {
				return true
			}
		}
	case opSelect:
		if p.less(a.args[1], b, k, depth-2) && p.less(a.args[2], b, k, depth-2) {
			return true
		}
		if isMin(a) {
			return p.less(a.args[1], b, k, depth-2) || p.less(a.args[2], b, k, depth-2)
		}
	case opPhi:
		if p.phiBelow(a, b, k, depth) {
			return true
		}
	}
	switch b.op {
	case opAdd:
		if c := b.args[1]; c.isConst() && p.noWrap(b.args[0], c.imm, depth) && p.less(a, b.args[0], k-c.imm, depth-1) {
			return true
		}
	case opSelect:
		return p.less(a, b.args[1], k, depth-2) && p.less(a, b.args[2], k, depth-2)
	case opPhi:
		return p.phiAbove(a, b, k, depth)
	}
	return false
}

// isMin says whether a select chooses the smaller of two signed numbers.
func isMin(v *value) bool {
	c, x, y := v.args[0], v.args[1], v.args[2]
	if c.op != opCmp {
		return false
	}
	switch c.cond {
	case condLT, condLE:
		return c.args[0] == x && c.args[1] == y
	case condGT, condGE:
		return c.args[0] == y && c.args[1] == x
	}
	return false
}

// noWrap says whether x + c cannot overflow.
func (p *prover) noWrap(x *value, c int64, depth int) bool {
	if c == 0 {
		return true
	}
	if n := ubits(x, 3); n < uint(x.w)-1 && c < 1<<20 && c > -1<<20 && x.w == 64 && n < 62 {
		return true
	}
	if depth <= 0 {
		return false
	}
	if c < 0 {
		return c > -1<<20 && p.atLeastZero(x, depth-1)
	}
	if x.nonNeg && x.op != opPhi && x.w == 64 && c < 1<<20 {
		return true // a length
	}
	// x is below something: x + d <= y <= max.
	for i := len(p.facts) - 1; i >= 0; i-- {
		for _, e := range edges(p.facts[i]) {
			if e.lo == x && (e.d >= c || e.hi.isConst() && e.hi.imm < 1<<30 && c < 1<<20 || e.hi.nonNeg && e.hi.w == 64 && c < 1<<20) {
				return true
			}
		}
	}
	return x.op == opPhi && p.counts(x, c)
}

// atLeastZero says whether v >= 0 as a signed number.
func (p *prover) atLeastZero(v *value, depth int) bool {
	if nonNeg(v, 3) {
		return true
	}
	if depth <= 0 {
		return false
	}
	if p.effort -= len(p.facts) + 1; p.effort < 0 {
		return false
	}
	for i := len(p.facts) - 1; i >= 0; i-- {
		f := p.facts[i]
		for _, e := range edges(f) {
			if e.hi == v && e.lo.isConst() && e.lo.imm+e.d >= 0 {
				return true
			}
			if e.hi == v && e.d >= 0 && !e.lo.isConst() && e.lo != v && nonNeg(e.lo, 2) {
				return true
			}
		}
		// v below, as unsigned, what is not negative.
		if (f.cond == condULT || f.cond == condULE) && f.a == v && nonNeg(f.b, 3) ||
			(f.cond == condUGT || f.cond == condUGE) && f.b == v && nonNeg(f.a, 3) {
			return true
		}
	}
	switch v.op {
	case opAdd:
		c := v.args[1]
		if c.isConst() && c.imm >= 0 {
			x := v.args[0]
			if p.noWrap(x, c.imm, depth-1) && (p.atLeastZero(x, depth-1) || x.op == opPhi && p.phiAtLeast(x, -c.imm, depth-1)) {
				return true
			}
		}
		if c.isConst() && c.imm < 0 && p.less(p.f.zeroFor(v, -c.imm), v.args[0], 0, depth-1) {
			return true
		}
	case opPhi:
		return p.phiAtLeast(v, 0, depth)
	case opSelect:
		return p.atLeastZero(v.args[1], depth-1) && p.atLeastZero(v.args[2], depth-1)
	case opSar, opShr:
		return v.op == opSar && p.atLeastZero(v.args[0], depth-1)
	}
	return false
}

// zeroFor makes a constant that is part of no block, to compare with.
func (f *fn) zeroFor(v *value, n int64) *value {
	return &value{id: -1, op: opConst, w: v.w, imm: n, blk: f.blocks[0]}
}

// Loop counters. A counter is a 64-bit phi in a loop's header whose value from inside the loop is itself plus a
// constant. Counters that start low and go up in small steps cannot reach the end of 64 bits in practice; the code
// still asks for a bound.

// step splits a header phi into its start values and its step; ok is false if it is no counter.
func (p *prover) step(phi *value) (starts []*value, step int64, ok bool) {
	l := phi.blk.loop
	if l == nil || l.head != phi.blk || phi.w != 64 {
		return nil, 0, false
	}
	for i, a := range phi.args {
		a = resolve(a)
		if !l.blocks[phi.blk.preds[i]] {
			starts = append(starts, a)
			continue
		}
		if a.op != opAdd || resolve(a.args[0]) != phi || !a.args[1].isConst() || ok && a.args[1].imm != step {
			return nil, 0, false
		}
		step, ok = a.args[1].imm, true
	}
	return starts, step, ok
}

// counts says whether phi + c (c > 0) cannot wrap because the loop bounds the counter.
func (p *prover) counts(phi *value, c int64) bool {
	starts, step, ok := p.step(phi)
	return ok && step == c && smallStarts(starts) && p.bounded(phi, step, true)
}

// smallStarts says whether a counter starts so low that a step cannot wrap.
func smallStarts(starts []*value) bool {
	for _, s := range starts {
		if !(s.isConst() && s.imm < 1<<30 || s.nonNeg || ubits(s, 3) < 62) {
			return false
		}
	}
	return true
}

// bounded says whether an increasing counter cannot wrap: on every way round the loop it, or, if orNext, its next
// value, was below something.
func (p *prover) bounded(phi *value, step int64, orNext bool) bool {
	if step <= 0 || step > 1<<12 {
		return false
	}
	l := phi.blk.loop
	for i, q := range phi.blk.preds {
		if l.blocks[q] && !p.boundedAt(phi, resolve(phi.args[i]), step, q, l, orNext) {
			return false
		}
	}
	return true
}

func (p *prover) boundedAt(phi, next *value, step int64, b *block, l *loop, orNext bool) bool {
	small := func(y *value) bool { // y + step cannot wrap
		return y.nonNeg || y.isConst() && y.imm < 1<<30
	}
	below := func(c cond, x, y *value) bool {
		x, y = resolve(x), resolve(y)
		if y == phi || y == next {
			x, y, c = y, x, c.swapped()
		}
		switch c {
		case condLT:
		case condLE:
			if !small(y) {
				return false
			}
		case condULT, condULE:
			if !nonNeg(y, 3) || c == condULE && !small(y) {
				return false
			}
		default:
			return false
		}
		return x == phi && (step == 1 || small(y)) || x == next && step == 1 && orNext
	}
	for ; b != nil && l.blocks[b]; b = b.idom {
		for _, v := range b.vals {
			if v.op == opCheck && below(v.cond, v.args[0], v.args[1]) {
				return true
			}
		}
		if len(b.preds) == 1 && l.blocks[b.preds[0]] {
			d := b.preds[0]
			if c := resolve1(d); c != nil {
				k := c.cond
				if d.succs[0] != b {
					k = k.not()
				}
				if below(k, c.args[0], c.args[1]) {
					return true
				}
			}
		}
		if b == l.head {
			break
		}
	}
	return false
}

// phiAtLeast says whether a counter that goes up starts at n or more and so stays there.
func (p *prover) phiAtLeast(phi *value, n int64, depth int) bool {
	starts, step, ok := p.step(phi)
	if !ok || step < 0 || !p.bounded(phi, step, smallStarts(starts)) {
		return p.phiAllAtLeast(phi, n)
	}
	for _, s := range starts {
		if !(s.isConst() && s.imm >= n || n <= 0 && p.atLeastZero(s, depth-1)) {
			return false
		}
	}
	return true
}

// phiAllAtLeast handles phis that are no counters: all arguments are constants or lengths.
func (p *prover) phiAllAtLeast(phi *value, n int64) bool {
	for _, a := range phi.args {
		if a = resolve(a); !(a.isConst() && a.imm >= n || n <= 0 && nonNeg(a, 3)) {
			return false
		}
	}
	return true
}

// phiBelow says whether phi + k <= b for a counter that goes down from a start with that property.
func (p *prover) phiBelow(phi, b *value, k int64, depth int) bool {
	starts, step, ok := p.step(phi)
	if !ok || step >= 0 || step < -1<<20 || !b.blk.dominates(phi.blk) || b.blk == phi.blk && !b.isConst() {
		return false
	}
	if !p.descends(phi, starts) {
		return false
	}
	for _, s := range starts {
		if !p.less(s, b, k, depth-2) {
			return false
		}
	}
	return true
}

// descends says whether a decreasing counter was above something not too small on every way round.
func (p *prover) descends(phi *value, starts []*value) bool {
	l := phi.blk.loop
	low := true // no start is so low that one step wraps
	for _, s := range starts {
		low = low && nonNeg(s, 3)
	}
	above := func(c cond, x, y, next *value) bool {
		x, y = resolve(x), resolve(y)
		if y == phi || y == next {
			x, y, c = y, x, c.swapped()
		}
		return (x == phi || x == next && low) && (c == condGT || c == condGE) && y.isConst() && y.imm > -1<<30
	}
	for i, q := range phi.blk.preds {
		if !l.blocks[q] {
			continue
		}
		ok := false
		for b := q; b != nil && l.blocks[b] && !ok; b = b.idom {
			if len(b.preds) == 1 && l.blocks[b.preds[0]] {
				d := b.preds[0]
				if c := resolve1(d); c != nil {
					k := c.cond
					if d.succs[0] != b {
						k = k.not()
					}
					ok = above(k, c.args[0], c.args[1], resolve(phi.args[i]))
				}
			}
			if b == l.head {
				break
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// resolve1 is the comparison a block branches on, or nil.
func resolve1(b *block) *value {
	if b.kind != blockIf || b.succs[0] == b.succs[1] {
		return nil
	}
	if c := resolve(b.ctl[0]); c.op == opCmp {
		return c
	}
	return nil
}

// phiAbove says whether a + k <= phi for a counter that goes up from a start with that property.
func (p *prover) phiAbove(a, phi *value, k int64, depth int) bool {
	starts, step, ok := p.step(phi)
	if !ok || step <= 0 || !a.isConst() || !p.bounded(phi, step, smallStarts(starts)) {
		return false
	}
	for _, s := range starts {
		if !p.less(a, s, k, depth-2) {
			return false
		}
	}
	return true
}
