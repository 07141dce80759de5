package compile

import "sort"

// Stack slots whose address goes nowhere become SSA values, piece by piece: a piece is a range of bytes that all
// loads and stores access as a whole.

// piece is a candidate: one variable of the promotion.
type piece struct {
	off, size int64
	bad       bool
	index     int
}

// promoteSlots promotes what it can and says whether it did anything.
func (f *fn) promoteSlots() bool {
	pieces, taken := f.findPieces()
	if pieces == nil {
		return false
	}
	p := &promoter{f: f, pieces: pieces, taken: taken}
	return p.run()
}

// isSlotAccess returns the slot and offset of a load or store that addresses a slot directly.
func slotAccess(v *value) (slot, off int64, ok bool) {
	if (v.op == opLoad || v.op == opStore) && v.args[0].op == opSlot {
		return v.args[0].imm, v.imm, true
	}
	return 0, 0, false
}

// findPieces splits the promotable slots into pieces, nil if there are none, and says which slots have their address
// taken.
func (f *fn) findPieces() (pieces [][]*piece, taken []bool) {
	taken = make([]bool, len(f.slots))
	type access struct{ off, size int64 }
	acc := make([][]access, len(f.slots))
	for _, b := range f.blocks {
		for _, v := range b.vals {
			for i, a := range v.args {
				if a.op != opSlot {
					continue
				}
				switch {
				case (v.op == opLoad || v.op == opStore) && i == 0:
					acc[a.imm] = append(acc[a.imm], access{v.imm, int64(v.size)})
				case v.op == opZero:
				default:
					taken[a.imm] = true
				}
			}
		}
		for _, a := range b.ctl {
			if a.op == opSlot {
				taken[a.imm] = true
			}
		}
	}
	var out [][]*piece
	found := false
	for s := range f.slots {
		var ps []*piece
		if !taken[s] {
			as := acc[s]
			sort.Slice(as, func(i, j int) bool {
				return as[i].off < as[j].off || as[i].off == as[j].off && as[i].size < as[j].size
			})
			for _, a := range as {
				if n := len(ps); n > 0 && a.off < ps[n-1].off+ps[n-1].size {
					l := ps[n-1]
					if a.off != l.off || a.size != l.size {
						l.bad = true
						l.size = max(l.size, a.off+a.size-l.off)
					}
					continue
				}
				ps = append(ps, &piece{off: a.off, size: a.size})
			}
			for _, p := range ps {
				found = found || !p.bad
			}
		}
		out = append(out, ps)
	}
	if !found {
		return nil, nil
	}
	return out, taken
}

// promoter replaces pieces by values.
type promoter struct {
	f      *fn
	pieces [][]*piece
	taken  []bool
	all    []*piece
	slotOf []int64
	last   []map[int]*value // by block id: the value of a piece at the end, if set in the block
	entry  []map[int]*value // by block id: the value at the start, if asked for
	phis   map[*value]int   // the phis made here, and of which piece
}

func (p *promoter) find(slot, off int64) *piece {
	ps := p.pieces[slot]
	i := sort.Search(len(ps), func(i int) bool { return ps[i].off+ps[i].size > off })
	if i < len(ps) && ps[i].off <= off && !ps[i].bad {
		return ps[i]
	}
	return nil
}

func (p *promoter) run() bool {
	f := p.f
	for s, ps := range p.pieces {
		for _, q := range ps {
			if !q.bad {
				q.index = len(p.all)
				p.all = append(p.all, q)
				p.slotOf = append(p.slotOf, int64(s))
			}
		}
	}
	p.phis = map[*value]int{}
	p.last = make([]map[int]*value, f.nextBlk)
	p.entry = make([]map[int]*value, f.nextBlk)
	order := append([]*block(nil), f.order...)
	for _, b := range order {
		p.last[b.id] = map[int]*value{}
		p.entry[b.id] = map[int]*value{}
		for _, v := range b.vals {
			p.define(v, p.last[b.id])
		}
	}
	for _, b := range order {
		cur := map[int]*value{}
		vals := b.vals
		b.vals = nil
		for _, v := range vals {
			p.rewrite(b, v, cur)
		}
		// Phis made meanwhile for this block go first.
		var phis, rest []*value
		for _, v := range b.vals {
			if v.op == opPhi {
				phis = append(phis, v)
			} else {
				rest = append(rest, v)
			}
		}
		b.vals = append(phis, rest...)
	}
	f.resolveAll()
	return true
}

// define records what v stores.
func (p *promoter) define(v *value, cur map[int]*value) {
	switch v.op {
	case opStore:
		if slot, off, ok := slotAccess(v); ok {
			if q := p.find(slot, off); q != nil {
				cur[q.index] = v.args[1]
			}
		}
	case opZero:
		if v.args[0].op == opSlot {
			for _, q := range p.pieces[v.args[0].imm] {
				if !q.bad && q.off < v.imm {
					w := uint8(32)
					if q.size == 8 {
						w = 64
					}
					cur[q.index] = p.zero(w)
				}
			}
		}
	}
}

func (p *promoter) zero(w uint8) *value {
	z := p.f.newValue(opConst, w)
	z.blk = p.f.blocks[0]
	e := p.f.blocks[0]
	e.vals = append([]*value{z}, e.vals...)
	return z
}

func (p *promoter) rewrite(b *block, v *value, cur map[int]*value) {
	switch v.op {
	case opLoad:
		if slot, off, ok := slotAccess(v); ok {
			if q := p.find(slot, off); q != nil {
				x := cur[q.index]
				if x == nil {
					x = p.atEntry(b, q.index, v.w)
				}
				v.fwd = p.extend(b, v, x, q.index)
				return
			}
		}
	case opStore:
		if slot, off, ok := slotAccess(v); ok && p.find(slot, off) != nil {
			p.define(v, cur)
			return
		}
	case opZero:
		if v.args[0].op == opSlot && !p.taken[v.args[0].imm] {
			p.define(v, cur)
			for _, q := range p.pieces[v.args[0].imm] {
				if q.bad {
					b.vals = append(b.vals, v)
					return
				}
			}
			return
		}
	}
	b.vals = append(b.vals, v)
}

// extend converts a stored value to what the load of it would give.
func (p *promoter) extend(b *block, load, x *value, piece int) *value {
	o := opInvalid
	switch {
	case load.size == 1 && load.signed:
		o = opSext8
	case load.size == 1:
		o = opZext8
	case load.size == 2 && load.signed:
		o = opSext16
	case load.size == 2:
		o = opZext16
	case load.size == 4 && load.w == 64 && load.signed:
		o = opSext32
	case load.size == 4 && load.w == 64:
		o = opZext32
	}
	if o == opInvalid {
		x = resolve(x)
		if i, ok := p.phis[x]; ok && i == piece && load.nonNeg {
			// A phi of this variable merges lengths only. Another variable's phi may have been stored here after
			// a check that holds there, and says nothing about it elsewhere.
			x.nonNeg = true
		}
		return x
	}
	e := p.f.newValue(o, load.w, x)
	e.blk = b
	b.vals = append(b.vals, e)
	return e
}

func (p *promoter) atEnd(b *block, i int, w uint8) *value {
	if v := p.last[b.id][i]; v != nil {
		return resolve(v)
	}
	return p.atEntry(b, i, w)
}

func (p *promoter) atEntry(b *block, i int, w uint8) *value {
	if v := p.entry[b.id][i]; v != nil {
		return resolve(v)
	}
	if p.all[i].size < 8 {
		w = 32
	} else {
		w = 64
	}
	switch len(b.preds) {
	case 0:
		z := p.zero(w)
		p.entry[b.id][i] = z
		return z
	case 1:
		v := p.atEnd(b.preds[0], i, w)
		p.entry[b.id][i] = v
		return v
	}
	phi := p.f.newValue(opPhi, w)
	phi.blk = b
	p.phis[phi] = i
	p.entry[b.id][i] = phi
	b.vals = append([]*value{phi}, b.vals...)
	for _, q := range b.preds {
		phi.args = append(phi.args, p.atEnd(q, i, w))
	}
	return phi
}
