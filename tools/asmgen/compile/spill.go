package compile

import "math/bits"

func trailing(x uint64) int  { return bits.TrailingZeros64(x) }
func leading32(x uint32) int { return bits.LeadingZeros32(x) }

// spill moves registers to the stack frame, or lets them be made again where they are used.
func (m *mfn) spill(rs []reg) {
	slot := map[reg]int64{}
	remat := map[reg]*minstr{}
	defs := map[reg]int{}
	def := map[reg]*minstr{}
	for _, b := range m.blocks {
		for _, i := range b.code {
			i.writes(func(r *reg) { defs[*r]++; def[*r] = i })
		}
	}
	set := map[reg]bool{}
	group := map[reg]int{}
	for _, r := range rs {
		set[r] = true
		group[m.aliasOf(r)]++
	}
	for _, r := range rs {
		if d := def[r]; defs[r] == 1 && d.canRemat() && group[m.aliasOf(r)] == 1 {
			remat[r] = d
			continue
		}
		root := m.aliasOf(r)
		if _, ok := slot[root]; !ok {
			slot[root] = m.spills
			m.spills++
		}
		slot[r] = slot[root]
	}
	for _, b := range m.blocks {
		var out []*minstr
		for _, i := range b.code {
			if i.dst != regNone && remat[i.dst] == i {
				continue
			}
			var before, after []*minstr
			m.spillMoves(i, set, slot, remat, &before)
			made := map[reg]reg{}
			i.reads(func(r *reg) {
				if !set[*r] {
					return
				}
				old := *r
				if n, ok := made[old]; ok {
					*r = n
					return
				}
				n := m.newReg()
				m.temp[n] = true
				made[old] = n
				*r = n
				if d := remat[old]; d != nil {
					c := *d
					c.dst = n
					before = append(before, &c)
				} else {
					before = append(before, &minstr{op: mReload, w: 64, dst: n, imm: slot[old]})
				}
			})
			if i.dst != regNone && set[i.dst] {
				old := i.dst
				n := m.newReg()
				m.temp[n] = true
				i.dst = n
				after = append(after, &minstr{op: mSpill, w: 64, dst: regNone, src: []reg{n}, imm: slot[old]})
			}
			out = append(out, before...)
			out = append(out, i)
			out = append(out, after...)
		}
		b.code = out
	}
}

// canRemat says whether repeating the instruction is as good as reloading its result.
func (i *minstr) canRemat() bool {
	switch i.op {
	case mMovImm, mSymAddr, mAdrp, mSlotAddr, mLoadArg:
		return true
	}
	return false
}

// spillMoves lets parallel copies read and write stack slots directly.
func (m *mfn) spillMoves(i *minstr, set map[reg]bool, slot map[reg]int64, remat map[reg]*minstr, before *[]*minstr) {
	keep := i.moves[:0]
	for _, mv := range i.moves {
		if mv.src != regNone && mv.srcSlot == 0 && set[mv.src] {
			if d := remat[mv.src]; d != nil {
				switch d.op {
				case mMovImm:
					mv.src, mv.imm, mv.w = regNone, d.imm, d.w
				case mSymAddr:
					mv.src, mv.symAddr, mv.imm, mv.w = regNone, d.sym, d.imm, 64
				case mSlotAddr:
					mv.src, mv.slotAddr, mv.imm, mv.imm2, mv.w = regNone, true, d.imm, d.imm2, 64
				default:
					n := m.newReg()
					m.temp[n] = true
					c := *d
					c.dst = n
					*before = append(*before, &c)
					mv.src = n
				}
			} else {
				mv.srcSlot = slot[mv.src] + 1
			}
		}
		if mv.dstSlot == 0 && set[mv.dst] {
			mv.dstSlot = slot[mv.dst] + 1
		}
		if mv.dstSlot != 0 && mv.srcSlot == mv.dstSlot {
			continue // already there
		}
		keep = append(keep, mv)
	}
	i.moves = keep
}
