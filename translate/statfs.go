package translate

import "svcrelay/nocgo"

// statfs answers statfs.
//
// Termux's fork says of everything at or below the host path of /dev/shm that it lies in memory. So it is answered
// where the kernel says the same, or where /dev/shm certainly is another place. The guest's buffer may lie over its path, so
// the kernel writes there only when nothing is left to decline.
func (v *View) statfs(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.resolve(s, nocgo.AtFdcwd, c.Arg[0], true)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	call := s.call
	if v.modes&Upstream == 0 {
		r := nocgo.Raw(nocgo.SysStatfs, call, s.statAddr(), 0, 0, 0, 0)
		if nocgo.Failed(r) {
			return v.priority(s, r)
		}
		if call, why = v.outsideMemory(s); why != Answered {
			return 0, why
		}
		s.unproven = false
	}
	return v.priority(s, nocgo.Raw(nocgo.SysStatfs, call, c.Arg[1], 0, 0, 0, 0))
}

// outsideMemory declines what Termux's fork may say to be in memory. s.stat has what the kernel says of s.call; the result is where
// s.call's path is afterwards.
func (v *View) outsideMemory(s *Scratch) (call uintptr, why Reason) {
	const tmpfs = 0x01021994 // TMPFS_MAGIC
	if nocgo.Load64(s.statAddr()) == tmpfs {
		return s.call, Answered
	}
	const shm = "/dev/shm"
	kept, n := v.keep(s), s.hostLen
	if kept == 0 {
		return 0, TooLong
	}
	nocgo.CopyUp(s.pathAddr(), stringAddr(shm), uintptr(len(shm)))
	v.reset(s)
	errno, why := v.locate(s, uintptr(len(shm)))
	if errno == 0 && why == Answered {
		errno, why = v.chase(s)
	}
	if why != Answered || errno == 0 && contains(s.hostAddr(), s.hostLen, kept, n) {
		return 0, Differs
	}
	return kept, Answered
}
