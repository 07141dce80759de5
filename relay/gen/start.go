package main

import "svcrelay/tools/asmgen/asm"

// enter makes the frame of a function that foreign code calls: x28 leads compiled code back here if a check fails.
// The two words at sp are the place it resumes at and the caller's x28.
func enter(b *asm.Builder, landing asm.Label) {
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(32))
	b.DefCfaOffset(32)
	b.Stp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, 16))
	b.Offset(asm.X29, -16)
	b.Offset(asm.X30, -8)
	b.Adr(asm.X16, landing)
	b.Stp(asm.X, asm.X16, asm.X28, asm.At(asm.SP, 0))
	b.Offset(asm.X28, -24)
	b.Add(asm.X, asm.X29, asm.SP, asm.Imm(16))
	b.DefCfa(asm.X29, 16)
	b.MovReg(asm.X, asm.X28, asm.SP)
}

// leave undoes enter, with sp where enter left it, and returns.
func leave(b *asm.Builder) {
	b.Ldr(asm.X, asm.X28, asm.At(asm.SP, 8))
	b.Restore(asm.X28)
	b.DefCfa(asm.SP, 32)
	b.Ldp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, 16))
	b.Add(asm.X, asm.SP, asm.SP, asm.Imm(32))
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
