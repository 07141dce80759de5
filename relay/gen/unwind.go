package main

import (
	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/library"
)

// The names that others bind to (ldscripts/libsvcrelay.ld). _dl_find_object is only there for those who ask for glibc 2.35's:
// a program that looks whether the C library has such a function finds that one, or none. All C libraries have
// dl_iterate_phdr.
const (
	exportedFind    = "_dl_find_object@GLIBC_2.35"
	exportedIterate = "dl_iterate_phdr@@GLIBC_2.17"
)

// Places in svcrelay_unwind, which is relay's type unwinding.
const (
	unwindPage, unwindTable, unwindMap = 0, 8, 16

	unwindFind    = 24
	unwindIterate = 32
	unwindObject  = 40
	unwindSize    = unwindObject + objectSize
)

// traced is how much of the trampoline page is instructions; objectSize what its dl_phdr_info has.
const (
	traced     = 8
	objectSize = 32
)

// findObject is int _dl_find_object(void *pc, struct dl_find_object *result).
func findObject(b *asm.Builder) {
	other, unknown := b.NewLabel(), b.NewLabel()
	b.AddrOf(asm.X9, "svcrelay_unwind", 0)
	b.Ldr(asm.X, asm.X10, asm.At(asm.X9, unwindPage))
	b.Cbz(asm.X, asm.X10, other)
	b.Sub(asm.X, asm.X11, asm.X0, asm.Shifted{Reg: asm.X10})
	b.Cmp(asm.X, asm.X11, asm.Imm(traced))
	b.BCond(asm.HS, other)
	b.Ldp(asm.X, asm.X11, asm.X12, asm.At(asm.X9, unwindTable)) // table and link map
	b.Add(asm.X, asm.X13, asm.X10, asm.Imm(4096))
	b.Stp(asm.X, asm.XZR, asm.X10, asm.At(asm.X1, 0)) // no flags; from
	b.Stp(asm.X, asm.X13, asm.X12, asm.At(asm.X1, 16))
	b.Str(asm.X, asm.X11, asm.At(asm.X1, 32))
	b.MovImm(asm.W, asm.X0, 0)
	b.Ret()

	b.Bind(other)
	b.Ldr(asm.X, asm.X16, asm.At(asm.X9, unwindFind))
	b.Cbz(asm.X, asm.X16, unknown)
	b.Br(asm.X16)
	b.Bind(unknown)
	learn(b, 0)
	none := b.NewLabel()
	b.Cbz(asm.X, asm.X16, none)
	b.Br(asm.X16)
	b.Bind(none)
	b.MovImm(asm.W, asm.X0, 0xffffffff)
	b.Ret()
}

// finder is the frame of both functions, with room for what compiled code does not give back if a check fails.
var finder = library.Frame{Own: keptEnd - library.OwnAt}

// Places in it. What is from keptX0 on is also what passOver is given.
const (
	keptX0    = library.OwnAt
	keptX1    = keptX0 + 8
	keptX16   = keptX0 + 16
	keptOwn   = keptX0 + 24 // whether the library itself was passed over
	keptAsked = keptX0 + 32 // whether the question is for the page
	keptInfo  = keptX0 + 48 // what was said of the library
	keptEnd   = keptInfo + infoSize
)

// infoSize is the size of a struct dl_phdr_info.
const infoSize = 64

// learn sets x16 to the C library's own function, or 0; x0 and x1 stay. It uses the stack as a function does.
func learn(b *asm.Builder, which uint64) {
	landing, out := b.NewLabel(), b.NewLabel()
	finder.Enter(b, landing)
	b.Str(asm.X, asm.X0, asm.At(asm.SP, keptX0))
	b.Str(asm.X, asm.X1, asm.At(asm.SP, keptX1))
	b.MovImm(asm.X, asm.X0, which)
	b.BLSym("svcrelay_real")
	b.B(out)
	b.Bind(landing)
	b.MovImm(asm.X, asm.X0, 0)
	b.Bind(out)
	b.MovReg(asm.X, asm.X16, asm.X0)
	b.Ldr(asm.X, asm.X0, asm.At(asm.SP, keptX0))
	b.Ldr(asm.X, asm.X1, asm.At(asm.SP, keptX1))
	finder.Drop(b)
}

// iterateHeaders is int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *data). The C library's
// function has f called for all objects but the library itself (passOver), which comes last: some programs refuse to run if
// the first library is not theirs (AddressSanitizer), or believe that it is. If nothing was what f looked for, and data says
// that it is about the page, f is called for that, too.
func iterateHeaders(b *asm.Builder) {
	known, unknown, not, all, page, out := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.AddrOf(asm.X9, "svcrelay_unwind", 0)
	b.Ldr(asm.X, asm.X16, asm.At(asm.X9, unwindIterate))
	b.Cbz(asm.X, asm.X16, unknown)
	b.Bind(known)
	b.Ldr(asm.X, asm.X10, asm.At(asm.X9, unwindPage))
	b.MovReg(asm.X, asm.X17, asm.X16) // which Enter uses
	b.RememberState()
	finder.Enter(b, not)
	b.Str(asm.X, asm.X0, asm.At(asm.SP, keptX0))
	b.Str(asm.X, asm.X1, asm.At(asm.SP, keptX1))
	b.Str(asm.X, asm.X17, asm.At(asm.SP, keptX16))
	b.Str(asm.X, asm.XZR, asm.At(asm.SP, keptOwn))
	b.Str(asm.X, asm.XZR, asm.At(asm.SP, keptAsked))
	b.Cbz(asm.X, asm.X10, all)
	b.MovReg(asm.X, asm.X0, asm.X1)
	b.MovReg(asm.X, asm.X1, asm.SP)
	b.BLSym("svcrelay_asked")
	b.Str(asm.X, asm.X0, asm.At(asm.SP, keptAsked))

	b.Bind(all)
	b.AddrOf(asm.X0, "svcrelay_passes_over", 0)
	b.Add(asm.X, asm.X1, asm.SP, asm.Imm(keptX0))
	b.Ldr(asm.X, asm.X16, asm.At(asm.SP, keptX16))
	b.Blr(asm.X16)
	b.Cbnz(asm.W, asm.X0, out)
	b.Ldr(asm.X, asm.X1, asm.At(asm.SP, keptOwn))
	b.Cbz(asm.X, asm.X1, page)
	b.Add(asm.X, asm.X0, asm.SP, asm.Imm(keptInfo))
	b.Ldr(asm.X, asm.X2, asm.At(asm.SP, keptX1))
	b.Ldr(asm.X, asm.X16, asm.At(asm.SP, keptX0))
	b.Blr(asm.X16)
	b.Cbnz(asm.W, asm.X0, out)
	b.Bind(page)
	b.Ldr(asm.X, asm.X9, asm.At(asm.SP, keptAsked))
	b.Cbz(asm.X, asm.X9, out)
	b.Ldr(asm.X, asm.X16, asm.At(asm.SP, keptX0))
	b.AddrOf(asm.X0, "svcrelay_unwind", unwindObject)
	b.MovImm(asm.X, asm.X1, objectSize)
	b.Ldr(asm.X, asm.X2, asm.At(asm.SP, keptX1))
	b.Blr(asm.X16)
	b.Bind(out)
	b.RememberState()
	finder.Leave(b)
	b.RestoreState()

	b.Bind(not) // a check failed
	finder.Resume(b)
	b.B(all)
	b.RestoreState()

	b.Bind(unknown)
	learn(b, 1)
	none := b.NewLabel()
	b.Cbz(asm.X, asm.X16, none)
	b.AddrOf(asm.X9, "svcrelay_unwind", 0)
	b.B(known)
	b.Bind(none)
	b.MovImm(asm.W, asm.X0, 0)
	b.Ret()
}

// passOver is what the C library calls for each object: int (struct dl_phdr_info *, size_t, void *), with keptX0 for data. It
// keeps what is said of the library itself, as far as that has the known size, and goes on to f with the rest.
func passOver(b *asm.Builder) {
	others := b.NewLabel()
	b.Ldr(asm.X, asm.X9, asm.At(asm.X0, 0)) // where it was loaded
	b.AddrOf(asm.X10, "__ehdr_start", 0)
	b.Sub(asm.X, asm.X9, asm.X9, asm.Shifted{Reg: asm.X10})
	b.Cbnz(asm.X, asm.X9, others)
	b.Sub(asm.X, asm.X9, asm.X1, asm.Imm(infoSize))
	b.Cbnz(asm.X, asm.X9, others)
	for at := int64(0); at < infoSize; at += 16 {
		b.Ldp(asm.X, asm.X9, asm.X10, asm.At(asm.X0, at))
		b.Stp(asm.X, asm.X9, asm.X10, asm.At(asm.X2, keptInfo-keptX0+at))
	}
	b.Str(asm.X, asm.X1, asm.At(asm.X2, keptOwn-keptX0))
	b.MovImm(asm.W, asm.X0, 0)
	b.Ret()

	b.Bind(others)
	b.Ldr(asm.X, asm.X16, asm.At(asm.X2, 0))
	b.Ldr(asm.X, asm.X2, asm.At(asm.X2, keptX1-keptX0))
	b.Br(asm.X16)
}
