package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// setMask is how rt_sigprocmask sets the whole mask.
const setMask = 2

// allSignals is a mask that blocks what can be blocked.
var allSignals = ^uint64(0)

// shield blocks all signals. Where a thread can be cancelled at any moment, it may be unwound from any instruction: from
// this one, but not from the trampoline page, which no unwind information describes.
func (f *Frame) shield() {
	nocgo.Plain(nocgo.SysRtSigprocmask, setMask, uintptr(unsafe.Pointer(&allSignals)), uintptr(unsafe.Pointer(&f.Mask)), 8, 0, 0)
}

// unshield sets the guest's mask again. A signal that came meanwhile is delivered here, as if it had come at the end of
// the guest's own call.
func (f *Frame) unshield() {
	nocgo.Plain(nocgo.SysRtSigprocmask, setMask, uintptr(unsafe.Pointer(&f.Mask)), 0, 8, 0, 0)
}
