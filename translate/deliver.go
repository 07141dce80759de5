package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

const granule = 4096

// deliver copies a result of n bytes, a multiple of 32 and less than a page, to the guest's buffer. Where the
// buffer cannot be written completely the kernel has to decide what happens.
func (v *View) deliver(s *Scratch, buf, from, n uintptr) Reason {
	if !v.trusts(buf, n) && (!s.writable(buf) || (buf^(buf+n-1))&^(granule-1) != 0 && !s.writable(buf+n-8)) {
		return Memory
	}
	for i := uintptr(0); i < n; i += 32 {
		nocgo.Store64(buf+i, nocgo.Load64(from+i))
		nocgo.Store64(buf+i+8, nocgo.Load64(from+i+8))
		nocgo.Store64(buf+i+16, nocgo.Load64(from+i+16))
		nocgo.Store64(buf+i+24, nocgo.Load64(from+i+24))
	}
	return Answered
}

// writable says whether the 8 bytes at addr can be written. The granule in which the scratch area ends needs no
// question: whoever called Handle has just written there. The buffers of a function that calls stat are often in it.
func (s *Scratch) writable(addr uintptr) bool {
	top := uintptr(unsafe.Pointer(s)) + unsafe.Sizeof(*s)
	return (addr^top)&^(granule-1) == 0 || nocgo.Writable(addr)
}
