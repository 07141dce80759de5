package asm

// The encoders in this file cover the forms that golang-asm lacks, mistakes
// (an immediate 0 becomes the zero register) or chooses by itself (the shift of
// a move-wide constant, extension amounts, SP). Each is covered by the table test.

func boolBit(b bool, n uint) uint32 {
	if b {
		return 1 << n
	}
	return 0
}

// encMovWide encodes movn (opc 0), movz (2) and movk (3).
func encMovWide(opc uint32, w Width, rd Reg, imm uint16, shift int) uint32 {
	return w.sf() | opc<<29 | 0x25<<23 | uint32(shift/16)<<21 | uint32(imm)<<5 | rd.num()
}

// encAddSubImm encodes add/sub with a 12-bit immediate, shifted by 12 if need be.
func encAddSubImm(w Width, sub, flags bool, rd, rn Reg, v uint32) uint32 {
	sh := uint32(0)
	if v >= 1<<12 {
		v, sh = v>>12, 1
	}
	return w.sf() | boolBit(sub, 30) | boolBit(flags, 29) | 0x22<<23 | sh<<22 | v<<10 | rn.num()<<5 | rd.num()
}

// encAddSubExt encodes add/sub with an extended register.
func encAddSubExt(w Width, sub, flags bool, rd, rn Reg, op Extended) uint32 {
	return w.sf() | boolBit(sub, 30) | boolBit(flags, 29) | 0x0b<<24 | 1<<21 | op.Reg.num()<<16 |
		uint32(op.Kind)<<13 | uint32(op.Amount)<<10 | rn.num()<<5 | rd.num()
}

// encCcmp encodes ccmp (neg false) and ccmn.
func encCcmp(w Width, neg, imm bool, rn Reg, v uint32, nzcv uint8, c Cond) uint32 {
	return w.sf() | boolBit(!neg, 30) | 1<<29 | 0xd2<<21 | v<<16 | uint32(c)<<12 | boolBit(imm, 11) | rn.num()<<5 | uint32(nzcv)
}

// encBitfield encodes sbfm (opc 0), bfm (1) and ubfm (2).
func encBitfield(opc uint32, w Width, rd, rn Reg, immr, imms int) uint32 {
	n := uint32(0)
	if w == X {
		n = 1
	}
	return w.sf() | opc<<29 | 0x26<<23 | n<<22 | uint32(immr)<<16 | uint32(imms)<<10 | rn.num()<<5 | rd.num()
}

// encExtr encodes extr; golang-asm swaps none of its registers but mistakes lsb 0.
func encExtr(w Width, rd, rn, rm Reg, lsb int) uint32 {
	n := uint32(0)
	if w == X {
		n = 1
	}
	return w.sf() | 0x27<<23 | n<<22 | rm.num()<<16 | uint32(lsb)<<10 | rn.num()<<5 | rd.num()
}

// memOp describes one load or store of a general or SIMD register.
type memOp struct {
	size uint32 // log2 of the bytes, the encoding's size field
	opc  uint32 // 0 store, 1 load, 2 signed load to X, 3 signed load to W
	simd bool
}

// bytes is the access size.
func (m memOp) bytes() int {
	if m.simd {
		return 16
	}
	return 1 << m.size
}

// encMemUnsigned encodes the scaled unsigned offset form.
func encMemUnsigned(m memOp, rt uint32, base Reg, scaled uint32) uint32 {
	return m.head() | 1<<24 | scaled<<10 | base.num()<<5 | rt
}

// encMemSigned encodes the 9-bit signed forms: unscaled (0), post-index (1), pre-index (3).
func encMemSigned(m memOp, rt uint32, base Reg, off int64, mode uint32) uint32 {
	return m.head() | uint32(off&0x1ff)<<12 | mode<<10 | base.num()<<5 | rt
}

// encMemIndex encodes the register offset form.
func encMemIndex(m memOp, rt uint32, base, index Reg, ext ExtKind, shifted bool) uint32 {
	return m.head() | 1<<21 | index.num()<<16 | uint32(ext)<<13 | boolBit(shifted, 12) | 2<<10 | base.num()<<5 | rt
}

func (m memOp) head() uint32 {
	size, opc := m.size, m.opc
	if m.simd {
		// 128-bit registers are size 0 with the upper opc bit set.
		size, opc = 0, m.opc|2
	}
	return size<<30 | 7<<27 | boolBit(m.simd, 26) | opc<<22
}

// encPair encodes ldp and stp: opc 0 is W, 1 ldpsw, 2 X (or Q with simd); mode 1 post, 2 offset, 3 pre.
func encPair(opc uint32, simd, load bool, mode, rt1, rt2 uint32, base Reg, scaled int64) uint32 {
	return opc<<30 | 5<<27 | boolBit(simd, 26) | mode<<23 | boolBit(load, 22) | uint32(scaled&0x7f)<<15 | rt2<<10 | base.num()<<5 | rt1
}

// encLdrLit encodes ldr (literal): opc 0 W, 1 X, 2 sign-extending.
func encLdrLit(opc uint32, rt Reg, off int64) uint32 {
	return opc<<30 | 3<<27 | uint32(off>>2&0x7ffff)<<5 | rt.num()
}

// encAdr encodes adr.
func encAdr(rd Reg, off int64) uint32 {
	return uint32(off&3)<<29 | 0x10<<24 | uint32(off>>2&0x7ffff)<<5 | rd.num()
}

// encAdrp encodes adrp with a zero offset, for a relocation to fill.
func encAdrp(rd Reg) uint32 { return 1<<31 | 0x10<<24 | rd.num() }

// encSysReg encodes mrs (read) and msr.
func encSysReg(read bool, r SysReg, rt Reg) uint32 {
	return 0xd5<<24 | boolBit(read, 21) | 1<<20 | uint32(r)<<5 | rt.num()
}
