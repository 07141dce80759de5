package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// setMask is how rt_sigprocmask sets the whole mask.
const setMask = 2

// faults are the signals that an instruction itself causes: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV and SIGSYS. The kernel
// ends a program in which one of them is blocked then.
const faults = 1<<(4-1) | 1<<(5-1) | 1<<(7-1) | 1<<(8-1) | 1<<(11-1) | 1<<(31-1)

// others is a mask that blocks all other signals.
var others = ^uint64(faults)

// unshielded stands for the guest's mask while no signals are blocked. It is none: nobody can block SIGKILL.
const unshielded = 1 << (9 - 1)

// asks says whether answering a call that can be cancelled at any moment takes raw calls: waiting for a child does not,
// it is only seen.
func asks(nr uintptr) bool { return nr != nocgo.SysWait4 && nr != nocgo.SysWaitid }

// shield blocks all signals that come from outside. Where a thread can be cancelled at any moment, it may be unwound from
// any instruction: from this one, but from the trampoline page only by those who ask for it (unwind.go). A filter of the
// program's own may forbid it, so it is not done where everything is declined (Withdrawn).
func (f *Frame) shield() {
	nocgo.Plain(nocgo.SysRtSigprocmask, setMask, uintptr(unsafe.Pointer(&others)), uintptr(unsafe.Pointer(&f.Mask)), 8, 0, 0)
}

// unshield sets the guest's mask again. A signal that came meanwhile is delivered here, as if it had come at the end of
// the guest's own call.
func (f *Frame) unshield() {
	nocgo.Plain(nocgo.SysRtSigprocmask, setMask, uintptr(unsafe.Pointer(&f.Mask)), 0, 8, 0, 0)
}
