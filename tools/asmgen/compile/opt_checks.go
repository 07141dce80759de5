package compile

// eliminateChecks removes checks that dominating checks and branches prove.
func (f *fn) eliminateChecks() {
	f.splitCritical()
	f.analyze()
	e := &checkElim{f: f, nonNil: map[*value]bool{}}
	e.walk(f.order[0])
}

// fact says that cond holds between two values.
type fact struct {
	cond cond
	a, b *value
}

type checkElim struct {
	f      *fn
	nonNil map[*value]bool
	facts  []fact
}

func (e *checkElim) walk(b *block) {
	var added []*value
	mark := len(e.facts)
	if len(b.preds) == 1 {
		p := b.preds[0]
		if p.kind == blockIf && p.succs[0] != p.succs[1] {
			e.assume(p.ctl[0], p.succs[0] == b)
		}
	}
	for _, v := range b.vals {
		for i := len(v.args) - 1; i >= 0; i-- {
			v.args[i] = resolve(v.args[i])
		}
	}
	keep := b.vals[:0]
	for _, v := range b.vals {
		switch v.op {
		case opNilCheck:
			p := v.args[0]
			if p.nonNil || e.nonNil[p] || e.known(condNE, p, nil) {
				continue
			}
			e.nonNil[p] = true
			added = append(added, p)
		case opCheck:
			if e.known(v.cond, v.args[0], v.args[1]) {
				continue
			}
			e.facts = append(e.facts, fact{v.cond, v.args[0], v.args[1]})
		}
		keep = append(keep, v)
	}
	b.vals = keep
	for _, k := range b.kids {
		e.walk(k)
	}
	e.facts = e.facts[:mark]
	for _, p := range added {
		delete(e.nonNil, p)
	}
}

// assume adds the fact that a branch went one way.
func (e *checkElim) assume(c *value, taken bool) {
	c = resolve(c)
	switch {
	case c.op == opCmp:
		k := c.cond
		if !taken {
			k = k.not()
		}
		e.facts = append(e.facts, fact{k, resolve(c.args[0]), resolve(c.args[1])})
	case c.op == opAnd && taken && isBool(c.args[0]) && isBool(c.args[1]),
		c.op == opOr && !taken && isBool(c.args[0]) && isBool(c.args[1]):
		e.assume(c.args[0], taken)
		e.assume(c.args[1], taken)
	}
}

// known says whether the facts prove a cond b; a nil b stands for zero.
func (e *checkElim) known(c cond, a, b *value) bool {
	for i := len(e.facts) - 1; i >= 0; i-- {
		f := e.facts[i]
		if b == nil {
			if f.a == a && f.b.isConst() && f.b.imm == 0 && f.cond == condNE {
				return true
			}
			continue
		}
		if f.a == a && f.b == b && implies(f.cond, c) || f.a == b && f.b == a && implies(f.cond.swapped(), c) {
			return true
		}
	}
	if b == nil {
		return false
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
