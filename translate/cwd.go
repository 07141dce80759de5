package translate

import "svcrelay/nocgo"

// getcwd answers getcwd with the text that PRoot keeps, see fromCwd. The kernel's own current directory has no part
// in it.
//
// PRoot walks the text before it answers: here its directory is looked at on the host. One that is not there any more,
// or not by that name, is declined (Directory, Changed and the like). Of the buffer nothing but the text and its NUL is written.
func (v *View) getcwd(s *Scratch, c *Call) (uintptr, Reason) {
	buf, size := c.Arg[0], c.Arg[1]
	if size == 0 {
		return nocgo.Fail(nocgo.EINVAL), Answered
	}
	if nocgo.LoadAcquire32(&v.track) == 0 {
		return 0, Directory
	}
	v.reset(s)
	if why := v.findCwd(s); why != Answered {
		return 0, why
	}
	if why := v.visit(s); why != Answered {
		return 0, why
	}
	n := s.guestLen + 1
	if size < n {
		return nocgo.Fail(nocgo.ERANGE), Answered
	}
	nocgo.Store8(s.guestAddr()+n-1, 0)
	if why := v.give(s, buf, s.guestAddr(), n, false); why != Answered {
		return 0, why
	}
	return n, Answered
}

// visit proves that the guest path in s.guest leads through directories to a directory.
func (v *View) visit(s *Scratch) Reason {
	known := v.knows(s, s.guestAddr(), s.guestLen)
	why := Answered
	if known {
		why = v.settle(s)
	} else {
		why = v.verify(s)
	}
	if why != Answered {
		return why
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.hostAddr(), s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	if nocgo.Failed(r) || s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory {
		return Changed
	}
	if !known {
		v.remember(s, s.guestAddr(), s.guestLen, nocgo.HashWords(s.guestAddr(), s.guestLen), 0)
	}
	return Answered
}

// move answers chdir and fchdir. PRoot's record must move, so PRoot has to answer those that succeed; what text it will
// have then is found out before, by the rules that make it, and kept if no other call of the processes that may share
// the directory came in between. Else the text is asked for when it is needed.
//
// A directory that is missing or none, for certain, is answered at once: nothing moves.
func (v *View) move(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.destination(s, c)
	if errno != 0 && why == Answered {
		return nocgo.Fail(errno), Answered
	}
	gen := nocgo.Add32(v.moves(), 1)
	r := v.plain(s, c)
	after := nocgo.Add32(v.moves(), 1)
	if r == 0 && why == Answered && after == gen+1 && s.guestLen <= slotText {
		v.keepCwd(s, uint64(nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)), after)
	}
	return r, Answered
}

// destination makes s.guest the text that PRoot will have for the current directory after a chdir or fchdir. PRoot
// walks the path as if it ended in "/.", and gives the host path that it finds the guest's point of view.
func (v *View) destination(s *Scratch, c *Call) (errno uintptr, why Reason) {
	if c.Nr == nocgo.SysFchdir {
		return 0, v.opened(s, c.Arg[0])
	}
	errno, why = v.begin(s, nocgo.AtFdcwd, c.Arg[0])
	if errno != 0 || why != Answered {
		return errno, why
	}
	if s.empty {
		return 0, Empty
	}
	for {
		r := nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.hostAddr(), s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
		if r == nocgo.Fail(nocgo.ENOENT) || r == nocgo.Fail(nocgo.ENOTDIR) {
			return nocgo.Errno(r), Answered
		}
		if nocgo.Failed(r) {
			return 0, Denied
		}
		switch s.stat.Mode & nocgo.ModeType {
		case nocgo.ModeDirectory:
			v.learnt(s, 0)
			return 0, v.directoryText(s)
		case nocgo.ModeSymlink:
		default:
			return nocgo.ENOTDIR, Answered
		}
		linked, errno, why := v.follow(s)
		if errno != 0 || why != Answered {
			return errno, why
		}
		if !linked {
			return 0, Changed
		}
	}
}

// opened makes s.guest the text that PRoot has for the directory of a descriptor.
func (v *View) opened(s *Scratch, fd uintptr) Reason {
	v.reset(s)
	if int32(fd) < 0 || nocgo.Failed(nocgo.Raw(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) ||
		s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || s.stat.Nlink == 0 {
		return Descriptor
	}
	s.dev, s.ino = s.stat.Dev, s.stat.Ino
	return v.identify(s, fd)
}
