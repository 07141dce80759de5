package patcher

// SVC is the instruction svc #0.
const SVC = 0xd4000001

// leaves says whether control never passes from w to the instruction after it: B, BR, RET, ERET, BRK, UDF.
func leaves(w uint32) bool {
	return w&0xfc000000 == 0x14000000 || w&0xfe000000 == 0xd6000000 && !isCall(w) ||
		w&0xffe0001f == 0xd4200000 || w&0xffff0000 == 0
}

// isCall says whether w is BL, BLR, BLRAA or a relative of these.
func isCall(w uint32) bool {
	return w&0xfc000000 == 0x94000000 || w&0xfe600000 == 0xd6200000
}

// mayWrite says whether w may write the general register reg. It errs on the side of yes for loads and vector
// instructions: a yes that is wrong costs a site, a no that is wrong a number that the stub will reject.
func mayWrite(w, reg uint32) bool {
	rd := w&31 == reg
	switch w >> 25 & 15 {
	case 2, 8, 9: // SVE (counts of elements, for instance) and data processing, immediate
		return rd
	case 10, 11: // branches and system
		return systemWrites(w, reg)
	case 5, 13: // data processing, register: CCMP and CCMN have no destination
		return rd && w&0x3fe00000 != 0x3a400000
	case 7, 15: // vector: moves to general registers
		return rd
	}
	if w>>25&5 != 4 {
		return false // reserved, and SME
	}
	return loadStoreWrites(w, reg)
}

// systemWrites is mayWrite for branches and the system class: only MRS, MRRS and SYSL write a register that they name,
// and hints for pointer authentication x17 or x30.
func systemWrites(w, reg uint32) bool {
	if w&0xfffff01f == 0xd503201f {
		hint := w >> 5 & 127
		return reg == 30 && (hint == 7 || hint >= 24 && hint < 32) || reg == 17 && hint&^6 == 8
	}
	switch w & 0xffe00000 {
	case 0xd5200000:
		return w&31 == reg
	case 0xd5600000:
		return w&30 == reg&^1
	}
	return false
}

// loadStoreWrites is mayWrite for the load and store class.
func loadStoreWrites(w, reg uint32) bool {
	base := w>>5&31 == reg
	pair := w&0x3a000000 == 0x28000000
	vector := w>>26&1 == 1
	if pair {
		if base && w>>23&1 == 1 {
			return true // pre- or post-indexed
		}
		return !vector && w>>22&1 == 1 && (w&31 == reg || w>>10&31 == reg)
	}
	if w&0x3b000000 == 0x18000000 {
		return !vector && w&31 == reg // literal
	}
	if w&0x3b200000 == 0x38000000 && w>>10&1 == 1 && base {
		return true // pre- or post-indexed
	}
	if w&0xff200400 == 0xf8200400 { // LDRAA, LDRAB
		return w&31 == reg || base && w>>11&1 == 1
	}
	if w&0x3a000000 == 0x38000000 {
		if vector {
			return false
		}
		plain := w>>24&1 == 1 || w>>21&1 == 0 || w>>10&3 == 2
		if plain && w>>22&3 == 0 {
			return false // store
		}
		return w&31 == reg
	}
	// Exclusives (status register), atomics, vector structures (writeback), tags: whatever names the register.
	return w&31 == reg || base || w>>16&31 == reg || w>>10&31 == reg
}

// constant gives the value that MOVZ, MOVN or ORR with the zero register and an immediate put in their register.
func constant(w uint32) (v uintptr, ok bool) {
	if w&0x1f800000 == 0x12800000 {
		v = uintptr(w>>5&0xffff) << (w >> 21 & 3 * 16)
		switch w >> 29 & 3 {
		case 0:
			v = ^v
		case 2:
		default:
			return 0, false // MOVK keeps the rest of the register
		}
		if w>>31 == 0 {
			v &= 0xffffffff
		}
		return v, true
	}
	if w&0x7f8003e0 == 0x320003e0 {
		return bitmask(w)
	}
	return 0, false
}

// bitmask decodes the immediate of a logical instruction (Arm ARM, DecodeBitMasks).
func bitmask(w uint32) (v uintptr, ok bool) {
	n, immr, imms := w>>22&1, w>>16&63, w>>10&63
	if w>>31 == 0 && n == 1 {
		return 0, false
	}
	sel := n<<6 | ^imms&63
	size := uint32(64)
	for size > 1 && sel&size == 0 {
		size >>= 1
	}
	if size < 2 {
		return 0, false
	}
	ones := imms&(size-1) + 1
	if ones == size {
		return 0, false
	}
	rot := immr & (size - 1)
	elem := uintptr(1)<<ones - 1
	mask := ^uintptr(0) >> (64 - size)
	elem = (elem>>rot | elem<<(size-rot)) & mask
	for ; size < 64; size <<= 1 {
		elem |= elem << size
	}
	if w>>31 == 0 {
		elem &= 0xffffffff
	}
	return elem, true
}

// copied gives the source of a MOV between registers, or of SXTW.
func copied(w uint32) (reg uint32, ok bool) {
	if w&0xfffffc00 == 0x93407c00 {
		return w >> 5 & 31, true
	}
	if w&0x7fe0ffe0 == 0x2a0003e0 {
		return w >> 16 & 31, true
	}
	return 0, false
}
