package main

import (
	"svcrelay/nocgo"
	"svcrelay/tools/asmgen/asm"
)

// The frame of both entry points, from its lowest address: the record x28 points at while compiled code runs,
// whose first word says where a failed check goes; the caller's registers, which compiled code does not restore
// when a check fails; the arguments.
const (
	offResume = 0
	offX28    = 8
	offX19    = 16 // x19 to x27, and one word unused
	offArgs   = 96 // x0 to x4, and one word for errno
	offErrno  = 136
	offFP     = 144
	frameSize = 160
)

// maxErrno is the largest errno that the kernel returns, negated.
const maxErrno = 4095

// enter makes the frame and stores the arguments. A failed check resumes at landing, with sp as enter left it.
func enter(b *asm.Builder, landing asm.Label) {
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(frameSize))
	b.DefCfaOffset(frameSize)
	b.Stp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, offFP))
	b.Offset(asm.X29, offFP-frameSize)
	b.Offset(asm.X30, offFP+8-frameSize)
	b.Adr(asm.X16, landing)
	b.Stp(asm.X, asm.X16, asm.X28, asm.At(asm.SP, offResume))
	b.Offset(asm.X28, offX28-frameSize)
	for i := asm.X19; i <= asm.X27; i += 2 {
		at := int64(offX19 + 8*(i-asm.X19))
		if i == asm.X27 {
			b.Str(asm.X, i, asm.At(asm.SP, at))
		} else {
			b.Stp(asm.X, i, i+1, asm.At(asm.SP, at))
			b.Offset(i+1, at+8-frameSize)
		}
		b.Offset(i, at-frameSize)
	}
	b.Stp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, offArgs))
	b.Stp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, offArgs+16))
	b.Str(asm.X, asm.X4, asm.At(asm.SP, offArgs+32))
	b.Add(asm.X, asm.X29, asm.SP, asm.Imm(offFP))
	b.MovReg(asm.X, asm.X28, asm.SP)
}

// leave restores all that enter stored, but the arguments, and returns.
func leave(b *asm.Builder) {
	for i := asm.X19; i <= asm.X27; i += 2 {
		at := int64(offX19 + 8*(i-asm.X19))
		if i == asm.X27 {
			b.Ldr(asm.X, i, asm.At(asm.SP, at))
		} else {
			b.Ldp(asm.X, i, i+1, asm.At(asm.SP, at))
			b.Restore(i + 1)
		}
		b.Restore(i)
	}
	b.Ldr(asm.X, asm.X28, asm.At(asm.SP, offX28))
	b.Restore(asm.X28)
	b.Ldp(asm.X, asm.X29, asm.X30, asm.At(asm.SP, offFP))
	b.Restore(asm.X29)
	b.Restore(asm.X30)
	b.Add(asm.X, asm.SP, asm.SP, asm.Imm(frameSize))
	b.DefCfaOffset(0)
	b.Ret()
}

// prctl is the exported function: int prctl(int option, ...), whose arguments are in x0 to x4. A failed check in
// compiled code leads to the system call as the caller wanted it.
func prctl(b *asm.Builder) {
	landing, answered, failed, bionic, store, give := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	enter(b, landing)
	b.BLSym("svcrelay_tracer_install")

	b.Bind(answered)
	b.Cmn(asm.X, asm.X0, asm.Imm(maxErrno))
	b.BCond(asm.HS, failed)
	b.RememberState()
	leave(b)

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
	leave(b)
	b.RestoreState()

	b.Bind(bionic)
	b.LoadGOT(asm.X16, "__errno")
	b.Cbnz(asm.X, asm.X16, store)
	b.B(give)

	b.Bind(landing)
	b.Ldp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, offArgs))
	b.Ldp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, offArgs+16))
	b.Ldr(asm.X, asm.X4, asm.At(asm.SP, offArgs+32))
	b.MovImm(asm.X, asm.X8, nocgo.SysPrctl)
	b.Svc(0)
	b.B(answered)
}

// constructor is called by the dynamic linker with argc, argv and envp, or by musl's with nothing in particular.
func constructor(b *asm.Builder) {
	out := b.NewLabel()
	enter(b, out)
	b.BLSym("svcrelay_tracer_start")
	b.Bind(out)
	leave(b)
}
