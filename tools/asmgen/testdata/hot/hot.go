// Package hot holds loops whose compiled size is watched.
package hot

import "unsafe"

// Hash is FNV-1a over bytes.
func Hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h ^= uint64(c)
		h *= 1099511628211
	}
	return h
}

// Hash31 is the classic multiplicative hash.
func Hash31(b []byte) (h uint32) {
	for i := 0; i < len(b); i++ {
		h = h*31 + uint32(b[i])
	}
	return h
}

// Copy copies bytes.
func Copy(dst, src []byte) int {
	n := len(src)
	if n > len(dst) {
		n = len(dst)
	}
	for i := 0; i < n; i++ {
		dst[i] = src[i]
	}
	return n
}

// IndexByte finds a byte.
func IndexByte(b []byte, c byte) int {
	for i := range b {
		if b[i] == c {
			return i
		}
	}
	return -1
}

// Strlen walks memory.
func Strlen(p unsafe.Pointer) (n uintptr) {
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return n
}

// Buffer is a fixed buffer with a fill level.
type Buffer struct {
	n   int
	buf [256]byte
}

// Append adds a byte unless the buffer is full.
func (b *Buffer) Append(c byte) bool {
	if b.n >= len(b.buf) {
		return false
	}
	b.buf[b.n] = c
	b.n++
	return true
}

// AppendAll adds bytes through the method.
func AppendAll(b *Buffer, s []byte) bool {
	for _, c := range s {
		if !b.Append(c) {
			return false
		}
	}
	return true
}

// Component finds the end of a path component.
func Component(p []byte, i int) int {
	if i < 0 {
		return -1
	}
	for i < len(p) && p[i] != '/' {
		i++
	}
	return i
}

// Backwards finds the last slash.
func Backwards(p []byte) int {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return i
		}
	}
	return -1
}

// HasPrefix compares a prefix.
func HasPrefix(s, p []byte) bool {
	if len(p) > len(s) {
		return false
	}
	for i := range p {
		if s[i] != p[i] {
			return false
		}
	}
	return true
}

type entry struct {
	key  uint64
	val  uint32
	used bool
}

// Table is a small hash table.
type Table struct {
	slots [64]entry
}

// Get looks a key up.
func (t *Table) Get(key uint64) (uint32, bool) {
	for i := key; ; i++ {
		e := &t.slots[i%64]
		if !e.used {
			return 0, false
		}
		if e.key == key {
			return e.val, true
		}
	}
}

// Word reads a little-endian word.
func Word(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Number parses digits.
func Number(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(b) > 0
}

// Switch selects on a byte.
func Switch(c byte) int {
	switch c {
	case '/', 0:
		return 1
	case '.':
		return 2
	case 'a', 'b', 'c':
		return 3
	}
	return 0
}
