package nocgo

import "unsafe"

// probeGranule is the smallest page size of the architecture: memory within one granule is mapped alike.
const probeGranule = 4096

// Readable says whether the 8 bytes at addr can be read, without reading them here. It asks the kernel for
// a signal mask change of an unknown kind: the mask is read first (EFAULT), then the kind is refused (EINVAL),
// and nothing changes. This is for memory that nobody else can take away between the answer and its use, in a process
// that has one thread and shares its memory with nobody; for any other there is KernelRead.
//
// A pointer with something in its top byte is never said to be readable: with memory tags every 16 bytes may be
// forbidden to it, so that one question per granule of mapping would not do.
func Readable(addr uintptr) bool {
	return !tagged(addr) && Raw(SysRtSigprocmask, ^uintptr(0), addr, 0, 8, 0, 0) == Fail(EINVAL)
}

// Writable says whether the 8 bytes at addr can be written, by letting the kernel store the signal mask there.
// Their former content is lost: use it only on memory that is about to be overwritten. Of a pointer with something in
// its top byte it says no, for the reason that Readable has. Where the bytes lie in two granules the kernel could write
// some of them and fail then, so that is not tried and taken for a no.
func Writable(addr uintptr) bool {
	// The kernel takes NULL for "do not store".
	return addr != 0 && !tagged(addr) && addr&(probeGranule-1) <= probeGranule-8 && Raw(SysRtSigprocmask, 0, 0, addr, 8, 0, 0) == 0
}

// tagged says whether the processor would leave out a part of the address.
func tagged(addr uintptr) bool { return addr>>56 != 0 }

// CString copies the NUL-terminated string at addr, which may be any address at all, to dst. It returns the
// length without the NUL, or a negated errno: EFAULT where memory ends before the string does, ENAMETOOLONG
// where dst is too small for string and NUL. Each granule is probed before it is read; what follows the NUL
// in dst is undefined.
func CString(dst []byte, addr uintptr) uintptr { return cString(dst, addr, true) }

// ReadCString is CString for a string that the kernel has just read from addr, up to its NUL: nothing is probed.
func ReadCString(dst []byte, addr uintptr) uintptr { return cString(dst, addr, false) }

// cString reads aligned words only: they stay within a granule of memory tags (16 bytes), so that what lies behind the
// string, with another tag, is not touched.
func cString(dst []byte, addr uintptr, probe bool) uintptr {
	out := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	max := uintptr(len(dst))
	n := uintptr(0)
	for n < max {
		a := addr + n
		if probe && !Readable(a&^7) {
			return Fail(EFAULT)
		}
		end := max
		if left := probeGranule - a&(probeGranule-1); left < max-n {
			end = n + left
		}
		if k := a & 7; k != 0 && n+8 <= max { // the bytes of the first word that belong to the string, then ones
			w := Load64(a-k)>>(8*k) | ^uint64(0)<<(64-8*k)
			Store64(out+n, w)
			if (w-zeroLow)&^w&zeroHigh != 0 {
				return n + firstZero(w)
			}
			n += 8 - k
		}
		for n+8 <= end {
			w := Load64(addr + n)
			Store64(out+n, w)
			if (w-zeroLow)&^w&zeroHigh != 0 {
				return n + firstZero(w)
			}
			n += 8
		}
		for n < end {
			c := Load8(addr + n)
			Store8(out+n, c)
			if c == 0 {
				return n
			}
			n++
		}
	}
	return Fail(ENAMETOOLONG)
}

// firstZero gives the place of the first zero byte of a word that has one.
func firstZero(w uint64) uintptr {
	n := uintptr(0)
	for w&0xff != 0 {
		w >>= 8
		n++
	}
	return n
}

// Masks for finding a zero byte in a word.
const (
	zeroLow  = 0x0101010101010101
	zeroHigh = 0x8080808080808080
)
