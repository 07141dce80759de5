package main

import (
	"svcrelay/nocgo"
	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/library"
)

// Places in the part of prctl's frame that is its own: the arguments x0 to x4, and one word for errno.
const (
	offArgs  = library.OwnAt
	offErrno = library.OwnAt + 5*8
)

// The frames of both functions.
var (
	prctlFrame       = library.Frame{Own: 6 * 8}
	constructorFrame library.Frame
)

// maxErrno is the largest errno that the kernel returns, negated.
const maxErrno = 4095

// prctl is the exported function: int prctl(int option, ...), whose arguments are in x0 to x4. A failed check in
// compiled code leads to the system call as the caller wanted it.
func prctl(b *asm.Builder) {
	landing, answered, failed, bionic, store, give := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	prctlFrame.Enter(b, landing)
	b.Stp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, offArgs))
	b.Stp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, offArgs+16))
	b.Str(asm.X, asm.X4, asm.At(asm.SP, offArgs+32))
	b.BLSym("svcrelay_tracer_install")

	b.Bind(answered)
	b.Cmn(asm.X, asm.X0, asm.Imm(maxErrno))
	b.BCond(asm.HS, failed)
	b.RememberState()
	prctlFrame.Leave(b)

	// errno is the caller's C library's: glibc and musl have __errno_location, bionic has __errno.
	b.RestoreState()
	b.Bind(failed)
	b.Neg(asm.W, asm.X0, asm.X0)
	b.Str(asm.X, asm.X0, asm.At(asm.SP, offErrno))
	b.LoadGOT(asm.X16, "__errno_location")
	b.Cbz(asm.X, asm.X16, bionic)
	b.Bind(store)
	b.Blr(asm.X16)
	b.Ldr(asm.W, asm.X1, asm.At(asm.SP, offErrno))
	b.Str(asm.W, asm.X1, asm.At(asm.X0, 0))
	b.Bind(give)
	b.MovImm(asm.X, asm.X0, ^uint64(0))
	b.RememberState()
	prctlFrame.Leave(b)
	b.RestoreState()

	b.Bind(bionic)
	b.LoadGOT(asm.X16, "__errno")
	b.Cbnz(asm.X, asm.X16, store)
	b.B(give)

	b.Bind(landing)
	prctlFrame.Resume(b)
	b.Ldp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, offArgs))
	b.Ldp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, offArgs+16))
	b.Ldr(asm.X, asm.X4, asm.At(asm.SP, offArgs+32))
	b.MovImm(asm.X, asm.X8, nocgo.SysPrctl)
	b.Svc(0)
	b.B(answered)
}

// constructor is called by the dynamic linker with argc, argv and envp, or by musl's with nothing in particular.
func constructor(b *asm.Builder) {
	landing, out := b.NewLabel(), b.NewLabel()
	constructorFrame.Enter(b, landing)
	b.BLSym("svcrelay_tracer_start")
	b.Bind(out)
	b.RememberState()
	constructorFrame.Leave(b)
	b.RestoreState()
	b.Bind(landing)
	constructorFrame.Resume(b)
	b.B(out)
}
