package asm

import (
	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// SysReg is a system register as op0:op1:CRn:CRm:op2 (without op0's upper bit).
type SysReg uint32

func sysReg(op0, op1, crn, crm, op2 uint32) SysReg {
	return SysReg((op0&1)<<14 | op1<<11 | crn<<7 | crm<<3 | op2)
}

// The system registers that user code may touch and that are needed here.
var (
	NZCV      = sysReg(3, 3, 4, 2, 0)
	FPCR      = sysReg(3, 3, 4, 4, 0)
	FPSR      = sysReg(3, 3, 4, 4, 1)
	CTREL0    = sysReg(3, 3, 0, 0, 1)
	DCZIDEL0  = sysReg(3, 3, 0, 0, 7)
	TPIDREL0  = sysReg(3, 3, 13, 0, 2)
	CNTFRQEL0 = sysReg(3, 3, 14, 0, 0)
	CNTVCTEL0 = sysReg(3, 3, 14, 0, 2)
	SVCR      = sysReg(3, 3, 4, 2, 2)
)

// Mrs reads a system register.
func (b *Builder) Mrs(rt Reg, r SysReg) {
	if b.noSP("mrs", rt) {
		b.Word(encSysReg(true, r, rt))
	}
}

// Msr writes a system register.
func (b *Builder) Msr(r SysReg, rt Reg) {
	if b.noSP("msr", rt) {
		b.Word(encSysReg(false, r, rt))
	}
}

// Barrier is the domain of a dmb or dsb.
type Barrier uint8

// The barrier domains.
const (
	ISHLD Barrier = 9
	ISHST Barrier = 10
	ISH   Barrier = 11
	SYLD  Barrier = 13
	SYST  Barrier = 14
	SY    Barrier = 15
)

// Dmb is a data memory barrier.
func (b *Builder) Dmb(d Barrier) { b.immOp(arm64.ADMB, int64(d&15)) }

// Dsb is a data synchronisation barrier.
func (b *Builder) Dsb(d Barrier) { b.immOp(arm64.ADSB, int64(d&15)) }

// Isb is an instruction synchronisation barrier.
func (b *Builder) Isb() { b.immOp(arm64.AISB, 15) }

func (b *Builder) immOp(as obj.As, v int64) {
	p := b.prog(as)
	p.From = constAddr(v)
	b.addProg(p)
}

// Svc calls the kernel.
func (b *Builder) Svc(imm uint16) { b.Word(0xd4000001 | uint32(imm)<<5) }

// Brk stops in a debugger.
func (b *Builder) Brk(imm uint16) { b.Word(0xd4200000 | uint32(imm)<<5) }

// Udf is permanently undefined.
func (b *Builder) Udf(imm uint16) { b.Data(uint32(imm)) }

// Hint is a hint instruction by its number.
func (b *Builder) Hint(n uint8) { b.Word(0xd503201f | uint32(n&0x7f)<<5) }

// Nop does nothing.
func (b *Builder) Nop() { b.Hint(0) }

// Yield hints that the thread spins.
func (b *Builder) Yield() { b.Hint(1) }

// BTIKind is what may branch to a bti.
type BTIKind uint8

// The branch targets: calls, jumps, both.
const (
	BTIC  BTIKind = 34
	BTIJ  BTIKind = 36
	BTIJC BTIKind = 38
)

// Bti marks a target of indirect branches.
func (b *Builder) Bti(k BTIKind) { b.Hint(uint8(k)) }

// DcCvau cleans the data cache line of the address in rt to the point of unification.
func (b *Builder) DcCvau(rt Reg) { b.sys("dc cvau", 0xd50b7b20, rt) }

// DcCivac cleans and invalidates the data cache line of the address in rt.
func (b *Builder) DcCivac(rt Reg) { b.sys("dc civac", 0xd50b7e20, rt) }

// IcIvau invalidates the instruction cache line of the address in rt.
func (b *Builder) IcIvau(rt Reg) { b.sys("ic ivau", 0xd50b7520, rt) }

func (b *Builder) sys(what string, word uint32, rt Reg) {
	if b.noSP(what, rt) {
		b.Word(word | rt.num())
	}
}
