package patcher

import "svcrelay/nocgo"

// A stub is what a site branches to. That of a Fixed site knows the number that was found before the site and the way
// back:
//
//	     sub  x8, x8, #nr            the number is as found? Neither flags nor memory are needed to ask.
//	     cbnz x8, wrong
//	     mov  x8, sp                 from here on x8 is a scratch register: its value is known
//	     and  x8, x8, #0xfc0         are the 64 bytes below sp in the page of sp itself?
//	     cbz  x8, near
//	ok:  stp  x29, x30, [sp, #-64]!
//	     mov  x8, #nr
//	     bl   entry                  returns to the next instruction if answered, two instructions later if not
//	     ldp  x29, x30, [sp], #64
//	     b    site+4
//	     ldp  x29, x30, [sp], #64
//	svc: svc  #0
//	     b    site+4
//	near:ldr  x8, stack              or in the part of the main thread's stack that the kernel made at exec?
//	     sub  x8, sp, x8
//	     lsr  x8, x8, #17
//	     cbz  x8, ok
//	     b    mark                   neither: the svc itself needs no stack
//	poor:ldp  x29, x30, [sp], #64    the entry returns here if there is too little stack
//	mark:ldr  x8, seen               a call that changes something was not seen: say so. Other stubs have two nops.
//	     strb wzr, [x8]
//	     mov  x8, #nr
//	     b    svc
//	wrong:add x8, x8, #nr
//	     b    svc
//
// Nothing is below sp when the svc runs, because PRoot writes there.
const (
	stubWords = 25

	// StubFrame is how far a stub lowers sp before it calls the entry.
	StubFrame = 64
	// StubDeclined is how far beyond its return address the entry returns to if the call was not answered.
	StubDeclined = 8
	// StubPoor is how far beyond its return address the entry returns to if there was not enough stack to look at the
	// call.
	StubPoor = 40
)

// An area begins with what its stubs share: literals, a veneer to an entry that is out of reach, and sets of numbers.
const (
	areaEntry   = 0  // address of the entry
	areaStack   = 8  // lowest address of the main thread's stack that needs no probe
	areaVeneer  = 16 // ldr x29, areaEntry; br x29
	areaSeen    = 24 // address of the byte that a call that was not seen clears
	areaWanted  = 32 // the calls that are looked at
	areaQuick   = areaWanted + MaxNumber/8
	areaEffects = areaQuick + MaxNumber/8
	areaHead    = areaEffects + MaxNumber/8
)

// shared is what the stubs of one area share.
type shared struct {
	area         uintptr // where the area begins
	shift        uintptr // how far from there it is written
	entry, stack uintptr
	seen         uintptr // 0: no stub leaves a mark
	wanted       *Numbers
	effects      *Numbers
	marked       int                // the number of effects, if they leave marks
	list         [maxEffects]uint16 // the effects themselves, ascending
}

// count lists the calls with an effect. It is false where there are too many.
func (s *shared) count() bool {
	if s.seen == 0 {
		return true
	}
	for nr := range uintptr(MaxNumber) {
		if s.effects.bits[nr/64] == 0 || !s.effects.Has(nr) {
			continue
		}
		if s.marked == maxEffects {
			return false
		}
		s.list[s.marked] = uint16(nr)
		s.marked++
	}
	return true
}

// head writes the shared part of an area.
func (s *shared) head() {
	at := s.area + s.shift
	nocgo.Store64(at+areaEntry, uint64(s.entry))
	nocgo.Store64(at+areaStack, uint64(s.stack))
	nocgo.Store64(at+areaSeen, uint64(s.seen))
	nocgo.Store32(at+areaVeneer, 0x58ffff9d)   // ldr x29, .-16
	nocgo.Store32(at+areaVeneer+4, 0xd61f03a0) // br x29
	var some Numbers
	for _, nr := range [...]uintptr{nocgo.SysOpenat, nocgo.SysWait4, nocgo.SysWaitid, nocgo.SysAccept, nocgo.SysConnect,
		nocgo.SysAccept4} { // those that quick allows
		if s.wanted.Has(nr) {
			some.Add(nr)
		}
	}
	for i := range uintptr(MaxNumber / 64) {
		nocgo.Store64(at+areaWanted+8*i, s.wanted.bits[i])
		nocgo.Store64(at+areaQuick+8*i, some.bits[i])
		nocgo.Store64(at+areaEffects+8*i, s.effects.bits[i])
	}
}

// effect says whether a call must leave a mark where there is too little stack to look at it.
func (s *shared) effect(nr uint32) bool { return s.seen != 0 && s.effects.Has(uintptr(nr)) }

// size is the number of bytes of a site's stub.
func (s *shared) size(site *Site) uintptr {
	switch site.Form {
	case Any:
		return 4 * (anyWords + effectWords*uintptr(s.marked))
	case Bridge:
		return 4 * bridgeWords
	}
	return 4 * stubWords
}

// stub writes a site's stub at an address of the area. It is false where a branch does not reach.
func (s *shared) stub(at uintptr, site *Site) bool {
	p := pen{at: at, shift: s.shift}
	switch site.Form {
	case Any:
		s.any(&p, site.Addr, site.careful)
	case Bridge:
		s.bridge(&p, site)
	case Async:
		s.fixed(&p, site.Addr, site.Nr, Quick|Shielded)
	default:
		s.fixed(&p, site.Addr, site.Nr, 0)
	}
	return !p.short
}

// fixed writes the stub of a Fixed or an Async site. how is added to the number that the entry is given.
func (s *shared) fixed(p *pen, site uintptr, nr, how uint32) {
	at := p.at
	move := 0xd2800008 | nr<<5
	p.word(0xd1000108 | nr<<10)          // sub x8, x8, #nr
	p.near(0xb5000008, at+4*23)          // cbnz x8, wrong
	p.word(0x910003e8)                   // mov x8, sp
	p.word(0x927a1508)                   // and x8, x8, #0xfc0
	p.near(0xb4000008, at+4*13)          // cbz x8, near
	p.word(saveFP)                       // ok
	p.word(move | how<<5)                //
	p.call(s.entry, s.area+areaVeneer)   //
	p.word(giveFP)                       // answered
	p.branch(site + 4)                   //
	p.word(giveFP)                       // declined
	p.word(SVC)                          // svc
	p.branch(site + 4)                   //
	p.near(0x58000008, s.area+areaStack) // near: ldr x8, stack
	p.word(spLess8)                      //
	p.word(0xd351fd08)                   // lsr x8, x8, #17
	p.near(0xb4000008, at+4*5)           // cbz x8, ok
	p.branch(at + 4*19)                  // b mark
	p.word(giveFP)                       // poor
	if s.effect(nr) {
		p.near(0x58000008, s.area+areaSeen) // mark: ldr x8, seen
		p.word(clear8)
	} else {
		p.word(nop)
		p.word(nop)
	}
	p.word(move)
	p.branch(at + 4*11)
	p.word(0x91000108 | nr<<10) // wrong: add x8, x8, #nr
	p.branch(at + 4*11)
}
