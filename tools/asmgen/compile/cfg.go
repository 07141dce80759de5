package compile

// loop is a natural loop.
type loop struct {
	head   *block
	blocks map[*block]bool
	outer  *loop
	depth  int
	calls  bool // it contains a call
}

// analyze removes unreachable blocks and computes the order, dominators and loops.
func (f *fn) analyze() {
	f.computeOrder()
	f.dominators()
	f.findLoops()
}

// computeOrder removes unreachable blocks and numbers the others in reverse postorder.
func (f *fn) computeOrder() {
	seen := make([]bool, f.nextBlk)
	var post []*block
	type frame struct {
		b *block
		i int
	}
	stack := []frame{{f.blocks[0], 0}}
	seen[f.blocks[0].id] = true
	for len(stack) > 0 {
		t := &stack[len(stack)-1]
		if t.i < len(t.b.succs) {
			// The last successor first: it then comes last in reverse postorder.
			s := t.b.succs[len(t.b.succs)-1-t.i]
			t.i++
			if !seen[s.id] {
				seen[s.id] = true
				stack = append(stack, frame{s, 0})
			}
			continue
		}
		post = append(post, t.b)
		stack = stack[:len(stack)-1]
	}
	f.order = f.order[:0]
	for i := len(post) - 1; i >= 0; i-- {
		post[i].rpo = len(f.order)
		f.order = append(f.order, post[i])
	}
	for _, b := range f.blocks {
		if seen[b.id] {
			continue
		}
		for _, s := range b.succs {
			if seen[s.id] {
				s.removePred(b)
			}
		}
		b.succs = nil
	}
	f.blocks = append(f.blocks[:0], f.order...)
}

// removePred removes one edge from p and the phis' arguments for it.
func (b *block) removePred(p *block) {
	for i, x := range b.preds {
		if x != p {
			continue
		}
		b.preds = append(b.preds[:i:i], b.preds[i+1:]...)
		for _, v := range b.vals {
			if v.op != opPhi {
				break
			}
			v.args = append(v.args[:i:i], v.args[i+1:]...)
		}
		return
	}
}

// dominators follows Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm.
func (f *fn) dominators() {
	for _, b := range f.order {
		b.idom, b.kids = nil, b.kids[:0]
	}
	root := f.order[0]
	root.idom = root
	for changed := true; changed; {
		changed = false
		for _, b := range f.order[1:] {
			var d *block
			for _, p := range b.preds {
				switch {
				case p.idom == nil:
				case d == nil:
					d = p
				default:
					d = intersect(d, p)
				}
			}
			if b.idom != d {
				b.idom = d
				changed = true
			}
		}
	}
	root.idom = nil
	root.depth = 0
	for _, b := range f.order[1:] {
		b.depth = b.idom.depth + 1
		b.idom.kids = append(b.idom.kids, b)
	}
}

func intersect(a, b *block) *block {
	for a != b {
		for a.rpo > b.rpo {
			a = a.idom
		}
		for b.rpo > a.rpo {
			b = b.idom
		}
	}
	return a
}

// dominates says whether every path to b goes through a.
func (a *block) dominates(b *block) bool {
	for b != nil && b.depth > a.depth {
		b = b.idom
	}
	return a == b
}

// findLoops finds the natural loops; go/ssa's control flow is reducible but for gotos, whose irreducible loops are
// just not known as loops.
func (f *fn) findLoops() {
	f.loops = f.loops[:0]
	for _, b := range f.order {
		b.loop = nil
	}
	for _, h := range f.order {
		var l *loop
		for _, p := range h.preds {
			if !h.dominates(p) {
				continue
			}
			if l == nil {
				l = &loop{head: h, blocks: map[*block]bool{h: true}}
			}
			l.collect(p)
		}
		if l == nil {
			continue
		}
		f.loops = append(f.loops, l)
		l.outer = h.loop
		l.depth = 1
		if l.outer != nil {
			l.depth = l.outer.depth + 1
		}
		// Headers come in reverse postorder, outer ones first, so that inner loops overwrite.
		for _, b := range f.order {
			if l.blocks[b] {
				b.loop = l
			}
		}
	}
	for _, l := range f.loops {
		for _, b := range f.order {
			if !l.blocks[b] {
				continue
			}
			for _, v := range b.vals {
				if v.op == opCall || v.op == opCall1 {
					l.calls = true
				}
			}
		}
	}
}

func (l *loop) collect(b *block) {
	stack := []*block{b}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if l.blocks[b] {
			continue
		}
		l.blocks[b] = true
		stack = append(stack, b.preds...)
	}
}

// splitEdge puts a new block on the edge from b to its i-th successor.
func (f *fn) splitEdge(b *block, i int) *block {
	s := b.succs[i]
	n := f.newBlock(blockJump)
	n.succs = []*block{s}
	n.preds = []*block{b}
	b.succs[i] = n
	// Of two edges between the same blocks the i-th successor is matched with the k-th predecessor entry.
	k := 0
	for j := range i {
		if b.succs[j] == s {
			k++
		}
	}
	for j, p := range s.preds {
		if p == b {
			if k == 0 {
				s.preds[j] = n
				break
			}
			k--
		}
	}
	return n
}

// splitCritical splits the edges from blocks with two successors to blocks with phis.
func (f *fn) splitCritical() {
	for _, b := range append([]*block(nil), f.blocks...) {
		if len(b.succs) < 2 {
			continue
		}
		for i, s := range b.succs {
			if len(s.preds) > 1 {
				f.splitEdge(b, i)
			}
		}
	}
}

// addPreheaders gives each loop a block that alone enters it and enters nothing else.
func (f *fn) addPreheaders() {
	f.analyze()
	for _, l := range f.loops {
		var outside []*block
		for _, p := range l.head.preds {
			if !l.blocks[p] {
				outside = append(outside, p)
			}
		}
		if len(outside) == 1 && len(outside[0].succs) == 1 {
			continue
		}
		f.mergeEntries(l, outside)
	}
	f.analyze()
}

func (f *fn) mergeEntries(l *loop, outside []*block) {
	h := l.head
	n := f.newBlock(blockJump)
	isOut := map[*block]bool{}
	for _, p := range outside {
		isOut[p] = true
	}
	var keepIdx, outIdx []int
	for i, p := range h.preds {
		if isOut[p] {
			outIdx = append(outIdx, i)
		} else {
			keepIdx = append(keepIdx, i)
		}
	}
	for _, v := range h.vals {
		if v.op != opPhi {
			break
		}
		var args []*value
		for _, i := range outIdx {
			args = append(args, v.args[i])
		}
		in := args[0]
		if len(args) > 1 {
			in = f.newValue(opPhi, v.w, args...)
			in.blk = n
			in.nonNeg, in.nonNil = v.nonNeg, v.nonNil
			n.vals = append(n.vals, in)
		}
		na := []*value{in}
		for _, i := range keepIdx {
			na = append(na, v.args[i])
		}
		v.args = na
	}
	preds := []*block{n}
	for _, i := range keepIdx {
		preds = append(preds, h.preds[i])
	}
	for _, i := range outIdx {
		n.preds = append(n.preds, h.preds[i])
	}
	h.preds = preds
	n.succs = []*block{h}
	for _, p := range n.preds {
		for i, s := range p.succs {
			if s == h {
				p.succs[i] = n
			}
		}
	}
}
