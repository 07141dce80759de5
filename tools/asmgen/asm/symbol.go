package asm

import "debug/elf"

// Reloc is a place in a function's code that the object writer or linker fills.
type Reloc struct {
	Off    uint32
	Type   elf.R_AARCH64
	Sym    string
	Addend int64
}

func (b *Builder) reloc(word uint32, t elf.R_AARCH64, sym string, addend int64) {
	if sym == "" {
		b.fail("reference to a symbol without a name")
		return
	}
	b.items = append(b.items, item{kind: itemWord, word: word, reloc: &Reloc{Type: t, Sym: sym, Addend: addend}})
}

// AddrOf sets rd to the address of sym + addend: adrp and add.
func (b *Builder) AddrOf(rd Reg, sym string, addend int64) {
	b.Adrp(rd, sym, addend)
	b.AddLo12(rd, rd, sym, addend)
}

// Adrp sets rd to the page of sym + addend.
func (b *Builder) Adrp(rd Reg, sym string, addend int64) {
	if b.noSP("adrp", rd) {
		b.reloc(encAdrp(rd), elf.R_AARCH64_ADR_PREL_PG_HI21, sym, addend)
	}
}

// AddLo12 adds the offset in its page of sym + addend.
func (b *Builder) AddLo12(rd, rn Reg, sym string, addend int64) {
	b.reloc(encAddSubImm(X, false, false, rd, rn, 0), elf.R_AARCH64_ADD_ABS_LO12_NC, sym, addend)
}

var lo12 = [4]elf.R_AARCH64{
	elf.R_AARCH64_LDST8_ABS_LO12_NC, elf.R_AARCH64_LDST16_ABS_LO12_NC,
	elf.R_AARCH64_LDST32_ABS_LO12_NC, elf.R_AARCH64_LDST64_ABS_LO12_NC,
}

// LoadLo12 loads size bytes from sym + addend, with rn holding its page. The address must be aligned to size.
func (b *Builder) LoadLo12(size int, signed bool, rt, rn Reg, sym string, addend int64) {
	m, ok := b.memSize(size)
	if !ok || !b.noSP("load", rt) {
		return
	}
	m.opc = 1
	if signed && size < 8 {
		m.opc = 2
	}
	b.reloc(encMemUnsigned(m, rt.num(), rn, 0), lo12[m.size], sym, addend)
}

// StoreLo12 stores size bytes to sym + addend, with rn holding its page. The address must be aligned to size.
func (b *Builder) StoreLo12(size int, rt, rn Reg, sym string, addend int64) {
	m, ok := b.memSize(size)
	if ok && b.noSP("store", rt) {
		b.reloc(encMemUnsigned(m, rt.num(), rn, 0), lo12[m.size], sym, addend)
	}
}

// LoadGOT sets rd to the address of sym through the global offset table; 0 if sym is weak and absent.
func (b *Builder) LoadGOT(rd Reg, sym string) {
	if !b.noSP("got", rd) {
		return
	}
	b.reloc(encAdrp(rd), elf.R_AARCH64_ADR_GOT_PAGE, sym, 0)
	b.reloc(encMemUnsigned(memOp{size: 3, opc: 1}, rd.num(), rd, 0), elf.R_AARCH64_LD64_GOT_LO12_NC, sym, 0)
}

// QuadSym appends the 64-bit address of sym + addend as data.
func (b *Builder) QuadSym(sym string, addend int64) {
	if sym == "" {
		b.fail("reference to a symbol without a name")
		return
	}
	b.items = append(b.items,
		item{kind: itemWord, data: true, reloc: &Reloc{Type: elf.R_AARCH64_ABS64, Sym: sym, Addend: addend}},
		item{kind: itemWord, data: true})
}
