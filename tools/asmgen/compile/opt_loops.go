package compile

// plainCounters rewrites the counters of range loops, which start at -1 and are incremented before the test, to start
// at 0 and be incremented at the end, so that one register does. It says whether it changed anything.
func (f *fn) plainCounters() bool {
	f.analyze()
	f.countUses()
	done := false
	for _, l := range f.loops {
		for _, v := range l.head.vals {
			if v.op != opPhi {
				break
			}
			if f.plainCounter(l, v) {
				done = true
				break
			}
		}
	}
	if done {
		f.resolveAll()
	}
	return done
}

func (f *fn) plainCounter(l *loop, phi *value) bool {
	var next *value
	for i, a := range phi.args {
		if !l.blocks[phi.blk.preds[i]] {
			continue
		}
		if a.op != opAdd || a.args[0] != phi || !a.args[1].isConst() || a.blk != phi.blk || next != nil && a != next {
			return false
		}
		next = a
	}
	// Only next may use the counter, and something but the phi must use next in the loop.
	if next == nil || phi.uses != 1 || next.uses < 2 {
		return false
	}
	// The increment belongs on the way back, not in front of a branch that may leave the loop.
	for k, from := range phi.blk.preds {
		if len(from.succs) < 2 {
			continue
		}
		for j, t := range from.succs {
			if t == phi.blk && phi.blk.preds[k] == from {
				n := f.splitEdge(from, j)
				n.loop = from.loop
				if l.blocks[from] {
					l.blocks[n] = true
				}
			}
		}
	}
	c := next.args[1]
	i := f.newValue(opPhi, phi.w)
	i.blk, i.pos = phi.blk, phi.pos
	for k, a := range phi.args {
		from := phi.blk.preds[k]
		arg := i
		if !l.blocks[from] {
			arg = a
		}
		n := f.newValue(opAdd, phi.w, arg, c)
		n.blk, n.pos = from, next.pos
		from.vals = append(from.vals, n)
		i.args = append(i.args, n)
	}
	// The phi keeps its place; next becomes the new phi.
	for k, v := range phi.blk.vals {
		if v == phi {
			phi.blk.vals[k] = i
		}
	}
	keep := phi.blk.vals[:0]
	for _, v := range phi.blk.vals {
		if v != next {
			keep = append(keep, v)
		}
	}
	phi.blk.vals = keep
	next.fwd = i
	return true
}

// hoist moves computations whose operands a loop does not change in front of the loop. Loops with calls are left
// alone: there is no register that is free across them.
func (f *fn) hoist() {
	f.addPreheaders()
	f.countUses()
	for k := len(f.loops) - 1; k >= 0; k-- { // inner loops first
		l := f.loops[k]
		if l.calls {
			continue
		}
		var pre *block
		for _, p := range l.head.preds {
			if !l.blocks[p] {
				pre = p
			}
		}
		for _, b := range f.order {
			if !l.blocks[b] {
				continue
			}
			keep := b.vals[:0]
			for _, v := range b.vals {
				if v.invariant(l) {
					v.moveTo(pre)
				} else {
					keep = append(keep, v)
				}
			}
			b.vals = keep
		}
	}
}

// invariant says whether v is worth computing once, before l.
func (v *value) invariant(l *loop) bool {
	switch v.op {
	case opZext8, opZext16, opSext8, opSext16, opMul, opMulHi, opUDiv, opSDiv, opURem, opSRem, opOr, opXor, opAnd, opAndNot, opNeg,
		opNot, opSelect, opClz, opRbit, opRev, opRor:
	case opAdd, opSub, opShl, opShr, opSar:
		if v.args[1].isConst() {
			return false // part of an address or operand
		}
	default:
		return false
	}
	for _, a := range v.args {
		if !a.isConst() && l.blocks[a.blk] {
			return false
		}
	}
	return true
}
