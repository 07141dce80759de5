package patcher

import "svcrelay/nocgo"

// Instructions that stubs are made of.
const (
	nop     = 0xd503201f
	ret     = 0xd65f03c0
	saveFP  = 0xa9bc7bfd // stp x29, x30, [sp, #-64]!
	giveFP  = 0xa8c47bfd // ldp x29, x30, [sp], #64
	clear8  = 0x3900011f // strb wzr, [x8]
	clear16 = 0x3900021f // strb wzr, [x16]
	clear29 = 0x390003bf // strb wzr, [x29]
	spBy8   = 0x8b2863e8 // add x8, sp, x8
	spLess8 = 0xcb2863e8 // sub x8, sp, x8
	negate8 = 0xcb0803e8 // neg x8, x8
)

// pen writes instructions one after the other. It remembers whether a branch did not reach.
type pen struct {
	at    uintptr // where the next instruction will be executed
	shift uintptr // how far from there it is written
	short bool
}

// word writes an instruction.
func (p *pen) word(w uint32) {
	nocgo.Store32(p.at+p.shift, w)
	p.at += 4
}

// branch writes b to an address.
func (p *pen) branch(to uintptr) {
	w, ok := Branch(p.at, to)
	p.short = p.short || !ok
	p.word(w)
}

// call writes bl to an address, or to other if that is out of reach.
func (p *pen) call(to, other uintptr) {
	w, ok := Call(p.at, to)
	if !ok {
		w, ok = Call(p.at, other)
	}
	p.short = p.short || !ok
	p.word(w)
}

// either writes an instruction, or one that does nothing.
func (p *pen) either(yes bool, w uint32) {
	if !yes {
		w = nop
	}
	p.word(w)
}

// mark writes a load of the address of the byte that a call that was not seen clears, and the store, if there is one.
func (p *pen) mark(load, clear uint32, s *shared) {
	if s.seen == 0 {
		p.word(nop)
		p.word(nop)
		return
	}
	p.near(load, s.area+areaSeen)
	p.word(clear)
}

// near writes an instruction with a 19-bit distance: cbz, cbnz, b.cond or a load from nearby.
func (p *pen) near(w uint32, to uintptr) { p.word(w | uint32((to-p.at)>>2&0x7ffff)<<5) }

// bit writes a tbz or tbnz.
func (p *pen) bit(w uint32, to uintptr) { p.word(w | uint32((to-p.at)>>2&0x3fff)<<5) }

// address writes adr.
func (p *pen) address(reg uint32, to uintptr) {
	d := uint32(to - p.at)
	p.word(0x10000000 | d&3<<29 | d>>2&0x7ffff<<5 | reg)
}

// rotate writes ror x8, x8, #n.
func (p *pen) rotate(n uint32) { p.word(0x93c80108 | n<<10) }

// member writes four instructions that put the n-th bit of a set in the lowest bit of reg, n being the value of nr; they
// change reg and tmp.
func (p *pen) member(set uintptr, nr, reg, tmp uint32) {
	p.address(reg, set)
	p.word(0xd346fc00 | nr<<5 | tmp)            // lsr tmp, nr, #6
	p.word(0xf8607800 | tmp<<16 | reg<<5 | reg) // ldr reg, [reg, tmp, lsl #3]
	p.word(0x9ac02400 | nr<<16 | reg<<5 | reg)  // lsr reg, reg, nr
}
