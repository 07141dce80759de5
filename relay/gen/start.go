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

// scan finds the next svc #0: x0 points to the range, both ends multiples of 4; the answer is its address or the end.
// Most of a process's start is spent here, hence one compare per word and a branch per sixteen: once a compare finds
// equality, the conditional ones after it keep that flag.
func scan(b *asm.Builder) {
	const svc, equal = 0xd4000001, 4 // equal: the Z flag
	at, end, last, want := asm.X1, asm.X2, asm.X4, asm.X3
	words := []asm.Reg{asm.X5, asm.X6, asm.X7, asm.X9, asm.X10, asm.X11, asm.X12, asm.X13}
	loop, tail, done := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Ldp(asm.X, at, end, asm.At(asm.X0, 0))
	b.MovImm(asm.W, want, svc)
	b.Sub(asm.X, last, end, asm.Imm(64))
	b.Cmp(asm.X, at, last)
	b.BCond(asm.HI, tail)
	b.Bind(loop)
	for half := range 2 {
		for i := 0; i < len(words); i += 2 {
			b.Ldp(asm.W, words[i], words[i+1], asm.At(at, int64(32*half+4*i)))
		}
		for i, w := range words {
			if half == 0 && i == 0 {
				b.Cmp(asm.W, w, want)
				continue
			}
			b.Ccmp(asm.W, w, want, equal, asm.NE)
		}
	}
	b.BCond(asm.EQ, tail)
	b.Add(asm.X, at, at, asm.Imm(64))
	b.Cmp(asm.X, at, last)
	b.BCond(asm.LS, loop)
	b.Bind(tail)
	b.Cmp(asm.X, at, end)
	b.BCond(asm.HS, done)
	b.Ldr(asm.W, asm.X5, asm.At(at, 0))
	b.Cmp(asm.W, asm.X5, want)
	b.BCond(asm.EQ, done)
	b.Add(asm.X, at, at, asm.Imm(4))
	b.B(tail)
	b.Bind(done)
	b.MovReg(asm.X, asm.X0, at)
	b.Ret()
}
