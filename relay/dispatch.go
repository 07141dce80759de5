package relay

import (
	"svcrelay/nocgo"
	"svcrelay/translate"
)

// dispatch answers the system call of a site, or says that it is declined. The hand-laid entry calls it with the
// registers saved.
//
//asmgen:entry svcrelay_dispatch
func dispatch(f *Frame, s *translate.Scratch) (ret, declined uintptr) {
	if live == 0 {
		return 0, 1
	}
	if confines(&f.Call) {
		view.Withdraw()
	}
	ret, why := view.Handle(s, &f.Call)
	if stats.on {
		stats.count(why)
	}
	if why != 0 {
		if stats.logging {
			stats.note(s, f.Call.Nr, why)
		}
		return 0, 1
	}
	return ret, 0
}

// confines says whether a call may put a filter of the program's own on its system calls. It would see host paths in
// raw calls, and what it then does is the program's business: from here on PRoot answers everything. A filter set
// through libc's syscall function is not seen, but the promise not to gain privileges that goes before it is.
func confines(c *translate.Call) bool {
	const setSeccomp, setNoNewPrivileges = 22, 38
	return c.Nr == nocgo.SysSeccomp || c.Nr == nocgo.SysPrctl && (c.Arg[0] == setSeccomp || c.Arg[0] == setNoNewPrivileges)
}

// aborted notes that a check failed in compiled code, which is a fault in the library itself; the call is declined.
//
//asmgen:entry svcrelay_aborted
func aborted(code uintptr) {
	nocgo.Add64(&stats.errors, 1)
	nocgo.StoreRelease64(&stats.last, uint64(code))
}
