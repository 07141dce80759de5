package corpus

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
)

// FloorCopy uses the floor's copies within one buffer.
func FloorCopy(p *[96]uint8, a, b, n uint8) {
	if p == nil {
		return
	}
	at := uintptr(unsafe.Pointer(p))
	x, y, k := at+uintptr(a&31), at+uintptr(b&31), uintptr(n&31)
	if x < y {
		nocgo.CopyUp(x, y, k)
	} else {
		nocgo.CopyDown(x, y, k)
	}
	nocgo.CopyWords(at+64, at+uintptr(a&15), k&15)
}

// FloorCompare uses its comparisons and hashes.
func FloorCompare(p, q *[40]uint8, n uint8, fill bool) (bool, uint64, uint64) {
	if p == nil || q == nil {
		return false, 0, 0
	}
	if fill {
		for i := range p {
			p[i] = q[i] & 1
			q[i] &= 1
		}
	}
	a, b, k := uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(q)), uintptr(n&31)
	h := nocgo.HashWords(a, k)
	return nocgo.EqualWords(a, b, k), h, nocgo.HashPair(h, uint64(n))
}

// FloorString copies strings that end somewhere, or nowhere.
func FloorString(dst []uint8, src *[72]uint8, end, start uint8, probe bool) uintptr {
	if src == nil {
		return 0
	}
	for i := range src {
		src[i] |= 1
	}
	src[64+int(end&7)] = 0
	src[end&63] = 0
	at := uintptr(unsafe.Pointer(src)) + uintptr(start&31)
	if probe {
		return nocgo.CString(dst, at)
	}
	return nocgo.ReadCString(dst, at)
}

// FloorUnmapped copies from where there is nothing.
func FloorUnmapped(dst []uint8, n uint16) (uintptr, bool, bool) {
	at := uintptr(n)
	return nocgo.CString(dst, at), nocgo.Readable(at), nocgo.Writable(at)
}

// Branches encodes branches of any distance.
func Branches(from, distance uint64, near bool) (uint32, bool, uint32, bool, bool) {
	if near {
		distance = distance&0x1fffffff - 0x10000000
	}
	from &= 1<<47 - 1
	a, ok := patcher.Branch(uintptr(from), uintptr(from+distance))
	b, okay := patcher.Call(uintptr(from), uintptr(from+distance))
	return a, ok, b, okay, patcher.Reaches(uintptr(from), uintptr(from)+4096, uintptr(from+distance), 4096)
}

// Numbers looks for the number that a piece of code loads into x8.
func Numbers(p *[16]uint32, choice [14]uint8, n uint8) (uintptr, bool) {
	if p == nil {
		return 0, false
	}
	for i, c := range choice {
		if k := int(c) % len(instructions); k != 0 {
			p[i] = instructions[k] + uint32(c>>6)<<5
		}
	}
	lo := uintptr(unsafe.Pointer(p))
	return patcher.Number(lo+uintptr(n&15)*4, lo, lo+16*4)
}

// instructions are what is found before a svc.
var instructions = [...]uint32{
	0,
	0xd2800708, // mov x8, #56
	0x52800a08, // mov w8, #80
	0x2a1303e8, // mov w8, w19
	0xd2800913, // mov x19, #72
	0x94000010, // bl
	0xd63f0000, // blr x0
	0xaa0003e1, // mov x1, x0
	0x910003fd, // mov x29, sp
	0xb9400be0, // ldr w0, [sp, #8]
	0xa9bf7bfd, // stp x29, x30, [sp, #-16]!
	0x54000040, // b.eq
	0x320003e8, // mov w8, #1
	0x92800008, // mov x8, #-1
	0xf2a00028, // movk x8, #1, lsl #16
	0x14000002, // b
	0xd65f03c0, // ret
	0xf9400108, // ldr x8, [x8]
	0x2a0803f3, // mov w19, w8
	0xd53bd048, // mrs x8, tpidr_el0
}
