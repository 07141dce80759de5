package translate

import "svcrelay/nocgo"

// Search permission for everybody: with it nobody loses the way through a directory.
const searchable = 0o111

// chmod answers fchmodat, which follows links. What is remembered of a directory is forgotten where the new mode may
// close it to somebody. It proves that the final component is no link. It declines only paths; in modes also what look declines.
func (v *View) chmod(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := uintptr(0), Answered
	closes := c.Arg[2]&searchable != searchable
	if closes {
		errno, why = v.inspect(s, c.Arg[0], c.Arg[1], true)
		closes = s.stat.Mode&nocgo.ModeType == nocgo.ModeDirectory
	} else {
		errno, why = v.find(s, c.Arg[0], c.Arg[1], true)
	}
	if why == Proc && s.proc == procNumber {
		return v.chmodOpen(s, c)
	}
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return nocgo.Raw(nocgo.SysFchmodat, s.fd, s.call, c.Arg[2], 0, 0, 0), Answered
	}
	return v.attribute(s, closes, nocgo.SysFchmodat, c.Arg[2], 0, 0)
}

// chmodOpen answers fchmodat of /proc/self/fd/N, which begin has found: C libraries without fchmodat2 change the mode of what is
// certainly no link like that. PRoot makes it the number of the thread and leaves the link itself to the kernel. The rights
// that it lends are on what the descriptor is of. Declined are a descriptor that is none (Proc), one of something that PRoot lends
// rights (Rights), and one of a hard link that it made (Twin).
func (v *View) chmodOpen(s *Scratch, c *Call) (uintptr, Reason) {
	fd := v.ownDescriptor(s)
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.call, s.statAddr(), 0, 0, 0)) {
		return 0, Proc
	}
	mode := s.stat.Mode
	if v.faked != 0 && lends(mode) {
		return 0, Rights
	}
	if v.modes&HardLinks != 0 {
		if why := v.openTwin(s, fd); why != Answered {
			return 0, why
		}
	}
	if mode&nocgo.ModeType != nocgo.ModeDirectory || c.Arg[2]&searchable == searchable {
		return nocgo.Raw(nocgo.SysFchmodat, nocgo.AtFdcwd, s.call, c.Arg[2], 0, 0, 0), Answered
	}
	root := v.rootMark(s)
	nocgo.Add32(&v.gen, 1)
	r := nocgo.Raw(nocgo.SysFchmodat, nocgo.AtFdcwd, s.call, c.Arg[2], 0, 0, 0)
	nocgo.Add32(&v.gen, 1)
	if !nocgo.Failed(r) {
		v.rootMoved(s, root)
	}
	return r, Answered
}

// chown answers fchownat. Another owner or group may have less rights; where everybody may search, nobody is shut out.
//
// It proves that the final component is no link, or that the call does not follow links. It declines a descriptor's own file (an
// empty path: Empty), which change handles; in modes also what look declines.
func (v *View) chown(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.inspect(s, c.Arg[0], c.Arg[1], c.Arg[4]&nocgo.AtSymlinkNofollow == 0)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return 0, Empty
	}
	closes := s.stat.Mode&nocgo.ModeType == nocgo.ModeDirectory && s.stat.Mode&searchable != searchable
	return v.attribute(s, closes, nocgo.SysFchownat, v.owner(c.Arg[2]), v.group(c.Arg[3]), c.Arg[4])
}

// attribute issues a call that may close the directory at the path to somebody.
func (v *View) attribute(s *Scratch, closes bool, nr, a2, a3, a4 uintptr) (uintptr, Reason) {
	if !closes {
		v.seal(s)
		r := nocgo.Raw(nr, s.fd, s.call, a2, a3, a4, 0)
		return v.priority(s, r)
	}
	if why := v.complete(s); why != Answered {
		return 0, why
	}
	if v.closesRoot(s) {
		return 0, Withdrawn
	}
	n := s.hostLen
	v.seal(s)
	mark := v.uproot(s, n)
	r := nocgo.Raw(nr, s.fd, s.call, a2, a3, a4, 0)
	v.uprooted(s, n, mark)
	return v.priority(s, r)
}

// inspect is resolve with a look at what is there, in s.stat; its mode is 0 where nothing is. What must follow the path
// is not yet sealed.
func (v *View) inspect(s *Scratch, dirfd, path uintptr, follow bool) (errno uintptr, why Reason) {
	if errno, why = v.begin(s, dirfd, path); errno != 0 || why != Answered || s.empty {
		return errno, why
	}
	for {
		r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
		v.learnt(s, r)
		if nocgo.Failed(r) {
			s.stat.Mode = 0
			if _, why = missingOr(r); why != Answered {
				return 0, why
			}
			return 0, Answered
		}
		if s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink || !follow && s.tail == tailNone {
			return 0, Answered
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

// utimens answers utimensat. Without a path it is about the descriptor, and PRoot has nothing to translate. It proves that the
// final component is no link, or that the call does not follow links. Declined is an empty path without a descriptor (Empty).
func (v *View) utimens(s *Scratch, c *Call) (uintptr, Reason) {
	flags := c.Arg[3]
	if c.Arg[1] == 0 {
		return nocgo.Raw(nocgo.SysUtimensat, c.Arg[0], 0, c.Arg[2], flags, 0, 0), Answered
	}
	errno, why := v.resolve(s, c.Arg[0], c.Arg[1], flags&nocgo.AtSymlinkNofollow == 0)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty && int32(c.Arg[0]) < 0 {
		return 0, Empty // the kernel's own current directory is not PRoot's
	}
	r := nocgo.Raw(nocgo.SysUtimensat, s.fd, s.call, c.Arg[2], flags, 0, 0)
	if r == 0 && c.Arg[2] != 0 && s.unproven && !s.empty {
		// Where both times are UTIME_OMIT the kernel does not look at the path, but PRoot has.
		if errno, why = v.proveLate(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
	}
	v.learnt(s, r)
	return v.priority(s, r)
}

// truncate answers truncate. It proves that the final component is no link, and declines only paths; in modes also what look
// declines.
func (v *View) truncate(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.resolve(s, nocgo.AtFdcwd, c.Arg[0], true)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysTruncate, s.call, c.Arg[1], 0, 0, 0, 0)
	return v.priority(s, r)
}
