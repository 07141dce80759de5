package translate

import "svcrelay/nocgo"

// Handle answers the system call c, or declines it with a Reason. An answer is what PRoot and the kernel would
// have left in x0, with all effects done.
func (v *View) Handle(s *Scratch, c *Call) (ret uintptr, why Reason) {
	if nocgo.LoadAcquire32(&v.state) != stateReady {
		return 0, Withdrawn
	}
	switch c.Nr {
	case nocgo.SysNewfstatat:
		return v.stat(s, c)
	case nocgo.SysOpenat:
		return v.open(s, c)
	case nocgo.SysFaccessat:
		return v.access(s, c)
	case nocgo.SysStatx:
		return v.statx(s, c)
	case nocgo.SysReadlinkat:
		return v.readlink(s, c)
	case nocgo.SysGetxattr, nocgo.SysListxattr:
		return v.xattr(s, c, true)
	case nocgo.SysLgetxattr, nocgo.SysLlistxattr:
		return v.xattr(s, c, false)
	}
	return v.change(s, c)
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
