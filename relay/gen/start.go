package main

import (
	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/library"
)

// outer is the frame of the functions here that C calls.
var outer library.Frame

// start is the constructor as the dynamic linker calls it, with the arguments of main in x0 to x2 (glibc) or
// anything at all (musl).
func start(b *asm.Builder) {
	landing, failed, out := b.NewLabel(), b.NewLabel(), b.NewLabel()
	outer.Enter(b, landing)
	b.RememberState()
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(scratchSize))
	b.MovReg(asm.X, asm.X3, asm.SP)
	b.BLSym("svcrelay_construct")
	b.MovReg(asm.X, asm.SP, asm.X28)
	b.Bind(out)
	outer.Leave(b)
	b.RestoreState()
	b.Bind(landing)
	b.Adr(asm.X16, failed) // a second failure only leaves
	b.Str(asm.X, asm.X16, asm.At(asm.SP, 0))
	b.BLSym("svcrelay_undo")
	b.Bind(failed)
	outer.Resume(b)
	b.B(out)
}

// stop is the destructor.
func stop(b *asm.Builder) {
	landing, out := b.NewLabel(), b.NewLabel()
	outer.Enter(b, landing)
	b.BLSym("svcrelay_finish")
	b.Bind(out)
	b.RememberState()
	outer.Leave(b)
	b.RestoreState()
	b.Bind(landing)
	outer.Resume(b)
	b.B(out)
}
