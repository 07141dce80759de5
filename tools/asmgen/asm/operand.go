package asm

// Operand is the last source of a data-processing instruction: a Reg, Imm,
// Shifted or Extended.
type Operand interface{ operand() }

// Imm is an immediate operand. It must be encodable in the instruction;
// AddSubOK and BitmaskOK tell.
type Imm int64

// ShiftKind is how a register operand is shifted.
type ShiftKind uint8

// The operand shifts; ROR exists for logical instructions only.
const (
	LSL ShiftKind = iota
	LSR
	ASR
	ROR
)

// ExtKind is how a register operand is extended.
type ExtKind uint8

// The operand extensions.
const (
	UXTB ExtKind = iota
	UXTH
	UXTW
	UXTX
	SXTB
	SXTH
	SXTW
	SXTX
)

// Shifted is a register shifted by a constant.
type Shifted struct {
	Reg    Reg
	Kind   ShiftKind
	Amount uint8
}

// Extended is a register extended from a narrower one, then shifted left by 0 to 4.
type Extended struct {
	Reg    Reg
	Kind   ExtKind
	Amount uint8
}

func (Reg) operand()      {}
func (Imm) operand()      {}
func (Shifted) operand()  {}
func (Extended) operand() {}

// Addr is the address of a load or store, made by At, Pre, Post, Index or IndexExt.
type Addr struct {
	mode   addrMode
	base   Reg
	off    int64
	index  Reg
	ext    ExtKind
	amount uint8
}

type addrMode uint8

const (
	modeOff addrMode = iota
	modePre
	modePost
	modeIndex
)

// At addresses base + off. The scaled or unscaled form is chosen by the offset; OffsetOK tells whether there is one.
func At(base Reg, off int64) Addr { return Addr{mode: modeOff, base: base, off: off} }

// Pre addresses base + off and leaves that in base.
func Pre(base Reg, off int64) Addr { return Addr{mode: modePre, base: base, off: off} }

// Post addresses base and then adds off to base.
func Post(base Reg, off int64) Addr { return Addr{mode: modePost, base: base, off: off} }

// Index addresses base + index<<shift; shift is 0 or log2 of the access size.
func Index(base, index Reg, shift uint8) Addr {
	return Addr{mode: modeIndex, base: base, index: index, ext: UXTX, amount: shift}
}

// IndexExt addresses base + extend(index)<<shift with UXTW, SXTW or SXTX.
func IndexExt(base, index Reg, ext ExtKind, shift uint8) Addr {
	return Addr{mode: modeIndex, base: base, index: index, ext: ext, amount: shift}
}

// AddSubOK reports whether v fits an add, sub, cmp or cmn immediate (negative
// values turn add into sub and back).
func AddSubOK(v int64) bool {
	if v == -1<<63 {
		return false
	}
	if v < 0 {
		v = -v
	}
	return v < 1<<12 || v&0xfff == 0 && v < 1<<24
}

// OffsetOK reports whether At(base, off) is encodable for an access of size bytes (1, 2, 4, 8 or 16).
func OffsetOK(size int, off int64) bool {
	if off >= -256 && off <= 255 {
		return true
	}
	return off >= 0 && off%int64(size) == 0 && off/int64(size) < 4096
}

// PairOffsetOK reports whether At(base, off) is encodable for a pair of size-byte registers (4, 8 or 16).
func PairOffsetOK(size int, off int64) bool {
	s := int64(size)
	return off%s == 0 && off/s >= -64 && off/s <= 63
}

// BitmaskOK reports whether v is a bitmask immediate of and, orr, eor and tst.
func BitmaskOK(w Width, v uint64) bool {
	_, ok := bitmask(w, v)
	return ok
}

// bitmask gives the N:immr:imms field (13 bits) of a logical immediate.
func bitmask(w Width, v uint64) (uint32, bool) {
	if w == W {
		v &= 1<<32 - 1
		v |= v << 32
	}
	if v == 0 || v == ^uint64(0) {
		return 0, false
	}
	// The smallest period that repeats over the whole word.
	size := uint(64)
	for size > 2 {
		h := size / 2
		m := uint64(1)<<h - 1
		if v&m != v>>h&m {
			break
		}
		size = h
	}
	mask := ^uint64(0) >> (64 - size)
	e := v & mask
	// Rotate the element until it is a run of ones at the bottom.
	var ones, rot uint
	for rot = 0; rot < size; rot++ {
		r := (e<<rot | e>>(size-rot)) & mask
		if r&(r+1) == 0 {
			for ones = 0; r != 0; r >>= 1 {
				ones++
			}
			break
		}
	}
	if rot == size {
		return 0, false
	}
	n := uint32(0)
	if size == 64 {
		n = 1
	}
	imms := uint32(^(size*2-1))&0x3f | uint32(ones-1)
	if size == 64 {
		imms = uint32(ones - 1)
	}
	return n<<12 | uint32(rot)<<6 | imms, true
}
