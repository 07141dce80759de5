package translate

import "svcrelay/nocgo"

// change handles the calls that may change what paths mean, where no handler answers them. None is answered from memory.
//
//   - chdir and fchdir are issued so that PRoot answers them (cwd.go).
//   - Calls that rename, remove or change permissions are issued in the same way, and what they may have changed
//     is forgotten when they are done, so that nobody remembers in between what no longer holds. Calls that only
//     create need none of this: what is remembered are directories that exist.
//   - Signals are delivered at the end of a system call: a handler runs before anything can be forgotten after it, and
//     may jump away. So everything is forgotten before the call, too.
//   - Waiting for a child may block, so it is declined: everything is forgotten first. What other threads
//     remember while the caller waits holds for the lifetime, like anything that other processes change.
//   - After a change of a faked identity nothing is said any more that depends on it, and after one of the real
//     identity, or of capabilities, the kernel is given no descriptors of directories (FewerRights).
//   - Changing the root, the mounts or the name spaces ends the View for good, see Board.
//
// Nothing that is remembered depends on a file that is neither a directory nor a link, so a call about one
// forgets as little as possible. Which it is about is found out before the call.
func (v *View) change(s *Scratch, c *Call) (uintptr, Reason) {
	s.asked = Effect
	s.room = textMax
	switch c.Nr {
	case nocgo.SysChdir, nocgo.SysFchdir:
		return v.move(s, c)
	case nocgo.SysRenameat, nocgo.SysRenameat2:
		file := (c.Nr == nocgo.SysRenameat || c.Arg[4] == 0) && v.isFile(s, c.Arg[0], c.Arg[1], true)
		if file {
			return v.counted(s, c, &v.links), Answered // the new name may have been a link
		}
		nocgo.Add32(v.moves(), 1)
		r := v.counted(s, c, &v.gen)
		nocgo.Add32(v.moves(), 1)
		return r, Answered
	case nocgo.SysUnlinkat:
		if c.Arg[2]&nocgo.AtRemovedir == 0 {
			return v.counted(s, c, &v.links), Answered
		}
		return v.counted(s, c, &v.gen), Answered
	case nocgo.SysFchmodat, nocgo.SysFchmodat2:
		file := v.isFile(s, c.Arg[0], c.Arg[1], false)
		return v.unlessFile(s, c, file)
	case nocgo.SysFchownat:
		file := v.isFile(s, c.Arg[0], c.Arg[1], c.Arg[4]&nocgo.AtSymlinkNofollow != 0)
		return v.unlessFile(s, c, file)
	case nocgo.SysSetxattr, nocgo.SysLsetxattr, nocgo.SysRemovexattr, nocgo.SysLremovexattr:
		return v.counted(s, c, &v.gen), Answered
	case nocgo.SysFchmod, nocgo.SysFchown, nocgo.SysFsetxattr, nocgo.SysFremovexattr:
		if v.faked == 0 {
			s.asked = Answered // PRoot does not stop there
		}
		return v.unlessFile(s, c, v.staysOpen(s, c))
	case nocgo.SysWait4, nocgo.SysWaitid:
		v.Forget()
		return 0, Effect
	case nocgo.SysSetuid, nocgo.SysSetgid, nocgo.SysSetreuid, nocgo.SysSetregid, nocgo.SysSetresuid, nocgo.SysSetresgid:
		return v.changeIdentity()
	case nocgo.SysSetfsuid, nocgo.SysSetfsgid, nocgo.SysSetgroups, nocgo.SysCapset:
		v.FewerRights()
		return 0, Number
	case nocgo.SysChroot, nocgo.SysUnshare, nocgo.SysSetns:
		return v.leaveFor(s, c)
	case nocgo.SysMount, nocgo.SysUmount2, nocgo.SysPivotRoot:
		return v.mount(s, c)
	}
	return 0, Number
}

// unlessFile issues a call about permissions and forgets everything, unless it was about a file.
func (v *View) unlessFile(s *Scratch, c *Call, file bool) (uintptr, Reason) {
	if file {
		return v.plain(s, c), Answered
	}
	return v.counted(s, c, &v.gen), Answered
}

// staysOpen says whether a call about a descriptor certainly closes no directory to anybody.
func (v *View) staysOpen(s *Scratch, c *Call) bool {
	if c.Nr == nocgo.SysFchmod && c.Arg[1]&searchable == searchable {
		return true
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, c.Arg[0], s.statAddr(), 0, 0, 0, 0)) {
		return false
	}
	return s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || c.Nr == nocgo.SysFchown && s.stat.Mode&searchable == searchable
}

// counted issues a call that ends what is remembered under a counter. It may be about any directory, the rootfs itself
// among them, unless only links are forgotten.
func (v *View) counted(s *Scratch, c *Call, counter *uint32) uintptr {
	root := uint64(0)
	if counter == &v.gen {
		root = v.rootMark(s)
	}
	nocgo.Add32(counter, 1)
	r := v.plain(s, c)
	nocgo.Add32(counter, 1)
	if counter == &v.gen && !nocgo.Failed(r) {
		v.rootMoved(s, root)
	}
	return r
}

// isFile says whether a path certainly names neither a directory nor, unless links may be, a link.
func (v *View) isFile(s *Scratch, dirfd, path uintptr, links bool) bool {
	errno, why := v.begin(s, dirfd, path)
	if errno != 0 || why != Answered || s.empty || s.tail != tailNone {
		return false
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	v.learnt(s, r)
	kind := s.stat.Mode & nocgo.ModeType
	return !nocgo.Failed(r) && kind != nocgo.ModeDirectory && (links || kind != nocgo.ModeSymlink)
}

// plain issues the call as it is, for PRoot to answer, or does what PRoot would certainly do with a descriptor.
func (v *View) plain(s *Scratch, c *Call) uintptr {
	if v.faked != 0 && (c.Nr == nocgo.SysFchmod || c.Nr == nocgo.SysFchown) {
		if r, done := v.editOpen(c); done {
			s.asked = Answered
			return r
		}
	}
	return nocgo.Plain(c.Nr, c.Arg[0], c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], c.Arg[5])
}
