package compile

import (
	"errors"
	"math/bits"
	"sort"
)

// Register allocation colours the interference graph in the manner of Chaitin and Briggs: copies are coalesced
// conservatively, registers with few neighbours are taken off the graph, the cheapest of the others are spilled.

// caller and callee list the registers available, in order of preference: x0 to x15 are lost in calls, x19 to x27
// must be saved by who uses them. x16 and x17 resolve parallel copies and addresses, x18, x28 and x29 are not ours.
const (
	callerRegs uint32 = 1<<16 - 1
	calleeRegs uint32 = 0x1ff << 19
)

// allRegs are the registers in use. Tests make them few.
var allRegs = callerRegs | calleeRegs

type allocator struct {
	k      int // number of colours
	m      *mfn
	n      reg
	adj    [][]reg
	matrix bitset   // triangular would save half; n is small
	phys   []uint32 // by register: the machine registers it interferes with
	degree []int
	alias  []reg
	cost   []float64
	temp   []bool
	moves  []copyPair
	hints  [][]reg
}

type copyPair struct {
	a, b   reg
	weight float64
}

// allocate gives every virtual register of m a machine register, rewriting the code where some must be spilled.
func (m *mfn) allocate() error {
	m.temp = map[reg]bool{}
	for range 60 {
		m.findRemat()
		a := &allocator{k: bits.OnesCount32(allRegs), m: m, n: m.nregs}
		spilled := a.round()
		if len(spilled) == 0 {
			return nil
		}
		m.spill(spilled)
	}
	return errors.New("register allocation does not converge")
}

// findRemat notes which registers are cheap to make again.
func (m *mfn) findRemat() {
	m.remat = map[reg]bool{}
	defs := map[reg]int{}
	for _, b := range m.blocks {
		for _, i := range b.code {
			i.writes(func(r *reg) { defs[*r]++ })
			if i.canRemat() {
				m.remat[i.dst] = true
			}
		}
	}
	for r := range m.remat {
		if defs[r] != 1 {
			delete(m.remat, r)
		}
	}
}

func (a *allocator) round() []reg {
	a.m.liveness()
	a.init()
	a.build()
	a.coalesce()
	return a.assign(a.simplify())
}

func (a *allocator) init() {
	n := int(a.n)
	a.adj = make([][]reg, n)
	a.matrix = make(bitset, (n*n+63)/64)
	a.phys = make([]uint32, n)
	a.degree = make([]int, n)
	a.alias = make([]reg, n)
	a.cost = make([]float64, n)
	a.temp = make([]bool, n)
	a.hints = make([][]reg, n)
	for i := range a.alias {
		a.alias[i] = reg(i)
		a.temp[i] = a.m.temp[reg(i)]
	}
}

func (a *allocator) find(r reg) reg {
	for a.alias[r] != r {
		r = a.alias[r]
	}
	return r
}

func (a *allocator) interferes(x, y reg) bool {
	if x < firstVir {
		return a.phys[y]&(1<<uint(x)) != 0
	}
	if y < firstVir {
		return a.phys[x]&(1<<uint(y)) != 0
	}
	i := int(x)*int(a.n) + int(y)
	return a.matrix[i>>6]&(1<<(uint(i)&63)) != 0
}

func (a *allocator) edge(x, y reg) {
	if x == y || x == regZR || y == regZR {
		return
	}
	switch {
	case x < firstVir && y < firstVir:
		return
	case x < firstVir:
		a.block(y, 1<<uint(x))
		return
	case y < firstVir:
		a.block(x, 1<<uint(y))
		return
	}
	if a.interferes(x, y) {
		return
	}
	i, j := int(x)*int(a.n)+int(y), int(y)*int(a.n)+int(x)
	a.matrix[i>>6] |= 1 << (uint(i) & 63)
	a.matrix[j>>6] |= 1 << (uint(j) & 63)
	a.adj[x] = append(a.adj[x], y)
	a.adj[y] = append(a.adj[y], x)
	a.degree[x]++
	a.degree[y]++
}

// block keeps machine registers from x.
func (a *allocator) block(x reg, regs uint32) {
	add := regs & allRegs &^ a.phys[x]
	a.phys[x] |= add
	for ; add != 0; add &= add - 1 {
		a.degree[x]++
	}
}

// live iterates over the registers an instruction reads.
func (i *minstr) reads(f func(*reg)) {
	for k := range i.src {
		f(&i.src[k])
	}
	for k := range i.uses {
		f(&i.uses[k])
	}
	for k := range i.moves {
		if i.moves[k].src != regNone && i.moves[k].srcSlot == 0 {
			f(&i.moves[k].src)
		}
	}
}

// writes iterates over the registers an instruction sets.
func (i *minstr) writes(f func(*reg)) {
	if i.dst != regNone {
		f(&i.dst)
	}
	for k := range i.defs {
		f(&i.defs[k])
	}
	for k := range i.moves {
		if i.moves[k].dstSlot == 0 {
			f(&i.moves[k].dst)
		}
	}
}

// liveness computes which registers are live at the ends of the blocks.
func (m *mfn) liveness() {
	gen := make([]bitset, len(m.blocks))
	kill := make([]bitset, len(m.blocks))
	for k, b := range m.blocks {
		g, d := newBitset(m.nregs), newBitset(m.nregs)
		for _, i := range b.code {
			i.reads(func(r *reg) {
				if *r != regZR && !d.has(*r) {
					g.add(*r)
				}
			})
			i.writes(func(r *reg) { d.add(*r) })
		}
		gen[k], kill[k] = g, d
		b.out = newBitset(m.nregs)
		b.liveIn = newBitset(m.nregs)
		b.id = k
	}
	for changed := true; changed; {
		changed = false
		for k := len(m.blocks) - 1; k >= 0; k-- {
			b := m.blocks[k]
			for _, s := range b.succs {
				if b.out.union(s.liveIn) {
					changed = true
				}
			}
			for w := range b.liveIn {
				x := gen[k][w] | b.out[w]&^kill[k][w]
				if x != b.liveIn[w] {
					b.liveIn[w] = x
					changed = true
				}
			}
		}
	}
}

// build makes the interference graph, the costs and the list of copies.
func (a *allocator) build() {
	for _, b := range a.m.blocks {
		w := 1.0
		for range b.depth {
			w *= 8
		}
		live := append(bitset(nil), b.out...)
		for k := len(b.code) - 1; k >= 0; k-- {
			a.instr(b.code[k], live, w)
		}
	}
}

func (a *allocator) instr(i *minstr, live bitset, w float64) {
	if i.op == mParCopy {
		a.parCopy(i, live, w)
		return
	}
	i.writes(func(d *reg) { live.add(*d); a.cost[*d] += w })
	i.writes(func(d *reg) { a.conflict(*d, live) })
	i.writes(func(d *reg) { live.remove(*d) })
	if i.clob != 0 {
		each(live, func(r reg) {
			if r >= firstVir {
				a.block(r, i.clob)
			}
		})
	}
	i.reads(func(r *reg) {
		if *r != regZR {
			live.add(*r)
			a.cost[*r] += w
		}
	})
}

// parCopy: destinations conflict with what is live afterwards, but not with the sources that die here.
func (a *allocator) parCopy(i *minstr, live bitset, w float64) {
	for _, m := range i.moves {
		if m.dstSlot == 0 {
			live.add(m.dst)
			a.cost[m.dst] += w
		}
	}
	for _, m := range i.moves {
		if m.dstSlot != 0 {
			continue
		}
		each(live, func(r reg) {
			if r != m.dst && r != m.src {
				a.edge(m.dst, r)
			}
		})
		if m.src != regNone && m.srcSlot == 0 {
			a.moves = append(a.moves, copyPair{m.dst, m.src, w})
		}
	}
	for _, m := range i.moves {
		if m.dstSlot == 0 {
			live.remove(m.dst)
		}
	}
	for _, m := range i.moves {
		if m.src != regNone && m.srcSlot == 0 {
			live.add(m.src)
			a.cost[m.src] += w
		}
	}
}

func (a *allocator) conflict(d reg, live bitset) {
	each(live, func(r reg) { a.edge(d, r) })
}

func each(s bitset, f func(reg)) {
	for w, x := range s {
		for ; x != 0; x &= x - 1 {
			f(reg(w*64) + reg(trailing(x)))
		}
	}
}

// coalesce merges the two sides of copies where that cannot make the graph harder to colour.
func (a *allocator) coalesce() {
	sort.SliceStable(a.moves, func(i, j int) bool { return a.moves[i].weight > a.moves[j].weight })
	for changed := true; changed; {
		changed = false
		rest := a.moves[:0]
		for _, m := range a.moves {
			x, y := a.find(m.a), a.find(m.b)
			if x == y {
				continue
			}
			if y < firstVir {
				x, y = y, x
			}
			if y < firstVir || x == regZR || a.interferes(x, y) || x < firstVir && allRegs&(1<<uint(x)) == 0 {
				continue // for good
			}
			if x < firstVir && a.george(x, y) || x >= firstVir && a.briggs(x, y) {
				a.merge(x, y)
				changed = true
				continue
			}
			rest = append(rest, m)
		}
		a.moves = rest
	}
	for _, m := range a.moves {
		x, y := a.find(m.a), a.find(m.b)
		if x != y {
			a.hints[x] = append(a.hints[x], y)
			a.hints[y] = append(a.hints[y], x)
		}
	}
}

// george: every neighbour of y already conflicts with the machine register x or is easy to colour.
func (a *allocator) george(x, y reg) bool {
	for _, t := range a.adj[y] {
		if a.find(t) == t && a.degree[t] >= a.k && !a.interferes(x, t) {
			return false
		}
	}
	return true
}

// briggs: the merged register has fewer than k neighbours that are hard to colour.
func (a *allocator) briggs(x, y reg) bool {
	n := 0
	for p := a.phys[x] | a.phys[y]; p != 0; p &= p - 1 {
		n++
	}
	for _, t := range a.adj[x] {
		if a.find(t) == t && a.hard(t, x, y) {
			n++
		}
	}
	for _, t := range a.adj[y] {
		if a.find(t) == t && !a.interferes(x, t) && a.hard(t, x, y) {
			n++
		}
	}
	return n < a.k
}

func (a *allocator) hard(t, x, y reg) bool {
	d := a.degree[t]
	if a.interferes(t, x) && a.interferes(t, y) {
		d--
	}
	return d >= a.k
}

// merge replaces y by x.
func (a *allocator) merge(x, y reg) {
	a.alias[y] = x
	if x < firstVir {
		for _, t := range a.adj[y] {
			if a.find(t) != t {
				continue
			}
			a.degree[t]--
			a.block(t, 1<<uint(x))
		}
		return
	}
	a.cost[x] += a.cost[y]
	a.block(x, a.phys[y])
	for _, t := range a.adj[y] {
		if a.find(t) != t {
			continue
		}
		a.degree[t]--
		a.edge(x, t)
	}
	a.temp[x] = a.temp[x] && a.temp[y]
}

// simplify takes registers off the graph; the result is the order in which to colour them.
func (a *allocator) simplify() []reg {
	removed := make([]bool, a.n)
	var nodes []reg
	for r := firstVir; r < a.n; r++ {
		if a.find(r) == r && a.cost[r] > 0 {
			nodes = append(nodes, r)
		} else {
			removed[r] = true
		}
	}
	deg := append([]int(nil), a.degree...)
	var stack, easy []reg
	for _, r := range nodes {
		if deg[r] < a.k {
			easy = append(easy, r)
		}
	}
	left := len(nodes)
	take := func(r reg) {
		removed[r] = true
		left--
		stack = append(stack, r)
		for _, t := range a.adj[r] {
			if a.find(t) != t || removed[t] {
				continue // a merged register: the one it was merged into is in the list too
			}
			deg[t]--
			if deg[t] == a.k-1 {
				easy = append(easy, t)
			}
		}
	}
	for left > 0 {
		if len(easy) > 0 {
			r := easy[len(easy)-1]
			easy = easy[:len(easy)-1]
			if !removed[r] {
				take(r)
			}
			continue
		}
		best, bestCost := regNone, 0.0
		for _, r := range nodes {
			if removed[r] {
				continue
			}
			c := a.spillCost(r) / float64(deg[r])
			if best == regNone || c < bestCost {
				best, bestCost = r, c
			}
		}
		take(best)
	}
	return stack
}

func (a *allocator) spillCost(r reg) float64 {
	c := a.cost[r]
	if a.temp[r] {
		return c * 1e9
	}
	if a.m.remat[r] {
		return c * 0.4
	}
	return c
}

// assign colours the registers; the result are those for which no colour was left.
func (a *allocator) assign(stack []reg) []reg {
	color := make([]reg, a.n)
	for i := range color {
		color[i] = regNone
		if reg(i) < firstVir {
			color[i] = reg(i)
		}
	}
	var usedCallee uint32
	var spilled []reg
	for k := len(stack) - 1; k >= 0; k-- {
		r := stack[k]
		free := allRegs &^ a.phys[r]
		for _, t := range a.adj[r] {
			if c := color[a.find(t)]; c != regNone {
				free &^= 1 << uint(c)
			}
		}
		if free == 0 {
			spilled = append(spilled, r)
			continue
		}
		c := a.choose(r, free, usedCallee, color)
		color[r] = c
		usedCallee |= 1 << uint(c) & calleeRegs
	}
	if len(spilled) > 0 {
		var all []reg
		isSpilled := map[reg]bool{}
		for _, r := range spilled {
			isSpilled[r] = true
		}
		for r := firstVir; r < a.n; r++ {
			if isSpilled[a.find(r)] {
				all = append(all, r)
			}
		}
		a.m.color = nil
		a.m.aliasOf = a.find
		return all
	}
	for r := firstVir; r < a.n; r++ {
		color[r] = color[a.find(r)]
	}
	a.m.color = color
	return nil
}

func (a *allocator) choose(r reg, free, usedCallee uint32, color []reg) reg {
	for _, h := range a.hints[r] {
		if c := color[a.find(h)]; c != regNone && c < regZR && free&(1<<uint(c)) != 0 {
			return c
		}
	}
	for i, set := range []uint32{callerRegs, usedCallee, calleeRegs} {
		if s := free & set; s != 0 {
			if i == 0 {
				// High numbers first: low ones carry arguments and results.
				return reg(31 - leading32(s))
			}
			return reg(trailing(uint64(s)))
		}
	}
	return regNone
}
