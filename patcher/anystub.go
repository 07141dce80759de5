package patcher

// The stub of an Any site knows no number, so that x8 is no scratch register, and no other is free either. Everything
// that it has to find out without one is done with x8 itself, by steps that can be undone: rotating it, and adding to
// it what can be subtracted again.
//
//	     is x8 below 512?            two rotations bring all other bits into its lower half, one after the other
//	     x8 = nr << 52 + sp          bits 6 to 11 tell whether the 64 bytes below sp are in the page of sp itself
//	near:                            if not: subtract the start of the main thread's stack, twelve bits at a time; the
//	                                 result is small enough if sp is in the part that the kernel made at exec
//	ok:  x8 = nr again
//	     stp  x29, x30, [sp, #-64]!  now there are two registers: is the call looked at at all?
//	     bl   entry
//	     ...                         as for a Fixed site
//	far:                             there is no stack: compare x8 with all calls that must not go unseen
const (
	anyWords    = 63
	effectWords = 6
)

// numberShift is where the number is while the same register holds sp, whose upper 16 bits are clear.
const numberShift = 52

// any writes the stub of an Any site.
func (s *shared) any(p *pen, site uintptr, careful bool) {
	at := p.at
	const ok, pass, svc, far, late = 23, 36, 37, 39, 53
	back9 := at + 4*(anyWords-4+effectWords*uintptr(s.marked))
	back32 := back9 + 8
	// Bits of the start of the stack, for additions and subtractions of 12 bits, the latter at bit 12 too.
	low, middle, high := uint32(s.stack>>12&0xfff)<<10|1<<22, uint32(s.stack>>24&0xfff)<<10, uint32(s.stack>>36&0xfff)<<10|1<<22
	const add, sub = 0x91000108, 0xd1000108

	p.rotate(9)
	p.near(0x35000008, back9) // cbnz w8: bits 9 to 40
	p.rotate(23)
	p.near(0x35000008, back32) // cbnz w8: bits 32 to 63
	p.rotate(32 - numberShift + 64)
	p.word(spBy8)
	for bit := uint32(6); bit < 12; bit++ {
		p.bit(0x37000008|bit<<19, at+4*ok) // tbnz x8
	}
	p.word(sub | low)
	p.rotate(24)
	p.word(sub | middle)
	p.word(sub | high)
	p.rotate(57)                 // bits 17 to 48 are in the lower half
	p.near(0x35000008, at+4*far) // cbnz w8
	p.rotate(7)
	p.word(add | high)
	p.word(add | middle)
	p.rotate(40)
	p.word(add | low)

	s.number(p) // ok
	p.word(saveFP)
	p.member(s.area+areaWanted, 8, 29, 30)
	p.bit(0x3600001d, at+4*pass)  // tbz x29, #0
	p.either(careful, 0xb2720108) // orr x8, x8, #Careful
	p.call(s.entry, s.area+areaVeneer)
	p.word(giveFP) // answered
	p.branch(site + 4)
	p.word(giveFP) // pass, and where the entry declines
	p.word(SVC)
	p.branch(site + 4)

	p.rotate(7) // far
	p.word(add | high)
	p.word(add | middle)
	p.rotate(40)
	p.branch(at + 4*late)

	p.either(careful, 0x9271f908) // poor: and x8, x8, #^Careful
	p.member(s.area+areaEffects, 8, 29, 30)
	p.bit(0x3600001d, at+4*pass)
	p.mark(0x5800001d, clear29, s)
	p.branch(at + 4*pass)

	p.word(add | low) // late
	s.number(p)
	s.compare(p, at+4*svc)

	p.rotate(64 - 9) // back9
	p.branch(at + 4*svc)
	p.rotate(32) // back32
	p.branch(at + 4*svc)
}

// number takes sp and the shift off x8 again.
func (s *shared) number(p *pen) {
	p.word(spLess8)
	p.word(negate8)
	p.rotate(numberShift)
}

// compare leaves a mark if x8 is one of the calls with an effect, and goes on at svc with x8 as it was.
func (s *shared) compare(p *pen, svc uintptr) {
	taken := uint32(0)
	hits := p.at + 4*(2*uintptr(s.marked)+2)
	for i := 0; i < s.marked && i < maxEffects; i++ {
		nr := uint32(s.list[i])
		p.word(0xd1000108 | (nr-taken)<<10) // sub x8, x8, #
		p.near(0xb4000008, hits)            // cbz x8
		taken = nr
		hits += 16
	}
	p.word(0x91000108 | taken<<10) // add x8, x8, #
	p.branch(svc)
	for i := 0; i < s.marked && i < maxEffects; i++ {
		p.near(0x58000008, s.area+areaSeen) // ldr x8, seen
		p.word(clear8)
		p.word(0xd2800008 | uint32(s.list[i])<<5) // mov x8, #nr
		p.branch(svc)
	}
}
