package asm

import (
	"math/bits"

	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// Load loads size bytes (1, 2, 4, 8) and zero- or sign-extends them to 64 bits.
func (b *Builder) Load(size int, signed bool, rt Reg, a Addr) {
	m, ok := b.memSize(size)
	if !ok {
		return
	}
	m.opc = 1
	if signed && size < 8 {
		m.opc = 2
	}
	b.mem(m, rt, a)
}

// Store stores the low size bytes (1, 2, 4, 8) of rt.
func (b *Builder) Store(size int, rt Reg, a Addr) {
	if m, ok := b.memSize(size); ok {
		b.mem(m, rt, a)
	}
}

func (b *Builder) memSize(size int) (memOp, bool) {
	switch size {
	case 1, 2, 4, 8:
		return memOp{size: uint32(bits.TrailingZeros(uint(size)))}, true
	}
	b.fail("access of %d bytes", size)
	return memOp{}, false
}

// Ldr loads w bits.
func (b *Builder) Ldr(w Width, rt Reg, a Addr) { b.Load(int(w)/8, false, rt, a) }

// Ldrb loads a byte, zero-extended.
func (b *Builder) Ldrb(rt Reg, a Addr) { b.Load(1, false, rt, a) }

// Ldrh loads 16 bits, zero-extended.
func (b *Builder) Ldrh(rt Reg, a Addr) { b.Load(2, false, rt, a) }

// Ldrsb loads a byte, sign-extended to w bits.
func (b *Builder) Ldrsb(w Width, rt Reg, a Addr) { b.mem(memOp{size: 0, opc: signedOpc(w)}, rt, a) }

// Ldrsh loads 16 bits, sign-extended to w bits.
func (b *Builder) Ldrsh(w Width, rt Reg, a Addr) { b.mem(memOp{size: 1, opc: signedOpc(w)}, rt, a) }

// Ldrsw loads 32 bits, sign-extended to 64.
func (b *Builder) Ldrsw(rt Reg, a Addr) { b.Load(4, true, rt, a) }

// Str stores w bits.
func (b *Builder) Str(w Width, rt Reg, a Addr) { b.Store(int(w)/8, rt, a) }

// Strb stores a byte.
func (b *Builder) Strb(rt Reg, a Addr) { b.Store(1, rt, a) }

// Strh stores 16 bits.
func (b *Builder) Strh(rt Reg, a Addr) { b.Store(2, rt, a) }

// LdrQ loads a whole SIMD register.
func (b *Builder) LdrQ(v VReg, a Addr) { b.memQ(1, v, a) }

// StrQ stores a whole SIMD register.
func (b *Builder) StrQ(v VReg, a Addr) { b.memQ(0, v, a) }

func signedOpc(w Width) uint32 {
	if w == X {
		return 2
	}
	return 3
}

// progMem is the golang-asm opcode of an access, or none.
func progMem(m memOp) (as obj.As, ok bool) {
	type key struct{ size, opc uint32 }
	as, ok = map[key]obj.As{
		{0, 0}: arm64.AMOVB, {1, 0}: arm64.AMOVH, {2, 0}: arm64.AMOVW, {3, 0}: arm64.AMOVD,
		{0, 1}: arm64.AMOVBU, {1, 1}: arm64.AMOVHU, {2, 1}: arm64.AMOVWU, {3, 1}: arm64.AMOVD,
		{0, 2}: arm64.AMOVB, {1, 2}: arm64.AMOVH, {2, 2}: arm64.AMOVW,
	}[key{m.size, m.opc}]
	return as, ok && !m.simd
}

func (b *Builder) mem(m memOp, rt Reg, a Addr) {
	if !b.noSP("load/store", rt) {
		return
	}
	if a.mode != modeOff && a.mode != modeIndex && a.base == rt && rt != XZR {
		b.fail("load/store: %v is both the data and the updated base", rt)
		return
	}
	as, ok := progMem(m)
	if !ok || a.mode != modeOff {
		b.memWord(m, rt.num(), a)
		return
	}
	if !b.memOff(m, a) {
		return
	}
	p := b.prog(as)
	ma := obj.Addr{Type: obj.TYPE_MEM, Reg: gr(a.base), Offset: a.off}
	if m.opc == 0 {
		p.From, p.To = regAddr(rt), ma
	} else {
		p.From, p.To = ma, regAddr(rt)
	}
	b.addProg(p)
}

func (b *Builder) memQ(opc uint32, v VReg, a Addr) {
	if v > 31 {
		b.fail("q%d is not a register", v)
		return
	}
	b.memWord(memOp{size: 4, opc: opc, simd: true}, uint32(v), a)
}

func (b *Builder) memOff(m memOp, a Addr) bool {
	if a.base == XZR {
		b.fail("load/store: xzr as base")
		return false
	}
	if !OffsetOK(m.bytes(), a.off) {
		b.fail("load/store of %d bytes: offset %d does not fit", m.bytes(), a.off)
		return false
	}
	return true
}

// memWord encodes an access without golang-asm.
func (b *Builder) memWord(m memOp, rt uint32, a Addr) {
	if a.base == XZR {
		b.fail("load/store: xzr as base")
		return
	}
	size := int64(m.bytes())
	switch a.mode {
	case modeOff:
		if !b.memOff(m, a) {
			return
		}
		if a.off >= 0 && a.off%size == 0 {
			b.Word(encMemUnsigned(m, rt, a.base, uint32(a.off/size)))
		} else {
			b.Word(encMemSigned(m, rt, a.base, a.off, 0))
		}
	case modePre, modePost:
		if a.off < -256 || a.off > 255 {
			b.fail("load/store: writeback of %d does not fit", a.off)
			return
		}
		mode := uint32(1)
		if a.mode == modePre {
			mode = 3
		}
		b.Word(encMemSigned(m, rt, a.base, a.off, mode))
	case modeIndex:
		if !b.noSP("index", a.index) {
			return
		}
		if a.ext != UXTW && a.ext != UXTX && a.ext != SXTW && a.ext != SXTX {
			b.fail("load/store: index extension %d", a.ext)
			return
		}
		if a.amount != 0 && 1<<a.amount != size {
			b.fail("load/store of %d bytes: index shifted by %d", size, a.amount)
			return
		}
		// A shift by 0 of a byte access has its own bit; the plain form is the common one.
		b.Word(encMemIndex(m, rt, a.base, a.index, a.ext, a.amount != 0))
	}
}

// Ldp loads two registers of w bits.
func (b *Builder) Ldp(w Width, rt1, rt2 Reg, a Addr) { b.pair(w, true, rt1, rt2, a) }

// Stp stores two registers of w bits.
func (b *Builder) Stp(w Width, rt1, rt2 Reg, a Addr) { b.pair(w, false, rt1, rt2, a) }

// LdpQ loads two SIMD registers.
func (b *Builder) LdpQ(v1, v2 VReg, a Addr) { b.pairQ(true, v1, v2, a) }

// StpQ stores two SIMD registers.
func (b *Builder) StpQ(v1, v2 VReg, a Addr) { b.pairQ(false, v1, v2, a) }

func (b *Builder) pair(w Width, load bool, rt1, rt2 Reg, a Addr) {
	if !b.width(w) || !b.noSP("pair", rt1, rt2) {
		return
	}
	if load && rt1 == rt2 {
		b.fail("ldp: %v twice", rt1)
		return
	}
	if (a.mode == modePre || a.mode == modePost) && (a.base == rt1 || a.base == rt2) {
		b.fail("pair: %v is both the data and the updated base", a.base)
		return
	}
	scaled, mode, ok := b.pairAddr(int64(w)/8, a)
	if !ok {
		return
	}
	if mode == 2 && rt1 != XZR && rt2 != XZR {
		as := pick(w, arm64.ASTP, arm64.ASTPW)
		if load {
			as = pick(w, arm64.ALDP, arm64.ALDPW)
		}
		p := b.prog(as)
		ra := obj.Addr{Type: obj.TYPE_REGREG, Reg: gr(rt1), Offset: int64(gr(rt2))}
		ma := obj.Addr{Type: obj.TYPE_MEM, Reg: gr(a.base), Offset: a.off}
		if load {
			p.From, p.To = ma, ra
		} else {
			p.From, p.To = ra, ma
		}
		if w == X && a.off >= -512 && a.off <= 504 || w == W && a.off >= -256 && a.off <= 252 {
			b.addProg(p)
			return
		}
	}
	opc := uint32(0)
	if w == X {
		opc = 2
	}
	b.Word(encPair(opc, false, load, mode, rt1.num(), rt2.num(), a.base, scaled))
}

func (b *Builder) pairQ(load bool, v1, v2 VReg, a Addr) {
	if v1 > 31 || v2 > 31 || load && v1 == v2 {
		b.fail("pair: q%d, q%d", v1, v2)
		return
	}
	if scaled, mode, ok := b.pairAddr(16, a); ok {
		b.Word(encPair(2, true, load, mode, uint32(v1), uint32(v2), a.base, scaled))
	}
}

// pairAddr gives the scaled offset and the mode field of a pair access.
func (b *Builder) pairAddr(size int64, a Addr) (scaled int64, mode uint32, ok bool) {
	if a.base == XZR {
		b.fail("pair: xzr as base")
		return 0, 0, false
	}
	if !PairOffsetOK(int(size), a.off) {
		b.fail("pair of %d-byte registers: offset %d does not fit", size, a.off)
		return 0, 0, false
	}
	switch a.mode {
	case modeOff:
		mode = 2
	case modePre:
		mode = 3
	case modePost:
		mode = 1
	default:
		b.fail("pair: no register offset form")
		return 0, 0, false
	}
	return a.off / size, mode, true
}

// exclusive and ordered accesses, by log2 of the size.
var (
	ldarOps  = [4]obj.As{arm64.ALDARB, arm64.ALDARH, arm64.ALDARW, arm64.ALDAR}
	stlrOps  = [4]obj.As{arm64.ASTLRB, arm64.ASTLRH, arm64.ASTLRW, arm64.ASTLR}
	ldxrOps  = [4]obj.As{arm64.ALDXRB, arm64.ALDXRH, arm64.ALDXRW, arm64.ALDXR}
	ldaxrOps = [4]obj.As{arm64.ALDAXRB, arm64.ALDAXRH, arm64.ALDAXRW, arm64.ALDAXR}
	stxrOps  = [4]obj.As{arm64.ASTXRB, arm64.ASTXRH, arm64.ASTXRW, arm64.ASTXR}
	stlxrOps = [4]obj.As{arm64.ASTLXRB, arm64.ASTLXRH, arm64.ASTLXRW, arm64.ASTLXR}
)

// Ldar loads size bytes with acquire semantics.
func (b *Builder) Ldar(size int, rt, rn Reg) { b.ordered("ldar", ldarOps, size, true, XZR, rt, rn) }

// Stlr stores size bytes with release semantics.
func (b *Builder) Stlr(size int, rt, rn Reg) { b.ordered("stlr", stlrOps, size, false, XZR, rt, rn) }

// Ldxr loads size bytes exclusively.
func (b *Builder) Ldxr(size int, rt, rn Reg) { b.ordered("ldxr", ldxrOps, size, true, XZR, rt, rn) }

// Ldaxr is Ldxr with acquire semantics.
func (b *Builder) Ldaxr(size int, rt, rn Reg) { b.ordered("ldaxr", ldaxrOps, size, true, XZR, rt, rn) }

// Stxr stores size bytes exclusively; rs becomes 0 on success.
func (b *Builder) Stxr(size int, rs, rt, rn Reg) {
	b.ordered("stxr", stxrOps, size, false, rs, rt, rn)
}

// Stlxr is Stxr with release semantics.
func (b *Builder) Stlxr(size int, rs, rt, rn Reg) {
	b.ordered("stlxr", stlxrOps, size, false, rs, rt, rn)
}

func (b *Builder) ordered(what string, ops [4]obj.As, size int, load bool, rs, rt, rn Reg) {
	m, ok := b.memSize(size)
	if !ok || !b.noSP(what, rs, rt) {
		return
	}
	if rn == XZR {
		b.fail("%s: xzr as base", what)
		return
	}
	if rs != XZR && (rs == rt || rs == rn) {
		b.fail("%s: the status register %v is also an operand", what, rs)
		return
	}
	p := b.prog(ops[m.size])
	ma := obj.Addr{Type: obj.TYPE_MEM, Reg: gr(rn)}
	if load {
		p.From, p.To = ma, regAddr(rt)
	} else {
		p.From, p.To = regAddr(rt), ma
		if rs != XZR {
			p.RegTo2 = gr(rs)
		}
	}
	b.addProg(p)
}

// Clrex gives up the exclusive monitor.
func (b *Builder) Clrex() { b.addProg(b.prog(arm64.ACLREX)) }
