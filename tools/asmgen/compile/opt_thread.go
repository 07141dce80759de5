package compile

// Where a block only decides on a phi that is constant for some of its predecessors, these can go directly to where
// the decision leads. This is what becomes of "if f() {" once f is inlined.

// threadPhis does so where the other phis of the block allow it, and says whether it did anything.
func (f *fn) threadPhis() bool {
	done := false
	for limit := 0; limit < 200; limit++ {
		f.analyze()
		f.countUses()
		again := false
		for _, b := range f.order {
			if f.threadBlock(b) {
				again, done = true, true
				break
			}
		}
		if !again {
			break
		}
		f.resolveAll()
	}
	return done
}

// decider finds the phi of b that its branch depends on alone and a function that evaluates the branch for a value
// of it.
func decider(b *block) (phi *value, eval func(*value) (bool, bool)) {
	c := b.ctl[0]
	truth := func(v *value) (bool, bool) { return v.imm != 0, v.isConst() }
	inner := 0
	switch {
	case c.op == opPhi && c.blk == b:
		phi, eval = c, truth
	case c.blk == b && c.uses == 1 && c.op == opCmp && c.args[0].op == opPhi && c.args[0].blk == b && c.args[1].isConst():
		phi, inner = c.args[0], 1
		eval = func(v *value) (bool, bool) { return evalCond(c.cond, v, c.args[1]) }
	case c.blk == b && c.uses == 1 && c.op == opXor && c.args[0].op == opPhi && c.args[0].blk == b && c.args[1].isConst() &&
		c.args[1].imm == 1:
		phi, inner = c.args[0], 1
		eval = func(v *value) (bool, bool) { return v.imm == 0, v.isConst() && (v.imm == 0 || v.imm == 1) }
	default:
		return nil, nil
	}
	others := 0
	for _, v := range b.vals {
		if v.op != opPhi {
			others++
		}
	}
	if others != inner {
		return nil, nil
	}
	return phi, eval
}

func (f *fn) threadBlock(b *block) bool {
	if b.kind != blockIf || len(b.preds) < 2 || b.succs[0] == b.succs[1] || b == f.blocks[0] {
		return false
	}
	phi, eval := decider(b)
	if phi == nil {
		return false
	}
	way := make([]int, len(b.preds)) // by predecessor: the successor it takes, or -1
	found := false
	for k, p := range b.preds {
		for _, q := range b.preds[:k] {
			if p == q {
				return false
			}
		}
		if b.dominates(p) {
			return false // a loop's header
		}
		way[k] = -1
		if r, ok := eval(resolve(phi.args[k])); ok {
			found = true
			way[k] = 1
			if r {
				way[k] = 0
			}
		}
	}
	if !found {
		return false
	}
	// The successors must be b's alone for new phis to stand for b's.
	var side [2]map[*value]bool
	if !f.sides(b, &side) {
		return false
	}
	for i, s := range b.succs {
		if len(s.preds) > 1 {
			f.splitEdge(b, i)
		}
	}
	f.redirect(b, way, side)
	return true
}

// sides sorts the phis of b by the successor whose paths use them. It fails where a use lies on neither side alone.
func (f *fn) sides(b *block, side *[2]map[*value]bool) bool {
	side[0], side[1] = map[*value]bool{}, map[*value]bool{}
	use := func(v *value, at *block, edgeTo *block) bool {
		if v.op != opPhi || v.blk != b || at == b && edgeTo == nil {
			return true
		}
		for i, s := range b.succs {
			if at == b && edgeTo == s || len(s.preds) == 1 && s.dominates(at) {
				side[i][v] = true
				return true
			}
		}
		return false
	}
	for _, x := range f.order {
		for _, v := range x.vals {
			for k, a := range v.args {
				at, edge := x, (*block)(nil)
				if v.op == opPhi {
					at = x.preds[k]
					if at == b {
						edge = x
					}
				}
				if !use(a, at, edge) {
					return false
				}
			}
		}
		for _, a := range x.ctl {
			if !use(a, x, nil) {
				return false
			}
		}
	}
	return true
}

func (f *fn) redirect(b *block, way []int, side [2]map[*value]bool) {
	preds := append([]*block(nil), b.preds...)
	for i := range 2 {
		s := b.succs[i]
		any := false
		for _, w := range way {
			any = any || w == i
		}
		if !any {
			continue
		}
		// New phis in s for those of b that are used from there on.
		repl := map[*value]*value{}
		var fresh []*value
		for _, x := range b.vals {
			if x.op != opPhi || !side[i][x] {
				continue
			}
			n := f.newValue(opPhi, x.w, x)
			n.blk, n.nonNeg, n.nonNil, n.known, n.pos = s, x.nonNeg, x.nonNil, x.known, x.pos
			fresh = append(fresh, n)
			repl[x] = n
		}
		if len(repl) > 0 {
			f.replaceIn(s, b, repl)
		}
		for k, p := range preds {
			if way[k] != i {
				continue
			}
			for j, t := range p.succs {
				if t == b {
					p.succs[j] = s
				}
			}
			for _, v := range s.vals {
				if v.op == opPhi {
					v.args = append(v.args, argFor(v.args[0], b, k))
				}
			}
			for _, n := range fresh {
				n.args = append(n.args, argFor(n.args[0], b, k))
			}
			s.preds = append(s.preds, p)
		}
		s.vals = append(fresh, s.vals...)
	}
	// Take the redirected edges away from b.
	for k := len(preds) - 1; k >= 0; k-- {
		if way[k] < 0 {
			continue
		}
		b.preds = append(b.preds[:k:k], b.preds[k+1:]...)
		for _, v := range b.vals {
			if v.op == opPhi {
				v.args = append(v.args[:k:k], v.args[k+1:]...)
			}
		}
	}
}

// argFor is what v, used on the way out of b, is when b was entered by its k-th edge.
func argFor(v *value, b *block, k int) *value {
	if v.op == opPhi && v.blk == b {
		return v.args[k]
	}
	return v
}

// replaceIn replaces values in the part of the function that s dominates: everything but b itself and what is not
// reached through s.
func (f *fn) replaceIn(s, b *block, repl map[*value]*value) {
	in := func(at *block) bool { return at == s || at != b && s.rpo > 0 && at.idom != nil && s.dominates(at) }
	for _, x := range f.blocks {
		for _, v := range x.vals {
			for k, a := range v.args {
				n := repl[a]
				if n == nil {
					continue
				}
				at := x
				if v.op == opPhi {
					at = x.preds[k]
				}
				if in(at) {
					v.args[k] = n
				}
			}
		}
		for k, a := range x.ctl {
			if n := repl[a]; n != nil && in(x) {
				x.ctl[k] = n
			}
		}
	}
}
