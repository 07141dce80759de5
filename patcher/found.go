package patcher

import "svcrelay/nocgo"

// Form says how a site makes its call.
type Form uint8

// The forms. Only sites of the forms Fixed, Async, Any and Bridge become branches.
const (
	// Unknown is an svc whose number was not found, or a word that is no instruction at all. It is never changed.
	Unknown Form = iota
	// Fixed is an svc that makes one call.
	Fixed
	// Async is an svc that makes one call with asynchronous cancellation switched on for just this call, as glibc did
	// before 2.41 where there are several threads. Such a thread may be unwound from wherever it is.
	Async
	// Any is an svc that makes whatever call its function is asked for: the number is a parameter, or in memory.
	Any
	// Body is the svc of the function through which the C library (glibc 2.41 and later, and musl) makes all calls at
	// which a thread can be cancelled. Where the thread is between that function's first instruction and its svc
	// decides whether it can be cancelled, so it is never changed.
	Body
	// Bridge is a call (bl) of that function.
	Bridge
)

// Quick is added to the number with which a stub calls the entry, where only that may be answered that cannot block: a
// thread could not be cancelled meanwhile.
const Quick = 1 << 12

// Careful is added where an open is to be answered only if it cannot block, and others that can block are not to be
// answered. All other calls are answered as ever.
const Careful = 1 << 14

// Shielded is added where all signals are to be blocked while the call is answered: one of them might end the thread from
// wherever it is.
const Shielded = 1 << 13

// Found is a site as recognition leaves it. It depends on nothing but the library and the calls that are wanted.
type Found struct {
	// Offset is where the site is, in bytes from the library's first segment.
	Offset uint32
	// Nr is the number of the call of a Fixed or an Async site.
	Nr uint16
	// Form says what it is.
	Form Form
}

// Recognise tells what the svc at addr is, in the text [lo, hi).
func Recognise(addr, lo, hi uintptr) (form Form, nr uintptr) {
	nr, ok := adjacent(addr, lo)
	if !ok {
		if isBody(addr, lo) {
			return Body, 0
		}
		var f flow
		f.run(addr, lo, hi)
		if f.given || f.mixed {
			return Any, 0
		}
		nr, ok = f.value, f.found
	}
	switch {
	case !ok || nr >= MaxNumber:
		return Unknown, 0
	case cancellable(nr) && isAsync(addr, lo, hi):
		return Async, nr
	}
	return Fixed, nr
}

// cancellable says whether a call is one at which a thread can be cancelled, of those that relays answer or watch.
func cancellable(nr uintptr) bool {
	return quick(nr) || nr == nocgo.SysFcntl
}

// Blocks says whether a call is cancellable and never answered where that matters.
func Blocks(nr uintptr) bool { return cancellable(nr) && !quick(nr) }

// quick says whether some cancellable calls of a number cannot block, or need only be seen.
func quick(nr uintptr) bool {
	switch nr {
	case nocgo.SysOpenat, nocgo.SysClose, nocgo.SysWait4, nocgo.SysWaitid, nocgo.SysAccept, nocgo.SysConnect, nocgo.SysAccept4:
		return true
	}
	return false
}

// asyncWindow is how many instructions before its svc an Async site calls the function that allows the cancellation, and
// after it the one that ends that: at most nine in all of glibc up to 2.40.
const asyncWindow = 12

// isAsync says whether a call of a cancellable number at addr is made with asynchronous cancellation: the result of the
// function that is called before it is the parameter of the one that is called after it.
func isAsync(addr, lo, hi uintptr) bool {
	const fromResult, toParameter = 0x2a0003e0, 0x2a0003e0 // mov wN, w0; mov w0, wN
	kept := uint32(0)
	for n := uintptr(1); ; n++ {
		if n > asyncWindow || addr < lo+4*n {
			return false
		}
		w := nocgo.Load32(addr - 4*n)
		if w&^31 == fromResult {
			kept = w & 31
		}
		if leaves(w) {
			return false
		}
		if isCall(w) {
			break
		}
	}
	for n := uintptr(1); n <= asyncWindow && kept != 0 && addr+4*n+4 < hi; n++ {
		if nocgo.Load32(addr+4*n) == toParameter|kept<<16 {
			return isCall(nocgo.Load32(addr + 4*n + 4))
		}
	}
	return false
}

// bodyWords is how many instructions before its svc a Body's function begins, without a landing pad.
const bodyWords = 9

// isBody says whether the svc at addr is that of __syscall_cancel_arch (glibc 2.41 and later) or __syscall_cp_asm
// (musl). Both look at a word in memory, move all parameters two registers down, and make the call.
func isBody(addr, lo uintptr) bool {
	const load = 0xb9400000 // ldr w0, [x0]
	start := addr - 4*bodyWords
	if addr < lo+4*bodyWords || nocgo.Load32(start) != load || nocgo.Load32(addr+4) != ret {
		return false
	}
	if !cancelled(nocgo.Load32(start+4)) || nocgo.Load32(start+8) != 0xaa0103e8 { // mov x8, x1
		return false
	}
	for i := uintptr(0); i < 6; i++ {
		if nocgo.Load32(start+12+4*i) != uint32(0xaa0203e0+i<<16+i) { // mov x0, x2 and so on
			return false
		}
	}
	return true
}

// cancelled says whether a Body's second instruction is as it should be: it leaves where the word says that the thread
// is to be cancelled. glibc keeps that in a bit, musl has a word for it.
func cancelled(w uint32) bool {
	const bit = 3 // CANCELED_BIT of glibc
	return w&0xfff8001f == 0x37000000|bit<<19 || w&0xff00001f == 0x35000000
}

// entersBody says whether code at addr is the beginning of a Body's function.
func entersBody(addr, lo, hi uintptr) bool {
	if addr < lo || addr >= hi || hi-addr < 4*(bodyWords+3) {
		return false
	}
	if nocgo.Load32(addr) == landing {
		addr += 4
	}
	return nocgo.Load32(addr+4*bodyWords) == SVC && isBody(addr+4*bodyWords, lo)
}

// bodyOfGlibc says whether the function at addr, which entersBody knows, is glibc's and not musl's.
func bodyOfGlibc(addr uintptr) bool {
	if nocgo.Load32(addr) == landing {
		addr += 4
	}
	return nocgo.Load32(addr+4)&0x7f000000 == 0x37000000 // tbnz
}

// landing is bti c, with which functions begin that may be called through registers.
const landing = 0xd503245f

// bridgeWindow is how far from an Any site the call of a Body is looked for, in instructions: both are in the function
// that decides which of the two is used.
const bridgeWindow = 64
