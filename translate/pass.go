package translate

import "svcrelay/nocgo"

// pass answers calls that PRoot stops at with --kernel-release only to replace them where the kernel lacks them: the
// kernel's answer is PRoot's. Those that wait for another process's lock are left to PRoot (Flags). So is socket, unless PRoot is
// certain to be of the line that does not look at it otherwise (Differs). Without the mode PRoot does not stop (Number).
//
// futex, epoll_pwait and pselect6 are left to PRoot whatever they ask for, and have no sites: one instruction in libc may
// wake or wait, and in glibc up to 2.40 a thread that waits may be cancelled right there, with the unwinding to begin at the
// instruction. It must be where libc knows it to be.
func (v *View) pass(s *Scratch, c *Call) (uintptr, Reason) {
	const setLockWait, ofdSetLockWait = 7, 38 // F_SETLKW, F_OFD_SETLKW
	if c.Nr == nocgo.SysSocket && v.modes&Termux != 0 {
		return v.socket(s, c)
	}
	if v.modes&Release == 0 {
		return 0, Number
	}
	if c.Nr == nocgo.SysFcntl && (uint32(c.Arg[1]) == setLockWait || uint32(c.Arg[1]) == ofdSetLockWait) {
		return 0, Flags
	}
	if c.Nr == nocgo.SysSocket && v.modes&Upstream == 0 {
		return 0, Differs
	}
	return nocgo.Raw(c.Nr, c.Arg[0], c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], c.Arg[5]), Answered
}

// Passes says whether a call is one of those.
func Passes(nr uintptr) bool {
	switch nr {
	case nocgo.SysFcntl, nocgo.SysPipe2, nocgo.SysDup3, nocgo.SysEventfd2, nocgo.SysEpollCreate1, nocgo.SysTimerfdCreate,
		nocgo.SysSignalfd4, nocgo.SysInotifyInit1, nocgo.SysSocketpair, nocgo.SysSocket:
		return true
	}
	return false
}
