// Package rt holds the helpers that compiled code calls for what has no short instruction sequence. It is
// compiled with every program, by the same compiler, without nil checks.
package rt

import "unsafe"

func b8(p unsafe.Pointer, i uintptr) *uint8   { return (*uint8)(unsafe.Add(p, i)) }
func b16(p unsafe.Pointer, i uintptr) *uint16 { return (*uint16)(unsafe.Add(p, i)) }
func b32(p unsafe.Pointer, i uintptr) *uint32 { return (*uint32)(unsafe.Add(p, i)) }
func b64(p unsafe.Pointer, i uintptr) *uint64 { return (*uint64)(unsafe.Add(p, i)) }

// Move copies n bytes from src to dst, which may overlap: everything that a store could change has been loaded
// before.
func Move(dst, src unsafe.Pointer, n uintptr) {
	if n > 16 {
		moveLong(dst, src, n)
		return
	}
	if n >= 8 {
		a, b := *b64(src, 0), *b64(src, n-8)
		*b64(dst, 0) = a
		*b64(dst, n-8) = b
		return
	}
	if n >= 4 {
		a, b := *b32(src, 0), *b32(src, n-4)
		*b32(dst, 0) = a
		*b32(dst, n-4) = b
		return
	}
	if n >= 2 {
		a, b := *b16(src, 0), *b16(src, n-2)
		*b16(dst, 0) = a
		*b16(dst, n-2) = b
		return
	}
	if n == 1 {
		*b8(dst, 0) = *b8(src, 0)
	}
}

func moveLong(dst, src unsafe.Pointer, n uintptr) {
	if uintptr(dst)-uintptr(src) >= n {
		last := *b64(src, n-8)
		for i := uintptr(0); i < n-8; i += 8 {
			*b64(dst, i) = *b64(src, i)
		}
		*b64(dst, n-8) = last
		return
	}
	first := *b64(src, 0)
	for i := n; i > 8; {
		i -= 8
		*b64(dst, i) = *b64(src, i)
	}
	*b64(dst, 0) = first
}

// Zero clears n bytes at p.
func Zero(p unsafe.Pointer, n uintptr) {
	if n < 8 {
		for i := uintptr(0); i < n; i++ {
			*b8(p, i) = 0
		}
		return
	}
	for i := uintptr(0); i < n-8; i += 8 {
		*b64(p, i) = 0
	}
	*b64(p, n-8) = 0
}

// Equal says whether n bytes at p and q are the same.
func Equal(p, q unsafe.Pointer, n uintptr) bool {
	if n < 8 {
		for i := uintptr(0); i < n; i++ {
			if *b8(p, i) != *b8(q, i) {
				return false
			}
		}
		return true
	}
	for i := uintptr(0); i < n-8; i += 8 {
		if *b64(p, i) != *b64(q, i) {
			return false
		}
	}
	return *b64(p, n-8) == *b64(q, n-8)
}

// Compare orders the strings (p, np) and (q, nq): negative, zero or positive.
func Compare(p unsafe.Pointer, np uintptr, q unsafe.Pointer, nq uintptr) int {
	n := min(np, nq)
	for i := uintptr(0); i < n; i++ {
		a, b := *b8(p, i), *b8(q, i)
		if a != b {
			return int(a) - int(b)
		}
	}
	return int(np) - int(nq)
}
