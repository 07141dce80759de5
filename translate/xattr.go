package translate

import "svcrelay/nocgo"

// xattr answers getxattr, lgetxattr, listxattr and llistxattr, whose paths start at the current directory.
//
// It proves that the final component is no link, or that the call does not follow links. Names and buffers are the
// kernel's business.
func (v *View) xattr(s *Scratch, c *Call, follow bool) (uintptr, Reason) {
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
	if v.faked != 0 && !nocgo.Failed(r) && v.tellsRights(s, c) {
		return 0, Rights
	}
	return v.priority(s, r)
}
