package translate

import "svcrelay/nocgo"

// closing answers close where PRoot stops at it, as Termux's fork does, to see what becomes of some descriptors:
//
//   - The end of a pipe for reading it keeps open itself, as long as somebody can write.
//   - The number of a socket that it made up for another kind it forgets, and that of the program's /proc/self/auxv.
//
// None of these is a directory, or a regular file with other rights than auxv's, so such a descriptor is closed here, unless
// its number was one of those before and another was put over it, as dup2 does (madeup.go). Who opens auxv is left to PRoot in
// all that follows (open). What PRoot lends to a thread (lend.go) it takes back at
// any stop, and so at that of a close: then it is left to PRoot (Rights). Others (Waits) might wait, as a socket whose data are to be sent
// first, which matters where a thread can be cancelled.
func (v *View) closing(s *Scratch, c *Call) (uintptr, Reason) {
	const rights, ownerReads = 0o7777, 0o400
	if v.modes&Termux == 0 {
		return 0, Number
	}
	if v.lending != 0 || v.missing {
		return 0, Rights
	}
	if v.knowsNumber(c.Arg[0]) {
		return 0, Address
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, c.Arg[0], s.statAddr(), 0, 0, 0, 0)) {
		return 0, Descriptor
	}
	switch s.stat.Mode & nocgo.ModeType {
	case nocgo.ModeDirectory:
	case nocgo.ModeRegular:
		if s.stat.Mode&rights == ownerReads {
			return 0, Descriptor
		}
	default:
		return 0, Waits
	}
	return nocgo.Raw(nocgo.SysClose, c.Arg[0], 0, 0, 0, 0, 0), Answered
}
