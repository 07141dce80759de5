package main

import "svcrelay/tools/asmgen/asm"

// Registers of scan: the vector registers are among those that a function may change (AAPCS64). It only ever runs as
// part of the constructor, which the dynamic linker calls as a function, and never in a relay.
const (
	scanAt, scanEnd, scanLast, scanWord = asm.X1, asm.X2, asm.X4, asm.X5

	scanWant  = asm.X3
	scanAll   = 16 // the instruction looked for, four times
	scanFirst = 17 // first of the registers that text is loaded to
	scanRegs  = 8
	scanBlock = 16 * scanRegs
)

// scan finds the next svc #0: x0 points to the range, both ends multiples of 4; the answer is its address or the end.
// Most of what the library adds to a process's start is spent here, hence 32 instructions at a time.
func scan(b *asm.Builder) {
	const svc = 0xd4000001
	loop, inside, tail, done := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()
	b.Ldp(asm.X, scanAt, scanEnd, asm.At(asm.X0, 0))
	b.MovImm(asm.W, scanWant, svc)
	dup(b, scanAll, uint32(scanWant))
	b.Sub(asm.X, scanLast, scanEnd, asm.Imm(scanBlock))
	b.Cmp(asm.X, scanAt, scanLast)
	b.BCond(asm.HI, tail)

	b.Bind(loop)
	for i := asm.VReg(0); i < scanRegs; i += 2 {
		b.LdpQ(scanFirst+i, scanFirst+i+1, asm.At(scanAt, 16*int64(i)))
	}
	for i := uint32(scanFirst); i < scanFirst+scanRegs; i++ {
		equal(b, i, i, scanAll)
	}
	for step := uint32(1); step < scanRegs; step *= 2 {
		for i := uint32(scanFirst); i < scanFirst+scanRegs; i += 2 * step {
			or(b, i, i, i+step)
		}
	}
	fold(b, scanFirst)
	toGeneral(b, uint32(scanWord), scanFirst)
	b.Cbnz(asm.X, scanWord, inside)
	b.Add(asm.X, scanAt, scanAt, asm.Imm(scanBlock))
	b.Cmp(asm.X, scanAt, scanLast)
	b.BCond(asm.LS, loop)

	b.Bind(tail)
	b.Cmp(asm.X, scanAt, scanEnd)
	b.BCond(asm.HS, done)
	b.Ldr(asm.W, scanWord, asm.At(scanAt, 0))
	b.Cmp(asm.W, scanWord, scanWant)
	b.BCond(asm.EQ, done)
	b.Add(asm.X, scanAt, scanAt, asm.Imm(4))
	b.B(tail)

	b.Bind(inside) // it is in this block
	b.Ldr(asm.W, scanWord, asm.Post(scanAt, 4))
	b.Cmp(asm.W, scanWord, scanWant)
	b.BCond(asm.NE, inside)
	b.Sub(asm.X, scanAt, scanAt, asm.Imm(4))
	b.Bind(done)
	b.MovReg(asm.X, asm.X0, scanAt)
	b.Ret()
}

// dup is dup vd.4s, wn.
func dup(b *asm.Builder, d, n uint32) { b.Word(0x4e040c00 | n<<5 | d) }

// equal is cmeq vd.4s, vn.4s, vm.4s.
func equal(b *asm.Builder, d, n, m uint32) { b.Word(0x6ea08c00 | m<<16 | n<<5 | d) }

// or is orr vd.16b, vn.16b, vm.16b.
func or(b *asm.Builder, d, n, m uint32) { b.Word(0x4ea01c00 | m<<16 | n<<5 | d) }

// fold is umaxp vd.4s, vd.4s, vd.4s: what is anywhere in the register is in its lower half then.
func fold(b *asm.Builder, d uint32) { b.Word(0x6ea0a400 | d<<16 | d<<5 | d) }

// toGeneral is fmov xd, dn.
func toGeneral(b *asm.Builder, d, n uint32) { b.Word(0x9e660000 | n<<5 | d) }
