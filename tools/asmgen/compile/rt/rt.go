// Package rt holds the helpers that compiled code calls for what has no short instruction sequence. It is
// compiled with every program, by the same compiler, without nil checks.
package rt

import "unsafe"

func b8(p unsafe.Pointer, i uintptr) *uint8   { return (*uint8)(unsafe.Add(p, i)) }
func b64(p unsafe.Pointer, i uintptr) *uint64 { return (*uint64)(unsafe.Add(p, i)) }

// Move copies n bytes from src to dst, which may overlap.
func Move(dst, src unsafe.Pointer, n uintptr) {
	if uintptr(dst)-uintptr(src) >= n {
		i := uintptr(0)
		for ; n-i >= 8; i += 8 {
			*b64(dst, i) = *b64(src, i)
		}
		for ; i < n; i++ {
			*b8(dst, i) = *b8(src, i)
		}
		return
	}
	for n >= 8 {
		n -= 8
		*b64(dst, n) = *b64(src, n)
	}
	for n > 0 {
		n--
		*b8(dst, n) = *b8(src, n)
	}
}

// Zero clears n bytes at p.
func Zero(p unsafe.Pointer, n uintptr) {
	i := uintptr(0)
	for ; n-i >= 8; i += 8 {
		*b64(p, i) = 0
	}
	for ; i < n; i++ {
		*b8(p, i) = 0
	}
}

// Equal says whether n bytes at p and q are the same.
func Equal(p, q unsafe.Pointer, n uintptr) bool {
	i := uintptr(0)
	for ; n-i >= 8; i += 8 {
		if *b64(p, i) != *b64(q, i) {
			return false
		}
	}
	for ; i < n; i++ {
		if *b8(p, i) != *b8(q, i) {
			return false
		}
	}
	return true
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
