//go:build !freestanding

package nocgo

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hostHows holds structures that are on no stack, which may move while an address is a number.
var hostHows = sync.Pool{New: func() any { return new(unix.OpenHow) }}

// HostRaw is what Raw calls on the host; a test may replace it to count or to answer calls.
var HostRaw = HostSyscall

// HostPlain is what Plain calls on the host; a test may replace it by a model of the tracer.
var HostPlain = HostSyscall

// HostCrowd is whether the host's kernel says that others use this process's memory. Go's own threads do not count: what
// they must not take away, they do not.
var HostCrowd = false

// HostSyscall issues the arm64 system call nr on the host, whose numbers, flags and structures may differ.
func HostSyscall(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	if nr == SysUnshare && a0 == cloneVM {
		if HostCrowd {
			return Fail(EINVAL)
		}
		return 0
	}
	host, ok := hostNumber(nr)
	if !ok {
		return Fail(ENOSYS)
	}
	switch nr {
	case SysOpenat:
		a2 = hostOpenFlags(a2)
	case SysOpenat2:
		how := hostHows.Get().(*unix.OpenHow)
		defer hostHows.Put(how)
		*how = *(*unix.OpenHow)(Ptr(a2))
		how.Flags = uint64(hostOpenFlags(uintptr(how.Flags)))
		a2 = uintptr(unsafe.Pointer(how))
	case SysNewfstatat:
		return hostStat(a2, func(buf uintptr) uintptr { return rawSyscall(host, a0, a1, buf, a3, a4, a5) })
	case SysFstat:
		return hostStat(a1, func(buf uintptr) uintptr { return rawSyscall(host, a0, buf, a2, a3, a4, a5) })
	}
	return rawSyscall(host, a0, a1, a2, a3, a4, a5)
}

const cloneVM = 0x100 // CLONE_VM

func rawSyscall(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	r, _, e := unix.RawSyscall6(nr, a0, a1, a2, a3, a4, a5)
	if e != 0 {
		return Fail(uintptr(e))
	}
	return r
}
