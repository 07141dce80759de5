package translate

import "svcrelay/nocgo"

// Handle answers the system call c, or declines it with a Reason. An answer is what PRoot and the kernel would
// have left in x0, with all effects done.
func (v *View) Handle(s *Scratch, c *Call) (ret uintptr, why Reason) {
	s.asked = Answered
	s.room = textMax
	s.crowd = crowdUnknown
	s.bare = false
	if v.Withdrawn() || v.board != 0 && !v.undisturbed() {
		return 0, Withdrawn
	}
	if v.modes&^(Upstream|Termux) != 0 {
		return v.inModes(s, c)
	}
	return v.answer(s, c)
}

// inModes is Handle where PRoot does more than show files.
func (v *View) inModes(s *Scratch, c *Call) (ret uintptr, why Reason) {
	if (v.lending != 0 || v.missing) && showsRights(c) {
		v.settleLent()
	}
	if fits(c.Nr, v.modes) {
		ret, why = v.answer(s, c)
		if v.faked != 0 && walks(c.Nr) && (ret == nocgo.Fail(nocgo.EACCES) || ret == nocgo.Fail(nocgo.EPERM)) {
			why = Rights
		}
		if why == Answered {
			return ret, Answered
		}
		ret = 0
		if v.faked != 0 && EndsUnseen(c.Nr) && why != Unstopped {
			v.noteLent()
		}
		return 0, why
	}
	return v.edit(s, c)
}

// walks says whether a call has a path that PRoot walks, maybe with rights that it lends.
func walks(nr uintptr) bool {
	return nr != nocgo.SysClose && nr != nocgo.SysAccept && nr != nocgo.SysAccept4 && nr != nocgo.SysGetsockname && nr != nocgo.SysGetpeername
}

// answer answers a call or declines it.
func (v *View) answer(s *Scratch, c *Call) (ret uintptr, why Reason) {
	switch c.Nr {
	case nocgo.SysNewfstatat:
		ret, why = v.stat(s, c)
	case nocgo.SysOpenat:
		ret, why = v.open(s, c)
	case nocgo.SysFaccessat:
		ret, why = v.access(s, c)
	case nocgo.SysStatx:
		ret, why = v.statx(s, c)
	case nocgo.SysReadlinkat:
		ret, why = v.readlink(s, c)
	case nocgo.SysGetxattr, nocgo.SysListxattr:
		ret, why = v.xattr(s, c, true)
	case nocgo.SysLgetxattr, nocgo.SysLlistxattr:
		ret, why = v.xattr(s, c, false)
	case nocgo.SysFstat:
		ret, why = v.fstat(s, c)
	case nocgo.SysGetuid, nocgo.SysGeteuid, nocgo.SysGetgid, nocgo.SysGetegid, nocgo.SysGetresuid, nocgo.SysGetresgid,
		nocgo.SysGetgroups:
		ret, why = v.identity(s, c)
	case nocgo.SysClose:
		return v.closing(s, c)
	case nocgo.SysMkdirat:
		ret, why = v.mkdir(s, c)
	case nocgo.SysMknodat:
		ret, why = v.mknod(s, c)
	case nocgo.SysSymlinkat:
		ret, why = v.symlink(s, c)
	case nocgo.SysLinkat:
		ret, why = v.link(s, c)
	case nocgo.SysUtimensat:
		ret, why = v.utimens(s, c)
	case nocgo.SysTruncate:
		ret, why = v.truncate(s, c)
	case nocgo.SysStatfs:
		ret, why = v.statfs(s, c)
	case nocgo.SysUnlinkat:
		ret, why = v.unlink(s, c)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysRenameat, nocgo.SysRenameat2:
		ret, why = v.rename(s, c)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysFchmodat:
		ret, why = v.chmod(s, c)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysFchownat:
		ret, why = v.chown(s, c)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysSetxattr, nocgo.SysRemovexattr:
		ret, why = v.setXattr(s, c, true)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysLsetxattr, nocgo.SysLremovexattr:
		ret, why = v.setXattr(s, c, false)
		return v.orAsk(s, c, ret, why)
	case nocgo.SysGetcwd:
		return v.getcwd(s, c)
	case nocgo.SysUname:
		return v.uname(c)
	case nocgo.SysFaccessat2:
		ret, why = v.access2(s, c)
	case nocgo.SysOpenat2:
		ret, why = v.open2(s, c)
	case nocgo.SysInotifyAdd:
		ret, why = v.watch(s, c)
	case nocgo.SysNameToHandle:
		ret, why = v.fileHandle(s, c)
	case nocgo.SysBind, nocgo.SysConnect:
		ret, why = v.address(s, c)
	case nocgo.SysAccept, nocgo.SysAccept4:
		return v.accept(s, c)
	case nocgo.SysGetsockname, nocgo.SysGetpeername:
		return v.socketName(s, c)
	default:
		if Passes(c.Nr) {
			return v.pass(s, c)
		}
		return v.change(s, c)
	}
	return ret, why
}

// orAsk asks PRoot itself where a call whose effects must not be missed was declined.
func (v *View) orAsk(s *Scratch, c *Call, ret uintptr, why Reason) (uintptr, Reason) {
	if why == Answered {
		return ret, why
	}
	ret, outcome := v.change(s, c)
	s.asked = why
	return ret, outcome
}

// outcome is the result of a call whose path led to an errno.
func outcome(errno uintptr, why Reason) (uintptr, Reason) {
	return nocgo.Fail(errno), why
}

// priority finds out whether PRoot's own walk would have failed before the kernel's error: with ENOTDIR, if the
// directory was not known to be one and the kernel did not get as far as looking into it.
func (v *View) priority(s *Scratch, r uintptr) (uintptr, Reason) {
	if !s.unproven || !nocgo.Failed(r) || r == nocgo.Fail(nocgo.ENOTDIR) || r == nocgo.Fail(nocgo.ENOENT) {
		return r, Answered
	}
	if why := v.settle(s); why != Answered {
		return 0, why
	}
	s.unproven = true
	errno, why := v.prove(s)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	return r, Answered
}
