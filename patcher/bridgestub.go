package patcher

// The stub of a Bridge stands for a call (bl) of a Body's function, whose parameters are the address of a word that says
// whether the thread is to be cancelled, the number, and the call's six parameters. It answers what cannot block, and
// otherwise goes on to that function, with all parameters as they were: only there can the thread be cancelled.
//
//	     is the thread to be cancelled, is it another call, is cancellation asynchronous (glibc)? then it goes on
//	     the 64 bytes below sp, as for a Fixed site
//	ok:  stp  x29, x30, [sp, #-64]!
//	     parameters to where an svc has them
//	     bl   entry
//	     b    done
//	     b    site+4                 never executed: the entry and unwinders find the site by it
//	     ldp  x29, x30, [sp], #64    declined
//	     parameters back
//	on:  b    function
//	done:ldp  x29, x30, [sp], #64    the site is a call: x30 leads back to it, and a processor that keeps a second stack
//	     ret                         of return addresses wants it taken off
//
// x8, x16 and x17 may be changed by any call.
//
// A request to cancel the thread that comes while a call is answered finds it outside of that function: it stays
// pending until the next call, as if it had come just after this one. That is so for a call that does not block.
const bridgeWords = 56

// Bits of the word that glibc's function is given.
const (
	cancelAsync  = 1
	cancelWanted = 3
)

// bridge writes the stub of a Bridge.
func (s *shared) bridge(p *pen, site *Site) {
	at := p.at
	const ok, on, near, blind, done = 14, 33, 42, 46, 54
	function := site.Addr + callOffset(site.was)
	glibc := bodyOfGlibc(function)

	p.word(0xb9400010) // ldr w16, [x0]
	if glibc {
		p.bit(0x37000010|cancelWanted<<19, at+4*on) // tbnz w16
	} else {
		p.near(0x35000010, at+4*on) // cbnz w16
	}
	p.word(0xd349fc30)          // lsr x16, x1, #9
	p.near(0xb5000010, at+4*on) // cbnz x16
	p.member(s.area+areaQuick, 1, 16, 17)
	p.bit(0x36000010, at+4*on) // tbz x16, #0
	if glibc {
		p.word(0xb9400010)                            // ldr w16, [x0]
		p.bit(0x37000010|cancelAsync<<19, at+4*blind) // tbnz w16
	} else {
		p.word(nop)
		p.word(nop)
	}
	p.word(0x910003f0)            // mov x16, sp
	p.word(0x927a1610)            // and x16, x16, #0xfc0
	p.near(0xb4000010, at+4*near) // cbz x16, near
	p.word(saveFP)                // ok
	p.word(0xaa0003f1)            // mov x17, x0
	p.word(0xb2740028)            // orr x8, x1, #Quick
	for i := uint32(0); i < 6; i++ {
		p.word(0xaa0203e0 + i<<16 + i) // mov x0, x2 and so on
	}
	p.call(s.entry, s.area+areaVeneer)
	p.branch(at + 4*done) // answered
	p.branch(site.Addr + 4)
	p.word(giveFP) // declined
	p.parametersBack()
	p.branch(function) // on
	p.word(giveFP)     // poor
	p.parametersBack()
	p.branch(at + 4*blind)
	p.near(0x58000011, s.area+areaStack) // near: ldr x17, stack
	p.word(0xcb3163f1)                   // sub x17, sp, x17
	p.word(0xd351fe31)                   // lsr x17, x17, #17
	p.near(0xb4000011, at+4*ok)          // cbz x17, ok
	p.member(s.area+areaEffects, 1, 16, 17)
	p.bit(0x36000010, at+4*on) // tbz x16, #0
	p.mark(0x58000010, clear16, s)
	p.branch(at + 4*on)
	p.word(giveFP) // done
	p.word(ret)
}

// parametersBack puts the parameters to where the function expects them. The entry left x17 and x8 as they were.
func (p *pen) parametersBack() {
	for i := uint32(4); i > 0; i-- {
		p.word(0xaa0003e0 | (i-1)<<16 | (i + 1)) // mov x5, x3 and so on
	}
	p.word(0x92402d01) // and x1, x8, #0xfff
	p.word(0xaa1103e0) // mov x0, x17
}

// callOffset is how far from itself a bl goes.
func callOffset(w uint32) uintptr { return uintptr(int64(int32(w<<6)) >> 4) }
