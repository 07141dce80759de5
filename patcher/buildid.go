package patcher

import "svcrelay/nocgo"

const ptNote = 4

// maxNotes is the size of the largest note segment that is read, in bytes.
const maxNotes = 64 << 10

// buildID finds the GNU build-id of the library at base, which text has approved: its address and length, 0 where there
// is none.
func (m *memory) buildID(base uintptr) (addr, n uintptr) {
	off, count := uintptr(nocgo.Load64(base+32)), uintptr(nocgo.Load16(base+56))
	for i := range count {
		ph := base + off + i*phdrSize
		if nocgo.Load32(ph) != ptNote {
			continue
		}
		vaddr, size := uintptr(nocgo.Load64(ph+16)), uintptr(nocgo.Load64(ph+40))
		if vaddr > maxText || vaddr&3 != 0 || size > maxNotes || !m.readable(base+vaddr, size) {
			continue
		}
		if addr, n = findID(base+vaddr, size); n != 0 {
			return addr, n
		}
	}
	return 0, 0
}

// findID finds the build-id among size bytes of notes (gABI, note section).
func findID(at, size uintptr) (addr, n uintptr) {
	const kind, owner = 3, 'G' | 'N'<<8 | 'U'<<16
	end := at + size
	for at+12 <= end {
		name, desc := uintptr(nocgo.Load32(at)), uintptr(nocgo.Load32(at+4))
		if name > size || desc > size {
			return 0, 0
		}
		value := at + 12 + (name+3)&^3
		if value+desc > end {
			return 0, 0
		}
		if nocgo.Load32(at+8) == kind && name == 4 && nocgo.Load32(at+12) == owner {
			return value, desc
		}
		at = value + (desc+3)&^3
	}
	return 0, 0
}
