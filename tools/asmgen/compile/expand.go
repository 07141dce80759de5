package compile

// Blocks of memory up to these sizes are copied and cleared by single loads and stores.
const (
	inlineMove = 64
	inlineZero = 128
)

// expandMemory replaces copies and clears of blocks by loads and stores or by calls, and says whether there were any.
func (m *module) expandMemory(f *fn) bool {
	done := false
	for _, b := range f.order {
		vals := b.vals
		b.vals = make([]*value, 0, len(vals))
		for _, v := range vals {
			switch v.op {
			case opMove:
				m.expandMove(f, b, v)
			case opZero:
				m.expandZero(f, b, v)
			default:
				b.vals = append(b.vals, v)
				continue
			}
			done = true
		}
	}
	return done
}

func accessWidth(size int64) uint8 {
	if size == 8 {
		return 64
	}
	return 32
}

func (m *module) expandMove(f *fn, b *block, v *value) {
	if v.imm > inlineMove {
		n := f.add(b, opConst, 64)
		n.imm = v.imm
		c := f.add(b, opCall, 0, v.args[0], v.args[1], n)
		c.callee, c.pos = m.runtime("Move"), v.pos
		return
	}
	// All loads come first: the blocks may overlap.
	var loads []*value
	for _, c := range chunks(v.imm) {
		l := f.add(b, opLoad, accessWidth(c.size), v.args[1])
		l.imm, l.size, l.pos = c.off, uint8(c.size), v.pos
		loads = append(loads, l)
	}
	for i, c := range chunks(v.imm) {
		s := f.add(b, opStore, 0, v.args[0], loads[i])
		s.imm, s.size, s.pos = c.off, uint8(c.size), v.pos
	}
}

func (m *module) expandZero(f *fn, b *block, v *value) {
	if v.imm > inlineZero {
		n := f.add(b, opConst, 64)
		n.imm = v.imm
		c := f.add(b, opCall, 0, v.args[0], n)
		c.callee, c.pos = m.runtime("Zero"), v.pos
		return
	}
	for _, c := range chunks(v.imm) {
		z := f.add(b, opConst, accessWidth(c.size))
		s := f.add(b, opStore, 0, v.args[0], z)
		s.imm, s.size, s.pos = c.off, uint8(c.size), v.pos
	}
}

func (m *module) runtime(name string) *fn { return m.fns[m.src.rt.Func(name)] }
