package corpus

import "unsafe"

// StringIndex reads a byte anywhere.
func StringIndex(s string, i int) uint8 { return s[i] }

// StringEqual compares.
func StringEqual(a, b string) (bool, bool, bool) { return a == b, a != b, a == "abc" }

// StringOrder orders.
func StringOrder(a, b string) (bool, bool, bool, bool) { return a < b, a <= b, a > b, a >= b }

// Count counts bytes.
func Count(s string, c uint8) (n int) {
	for i := range len(s) {
		if s[i] == c {
			n++
		}
	}
	return n
}

// HasPrefix cuts after comparing lengths.
func HasPrefix(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p }

// Find searches a string in another.
func Find(s, t string) int {
	for i := 0; i+len(t) <= len(s); i++ {
		if s[i:i+len(t)] == t {
			return i
		}
	}
	return -1
}

// Clean removes doubled slashes in place.
func Clean(b []uint8) []uint8 {
	n := 0
	for i, c := range b {
		if c == '/' && i > 0 && b[i-1] == '/' {
			continue
		}
		b[n] = c
		n++
	}
	return b[:n]
}

// Components counts the components of a path.
func Components(s string) (n, longest int) {
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '/' {
			i++
		}
		if c := s[:i]; c != "" && c != "." {
			n++
			longest = max(longest, len(c))
		}
		if i == len(s) {
			break
		}
		s = s[i+1:]
	}
	return n, longest
}

// Number parses a decimal number, and says whether it fits.
func Number(s string) (v uint32, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 || v > (1<<32-1)/10 {
			return 0, false
		}
		v *= 10
		if v+uint32(d) < v {
			return 0, false
		}
		v += uint32(d)
	}
	return v, true
}

// Hash hashes a string.
func Hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// ViewString makes a string of bytes and back without a copy.
func ViewString(b []uint8, n int) (string, bool) {
	if n < 0 || n > len(b) || n == 0 {
		return "", false
	}
	s := unsafe.String(&b[0], n)
	c := unsafe.Slice(unsafe.StringData(s), n)
	c[0]++
	return s[1:], s == "abc"
}

// SliceData walks memory with pointer arithmetic.
func SliceData(b []uint32, n int) (s uint32) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	for i := range len(b) {
		s = s*3 + *(*uint32)(unsafe.Add(p, i*4))
	}
	if len(b) > 2 {
		q := (*[2]uint32)(unsafe.Pointer(&b[1]))
		q[1] = s
		h := (*uint16)(unsafe.Pointer(uintptr(unsafe.Pointer(&b[0])) + 2))
		*h += uint16(n)
	}
	return s
}

// Punning reads memory as another type.
func Punning(p *uint64) (uint8, int16, uint32, int64) {
	q := unsafe.Pointer(p)
	b := (*[8]uint8)(q)
	b[3] ^= 0x80
	return b[7], *(*int16)(unsafe.Add(q, 2)), *(*uint32)(unsafe.Add(q, 4)), *(*int64)(q)
}

// ArrayOfSlice converts a slice to an array pointer and to an array.
func ArrayOfSlice(b []uint16) uint16 {
	p := (*[3]uint16)(b)
	p[0]++
	a := [2]uint16(b)
	a[1] = 5
	return p[0] + a[0] + a[1] + b[1]
}
