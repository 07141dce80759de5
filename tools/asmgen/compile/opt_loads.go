package compile

// forwardLoads replaces loads of what an earlier load or store, with no write in between that may touch it, has in a
// register. It says whether it did anything.
func (f *fn) forwardLoads() bool {
	f.analyze()
	l := &loadFwd{f: f, out: make([][]known, f.nextBlk), effects: make([]effects, f.nextBlk)}
	l.findEscapes()
	for _, b := range f.order {
		for _, v := range b.vals {
			l.effect(v, &l.effects[b.id])
		}
	}
	l.walk(f.order[0])
	if l.changed {
		f.resolveAll()
	}
	return l.changed
}

// memory is a piece of memory: size bytes at off from base. Of an address that is a slot or symbol plus something
// unknown, unknown is set.
type memory struct {
	base    *value // the address value, or for slots and symbols the slot or symbol
	off     int64
	size    int64
	unknown bool
}

// known is a value known to be in memory.
type known struct {
	memory
	val    *value
	stored bool // val was stored: a load of it may have to extend it
	signed bool
	w      uint8
}

// effects is what a block may write.
type effects struct {
	writes []memory
	all    bool // anything but slots whose address stays here
}

type loadFwd struct {
	f       *fn
	out     [][]known
	effects []effects
	escaped []bool
	changed bool
}

// locate splits an address.
func locate(p *value, off, size int64) memory {
	m := memory{base: p, off: off, size: size}
	for {
		switch m.base.op {
		case opPtr:
			m.base = m.base.args[0]
			continue
		case opAdd:
			if c := m.base.args[1]; c.isConst() {
				m.off += c.imm
				m.base = m.base.args[0]
				continue
			}
			for _, a := range m.base.args {
				if r := rootOf(a); r != nil {
					return memory{base: r, size: size, unknown: true}
				}
			}
		}
		return m
	}
}

// rootOf is the slot or symbol an address is computed from, or nil.
func rootOf(p *value) *value {
	for range 8 {
		switch p.op {
		case opSlot, opSym:
			return p
		case opPtr:
			p = p.args[0]
		case opAdd:
			p = p.args[0]
		default:
			return nil
		}
	}
	return nil
}

// findEscapes finds the slots whose address is used for more than accesses right here.
func (l *loadFwd) findEscapes() {
	l.escaped = make([]bool, len(l.f.slots))
	addressOnly := map[*value]bool{}
	var users func(v *value) // marks slots reached by an address that is used otherwise
	users = func(v *value) {
		switch v.op {
		case opSlot:
			l.escaped[v.imm] = true
		case opAdd, opPtr, opPhi, opSelect, opSub:
			if addressOnly[v] {
				return
			}
			addressOnly[v] = true
			for _, a := range v.args {
				users(a)
			}
		}
	}
	for _, b := range l.f.order {
		for _, v := range b.vals {
			for i, a := range v.args {
				switch v.op {
				case opLoad:
					continue
				case opStore:
					if i == 0 {
						continue
					}
				case opAdd, opPtr, opNilCheck:
					if v.op == opNilCheck || i == 0 {
						continue // its own uses count
					}
				}
				users(a)
			}
		}
		for _, a := range b.ctl {
			users(a)
		}
	}
}

func (l *loadFwd) mayAlias(a, b memory) bool {
	if a.base == b.base {
		return a.unknown || b.unknown || a.off < b.off+b.size && b.off < a.off+a.size
	}
	as, bs := a.base.op == opSlot, b.base.op == opSlot
	ay, by := a.base.op == opSym, b.base.op == opSym
	switch {
	case as && bs:
		if a.base.imm != b.base.imm {
			return false
		}
		return a.unknown || b.unknown || a.off < b.off+b.size && b.off < a.off+a.size
	case as:
		return !by && l.escaped[a.base.imm]
	case bs:
		return !ay && l.escaped[b.base.imm]
	case ay && by:
		if a.base.sym != b.base.sym {
			return false
		}
		x, y := a.off+a.base.imm, b.off+b.base.imm
		return a.unknown || b.unknown || x < y+b.size && y < x+a.size
	}
	return true
}

// effect adds what v writes to e.
func (l *loadFwd) effect(v *value, e *effects) {
	switch v.op {
	case opStore:
		e.writes = append(e.writes, locate(v.args[0], v.imm, int64(v.size)))
	case opMove, opZero, opCall, opRaw, opPlain, opCall1, opLoadAcq, opStoreRel, opCas, opAtomicAdd, opBarrier, opCacheOp:
		e.all = true
	}
}

// kill removes what an effect may change.
func (l *loadFwd) kill(state []known, e *effects) []known {
	if !e.all && len(e.writes) == 0 {
		return state
	}
	keep := state[:0]
	for _, k := range state {
		ok := !e.all || k.base.op == opSlot && !l.escaped[k.base.imm]
		for i := 0; ok && i < len(e.writes); i++ {
			ok = !l.mayAlias(k.memory, e.writes[i])
		}
		if ok {
			keep = append(keep, k)
		}
	}
	return keep
}

func (l *loadFwd) walk(b *block) {
	var state []known
	if d := b.idom; d != nil {
		state = append(state, l.out[d.id]...)
		if len(b.preds) > 1 || b.preds[0] != d {
			for _, x := range between(d, b) {
				state = l.kill(state, &l.effects[x.id])
			}
		}
	}
	out := make([]*value, 0, len(b.vals))
	for _, v := range b.vals {
		for i, a := range v.args {
			v.args[i] = resolve(a)
		}
		if v.op == opLoad {
			m := locate(v.args[0], v.imm, int64(v.size))
			if r := l.find(state, m, v, b, &out); r != nil {
				v.fwd = r
				l.changed = true
				continue
			}
			if !m.unknown {
				state = append(state, known{memory: m, val: v, signed: v.signed, w: v.w})
			}
			out = append(out, v)
			continue
		}
		var e effects
		l.effect(v, &e)
		state = l.kill(state, &e)
		if v.op == opStore {
			if m := e.writes[0]; !m.unknown {
				state = append(state, known{memory: m, val: v.args[1], stored: true})
			}
		}
		out = append(out, v)
	}
	b.vals = out
	l.out[b.id] = state
	for _, k := range b.kids {
		l.walk(k)
	}
}

// find looks for the value a load would give.
func (l *loadFwd) find(state []known, m memory, v *value, b *block, out *[]*value) *value {
	if m.unknown {
		return nil
	}
	for i := len(state) - 1; i >= 0; i-- {
		k := state[i]
		same := k.base == m.base || k.base.op == opSlot && m.base.op == opSlot && k.base.imm == m.base.imm
		if !same || k.off != m.off || k.size != m.size {
			continue
		}
		if !k.stored {
			if k.signed == v.signed && k.w == v.w {
				return k.val
			}
			continue
		}
		if m.size >= 4 {
			if k.val.w == v.w {
				return k.val
			}
			continue
		}
		o := map[bool]map[int64]op{false: {1: opZext8, 2: opZext16}, true: {1: opSext8, 2: opSext16}}[v.signed][m.size]
		e := l.f.newValue(o, v.w, k.val)
		e.blk, e.pos = b, v.pos
		*out = append(*out, e)
		return e
	}
	return nil
}

// between lists the blocks that may run after d and before b, b included if it is in a loop that d is not in.
func between(d, b *block) []*block {
	seen := map[*block]bool{d: true}
	var out []*block
	work := append([]*block(nil), b.preds...)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		out = append(out, x)
		work = append(work, x.preds...)
	}
	return out
}
