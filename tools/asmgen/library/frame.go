package library

import "svcrelay/tools/asmgen/asm"

// Places in the frame of a function that C calls, from its lowest address. The first two words are the record that x28
// points to while compiled code runs: a failed check resumes at the first.
const (
	resumeAt = 0
	x28At    = 8
	recordAt = 16 // x29 and x30
	x19At    = 32 // x19 to x27, and one word unused
	// OwnAt is where the function's own bytes begin, upwards from sp.
	OwnAt = 112
)

// Frame is the frame of a function that C calls and that calls compiled code. Compiled code does not give back x19 to x28
// when it stops at a failed check, so the frame keeps them.
type Frame struct {
	Own int64 // bytes for the function itself, a multiple of 16; they begin OwnAt above sp
}

// Size is how far below its caller's sp the function sets sp.
func (f Frame) Size() int64 { return OwnAt + f.Own }

// Enter makes the frame. A failed check in compiled code resumes at landing, with x28 where Enter left sp. Arguments stay
// in their registers; x16 is lost.
func (f Frame) Enter(b *asm.Builder, landing asm.Label) {
	size := f.Size()
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(size))
	b.DefCfaOffset(size)
	b.Stp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, recordAt))
	b.Offset(asm.X29, recordAt-size)
	b.Offset(asm.X30, recordAt+8-size)
	b.Adr(asm.X16, landing)
	b.Stp(asm.X, asm.X16, asm.X28, asm.At(asm.SP, resumeAt))
	b.Offset(asm.X28, x28At-size)
	for r := asm.X19; r < asm.X27; r += 2 {
		at := x19At + 8*int64(r-asm.X19)
		b.Stp(asm.X, r, r+1, asm.At(asm.SP, at))
		b.Offset(r, at-size)
		b.Offset(r+1, at+8-size)
	}
	const x27At = x19At + 8*8
	b.Str(asm.X, asm.X27, asm.At(asm.SP, x27At))
	b.Offset(asm.X27, x27At-size)
	b.Add(asm.X, asm.X29, asm.SP, asm.Imm(recordAt))
	b.DefCfa(asm.X29, size-recordAt)
	b.MovReg(asm.X, asm.X28, asm.SP)
}

// Resume stands where a failed check resumes, with sp where Enter left it: it takes off the second
// stack of return addresses (GCS) what was called since Enter. It changes x16 and x17.
func (f Frame) Resume(b *asm.Builder) {
	b.Ldr(asm.X, asm.X17, asm.At(asm.SP, recordAt+8))
	b.PopReturnsTo(asm.X17)
}

// Leave undoes Enter, with sp where Enter left it, and returns. Unwind information after it is that of the caller: a
// function that goes on behind it needs RememberState and RestoreState around it.
func (f Frame) Leave(b *asm.Builder) {
	f.Drop(b)
	b.Ret()
}

// Drop is Leave without the return: what follows has no frame.
func (f Frame) Drop(b *asm.Builder) {
	for r := asm.X19; r < asm.X27; r += 2 {
		b.Ldp(asm.X, r, r+1, asm.At(asm.SP, x19At+8*int64(r-asm.X19)))
		b.Restore(r)
		b.Restore(r + 1)
	}
	b.Ldr(asm.X, asm.X27, asm.At(asm.SP, x19At+8*8))
	b.Restore(asm.X27)
	b.Ldr(asm.X, asm.X28, asm.At(asm.SP, x28At))
	b.Restore(asm.X28)
	b.DefCfa(asm.SP, f.Size())
	b.Ldp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, recordAt))
	b.Add(asm.X, asm.SP, asm.SP, asm.Imm(f.Size()))
	b.DefCfaOffset(0)
	b.Restore(asm.X29)
	b.Restore(asm.X30)
}
