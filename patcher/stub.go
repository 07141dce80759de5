package patcher

import "svcrelay/nocgo"

// A stub is what a site branches to. It knows the number that was found before the site and the way back:
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
//	     b    svc                    or to the next stub of a site that makes any call
//
// Nothing is below sp when the svc runs, because PRoot writes there.
const (
	stubWords = 25
	stubSize  = 4 * stubWords

	// StubFrame is how far a stub lowers sp before it calls the entry.
	StubFrame = 64
	// StubDeclined is how far beyond its return address the entry returns to if the call was not answered.
	StubDeclined = 8
	// StubPoor is how far beyond its return address the entry returns to if there was not enough stack to look at the
	// call.
	StubPoor = 40
)

// An area begins with the literals that its stubs share and a veneer to an entry that is out of reach.
const (
	areaEntry  = 0  // address of the entry
	areaStack  = 8  // lowest address of the main thread's stack that needs no probe
	areaVeneer = 16 // ldr x29, areaEntry; br x29
	areaSeen   = 24 // address of the byte that a call that was not seen clears
	areaHead   = 32
)

// areaSize is the number of bytes that n stubs need.
func areaSize(n int) uintptr { return areaHead + uintptr(n)*stubSize }

// fillHead writes the shared part of an area.
func fillHead(area, entry, stack, seen uintptr) {
	nocgo.Store64(area+areaEntry, uint64(entry))
	nocgo.Store64(area+areaStack, uint64(stack))
	nocgo.Store64(area+areaSeen, uint64(seen))
	nocgo.Store32(area+areaVeneer, 0x58ffff9d)   // ldr x29, .-16
	nocgo.Store32(area+areaVeneer+4, 0xd61f03a0) // br x29
}

// fillStub writes the stub for a site at stub, in the area whose head is filled. It hands other numbers on to next, or
// to its own svc if next is 0. An effect is a call that must not go unseen. It is false where a branch does not reach.
func fillStub(area, stub, site uintptr, nr uint32, next uintptr, effect bool) bool {
	entry, ok := Call(stub+7*4, uintptr(nocgo.Load64(area+areaEntry)))
	if !ok {
		entry, _ = Call(stub+7*4, area+areaVeneer)
	}
	answered, ok1 := Branch(stub+9*4, site+4)
	declined, ok2 := Branch(stub+12*4, site+4)
	if next == 0 {
		next = stub + 11*4
	}
	other, ok3 := Branch(stub+24*4, next)
	if !ok1 || !ok2 || !ok3 || nr >= 4096 {
		return false
	}
	move := 0xd2800008 | nr<<5
	literal := (area + areaStack - (stub + 13*4)) >> 2 & 0x7ffff
	put(stub, 0, 0xd1000108|nr<<10)              // sub x8, x8, #nr
	put(stub, 1, 0xb5000008|(23-1)<<5)           // cbnz x8, wrong
	put(stub, 2, 0x910003e8)                     // mov x8, sp
	put(stub, 3, 0x927a1508)                     // and x8, x8, #0xfc0
	put(stub, 4, 0xb4000008|(13-4)<<5)           // cbz x8, near
	put(stub, 5, 0xa9bc7bfd)                     // ok: stp x29, x30, [sp, #-64]!
	put(stub, 6, move)                           // mov x8, #nr
	put(stub, 7, entry)                          // bl entry
	put(stub, 8, 0xa8c47bfd)                     // ldp x29, x30, [sp], #64
	put(stub, 9, answered)                       // b site+4
	put(stub, 10, 0xa8c47bfd)                    // ldp x29, x30, [sp], #64
	put(stub, 11, SVC)                           // svc: svc #0
	put(stub, 12, declined)                      // b site+4
	put(stub, 13, 0x58000008|uint32(literal)<<5) // near: ldr x8, stack
	put(stub, 14, 0xcb2863e8)                    // sub x8, sp, x8
	put(stub, 15, 0xd351fd08)                    // lsr x8, x8, #17
	put(stub, 16, 0xb4000008|(0x80000-11)<<5)    // cbz x8, ok
	put(stub, 17, 0x14000002)                    // b mark
	put(stub, 18, 0xa8c47bfd)                    // poor: ldp x29, x30, [sp], #64
	put(stub, 19, nop)                           // mark: ldr x8, seen
	put(stub, 20, nop)                           // strb wzr, [x8]
	if effect {
		put(stub, 19, 0x58000008|uint32((area+areaSeen-(stub+19*4))>>2&0x7ffff)<<5)
		put(stub, 20, 0x3900011f)
	}
	put(stub, 21, move)              // mov x8, #nr
	put(stub, 22, 0x17fffff5)        // b svc
	put(stub, 23, 0x91000108|nr<<10) // wrong: add x8, x8, #nr
	put(stub, 24, other)             // b svc, or the next stub
	return true
}

const nop = 0xd503201f

// put stores the i-th word of a stub.
func put(stub, i uintptr, w uint32) { nocgo.Store32(stub+4*i, w) }
