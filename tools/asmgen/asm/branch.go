package asm

import (
	"debug/elf"

	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// Reaches of the branch encodings, a little shorter than the field as
// golang-asm starts to rewrite branches there.
const (
	reachB    = 1<<27 - 16
	reachCond = 1<<20 - 16
	reachTest = 1<<15 - 16
	reachAdr  = 1<<20 - 16
)

// B jumps to l.
func (b *Builder) B(l Label) { b.branch(b.prog(arm64.AB), nil, l, reachB) }

// BL calls l.
func (b *Builder) BL(l Label) { b.branch(b.prog(arm64.ABL), nil, l, reachB) }

var condOps = [...]obj.As{
	arm64.ABEQ, arm64.ABNE, arm64.ABHS, arm64.ABLO, arm64.ABMI, arm64.ABPL, arm64.ABVS,
	arm64.ABVC, arm64.ABHI, arm64.ABLS, arm64.ABGE, arm64.ABLT, arm64.ABGT, arm64.ABLE,
}

// BCond jumps to l if c holds. A target beyond 1 MiB costs one more instruction.
func (b *Builder) BCond(c Cond, l Label) {
	if b.cond(c) {
		b.branch(b.prog(condOps[c]), b.prog(condOps[c.Invert()]), l, reachCond)
	}
}

// Cbz jumps to l if rt is zero. A target beyond 1 MiB costs one more instruction.
func (b *Builder) Cbz(w Width, rt Reg, l Label) {
	b.cb(pick(w, arm64.ACBZ, arm64.ACBZW), pick(w, arm64.ACBNZ, arm64.ACBNZW), w, rt, l)
}

// Cbnz jumps to l if rt is not zero.
func (b *Builder) Cbnz(w Width, rt Reg, l Label) {
	b.cb(pick(w, arm64.ACBNZ, arm64.ACBNZW), pick(w, arm64.ACBZ, arm64.ACBZW), w, rt, l)
}

func (b *Builder) cb(as, inverse obj.As, w Width, rt Reg, l Label) {
	if !b.width(w) || !b.noSP("cbz/cbnz", rt) {
		return
	}
	p, q := b.prog(as), b.prog(inverse)
	p.From, q.From = regAddr(rt), regAddr(rt)
	b.branch(p, q, l, reachCond)
}

// Tbz jumps to l if the bit of rt is zero. A target beyond 32 KiB costs one more instruction.
func (b *Builder) Tbz(rt Reg, bit int, l Label) { b.tb(arm64.ATBZ, arm64.ATBNZ, rt, bit, l) }

// Tbnz jumps to l if the bit of rt is one.
func (b *Builder) Tbnz(rt Reg, bit int, l Label) { b.tb(arm64.ATBNZ, arm64.ATBZ, rt, bit, l) }

func (b *Builder) tb(as, inverse obj.As, rt Reg, bit int, l Label) {
	if !b.noSP("tbz/tbnz", rt) {
		return
	}
	if bit < 0 || bit > 63 {
		b.fail("tbz/tbnz: bit %d", bit)
		return
	}
	p, q := b.prog(as), b.prog(inverse)
	for _, p := range []*obj.Prog{p, q} {
		p.From = constAddr(int64(bit))
		p.Reg = gr(rt)
	}
	b.branch(p, q, l, reachTest)
}

// branch appends p, a jump to l; inverse replaces it, with a plain jump, beyond its reach.
func (b *Builder) branch(p, inverse *obj.Prog, l Label, reach int64) {
	p.To.Type = obj.TYPE_BRANCH
	it := item{kind: itemBranch, prog: p, label: l.id, reach: reach}
	if inverse != nil {
		inverse.To.Type = obj.TYPE_BRANCH
		it.far, it.far2 = inverse, b.prog(arm64.AB)
		it.far2.To.Type = obj.TYPE_BRANCH
	}
	b.items = append(b.items, it)
}

// Adr sets rd to the address of l, which must be within 1 MiB.
func (b *Builder) Adr(rd Reg, l Label) {
	// golang-asm resolves the wrong operand of adr.
	if b.noSP("adr", rd) {
		b.items = append(b.items, item{kind: itemAdr, word: encAdr(rd, 0), label: l.id, reach: reachAdr})
	}
}

// LdrLit loads w bits from the place of l, which must be within 1 MiB.
func (b *Builder) LdrLit(w Width, rt Reg, l Label) {
	opc := uint32(0)
	if w == X {
		opc = 1
	}
	b.ldrLit(opc, rt, l)
}

// LdrswLit loads 32 bits, sign-extended, from the place of l.
func (b *Builder) LdrswLit(rt Reg, l Label) { b.ldrLit(2, rt, l) }

func (b *Builder) ldrLit(opc uint32, rt Reg, l Label) {
	if b.noSP("ldr", rt) {
		b.items = append(b.items, item{kind: itemLit, word: encLdrLit(opc, rt, 0), label: l.id, reach: reachAdr})
	}
}

// Br jumps to the address in rn.
func (b *Builder) Br(rn Reg) { b.toReg(arm64.AB, rn) }

// Blr calls the address in rn.
func (b *Builder) Blr(rn Reg) { b.toReg(arm64.ABL, rn) }

// Ret returns to the address in X30.
func (b *Builder) Ret() { b.toReg(obj.ARET, X30) }

// RetReg returns to the address in rn.
func (b *Builder) RetReg(rn Reg) { b.toReg(obj.ARET, rn) }

func (b *Builder) toReg(as obj.As, rn Reg) {
	if !b.noSP("branch", rn) {
		return
	}
	p := b.prog(as)
	p.To = obj.Addr{Type: obj.TYPE_MEM, Reg: gr(rn)}
	b.addProg(p)
}

// BSym jumps to a symbol.
func (b *Builder) BSym(sym string) {
	b.reloc(0x5<<26, elf.R_AARCH64_JUMP26, sym, 0)
}

// BLSym calls a symbol.
func (b *Builder) BLSym(sym string) {
	b.reloc(0x25<<26, elf.R_AARCH64_CALL26, sym, 0)
}
