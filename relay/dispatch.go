package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// seen is cleared for good when a call with effects was not seen.
var seen uint8

// linker is where the functions of the dynamic linker are, if it is a library of its own.
var linker patcher.Text

// dispatch answers the system call of a site, or says that it is declined. The hand-laid entry calls it with the
// registers saved.
//
//asmgen:entry svcrelay_dispatch
func dispatch(f *Frame, s *translate.Scratch) (ret, declined uintptr) {
	how := f.Call.Nr
	f.Call.Nr &^= patcher.Quick | patcher.Shielded | patcher.Careful
	f.Mask = unshielded
	if live == 0 {
		return 0, 1
	}
	if how&(patcher.Quick|patcher.Careful) != 0 && patcher.Blocks(f.Call.Nr) {
		view.Passing(f.Call.Nr)
		return 0, 1
	}
	if nocgo.Load8(seenAddr()) == 0 {
		view.Blind()
	}
	switch {
	case f.Call.Nr == nocgo.SysSigaltstack:
		return 0, watchStack(s, f.Call.Arg[0])
	case stats.on && leaves(f.Call.Nr):
		finish()
		return 0, 1
	case confines(&f.Call):
		view.Withdraw()
		askNothing()
	case f.Call.Nr == nocgo.SysPtrace && (f.Call.Arg[0] == attach || f.Call.Arg[0] == seize):
		view.Watch(f.Call.Arg[1])
	}
	if absent(conf.api, f.Call.Nr) {
		if stats.on {
			stats.count(f.Call.Nr, translate.Answered, false)
		}
		return nocgo.Fail(nocgo.ENOSYS), 0
	}
	before := uint64(0) // one more than the waits, 0: a filter may forbid to ask for them
	if stats.on && !view.Withdrawn() {
		before = waited(s) + 1
	}
	s.Quick = how&(patcher.Quick|patcher.Careful) != 0
	s.Linker = linker.Hi-f.Site < linker.Hi-linker.Lo
	shielded := how&patcher.Shielded != 0 && asks(f.Call.Nr) && !view.Withdrawn()
	if shielded {
		f.shield()
	}
	ret, why := view.Handle(s, &f.Call)
	reason := why
	if why == 0 {
		reason = s.Asked()
	}
	if stats.on {
		stats.count(f.Call.Nr, reason, before != 0 && waited(s)+1 != before)
	}
	if stats.logging && reason != 0 {
		stats.note(s, f.Call.Nr, reason)
	}
	if shielded {
		f.unshield()
	}
	if why != 0 {
		return 0, 1
	}
	return ret, 0
}

// confines says whether a call may let somebody else see the system calls of the program. From here on PRoot answers
// everything.
//
//   - A filter of the program's own would see host paths in raw calls. One set through libc's syscall function is not
//     noticed, but the promise not to gain privileges that goes before it is. The same is true of a program that has its
//     calls sent to itself, depending on where they are made (PR_SET_SYSCALL_USER_DISPATCH).
//   - PRoot stops a process at every call, raw ones too, once it has asked to be traced by its parent. The program that
//     it executes then, and one to which a debugger attaches, learn it from the board.
func confines(c *translate.Call) bool {
	const setSeccomp, setNoNewPrivileges, setUserDispatch, traceMe = 22, 38, 59, 0
	const setFilter = 1
	switch c.Nr {
	case nocgo.SysSeccomp: // what is above only asks
		if uint32(c.Arg[0]) > setFilter {
			return false
		}
	case nocgo.SysPrctl: // its first parameter is an int
		switch uint32(c.Arg[0]) {
		case setSeccomp, setNoNewPrivileges, setUserDispatch:
		default:
			return false
		}
	case nocgo.SysPtrace:
		if c.Arg[0] != traceMe {
			return false
		}
		view.Watch(nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0))
		return true
	default:
		return false
	}
	view.Filter()
	return true
}

// Requests of ptrace with which a debugger begins to watch another process: PTRACE_ATTACH, PTRACE_SEIZE.
const (
	attach = 16
	seize  = 0x4206
)

// askNothing has calls declined that would have to ask the kernel whether there is enough stack.
func askNothing() { nocgo.Store64(nocgo.Symbol("svcrelay_unasked"), 1) }

// watchStack looks at the alternate signal stack that the structure at addr, if any, will make the kernel use. One that
// lies in the main thread's own stack, say in an array of main's, is shorter than what is below sp there: from then on
// every call asks for its stack, and from one that cannot be read, as through a pointer with a tag: the kernel may be able
// to when it does. While a handler runs on one that disarms itself (SS_AUTODISARM) the kernel does not say that there is
// one, so from then on no call is answered. The call itself is declined.
func watchStack(s *translate.Scratch, addr uintptr) (declined uintptr) {
	const pointer, flags, size, whole = 0, 8, 16, 24 // in stack_t
	const disarms = 1 << 31
	at := nocgo.Symbol("svcrelay_stack")
	if at == 0 || addr == 0 {
		return 1
	}
	if view.Withdrawn() { // a filter may forbid what Fetch does, and nothing is lost
		nocgo.Store64(at, 0)
		askNothing()
		return 1
	}
	given, ok := view.Fetch(s, addr, whole)
	if !ok {
		nocgo.Store64(at, 0)
		return 1
	}
	if nocgo.Load32(given+flags)&disarms != 0 {
		nocgo.Store64(at, 0)
		askNothing()
		return 1
	}
	low := uintptr(nocgo.Load64(at))
	lo := uintptr(nocgo.Load64(given + pointer))
	if low != 0 && lo < low+stackWindow && lo+uintptr(nocgo.Load64(given+size)) > low {
		nocgo.Store64(at, 0)
	}
	return 1
}

// seenAddr is the address of the byte that a stub clears when a call with effects happens unseen, for want of stack.
func seenAddr() uintptr { return uintptr(unsafe.Pointer(&seen)) }

// aborted notes that a check failed in compiled code, which is a fault in the library itself; the call is declined, and
// what it changes is not seen.
//
//asmgen:entry svcrelay_aborted
func aborted(code uintptr, f *Frame) {
	if f.Mask != unshielded {
		f.unshield()
	}
	stats.failed(code)
	nocgo.Store8(seenAddr(), 0)
}
