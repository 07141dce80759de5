package translate

import "svcrelay/nocgo"

// statfs answers statfs.
//
// Termux's fork says of everything at or below the host path of /dev/shm that it lies in memory. So it is answered
// where the kernel says the same, or where /dev/shm certainly is another place. The kernel has then written into the
// guest's buffer already; PRoot does that again where the call is declined.
func (v *View) statfs(s *Scratch, c *Call) (uintptr, Reason) {
	const tmpfs = 0x01021994 // TMPFS_MAGIC
	errno, why := v.resolve(s, nocgo.AtFdcwd, c.Arg[0], true)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysStatfs, s.call, c.Arg[1], 0, 0, 0, 0)
	if nocgo.Failed(r) {
		return v.priority(s, r)
	}
	kind := s.statAddr() + nocgo.VectorSize
	if !v.fetch(s, s.statAddr(), kind, c.Arg[1], 8, true) {
		return 0, Memory
	}
	if nocgo.Load64(kind) == tmpfs {
		return r, Answered
	}
	const shm = "/dev/shm"
	kept, n := v.keep(s), s.hostLen
	if kept == 0 {
		return 0, TooLong
	}
	nocgo.CopyUp(s.pathAddr(), stringAddr(shm), uintptr(len(shm)))
	v.reset(s)
	errno, why = v.locate(s, uintptr(len(shm)))
	if errno == 0 && why == Answered {
		errno, why = v.chase(s)
	}
	if why != Answered || errno == 0 && contains(s.hostAddr(), s.hostLen, kept, n) {
		return 0, Differs
	}
	return r, Answered
}
