package relay

import "svcrelay/translate"

// Frame is what the hand-laid entry saves of the guest, lowest address first. The entry's instructions
// (gen/entry.go) depend on this layout; a test compares the two.
type Frame struct {
	// Resume is where compiled code goes when one of its checks fails: x28 points here.
	Resume uintptr
	// Flags is NZCV.
	Flags uintptr
	// X6 to X17 and X28 are registers; x0 to x5 and x8 are in Call.
	X6, X7, X9, X10, X11, X12, X13, X14, X15, X16, X17, X28 uintptr
	// Kept is x19 to x27. Compiled code gives them back by itself, unless a check of it fails.
	Kept [9]uintptr
	// Mask is the guest's signal mask while all signals are blocked, else unshielded.
	Mask uint64
	// LR is x30 of the guest.
	LR uintptr
	// Stub is the stub's return address.
	Stub uintptr
	// FP and Site are a frame record: x29 of the guest and the address after the site, so that a walk along the
	// frame pointers goes from here to the function that contains the site.
	FP, Site uintptr
	// StubFP is x29 again, where the stub saved it and expects it.
	StubFP uintptr
	// Call is the number in x8 and the arguments.
	Call translate.Call
}
