package tracer

import (
	"unsafe"

	"svcrelay/nocgo"
)

const (
	prSetSeccomp      = 22 // PR_SET_SECCOMP
	seccompModeFilter = 2  // SECCOMP_MODE_FILTER
)

// program is the kernel's struct sock_fprog.
type program struct {
	length uint16
	filter uintptr
}

// The rewritten filter and its header. One caller at a time uses them: see Install.
var (
	rewritten [MaxProgram]Insn
	header    program
	busy      uint32
)

// Install is what a call of prctl does: the system call, but with a rewritten filter where PRoot installs one.
// It returns what the kernel does, a negated errno in case of failure.
//
//asmgen:entry svcrelay_tracer_install
func Install(option, a1, a2, a3, a4 uintptr) uintptr {
	if uint32(option) != prSetSeccomp || a1 != seccompModeFilter {
		return nocgo.Plain(nocgo.SysPrctl, option, a1, a2, a3, a4, 0)
	}
	// PRoot installs its filter once, in a child with one thread. Should two threads of some other program
	// meet here, the second one's filter stays as it is.
	if !nocgo.CompareAndSwap32(&busy, 0, 1) {
		return nocgo.Plain(nocgo.SysPrctl, option, a1, a2, a3, a4, 0)
	}
	ret := uintptr(0)
	done := false
	if rewriteAt(a2) {
		ret = nocgo.Plain(nocgo.SysPrctl, option, a1, uintptr(unsafe.Pointer(&header)), a3, a4, 0)
		// The kernel may refuse the longer program where it would take the original (the filters of one
		// process may have 32768 instructions together): PRoot then gets what it asked for.
		done = !nocgo.Failed(ret)
	}
	if !done {
		ret = nocgo.Plain(nocgo.SysPrctl, option, a1, a2, a3, a4, 0)
	}
	nocgo.StoreRelease32(&busy, 0)
	return ret
}

// rewriteAt rewrites the program whose struct sock_fprog is at addr into header, and says whether it did.
func rewriteAt(addr uintptr) bool {
	if !readable(addr, unsafe.Sizeof(program{})) {
		return false // the kernel answers EFAULT
	}
	p := (*program)(nocgo.Ptr(addr))
	n := uintptr(p.length)
	if !readable(p.filter, n*unsafe.Sizeof(Insn{})) {
		return false
	}
	src := unsafe.Slice((*Insn)(nocgo.Ptr(p.filter)), int(n))
	length, what, at := Rewrite(rewritten[:], src)
	switch what {
	case Rewritten:
		header.length = uint16(length)
		header.filter = uintptr(unsafe.Pointer(&rewritten))
		return true
	case HasRule:
		return false
	}
	var in *Insn
	if at >= 0 {
		in = &src[at]
	}
	report(what, at, in)
	return false
}

// readable says whether n bytes at addr can be read: it asks the kernel to read a signal mask there for a
// change of an unknown kind, which it refuses after the reading. Every page is asked about.
func readable(addr, n uintptr) bool {
	const granule = 4096
	if n < 8 {
		n = 8
	}
	last := addr + n - 8
	for a := addr; a < last; a += granule {
		if nocgo.Plain(nocgo.SysRtSigprocmask, ^uintptr(0), a, 0, 8, 0, 0) != nocgo.Fail(nocgo.EINVAL) {
			return false
		}
	}
	return nocgo.Plain(nocgo.SysRtSigprocmask, ^uintptr(0), last, 0, 8, 0, 0) == nocgo.Fail(nocgo.EINVAL)
}

// Start is the constructor's work. The C library's environ names the block that PRoot will hand on; where the
// C library is not that far yet (the shim depends on nothing, so it may be first), the dynamic linker passed it.
//
//asmgen:entry svcrelay_tracer_start
func Start(argc, argv, envp uintptr) {
	if variable := nocgo.WeakSymbol("environ"); variable != 0 {
		if block := uintptr(nocgo.Load64(variable)); block != 0 {
			envp = block
		}
	}
	if envp != 0 {
		makeBoard(envp)
		CleanEnviron(envp)
	}
}
