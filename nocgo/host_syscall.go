//go:build !freestanding

package nocgo

import "golang.org/x/sys/unix"

// hostSyscall issues the arm64 system call nr on the host, whose numbers, flags and structures may differ.
func hostSyscall(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	host, ok := hostNumber(nr)
	if !ok {
		return Fail(ENOSYS)
	}
	if nr == SysOpenat {
		a2 = hostOpenFlags(a2)
	}
	r, _, e := unix.RawSyscall6(host, a0, a1, a2, a3, a4, a5)
	if e != 0 {
		return Fail(uintptr(e))
	}
	if nr == SysNewfstatat {
		hostFixStat(a2)
	}
	if nr == SysFstat {
		hostFixStat(a1)
	}
	return r
}
