package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// sample is how many probes of memory on the main thread are made without asking the kernel who has it, if the C library
// says that there is one thread.
const sample = 16

// company asks the kernel: it pretends to separate the memory from that of others if there are none, and refuses if
// there are. No change comes of it, and it knows threads and processes whatever made them.
//
// A call by the main thread is spared the question where the C library says that it is the only one, 15 times of 16.
// That is wrong for threads that were made without the C library's functions for it (a program's own clone): these may be
// unnoticed for the main thread's next 15 calls. On any other stack than the main thread's, the question is never spared,
// nor once such a thread was noticed.
func (v *View) company(s *Scratch) bool {
	const cloneVM = 0x100 // CLONE_VM
	if v.crowd == 0 && v.lone != 0 && nocgo.Load8(v.lone) != 0 && v.trusts(uintptr(unsafe.Pointer(s)), 1) {
		v.turn++
		if v.turn%sample != 0 {
			return false
		}
	}
	if nocgo.Raw(nocgo.SysUnshare, cloneVM, 0, 0, 0, 0, 0) == 0 {
		if v.crowd != 0 {
			v.crowd = 0
		}
		return false
	}
	nocgo.StoreRelease32(&v.crowd, 1)
	return true
}

// TrustCount tells the View where the C library has a byte that is not 0 while there is one thread.
func (v *View) TrustCount(addr uintptr) { v.lone = addr }
