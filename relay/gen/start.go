package main

import "svcrelay/tools/asmgen/asm"

// startFrame is the frame of a function that foreign code calls: the place compiled code resumes at if a check fails,
// x28, x29 and x30, x19 to x27, and eight bytes of nothing.
const startFrame = 112

// enter makes that frame: x28 leads compiled code back here. It keeps the registers that compiled code does not give
// back when it stops at a failed check.
func enter(b *asm.Builder, landing asm.Label) {
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(startFrame))
	b.DefCfaOffset(startFrame)
	b.Stp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, 16))
	b.Offset(asm.X29, 16-startFrame)
	b.Offset(asm.X30, 24-startFrame)
	b.Adr(asm.X16, landing)
	b.Stp(asm.X, asm.X16, asm.X28, asm.At(asm.SP, 0))
	b.Offset(asm.X28, 8-startFrame)
	for r := asm.X19; r < asm.X27; r += 2 {
		at := 32 + 8*int64(r-asm.X19)
		b.Stp(asm.X, r, r+1, asm.At(asm.SP, at))
		b.Offset(r, at-startFrame)
		b.Offset(r+1, at+8-startFrame)
	}
	b.Str(asm.X, asm.X27, asm.At(asm.SP, 96))
	b.Offset(asm.X27, 96-startFrame)
	b.Add(asm.X, asm.X29, asm.SP, asm.Imm(16))
	b.DefCfa(asm.X29, startFrame-16)
	b.MovReg(asm.X, asm.X28, asm.SP)
}

// leave undoes enter, with sp where enter left it, and returns.
func leave(b *asm.Builder) {
	for r := asm.X19; r < asm.X27; r += 2 {
		b.Ldp(asm.X, r, r+1, asm.At(asm.SP, 32+8*int64(r-asm.X19)))
		b.Restore(r)
		b.Restore(r + 1)
	}
	b.Ldr(asm.X, asm.X27, asm.At(asm.SP, 96))
	b.Restore(asm.X27)
	b.Ldr(asm.X, asm.X28, asm.At(asm.SP, 8))
	b.Restore(asm.X28)
	b.DefCfa(asm.SP, startFrame)
	b.Ldp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, 16))
	b.Add(asm.X, asm.SP, asm.SP, asm.Imm(startFrame))
	b.DefCfaOffset(0)
	b.Restore(asm.X29)
	b.Restore(asm.X30)
	b.Ret()
}

// start is the constructor as the dynamic linker calls it, with the arguments of main in x0 to x2 (glibc) or
// anything at all (musl).
func start(b *asm.Builder) {
	landing, out := b.NewLabel(), b.NewLabel()
	enter(b, landing)
	b.RememberState()
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(scratchSize))
	b.MovReg(asm.X, asm.X3, asm.SP)
	b.BLSym("svcrelay_construct")
	b.MovReg(asm.X, asm.SP, asm.X28)
	b.Bind(out)
	leave(b)
	b.RestoreState()
	b.Bind(landing)
	b.Adr(asm.X16, out) // a second failure only leaves
	b.Str(asm.X, asm.X16, asm.At(asm.SP, 0))
	b.BLSym("svcrelay_undo")
	b.B(out)
}

// stop is the destructor.
func stop(b *asm.Builder) {
	out := b.NewLabel()
	enter(b, out)
	b.BLSym("svcrelay_finish")
	b.Bind(out)
	leave(b)
}

// call calls a C function with two arguments: x0 points to its address and to them.
func call(b *asm.Builder) {
	b.Ldr(asm.X, asm.X16, asm.At(asm.X0, 0))
	b.Ldp(asm.X, asm.X0, asm.X1, asm.At(asm.X0, 8))
	b.Br(asm.X16)
}
