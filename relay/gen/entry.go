package main

import (
	"unsafe"

	"svcrelay/patcher"
	"svcrelay/relay"
	"svcrelay/tools/asmgen/asm"
	"svcrelay/translate"
)

// Places in the frame, from its lowest address.
var (
	frame    relay.Frame
	offFlags = int64(unsafe.Offsetof(frame.Flags))
	offX6    = int64(unsafe.Offsetof(frame.X6))
	offX9    = int64(unsafe.Offsetof(frame.X9))
	offX17   = int64(unsafe.Offsetof(frame.X17))
	offX28   = int64(unsafe.Offsetof(frame.X28))
	offKept  = int64(unsafe.Offsetof(frame.Kept))
	offLR    = int64(unsafe.Offsetof(frame.LR))
	offStub  = int64(unsafe.Offsetof(frame.Stub))
	offFP    = int64(unsafe.Offsetof(frame.FP))
	offSite  = int64(unsafe.Offsetof(frame.Site))
	offSaved = int64(unsafe.Offsetof(frame.StubFP)) // sp as the stub left it
	offNr    = int64(unsafe.Offsetof(frame.Call)) + int64(unsafe.Offsetof(frame.Call.Nr))
	offArg   = int64(unsafe.Offsetof(frame.Call)) + int64(unsafe.Offsetof(frame.Call.Arg))

	scratchSize = (int64(unsafe.Sizeof(translate.Scratch{})) + 15) &^ 15
	frameSize   = offSaved + patcher.StubFrame // what the guest's sp is lowered by, scratch aside
)

// elsewhereMark is added to the stub's return address where the entry goes to another place of the stub: the call is
// declined. A second stack of return addresses (GCS) would not let it return there, so that is a branch.
const elsewhereMark = 1

// needed is how far below its sp the guest's stack must be there: everything an answer uses.
const needed = 4096

// returnColumn is the DWARF column of the return address in the entry's frame: not x30, which the guest's function
// may still need as it was.
const returnColumn = 96

// entry is what stubs call. On arrival sp is StubFrame below the guest's, with x29 and x30 stored there; x8 is the
// number (with patcher.Quick added where only that may be answered that cannot block), x29 is free, x30 leads back to the
// stub.
func entry(b *asm.Builder) {
	probe, deep, tail, elsewhere := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	answered, declined, landing := b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.ReturnColumn(returnColumn)
	b.DefCfa(asm.SP, patcher.StubFrame)
	b.Offset(asm.X29, -patcher.StubFrame)
	b.Offset(asm.X30, -patcher.StubFrame+8)
	b.ValExpression(returnColumn, afterSite(dwarfReg30))
	b.RememberState()

	// In the part of the main thread's stack that is certainly there?
	b.Adrp(asm.X29, "svcrelay_stack", 0)
	b.LoadLo12(8, false, asm.X29, asm.X29, "svcrelay_stack", 0)
	b.Sub(asm.X, asm.X29, asm.SP, asm.Extended{Reg: asm.X29, Kind: asm.UXTX})
	b.Lsr(asm.X, asm.X29, asm.X29, asm.Imm(17))
	b.Cbnz(asm.X, asm.X29, probe)

	b.Bind(deep)
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(offSaved))
	b.DefCfaOffset(frameSize)
	save := func(r1, r2 asm.Reg, off int64) {
		b.Stp(asm.X, r1, r2, asm.At(asm.SP, off))
		b.Offset(r1, off-frameSize)
		b.Offset(r2, off+8-frameSize)
	}
	save(asm.X6, asm.X7, offX6)
	for r := asm.X9; r < asm.X17; r += 2 {
		save(r, r+1, offX9+8*int64(r-asm.X9))
	}
	save(asm.X17, asm.X28, offX17)
	kept(b.Stp, b.Str)
	b.Ldp(asm.X, asm.X16, asm.X17, asm.At(asm.SP, offSaved))
	b.Stp(asm.X, asm.X17, asm.X30, asm.At(asm.SP, offLR))
	b.Offset(asm.X30, offLR-frameSize)
	save(asm.X8, asm.X0, offNr)
	save(asm.X1, asm.X2, offArg+8)
	save(asm.X3, asm.X4, offArg+24)
	b.Str(asm.X, asm.X5, asm.At(asm.SP, offArg+40))
	b.Offset(asm.X5, offArg+40-frameSize)
	// The stub's branch back to the site, one instruction after the one it will return to, tells where the site is.
	b.Load(4, true, asm.X17, asm.At(asm.X30, 4))
	b.Sbfx(asm.X, asm.X17, asm.X17, 0, 26)
	b.Add(asm.X, asm.X17, asm.X30, asm.Shifted{Reg: asm.X17, Kind: asm.LSL, Amount: 2})
	b.Add(asm.X, asm.X17, asm.X17, asm.Imm(4))
	b.Stp(asm.X, asm.X16, asm.X17, asm.At(asm.SP, offFP))
	b.Escape(offsetOf(returnColumn, offSite-frameSize))
	b.Mrs(asm.X16, asm.NZCV)
	b.Adr(asm.X17, landing)
	b.Stp(asm.X, asm.X17, asm.X16, asm.At(asm.SP, 0))
	b.Add(asm.X, asm.X29, asm.SP, asm.Imm(offFP))
	b.MovReg(asm.X, asm.X28, asm.SP)
	b.DefCfa(asm.X28, frameSize)
	b.MovReg(asm.X, asm.X0, asm.SP)
	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(scratchSize))
	b.MovReg(asm.X, asm.X1, asm.SP)
	b.BLSym("svcrelay_dispatch")
	b.MovReg(asm.X, asm.SP, asm.X28)
	b.Ldr(asm.X, asm.X30, asm.At(asm.SP, offStub))
	b.Cbz(asm.X, asm.X1, answered)
	b.Bind(declined)
	b.PopReturn()
	b.Add(asm.X, asm.X30, asm.X30, asm.Imm(elsewhereMark))
	b.B(tail)

	// A check failed in compiled code: sp is x28 again, x0 says which.
	b.Bind(landing)
	b.MovReg(asm.X, asm.X1, asm.X28)
	b.BLSym("svcrelay_aborted")
	kept(b.Ldp, b.Ldr)
	b.Ldr(asm.X, asm.X30, asm.At(asm.SP, offStub))
	b.PopReturnsTo(asm.X30)
	b.B(declined)

	b.Bind(answered)
	b.Str(asm.X, asm.X0, asm.At(asm.SP, offArg))
	b.Bind(tail)
	b.Ldr(asm.X, asm.X16, asm.At(asm.SP, offFlags))
	b.Msr(asm.NZCV, asm.X16)
	b.Ldr(asm.X, asm.X17, asm.At(asm.SP, offLR))
	b.Ldp(asm.X, asm.X8, asm.X0, asm.At(asm.SP, offNr))
	b.SameValue(asm.X8)
	b.Str(asm.X, asm.X17, asm.At(asm.SP, offSaved+8)) // where the stub looks for x30
	b.Ldp(asm.X, asm.X1, asm.X2, asm.At(asm.SP, offArg+8))
	b.Ldp(asm.X, asm.X3, asm.X4, asm.At(asm.SP, offArg+24))
	b.Ldr(asm.X, asm.X5, asm.At(asm.SP, offArg+40))
	b.Ldp(asm.X, asm.X6, asm.X7, asm.At(asm.SP, offX6))
	for r := asm.X9; r < asm.X17; r += 2 {
		b.Ldp(asm.X, r, r+1, asm.At(asm.SP, offX9+8*int64(r-asm.X9)))
	}
	b.Ldr(asm.X, asm.X29, asm.At(asm.SP, offSaved))
	b.DefCfa(asm.SP, frameSize)
	b.Ldp(asm.X, asm.X17, asm.X28, asm.At(asm.SP, offX17))
	b.Add(asm.X, asm.SP, asm.SP, asm.Imm(offSaved))
	b.RestoreState()
	b.RememberState()
	b.ValExpression(returnColumn, afterSite(unmarkedReg30))
	b.Tbnz(asm.X30, 0, elsewhere)
	b.Ret()

	b.Bind(elsewhere)
	b.Add(asm.X, asm.X30, asm.X30, asm.Imm(patcher.StubDeclined-elsewhereMark))
	b.ValExpression(returnColumn, afterSite(beforeReg30(patcher.StubDeclined)))
	b.Br(asm.X30)
	b.RestoreState()

	b.Bind(probe)
	b.RememberState()
	probeStack(b, deep)
	b.RestoreState()
}

// kept stores or loads x19 to x27, which compiled code does not give back when it stops at a failed check.
func kept(pair func(asm.Width, asm.Reg, asm.Reg, asm.Addr), one func(asm.Width, asm.Reg, asm.Addr)) {
	for r := asm.X19; r < asm.X27; r += 2 {
		pair(asm.X, r, r+1, asm.At(asm.SP, offKept+8*int64(r-asm.X19)))
	}
	one(asm.X, asm.X27, asm.At(asm.SP, offKept+64))
}

// probeStack asks the kernel whether there is enough stack, with nothing but the stub's 64 bytes to work in: not on an
// alternate signal stack that ends too soon, and the memory is there and can be written (nocgo.Writable explains the
// second question: it writes where an answer would). It goes on at deep or back to the stub, which then runs the svc
// itself. No PRoot traps these questions, so that they are asked from here, where an unwinder finds its way; no flags
// change. Where they must not be asked, or an answer would mean nothing (svcrelay_unasked), there is not enough.
func probeStack(b *asm.Builder, deep asm.Label) {
	const sigaltstack, sigprocmask, onStack = 132, 135, 0
	no, elsewhere, back := b.NewLabel(), b.NewLabel(), b.NewLabel()
	ask := func(nr uint64) {
		b.MovImm(asm.X, asm.X8, nr)
		b.Svc(0)
	}
	b.Stp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, 16))
	b.Bfi(asm.X, asm.X30, asm.X8, 48, 16) // one place for both: addresses have 48 bits
	b.ValExpression(returnColumn, afterSite(packedReg30))
	b.Str(asm.X, asm.X30, asm.At(asm.SP, 32))
	b.ValExpression(returnColumn, afterSite(packedReturn))
	b.Adrp(asm.X1, "svcrelay_unasked", 0)
	b.LoadLo12(8, false, asm.X1, asm.X1, "svcrelay_unasked", 0)
	b.Cbnz(asm.X, asm.X1, back)
	b.MovImm(asm.X, asm.X0, 0)
	b.Add(asm.X, asm.X1, asm.SP, asm.Imm(40)) // stack_t: ss_sp, ss_flags, ss_size
	ask(sigaltstack)
	b.Cbnz(asm.X, asm.X0, no)
	b.Ldr(asm.W, asm.X1, asm.At(asm.SP, 48))
	b.Tbz(asm.X1, onStack, elsewhere)
	b.Ldr(asm.X, asm.X1, asm.At(asm.SP, 40))
	b.Sub(asm.X, asm.X1, asm.SP, asm.Extended{Reg: asm.X1, Kind: asm.UXTX})
	b.Lsr(asm.X, asm.X1, asm.X1, asm.Imm(12)) // needed
	b.Cbz(asm.X, asm.X1, no)
	b.Bind(elsewhere)
	b.Stp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, 40))
	b.MovImm(asm.X, asm.X1, 0)
	b.Sub(asm.X, asm.X2, asm.SP, asm.Imm(needed-patcher.StubFrame))
	b.MovImm(asm.X, asm.X3, 8)
	ask(sigprocmask)
	b.Ldp(asm.X, asm.X2, asm.X3, asm.At(asm.SP, 40))
	b.MovReg(asm.X, asm.X1, asm.X0)
	b.Bind(back)
	b.Ldr(asm.X, asm.X30, asm.At(asm.SP, 32))
	b.Lsr(asm.X, asm.X8, asm.X30, asm.Imm(48))
	b.Ubfx(asm.X, asm.X30, asm.X30, 0, 48)
	b.ValExpression(returnColumn, afterSite(dwarfReg30))
	b.MovReg(asm.X, asm.X29, asm.X1)
	b.Ldp(asm.X, asm.X0, asm.X1, asm.At(asm.SP, 16))
	b.Cbz(asm.X, asm.X29, deep)
	b.Str(asm.X, asm.X16, asm.At(asm.SP, 16))
	b.PopReturn()
	b.Ldr(asm.X, asm.X16, asm.At(asm.SP, 16))
	b.Add(asm.X, asm.X30, asm.X30, asm.Imm(patcher.StubPoor))
	b.RememberState()
	b.ValExpression(returnColumn, afterSite(beforeReg30(patcher.StubPoor)))
	b.Br(asm.X30)
	b.RestoreState()
	b.Bind(no)
	b.ValExpression(returnColumn, afterSite(packedReturn))
	b.MovImm(asm.X, asm.X1, 1)
	b.B(back)
}

// offsetOf encodes DW_CFA_offset_extended_sf for a column beyond x30.
func offsetOf(col byte, off int64) []byte {
	const dataAlign = -8
	v := off / dataAlign
	out := []byte{0x11, col}
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}

// Where the stub's return address is, as DWARF expressions: in x30, or with the number above it in the stub's memory.
var (
	unmarkedReg30 = []byte{0x70 + 30, 0, 0x31, 0x20, 0x1a}                                            // DW_OP_breg30 0, lit1, not, and
	dwarfReg30    = []byte{0x70 + 30, 0}                                                              // DW_OP_breg30 0
	packedReg30   = []byte{0x70 + 30, 0, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x1a}        // DW_OP_breg30 0, const8u, and
	packedReturn  = []byte{0x70 + 31, 32, 0x06, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x1a} // DW_OP_breg31 32, deref, const8u, and
)

// beforeReg30 is a DWARF expression for the stub's return address where x30 is so far beyond it.
func beforeReg30(n byte) []byte { return []byte{0x70 + 30, -n & 0x7f} }

// afterSite is a DWARF expression for the address after the site: where the branch goes that is the second instruction
// from the stub's return address.
func afterSite(stub []byte) []byte {
	return append(append([]byte{}, stub...),
		0x23, 4, // DW_OP_plus_uconst
		0x12,    // DW_OP_dup
		0x94, 4, // DW_OP_deref_size
		0x08, 38, 0x24, // DW_OP_const1u, DW_OP_shl
		0x08, 36, 0x26, // DW_OP_const1u, DW_OP_shra
		0x22) // DW_OP_plus
}
