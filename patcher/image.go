package patcher

import "svcrelay/nocgo"

// Parts of the ELF format (System V ABI, and the ELF supplement for the Arm 64-bit architecture).
const (
	elfMagic   = 0x464c457f
	elfDyn     = 3
	elfAArch64 = 183

	ptLoad    = 1
	ptDynamic = 2
	ptPhdr    = 6
	ptEhFrame = 0x6474e550

	phdrSize = 56
	pfX      = 1

	dtDebug = 21
)

const (
	maxHeaders = 64        // program headers of one object
	maxText    = 256 << 20 // bytes of text of one library
)

// Text is the part of a library that holds its functions.
type Text struct{ Lo, Hi uintptr }

// text finds the functions of the library whose first segment is at base. ok is false for anything that does not
// look like a shared library that the dynamic linker has mapped.
func (m *memory) text(base uintptr) (t Text, ok bool) {
	segment, frames, ok := m.segment(base)
	if !ok {
		return Text{}, false
	}
	return m.narrow(segment, frames), true
}

// segment finds what of it is mapped executable, and its table of unwind information, 0 for none.
func (m *memory) segment(base uintptr) (t Text, frames uintptr, ok bool) {
	if base&(granule-1) != 0 || !m.readable(base, 64) ||
		nocgo.Load32(base) != elfMagic || nocgo.Load16(base+4) != 0x0102 ||
		nocgo.Load16(base+16) != elfDyn || nocgo.Load16(base+18) != elfAArch64 ||
		nocgo.Load16(base+54) != phdrSize {
		return Text{}, 0, false
	}
	n := uintptr(nocgo.Load16(base + 56))
	off := uintptr(nocgo.Load64(base + 32))
	if n == 0 || n > maxHeaders || off > maxText || off&7 != 0 || !m.readable(base+off, n*phdrSize) {
		return Text{}, 0, false
	}
	for i := uintptr(0); i < n; i++ {
		ph := base + off + i*phdrSize
		vaddr, filesz := uintptr(nocgo.Load64(ph+16)), uintptr(nocgo.Load64(ph+32))
		switch nocgo.Load32(ph) {
		case ptLoad:
			if vaddr > maxText || filesz > maxText {
				return Text{}, 0, false
			}
			if nocgo.Load32(ph+4)&pfX == 0 {
				continue
			}
			if t.Hi != 0 {
				return Text{}, 0, false // several: none of the libraries known here is built like that
			}
			t.Lo, t.Hi = base+vaddr, base+vaddr+filesz
		case ptEhFrame:
			if vaddr <= maxText {
				frames = base + vaddr
			}
		}
	}
	if t.Hi-t.Lo < 8 || !m.readable(t.Lo, 8) || !m.readable(t.Hi-8, 8) {
		return Text{}, 0, false
	}
	return t, frames, true
}

// slack is how far beyond the functions that have unwind information the scan goes: the few that have none.
const slack = 4096

// sparse is the number of bytes of a segment per entry of its table of unwind information from which on the table is
// taken for incomplete: glibc's have an entry for every function, one for 500 bytes, and musl's hardly any.
const sparse = 2048

// narrow cuts a segment to the functions that its table of unwind information names, so that constants that
// are mapped executable beside them (two fifths of glibc's segment) need not be searched. The table is sorted by
// address; an unknown form of it leaves the segment whole.
func (m *memory) narrow(t Text, hdr uintptr) Text {
	const head = 12
	if hdr < t.Lo || hdr+head > t.Hi || hdr&3 != 0 || !m.readable(hdr, head+8) ||
		nocgo.Load32(hdr) != 0x3b031b01 { // version 1, pointer, count and table encoded as ld does
		return t
	}
	n := uintptr(nocgo.Load32(hdr + 8))
	if n < (t.Hi-t.Lo)/sparse || n == 0 || n > maxText/8 || hdr+head+8*n > t.Hi {
		return t
	}
	last := hdr + head + 8*(n-1)
	if !m.readable(last, 8) {
		return t
	}
	lo := hdr + signed(nocgo.Load32(hdr+head))
	hi := hdr + signed(nocgo.Load32(last))
	fde := hdr + signed(nocgo.Load32(last+4))
	if fde < t.Lo || fde+16 > t.Hi || !m.readable(fde, 16) {
		return t
	}
	hi += uintptr(nocgo.Load32(fde + 12))
	if lo < t.Lo || hi <= lo || hi > t.Hi {
		return t
	}
	return Text{max(t.Lo, lo-slack), min(t.Hi, hi+slack)}
}

// signed widens a signed 32-bit offset.
func signed(v uint32) uintptr { return uintptr(int64(int32(v))) }
