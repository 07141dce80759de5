package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// granule is the smallest page size of the architecture.
const granule = 4096

// memory answers whether memory may be read, and remembers the last granule that could.
type memory struct {
	known uintptr
	// trusted memory is what the dynamic linker itself has to read: nobody is asked about it.
	trusted bool
}

// readable says whether [addr, addr+n) can be read now.
func (m *memory) readable(addr, n uintptr) bool {
	if n == 0 || addr < granule || addr+n < addr {
		return false
	}
	if m.trusted {
		return true
	}
	last := (addr + n - 1) &^ (granule - 1)
	for g := addr &^ (granule - 1); ; g += granule {
		if g != m.known {
			if !nocgo.Readable(g) {
				return false
			}
			m.known = g
		}
		if g == last {
			return true
		}
	}
}

// word reads eight bytes where they can be read, and 0 elsewhere.
func (m *memory) word(addr uintptr) uintptr {
	if !m.readable(addr, 8) {
		return 0
	}
	return uintptr(nocgo.Load64(addr))
}

// length gives the length of the string at addr, at most limit; ok is false where there is none that short.
func (m *memory) length(addr, limit uintptr) (n uintptr, ok bool) {
	for n < limit {
		if n == 0 || (addr+n)&(granule-1) == 0 {
			if !m.readable(addr+n, 1) {
				return 0, false
			}
		}
		if nocgo.Load8(addr+n) == 0 {
			return n, true
		}
		n++
	}
	return 0, false
}

// endsWith says whether the n bytes at addr are name, or end in a slash and name.
func endsWith(addr, n uintptr, name string) bool {
	k := uintptr(len(name))
	if n < k || n > k && nocgo.Load8(addr+n-k-1) != '/' {
		return false
	}
	return unsafe.String((*byte)(nocgo.Ptr(addr+n-k)), len(name)) == name
}
