package translate

import "svcrelay/nocgo"

// xattr answers getxattr, lgetxattr, listxattr and llistxattr, whose paths start at the current directory.
//
// It proves that the final component is no link, or that the call does not follow links. Names and buffers are the
// kernel's business. Declined are access control lists that are read where PRoot fakes an identity: they show rights that it may
// have lent (Rights). Which attribute it was is seen afterwards, or before where the buffer may lie over the path or the name.
func (v *View) xattr(s *Scratch, c *Call, follow bool) (uintptr, Reason) {
	const longest = 64 << 10 // XATTR_SIZE_MAX
	asks := v.faked != 0 && (c.Nr == nocgo.SysGetxattr || c.Nr == nocgo.SysLgetxattr)
	if room := min(c.Arg[3], longest); asks && (overlap(c.Arg[0], textMax, c.Arg[2], room) || overlap(c.Arg[1], textMax, c.Arg[2], room)) {
		if v.namesRights(s, c.Arg[1], false) {
			return 0, Rights
		}
		asks = false
	}
	errno, why := v.begin(s, nocgo.AtFdcwd, c.Arg[0])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if !s.empty {
		if follow || s.tail != tailNone {
			if errno, why = v.chase(s); errno != 0 || why != Answered {
				return outcome(errno, why)
			}
		} else if why = v.notFollowed(s); why != Answered {
			return 0, why
		}
		v.seal(s)
	}
	// These calls know no descriptor: there is none where a path starts at the current directory or at "/".
	r := nocgo.Raw(c.Nr, s.call, c.Arg[1], c.Arg[2], c.Arg[3], 0, 0)
	if r == nocgo.Fail(nocgo.ENODATA) || r == nocgo.Fail(nocgo.EOPNOTSUPP) {
		v.learnt(s, 0) // the file is there
		return r, Answered
	}
	v.learnt(s, r)
	if asks && !nocgo.Failed(r) && v.namesRights(s, c.Arg[1], true) {
		return 0, Rights
	}
	return v.priority(s, r)
}

// setXattr answers setxattr, lsetxattr, removexattr and lremovexattr.
//
// It proves what xattr proves. Attributes of users and of the administrator close nothing; with any other, such as an
// access control list, what is remembered below the path is forgotten.
//
// It declines everything where PRoot fakes an identity or makes hard links of symbolic ones: what it lends for the time of the call
// decides what the kernel allows and what an access control list makes of the mode, and the call may end at such a link. Then
// change has PRoot do it and forgets what is remembered (Effect).
func (v *View) setXattr(s *Scratch, c *Call, follow bool) (uintptr, Reason) {
	errno, why := v.find(s, nocgo.AtFdcwd, c.Arg[0], follow)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty || v.harmless(s, c.Arg[1]) {
		if !s.empty {
			v.seal(s)
		}
		r := nocgo.Raw(c.Nr, s.call, c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], 0)
		v.learnt(s, r)
		return v.priority(s, r)
	}
	if v.closesRoot(s) {
		return 0, Withdrawn
	}
	n := s.hostLen
	v.seal(s)
	mark := v.uproot(s, n)
	r := nocgo.Raw(c.Nr, s.call, c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], 0)
	v.uprooted(s, n, mark)
	return v.priority(s, r)
}

// harmless says whether the attribute's name at addr has nothing to do with rights. Nothing is left to walk, so rest is
// free.
func (v *View) harmless(s *Scratch, addr uintptr) bool {
	if v.crowded(s) {
		return false // the kernel may read another name
	}
	name := s.restAddr()
	n := v.fetchText(s, s.statAddr(), s.rest[:textMax], addr, false)
	if nocgo.Failed(n) || n < 5 {
		return false
	}
	switch nocgo.Load32(name) {
	case 'u' | 's'<<8 | 'e'<<16 | 'r'<<24:
		return nocgo.Load8(name+4) == '.'
	case 't' | 'r'<<8 | 'u'<<16 | 's'<<24: // trusted.
		return true
	}
	return false
}
