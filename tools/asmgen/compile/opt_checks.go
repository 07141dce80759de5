package compile

// eliminateChecks removes checks, and decides branches, that dominating checks and branches prove.
func (f *fn) eliminateChecks() {
	f.splitCritical()
	f.analyze()
	e := &checkElim{prover: prover{f: f}, nonNil: map[*value]bool{}}
	e.walk(f.order[0])
}

type checkElim struct {
	prover
	nonNil map[*value]bool
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
			q := p
			if p.op == opSelect && p.args[1].isConst() && p.args[1].imm != 0 {
				q = resolve(p.args[2])
			}
			if notNil(p) || e.nonNil[p] || e.nonNil[q] || e.notNil(q) {
				continue
			}
			e.nonNil[p] = true
			added = append(added, p)
		case opCheck:
			if e.prove(v.cond, v.args[0], v.args[1]) {
				continue
			}
			e.facts = append(e.facts, fact{v.cond, v.args[0], v.args[1]})
		}
		keep = append(keep, v)
	}
	b.vals = keep
	if b.kind == blockIf {
		c := resolve(b.ctl[0])
		b.ctl[0] = c
		if c.op == opCmp {
			switch {
			case e.prove(c.cond, c.args[0], c.args[1]):
				b.ctl[0] = e.f.constant(32, 1)
			case e.prove(c.cond.not(), c.args[0], c.args[1]):
				b.ctl[0] = e.f.constant(32, 0)
			}
		}
	}
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
	case c.op == opXor && c.args[1].isConst() && c.args[1].imm == 1 && isBool(c.args[0]):
		e.assume(c.args[0], !taken)
	}
}

// notNil says whether a comparison with nil went the right way.
func (e *checkElim) notNil(p *value) bool {
	for _, f := range e.facts {
		if f.cond == condNE && f.a == p && f.b.isConst() && f.b.imm == 0 {
			return true
		}
	}
	return false
}
