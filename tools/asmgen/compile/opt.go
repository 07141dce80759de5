package compile

// optimize brings a function to its final IR. Its callees are final already.
func (m *module) optimize(f *fn) {
	f.simplifyAll()
	if m.inline(f) {
		f.simplifyAll()
	}
	f.plainCounters()
	f.simplifyAll()
	if f.forwardLoads() {
		f.simplifyAll()
	}
	f.eliminateChecks()
	f.simplifyAll()
	if m.expandMemory(f) {
		f.simplifyAll()
	}
	f.hoist()
	f.measure()
}

// simplifyAll repeats the basic passes until nothing changes.
func (f *fn) simplifyAll() {
	for range 12 {
		f.cleanCFG()
		f.analyze()
		f.phiBits()
		changed := f.simplify()
		f.deadCode()
		if f.promoteSlots() {
			changed = true
		}
		if f.cleanCFG() {
			changed = true
		}
		if f.threadPhis() {
			changed = true
		}
		if !changed {
			break
		}
	}
	f.analyze()
	f.deadCode()
}

// resolve follows replacements.
func resolve(v *value) *value {
	for v.fwd != nil {
		v = v.fwd
	}
	return v
}

// resolveAll rewrites all uses of replaced values.
func (f *fn) resolveAll() {
	for _, b := range f.blocks {
		for _, v := range b.vals {
			for i, a := range v.args {
				v.args[i] = resolve(a)
			}
		}
		for i, a := range b.ctl {
			b.ctl[i] = resolve(a)
		}
	}
}

// hasEffect says whether v must stay even if its result is not used.
func (v *value) hasEffect() bool {
	switch v.op {
	case opStore, opMove, opZero, opNilCheck, opCheck, opCall, opRaw, opPlain, opCall1, opLoadAcq, opStoreRel, opCas,
		opAtomicAdd, opBarrier, opCacheOp, opMrs:
		return true
	}
	return false
}

// deadCode removes values whose result is not used.
func (f *fn) deadCode() {
	f.resolveAll()
	live := make([]bool, f.nextVal)
	var work []*value
	mark := func(v *value) {
		if !live[v.id] {
			live[v.id] = true
			work = append(work, v)
		}
	}
	for _, b := range f.blocks {
		for _, v := range b.vals {
			if v.hasEffect() {
				mark(v)
			}
		}
		for _, v := range b.ctl {
			mark(v)
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range v.args {
			mark(a)
		}
	}
	for _, b := range f.blocks {
		keep := b.vals[:0]
		for _, v := range b.vals {
			if live[v.id] {
				keep = append(keep, v)
			}
		}
		b.vals = keep
	}
	used := make([]bool, len(f.slots))
	for _, b := range f.blocks {
		for _, v := range b.vals {
			if v.op == opSlot {
				used[v.imm] = true
			}
		}
	}
	for i, s := range f.slots {
		s.dead = !used[i]
	}
}

// countUses fills in the number of uses of every value.
func (f *fn) countUses() {
	for _, b := range f.blocks {
		for _, v := range b.vals {
			v.uses = 0
		}
	}
	for _, b := range f.blocks {
		for _, v := range b.vals {
			for _, a := range v.args {
				a.uses++
			}
		}
		for _, a := range b.ctl {
			a.uses++
		}
	}
}

// measure estimates the size of the final code.
func (f *fn) measure() {
	f.size = 0
	for _, b := range f.blocks {
		f.size++
		for _, v := range b.vals {
			switch v.op {
			case opConst, opParam, opPtr, opTrunc, opResult, opPhi, opSlot:
			case opCall:
				f.size += 3 + len(v.args)
			case opMove, opZero:
				f.size += 6
			case opCheck, opSelect:
				f.size += 2
			default:
				f.size++
			}
		}
	}
}

// cleanCFG removes branches on constants, unreachable and empty blocks, and joins straight lines.
func (f *fn) cleanCFG() bool {
	changed := false
	for again := true; again; {
		again = false
		for _, b := range f.blocks {
			if f.cleanBlock(b) {
				again, changed = true, true
			}
		}
		f.computeOrder()
	}
	return changed
}

func (f *fn) cleanBlock(b *block) bool {
	if b.kind == blockIf {
		c := resolve(b.ctl[0])
		switch {
		case c.isConst():
			drop := 0
			if c.imm == 0 {
				drop = 0
			} else {
				drop = 1
			}
			dead := b.succs[drop]
			keep := b.succs[1-drop]
			if dead == keep {
				return f.cleanSame(b)
			}
			dead.removePred(b)
			b.succs = []*block{keep}
			b.kind, b.ctl = blockJump, nil
			return true
		case c.op == opXor && c.args[1].isConst() && c.args[1].imm == 1 && isBool(c.args[0]):
			b.ctl[0] = c.args[0]
			b.succs[0], b.succs[1] = b.succs[1], b.succs[0]
			return true
		case b.succs[0] == b.succs[1]:
			return f.cleanSame(b)
		}
	}
	if b.kind != blockJump || len(b.succs) != 1 {
		return false
	}
	s := b.succs[0]
	if s == b {
		return false
	}
	// Join b with its only successor if that has no other predecessor.
	if len(s.preds) == 1 && s != f.blocks[0] {
		for _, v := range s.vals {
			if v.op == opPhi {
				// In a loop that has just become unreachable a phi may come back to itself.
				if a := resolve(v.args[0]); a != v {
					v.fwd = a
				}
				continue
			}
			v.blk = b
			b.vals = append(b.vals, v)
		}
		f.resolveAll()
		b.kind, b.ctl, b.succs, b.code, b.pos = s.kind, s.ctl, s.succs, s.code, s.pos
		f.resolveBlock(b)
		for _, t := range b.succs {
			for i, p := range t.preds {
				if p == s {
					t.preds[i] = b
				}
			}
		}
		s.vals, s.succs, s.preds, s.kind, s.ctl = nil, nil, nil, blockJump, nil
		return true
	}
	if f.triangle(b, s) {
		return true
	}
	// Skip an empty block.
	if len(b.vals) == 0 && b != f.blocks[0] && len(b.preds) > 0 {
		return f.skipEmpty(b, s)
	}
	return false
}

// triangle replaces a branch around a block of at most one cheap operation by selects: p branches to b and s, and
// b goes to s.
func (f *fn) triangle(b, s *block) bool {
	if len(b.preds) != 1 || len(b.vals) > 1 {
		return false
	}
	p := b.preds[0]
	if p.kind != blockIf || p.succs[0] == p.succs[1] || p.succs[0] != s && p.succs[1] != s {
		return false
	}
	if len(s.vals) == 0 || s.vals[0].op != opPhi {
		return false // nothing to select: the plain rules do
	}
	for _, v := range b.vals {
		if !v.op.cheap() {
			return false
		}
	}
	viaB, direct := -1, -1
	for i, q := range s.preds {
		switch q {
		case b:
			viaB = i
		case p:
			direct = i
		}
	}
	n := 0
	for _, v := range s.vals {
		if v.op == opPhi && resolve(v.args[viaB]) != resolve(v.args[direct]) {
			n++
		}
	}
	if n > 2 || n+len(b.vals) > 2 {
		return false
	}
	for _, v := range b.vals {
		v.moveTo(p)
	}
	b.vals = nil
	c := p.ctl[0]
	for _, v := range s.vals {
		if v.op != opPhi {
			break
		}
		if resolve(v.args[viaB]) == resolve(v.args[direct]) {
			continue
		}
		yes, no := v.args[viaB], v.args[direct]
		if p.succs[0] == s {
			yes, no = no, yes
		}
		sel := f.add(p, opSelect, v.w, c, yes, no)
		sel.nonNeg, sel.nonNil = v.nonNeg, v.nonNil
		v.args[direct] = sel
	}
	s.removePred(b)
	b.preds, b.succs = nil, nil
	p.kind, p.ctl, p.succs = blockJump, nil, []*block{s}
	return true
}

// moveTo appends v to a block that may run where v's own would not. What branches and checks in front of v said about
// it does not hold there.
func (v *value) moveTo(b *block) {
	v.nonNeg, v.nonNil = false, v.nonNil && (v.op == opSlot || v.op == opSym)
	v.blk = b
	b.vals = append(b.vals, v)
}

// cheap operations may be executed although their result is not needed.
func (o op) cheap() bool {
	switch o {
	case opAdd, opSub, opAnd, opOr, opXor, opAndNot, opNeg, opNot, opShl, opShr, opSar, opCmp, opZext8, opZext16, opZext32, opSext8,
		opSext16, opSext32, opTrunc, opConst, opPtr, opSym, opSlot:
		return true
	}
	return false
}

func (f *fn) resolveBlock(b *block) {
	for _, v := range b.vals {
		for i, a := range v.args {
			v.args[i] = resolve(a)
		}
	}
	for i, a := range b.ctl {
		b.ctl[i] = resolve(a)
	}
}

// cleanSame turns a branch whose two targets are the same into a jump. The target has no phis: see skipEmpty.
func (f *fn) cleanSame(b *block) bool {
	s := b.succs[0]
	if len(s.vals) > 0 && s.vals[0].op == opPhi {
		return false
	}
	s.removePred(b)
	b.succs = b.succs[:1]
	b.kind, b.ctl = blockJump, nil
	return true
}

// skipEmpty lets the predecessors of an empty block go to its successor directly.
func (f *fn) skipEmpty(b, s *block) bool {
	if len(s.vals) > 0 && s.vals[0].op == opPhi {
		// A predecessor may reach a block with phis once only.
		for _, p := range b.preds {
			for _, q := range s.preds {
				if p == q {
					return false
				}
			}
		}
	}
	at := -1
	for i, p := range s.preds {
		if p == b {
			at = i
		}
	}
	preds := append([]*block(nil), s.preds[:at]...)
	preds = append(preds, b.preds...)
	preds = append(preds, s.preds[at+1:]...)
	for _, v := range s.vals {
		if v.op != opPhi {
			break
		}
		args := append([]*value(nil), v.args[:at]...)
		for range b.preds {
			args = append(args, v.args[at])
		}
		v.args = append(args, v.args[at+1:]...)
	}
	s.preds = preds
	for _, p := range b.preds {
		for i, t := range p.succs {
			if t == b {
				p.succs[i] = s
			}
		}
	}
	b.preds, b.succs = nil, nil
	return true
}

func isBool(v *value) bool { return ubits(v, 3) <= 1 }
