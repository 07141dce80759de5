package asm

import (
	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// And sets rd to rn & op (Reg, Shifted or bitmask Imm; rd may be SP with Imm).
func (b *Builder) And(w Width, rd, rn Reg, op Operand) {
	b.logic("and", pick(w, arm64.AAND, arm64.AANDW), w, rd, rn, op, true)
}

// Orr sets rd to rn | op.
func (b *Builder) Orr(w Width, rd, rn Reg, op Operand) {
	b.logic("orr", pick(w, arm64.AORR, arm64.AORRW), w, rd, rn, op, true)
}

// Eor sets rd to rn ^ op.
func (b *Builder) Eor(w Width, rd, rn Reg, op Operand) {
	b.logic("eor", pick(w, arm64.AEOR, arm64.AEORW), w, rd, rn, op, true)
}

// Ands is And that sets the flags.
func (b *Builder) Ands(w Width, rd, rn Reg, op Operand) {
	b.logic("ands", pick(w, arm64.AANDS, arm64.AANDSW), w, rd, rn, op, false)
}

// Tst sets the flags of rn & op.
func (b *Builder) Tst(w Width, rn Reg, op Operand) { b.Ands(w, XZR, rn, op) }

// Bic sets rd to rn &^ op (Reg or Shifted; an Imm is complemented into and).
func (b *Builder) Bic(w Width, rd, rn Reg, op Operand) {
	if v, ok := op.(Imm); ok {
		b.And(w, rd, rn, ^v)
		return
	}
	b.logic("bic", pick(w, arm64.ABIC, arm64.ABICW), w, rd, rn, op, false)
}

// Bics is Bic that sets the flags.
func (b *Builder) Bics(w Width, rd, rn Reg, op Operand) {
	if v, ok := op.(Imm); ok {
		b.Ands(w, rd, rn, ^v)
		return
	}
	b.logic("bics", pick(w, arm64.ABICS, arm64.ABICSW), w, rd, rn, op, false)
}

// Orn sets rd to rn | ^op (Reg or Shifted).
func (b *Builder) Orn(w Width, rd, rn Reg, op Operand) {
	b.logic("orn", pick(w, arm64.AORN, arm64.AORNW), w, rd, rn, op, false)
}

// Eon sets rd to rn ^ ^op (Reg or Shifted).
func (b *Builder) Eon(w Width, rd, rn Reg, op Operand) {
	b.logic("eon", pick(w, arm64.AEON, arm64.AEONW), w, rd, rn, op, false)
}

// Mvn sets rd to ^op (Reg or Shifted).
func (b *Builder) Mvn(w Width, rd Reg, op Operand) { b.Orn(w, rd, XZR, op) }

func (b *Builder) logic(what string, as obj.As, w Width, rd, rn Reg, op Operand, spDest bool) {
	if !b.width(w) {
		return
	}
	switch op := op.(type) {
	case Imm:
		if as == arm64.AORN || as == arm64.AORNW || as == arm64.AEON || as == arm64.AEONW {
			b.fail("%s: no immediate form", what)
			return
		}
		if !b.noSP(what, rn) || !spDest && !b.noSP(what, rd) {
			return
		}
		if spDest && rd == XZR {
			b.fail("%s: an immediate form writes sp, not xzr", what)
			return
		}
		if _, ok := bitmask(w, uint64(op)); !ok {
			b.fail("%s: %#x is not a bitmask immediate", what, uint64(op))
			return
		}
		v := int64(op)
		if w == W {
			// golang-asm tests for a bitmask on 64 bits and leaves the doubling to its front end.
			v = int64(uint64(uint32(v)) | uint64(uint32(v))<<32)
		}
		b.rrr(as, rd, rn, constAddr(v))
	case Reg:
		b.three(what, as, rd, rn, op)
	case Shifted:
		if !b.noSP(what, rd, rn, op.Reg) {
			return
		}
		if int(op.Amount) >= int(w) || op.Kind > ROR {
			b.fail("%s: shift %d by %d is not encodable", what, op.Kind, op.Amount)
			return
		}
		b.rrr(as, rd, rn, shiftAddr(op))
	default:
		b.fail("%s: operand %T", what, op)
	}
}

// Lsl shifts rn left by op: a Reg (taken modulo the width) or an Imm below the width.
func (b *Builder) Lsl(w Width, rd, rn Reg, op Operand) {
	b.shift("lsl", pick(w, arm64.ALSL, arm64.ALSLW), w, rd, rn, op)
}

// Lsr shifts rn right by op, filling with zeros.
func (b *Builder) Lsr(w Width, rd, rn Reg, op Operand) {
	b.shift("lsr", pick(w, arm64.ALSR, arm64.ALSRW), w, rd, rn, op)
}

// Asr shifts rn right by op, filling with the sign.
func (b *Builder) Asr(w Width, rd, rn Reg, op Operand) {
	b.shift("asr", pick(w, arm64.AASR, arm64.AASRW), w, rd, rn, op)
}

// Ror rotates rn right by op.
func (b *Builder) Ror(w Width, rd, rn Reg, op Operand) {
	b.shift("ror", pick(w, arm64.AROR, arm64.ARORW), w, rd, rn, op)
}

func (b *Builder) shift(what string, as obj.As, w Width, rd, rn Reg, op Operand) {
	if !b.width(w) {
		return
	}
	switch op := op.(type) {
	case Reg:
		b.three(what, as, rd, rn, op)
	case Imm:
		if !b.noSP(what, rd, rn) {
			return
		}
		if op < 0 || int64(op) >= int64(w) {
			b.fail("%s: shift by %d", what, op)
			return
		}
		if op == 0 {
			// golang-asm turns $0 into the zero register here.
			b.MovReg(w, rd, rn)
			return
		}
		b.rrr(as, rd, rn, constAddr(int64(op)))
	default:
		b.fail("%s: operand %T", what, op)
	}
}

// Ubfx sets rd to bits lsb..lsb+n-1 of rn, zero-extended.
func (b *Builder) Ubfx(w Width, rd, rn Reg, lsb, n int) {
	if b.field("ubfx", w, rd, rn, lsb, n) {
		b.bitfield(2, w, rd, rn, lsb, lsb+n-1)
	}
}

// Sbfx sets rd to bits lsb..lsb+n-1 of rn, sign-extended.
func (b *Builder) Sbfx(w Width, rd, rn Reg, lsb, n int) {
	if b.field("sbfx", w, rd, rn, lsb, n) {
		b.bitfield(0, w, rd, rn, lsb, lsb+n-1)
	}
}

// Bfxil replaces the low n bits of rd by bits lsb..lsb+n-1 of rn.
func (b *Builder) Bfxil(w Width, rd, rn Reg, lsb, n int) {
	if b.field("bfxil", w, rd, rn, lsb, n) {
		b.bitfield(1, w, rd, rn, lsb, lsb+n-1)
	}
}

// Bfi replaces bits lsb..lsb+n-1 of rd by the low n bits of rn.
func (b *Builder) Bfi(w Width, rd, rn Reg, lsb, n int) {
	if b.field("bfi", w, rd, rn, lsb, n) {
		b.bitfield(1, w, rd, rn, (int(w)-lsb)%int(w), n-1)
	}
}

// Ubfiz sets rd to the low n bits of rn shifted left by lsb, zero elsewhere.
func (b *Builder) Ubfiz(w Width, rd, rn Reg, lsb, n int) {
	if b.field("ubfiz", w, rd, rn, lsb, n) {
		b.bitfield(2, w, rd, rn, (int(w)-lsb)%int(w), n-1)
	}
}

// Sbfiz sets rd to the sign-extended low n bits of rn shifted left by lsb.
func (b *Builder) Sbfiz(w Width, rd, rn Reg, lsb, n int) {
	if b.field("sbfiz", w, rd, rn, lsb, n) {
		b.bitfield(0, w, rd, rn, (int(w)-lsb)%int(w), n-1)
	}
}

// bitfield appends sbfm (opc 0), bfm (1) or ubfm (2).
func (b *Builder) bitfield(opc int, w Width, rd, rn Reg, immr, imms int) {
	if immr == 0 || imms == 0 {
		// golang-asm turns $0 into the zero register here.
		b.Word(encBitfield(uint32(opc), w, rd, rn, immr, imms))
		return
	}
	ops := [3][2]obj.As{{arm64.ASBFM, arm64.ASBFMW}, {arm64.ABFM, arm64.ABFMW}, {arm64.AUBFM, arm64.AUBFMW}}
	p := b.prog(pick(w, ops[opc][0], ops[opc][1]))
	p.From = constAddr(int64(immr))
	p.Reg = gr(rn)
	p.SetFrom3(constAddr(int64(imms)))
	p.To = regAddr(rd)
	b.addProg(p)
}

func (b *Builder) field(what string, w Width, rd, rn Reg, lsb, n int) bool {
	if !b.width(w) || !b.noSP(what, rd, rn) {
		return false
	}
	if lsb < 0 || n < 1 || lsb+n > int(w) {
		b.fail("%s: bits %d..%d of a %d-bit register", what, lsb, lsb+n-1, w)
		return false
	}
	return true
}

// Extr sets rd to the low half of rn:rm shifted right by lsb.
func (b *Builder) Extr(w Width, rd, rn, rm Reg, lsb int) {
	if !b.width(w) || !b.noSP("extr", rd, rn, rm) {
		return
	}
	if lsb < 0 || lsb >= int(w) {
		b.fail("extr: shift by %d", lsb)
		return
	}
	b.Word(encExtr(w, rd, rn, rm, lsb))
}

// Uxtb zero-extends a byte to 64 bits.
func (b *Builder) Uxtb(rd, rn Reg) { b.Ubfx(W, rd, rn, 0, 8) }

// Uxth zero-extends 16 bits to 64 bits.
func (b *Builder) Uxth(rd, rn Reg) { b.Ubfx(W, rd, rn, 0, 16) }

// Uxtw zero-extends 32 bits to 64 bits.
func (b *Builder) Uxtw(rd, rn Reg) { b.MovReg(W, rd, rn) }

// Sxtb sign-extends a byte to w bits.
func (b *Builder) Sxtb(w Width, rd, rn Reg) { b.Sbfx(w, rd, rn, 0, 8) }

// Sxth sign-extends 16 bits to w bits.
func (b *Builder) Sxth(w Width, rd, rn Reg) { b.Sbfx(w, rd, rn, 0, 16) }

// Sxtw sign-extends 32 bits to 64 bits.
func (b *Builder) Sxtw(rd, rn Reg) { b.Sbfx(X, rd, rn, 0, 32) }
