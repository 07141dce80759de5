package asm

import (
	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// pick chooses between the X and W forms of a golang-asm opcode.
func pick(w Width, x, wide32 obj.As) obj.As {
	if w == X {
		return x
	}
	return wide32
}

func regAddr(r Reg) obj.Addr { return obj.Addr{Type: obj.TYPE_REG, Reg: gr(r)} }

func constAddr(v int64) obj.Addr { return obj.Addr{Type: obj.TYPE_CONST, Offset: v} }

func (b *Builder) width(w Width) bool {
	if w != W && w != X {
		b.fail("width %d is neither W nor X", w)
		return false
	}
	return true
}

// MovReg copies rn to rd; either may be SP.
func (b *Builder) MovReg(w Width, rd, rn Reg) {
	if !b.width(w) {
		return
	}
	switch {
	case rd == SP || rn == SP:
		if rd == XZR || rn == XZR {
			b.fail("mov: no form between sp and xzr")
			return
		}
		b.Word(encAddSubImm(w, false, false, rd, rn, 0))
	default:
		b.Orr(w, rd, XZR, rn)
	}
}

// MovImm sets rd to v (its low 32 bits for W, the rest zero) with as few of
// movz, movn, movk and orr as it takes: at most four instructions.
func (b *Builder) MovImm(w Width, rd Reg, v uint64) {
	if !b.width(w) || !b.noSP("mov", rd) {
		return
	}
	n := 4
	if w == W {
		v &= 1<<32 - 1
		n = 2
	}
	var zeros, ones int
	for i := range n {
		switch uint16(v >> (16 * i)) {
		case 0:
			zeros++
		case 0xffff:
			ones++
		}
	}
	if zeros < n-1 && ones < n-1 && BitmaskOK(w, v) {
		b.Orr(w, rd, XZR, Imm(int64(v)))
		return
	}
	invert := ones > zeros
	skip := uint16(0)
	if invert {
		skip = 0xffff
	}
	first := true
	for i := range n {
		h := uint16(v >> (16 * i))
		if h == skip && !(first && i == n-1) {
			continue
		}
		switch {
		case !first:
			b.Movk(w, rd, h, 16*i)
		case invert:
			b.Movn(w, rd, ^h, 16*i)
		default:
			b.Movz(w, rd, h, 16*i)
		}
		first = false
	}
}

// Movz sets rd to imm<<shift; shift is a multiple of 16.
func (b *Builder) Movz(w Width, rd Reg, imm uint16, shift int) { b.movWide(2, w, rd, imm, shift) }

// Movn sets rd to the complement of imm<<shift.
func (b *Builder) Movn(w Width, rd Reg, imm uint16, shift int) { b.movWide(0, w, rd, imm, shift) }

// Movk replaces 16 bits of rd at shift.
func (b *Builder) Movk(w Width, rd Reg, imm uint16, shift int) { b.movWide(3, w, rd, imm, shift) }

func (b *Builder) movWide(opc uint32, w Width, rd Reg, imm uint16, shift int) {
	if !b.width(w) || !b.noSP("mov", rd) {
		return
	}
	if shift < 0 || shift%16 != 0 || shift >= int(w) {
		b.fail("mov: shift %d is not a multiple of 16 below %d", shift, w)
		return
	}
	b.Word(encMovWide(opc, w, rd, imm, shift))
}

// addSubOps are the golang-asm opcodes of add and sub: index 1 for sub, 2 for flags.
var addSubOps = [4][2]obj.As{
	{arm64.AADD, arm64.AADDW}, {arm64.ASUB, arm64.ASUBW},
	{arm64.AADDS, arm64.AADDSW}, {arm64.ASUBS, arm64.ASUBSW},
}

// Add sets rd to rn + op. With an Imm or Extended op, rd and rn may be SP.
func (b *Builder) Add(w Width, rd, rn Reg, op Operand) { b.addSub(w, false, false, rd, rn, op) }

// Sub sets rd to rn - op. With an Imm or Extended op, rd and rn may be SP.
func (b *Builder) Sub(w Width, rd, rn Reg, op Operand) { b.addSub(w, true, false, rd, rn, op) }

// Adds is Add that sets the flags.
func (b *Builder) Adds(w Width, rd, rn Reg, op Operand) { b.addSub(w, false, true, rd, rn, op) }

// Subs is Sub that sets the flags.
func (b *Builder) Subs(w Width, rd, rn Reg, op Operand) { b.addSub(w, true, true, rd, rn, op) }

// Cmp sets the flags of rn - op.
func (b *Builder) Cmp(w Width, rn Reg, op Operand) { b.addSub(w, true, true, XZR, rn, op) }

// Cmn sets the flags of rn + op.
func (b *Builder) Cmn(w Width, rn Reg, op Operand) { b.addSub(w, false, true, XZR, rn, op) }

// Neg sets rd to -op (a Reg or Shifted).
func (b *Builder) Neg(w Width, rd Reg, op Operand) { b.addSub(w, true, false, rd, XZR, op) }

func (b *Builder) addSub(w Width, sub, flags bool, rd, rn Reg, op Operand) {
	if !b.width(w) {
		return
	}
	if flags && rd == SP {
		b.fail("adds/subs: the result cannot be sp")
		return
	}
	i := 0
	if sub {
		i = 1
	}
	if flags {
		i += 2
	}
	as := pick(w, addSubOps[i][0], addSubOps[i][1])
	switch op := op.(type) {
	case Imm:
		v := int64(op)
		if !AddSubOK(v) {
			b.fail("add/sub: immediate %d does not fit", v)
			return
		}
		if rn == XZR || rd == XZR && !flags {
			b.fail("add/sub immediate: xzr is not an operand of this form")
			return
		}
		if v < 0 {
			v, sub = -v, !sub
			as = pick(w, addSubOps[i^1][0], addSubOps[i^1][1])
		}
		if v == 0 || rd == XZR {
			// golang-asm turns $0 into the zero register and has no flags-only destination here.
			b.Word(encAddSubImm(w, sub, flags, rd, rn, uint32(v)))
			return
		}
		b.rrr(as, rd, rn, constAddr(v))
	case Reg:
		if op == SP {
			b.fail("add/sub: sp cannot be the last operand")
			return
		}
		if rd == SP || rn == SP {
			ext := UXTX
			if w == W {
				ext = UXTW
			}
			b.addSubExt(w, sub, flags, rd, rn, Extended{op, ext, 0})
			return
		}
		b.rrr(as, rd, rn, regAddr(op))
	case Shifted:
		if !b.noSP("add/sub shifted", rd, rn, op.Reg) {
			return
		}
		if op.Kind == ROR || int(op.Amount) >= int(w) {
			b.fail("add/sub: shift %d by %d is not encodable", op.Kind, op.Amount)
			return
		}
		b.rrr(as, rd, rn, shiftAddr(op))
	case Extended:
		b.addSubExt(w, sub, flags, rd, rn, op)
	default:
		b.fail("add/sub: operand %T", op)
	}
}

func (b *Builder) addSubExt(w Width, sub, flags bool, rd, rn Reg, op Extended) {
	if op.Reg == SP || op.Amount > 4 || op.Kind > SXTX {
		b.fail("add/sub extended: bad operand %+v", op)
		return
	}
	if rn == XZR || rd == XZR && !flags {
		b.fail("add/sub extended: xzr is not an operand of this form")
		return
	}
	b.Word(encAddSubExt(w, sub, flags, rd, rn, op))
}

// rrr appends a golang-asm instruction "as from, rn, rd".
func (b *Builder) rrr(as obj.As, rd, rn Reg, from obj.Addr) {
	p := b.prog(as)
	p.From = from
	p.Reg = gr(rn)
	p.To = regAddr(rd)
	b.addProg(p)
}

func shiftAddr(s Shifted) obj.Addr {
	return obj.Addr{Type: obj.TYPE_SHIFT, Offset: int64(s.Reg.num())<<16 | int64(s.Kind)<<22 | int64(s.Amount&63)<<10}
}

// three is a register-only three-operand instruction.
func (b *Builder) three(what string, as obj.As, rd, rn, rm Reg) {
	if b.noSP(what, rd, rn, rm) {
		b.rrr(as, rd, rn, regAddr(rm))
	}
}

// two is a register-only two-operand instruction.
func (b *Builder) two(what string, as obj.As, rd, rn Reg) {
	if !b.noSP(what, rd, rn) {
		return
	}
	p := b.prog(as)
	p.From, p.To = regAddr(rn), regAddr(rd)
	b.addProg(p)
}

// Adc sets rd to rn + rm + carry.
func (b *Builder) Adc(w Width, rd, rn, rm Reg) {
	b.three("adc", pick(w, arm64.AADC, arm64.AADCW), rd, rn, rm)
}

// Adcs is Adc that sets the flags.
func (b *Builder) Adcs(w Width, rd, rn, rm Reg) {
	b.three("adcs", pick(w, arm64.AADCS, arm64.AADCSW), rd, rn, rm)
}

// Sbc sets rd to rn - rm - 1 + carry.
func (b *Builder) Sbc(w Width, rd, rn, rm Reg) {
	b.three("sbc", pick(w, arm64.ASBC, arm64.ASBCW), rd, rn, rm)
}

// Sbcs is Sbc that sets the flags.
func (b *Builder) Sbcs(w Width, rd, rn, rm Reg) {
	b.three("sbcs", pick(w, arm64.ASBCS, arm64.ASBCSW), rd, rn, rm)
}

// Mul sets rd to rn * rm.
func (b *Builder) Mul(w Width, rd, rn, rm Reg) {
	b.three("mul", pick(w, arm64.AMUL, arm64.AMULW), rd, rn, rm)
}

// Mneg sets rd to -(rn * rm).
func (b *Builder) Mneg(w Width, rd, rn, rm Reg) {
	b.three("mneg", pick(w, arm64.AMNEG, arm64.AMNEGW), rd, rn, rm)
}

// Umulh sets rd to the high half of the unsigned product.
func (b *Builder) Umulh(rd, rn, rm Reg) { b.three("umulh", arm64.AUMULH, rd, rn, rm) }

// Smulh sets rd to the high half of the signed product.
func (b *Builder) Smulh(rd, rn, rm Reg) { b.three("smulh", arm64.ASMULH, rd, rn, rm) }

// Umull sets rd to the 64-bit product of the unsigned low halves.
func (b *Builder) Umull(rd, rn, rm Reg) { b.three("umull", arm64.AUMULL, rd, rn, rm) }

// Smull sets rd to the 64-bit product of the signed low halves.
func (b *Builder) Smull(rd, rn, rm Reg) { b.three("smull", arm64.ASMULL, rd, rn, rm) }

// Udiv sets rd to rn / rm, unsigned; division by zero gives 0.
func (b *Builder) Udiv(w Width, rd, rn, rm Reg) {
	b.three("udiv", pick(w, arm64.AUDIV, arm64.AUDIVW), rd, rn, rm)
}

// Sdiv sets rd to rn / rm, signed, truncated; division by zero gives 0.
func (b *Builder) Sdiv(w Width, rd, rn, rm Reg) {
	b.three("sdiv", pick(w, arm64.ASDIV, arm64.ASDIVW), rd, rn, rm)
}

// Madd sets rd to ra + rn*rm.
func (b *Builder) Madd(w Width, rd, rn, rm, ra Reg) {
	b.four("madd", pick(w, arm64.AMADD, arm64.AMADDW), rd, rn, rm, ra)
}

// Msub sets rd to ra - rn*rm.
func (b *Builder) Msub(w Width, rd, rn, rm, ra Reg) {
	b.four("msub", pick(w, arm64.AMSUB, arm64.AMSUBW), rd, rn, rm, ra)
}

func (b *Builder) four(what string, as obj.As, rd, rn, rm, ra Reg) {
	if !b.noSP(what, rd, rn, rm, ra) {
		return
	}
	p := b.prog(as)
	p.From = regAddr(rm)
	p.Reg = gr(ra)
	p.SetFrom3(regAddr(rn))
	p.To = regAddr(rd)
	b.addProg(p)
}

// Clz counts leading zero bits.
func (b *Builder) Clz(w Width, rd, rn Reg) { b.two("clz", pick(w, arm64.ACLZ, arm64.ACLZW), rd, rn) }

// Cls counts leading sign bits.
func (b *Builder) Cls(w Width, rd, rn Reg) { b.two("cls", pick(w, arm64.ACLS, arm64.ACLSW), rd, rn) }

// Rbit reverses the bits.
func (b *Builder) Rbit(w Width, rd, rn Reg) {
	b.two("rbit", pick(w, arm64.ARBIT, arm64.ARBITW), rd, rn)
}

// Rev reverses the bytes.
func (b *Builder) Rev(w Width, rd, rn Reg) { b.two("rev", pick(w, arm64.AREV, arm64.AREVW), rd, rn) }

// Rev16 reverses the bytes of each 16-bit part.
func (b *Builder) Rev16(w Width, rd, rn Reg) {
	b.two("rev16", pick(w, arm64.AREV16, arm64.AREV16W), rd, rn)
}

// Rev32 reverses the bytes of each 32-bit part.
func (b *Builder) Rev32(rd, rn Reg) { b.two("rev32", arm64.AREV32, rd, rn) }

// Csel sets rd to rn if c holds, else to rm.
func (b *Builder) Csel(w Width, rd, rn, rm Reg, c Cond) {
	b.csel("csel", pick(w, arm64.ACSEL, arm64.ACSELW), rd, rn, rm, c)
}

// Csinc sets rd to rn if c holds, else to rm+1.
func (b *Builder) Csinc(w Width, rd, rn, rm Reg, c Cond) {
	b.csel("csinc", pick(w, arm64.ACSINC, arm64.ACSINCW), rd, rn, rm, c)
}

// Csinv sets rd to rn if c holds, else to ^rm.
func (b *Builder) Csinv(w Width, rd, rn, rm Reg, c Cond) {
	b.csel("csinv", pick(w, arm64.ACSINV, arm64.ACSINVW), rd, rn, rm, c)
}

// Csneg sets rd to rn if c holds, else to -rm.
func (b *Builder) Csneg(w Width, rd, rn, rm Reg, c Cond) {
	b.csel("csneg", pick(w, arm64.ACSNEG, arm64.ACSNEGW), rd, rn, rm, c)
}

// Cset sets rd to 1 if c holds, else to 0.
func (b *Builder) Cset(w Width, rd Reg, c Cond) { b.Csinc(w, rd, XZR, XZR, c.Invert()) }

// Csetm sets rd to all ones if c holds, else to 0.
func (b *Builder) Csetm(w Width, rd Reg, c Cond) { b.Csinv(w, rd, XZR, XZR, c.Invert()) }

// Cinc sets rd to rn+1 if c holds, else to rn.
func (b *Builder) Cinc(w Width, rd, rn Reg, c Cond) { b.Csinc(w, rd, rn, rn, c.Invert()) }

// Cneg sets rd to -rn if c holds, else to rn.
func (b *Builder) Cneg(w Width, rd, rn Reg, c Cond) { b.Csneg(w, rd, rn, rn, c.Invert()) }

func condAddr(c Cond) obj.Addr {
	return obj.Addr{Type: obj.TYPE_REG, Reg: arm64.COND_EQ + int16(c)}
}

func (b *Builder) csel(what string, as obj.As, rd, rn, rm Reg, c Cond) {
	if !b.noSP(what, rd, rn, rm) || !b.cond(c) {
		return
	}
	p := b.prog(as)
	p.From = condAddr(c)
	p.Reg = gr(rn)
	p.SetFrom3(regAddr(rm))
	p.To = regAddr(rd)
	b.addProg(p)
}

func (b *Builder) cond(c Cond) bool {
	if c >= AL {
		b.fail("condition %v is not usable here", c)
		return false
	}
	return true
}

// Ccmp compares rn with op (Reg, or Imm 0 to 31) if c holds, else sets the flags to nzcv.
func (b *Builder) Ccmp(w Width, rn Reg, op Operand, nzcv uint8, c Cond) {
	b.ccmp(pick(w, arm64.ACCMP, arm64.ACCMPW), rn, op, nzcv, c)
}

// Ccmn compares rn with -op (Reg, or Imm 0 to 31) if c holds, else sets the flags to nzcv.
func (b *Builder) Ccmn(w Width, rn Reg, op Operand, nzcv uint8, c Cond) {
	b.ccmp(pick(w, arm64.ACCMN, arm64.ACCMNW), rn, op, nzcv, c)
}

func (b *Builder) ccmp(as obj.As, rn Reg, op Operand, nzcv uint8, c Cond) {
	if !b.noSP("ccmp", rn) || !b.cond(c) {
		return
	}
	if nzcv > 15 {
		b.fail("ccmp: nzcv %#x", nzcv)
		return
	}
	neg := as == arm64.ACCMN || as == arm64.ACCMNW
	w := X
	if as == arm64.ACCMPW || as == arm64.ACCMNW {
		w = W
	}
	switch op := op.(type) {
	case Imm:
		if op < 0 || op > 31 {
			b.fail("ccmp: immediate %d is not in 0..31", op)
			return
		}
		b.Word(encCcmp(w, neg, true, rn, uint32(op), nzcv, c))
	case Reg:
		if !b.noSP("ccmp", op) {
			return
		}
		b.Word(encCcmp(w, neg, false, rn, op.num(), nzcv, c))
	default:
		b.fail("ccmp: operand %T", op)
	}
}
