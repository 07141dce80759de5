package translate

import "svcrelay/nocgo"

const statFlags = nocgo.AtSymlinkNofollow | nocgo.AtNoAutomount | nocgo.AtEmptyPath

// stat answers newfstatat.
//
// It proves that the final component is no link, or that the call does not follow links, with the very lookup
// that fills the structure. It declines unknown flags, because PRoot resolves the path before the kernel refuses
// them, and a buffer that cannot be written.
func (v *View) stat(s *Scratch, c *Call) (uintptr, Reason) {
	flags, buf := uintptr(uint32(c.Arg[3])), c.Arg[2]
	if flags&^statFlags != 0 {
		return 0, Flags
	}
	if v.single != 0 && int32(c.Arg[0]) >= 0 && flags&nocgo.AtEmptyPath == 0 {
		if ret, why, done := v.statName(s, c, flags); done {
			return ret, why
		}
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		// PRoot leaves an empty path alone. The kernel's own current directory is not PRoot's.
		if flags&nocgo.AtEmptyPath != 0 && int32(c.Arg[0]) < 0 {
			return 0, Empty
		}
		return v.lastStat(s, buf, flags)
	}
	if s.tail == tailNone && flags&nocgo.AtSymlinkNofollow != 0 {
		r, why := v.lastStat(s, buf, flags)
		if why != Answered {
			return 0, why
		}
		v.learnt(s, r)
		return v.priority(s, r)
	}
	for s.tail == tailNone {
		r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), flags|nocgo.AtSymlinkNofollow, 0, 0)
		v.learnt(s, r)
		if nocgo.Failed(r) {
			return missingOr(r)
		}
		if s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink {
			return 0, v.deliverStat(s, buf)
		}
		linked, errno, why := v.follow(s)
		if errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		if !linked {
			return 0, Changed
		}
	}
	if errno, why = v.chase(s); errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	v.seal(s)
	r, why := v.lastStat(s, buf, flags)
	if why != Answered {
		return 0, why
	}
	return v.priority(s, r)
}

// missingOr answers the errors after which PRoot saw no link either. With others PRoot, which may have more rights
// than the guest, could have found one.
func missingOr(r uintptr) (uintptr, Reason) {
	if r == nocgo.Fail(nocgo.ENOENT) || r == nocgo.Fail(nocgo.ENOTDIR) {
		return r, Answered
	}
	return 0, Denied
}

// chase follows links until the final component is none.
func (v *View) chase(s *Scratch) (errno uintptr, why Reason) {
	for {
		linked, errno, why := v.follow(s)
		if errno != 0 || why != Answered || !linked {
			return errno, why
		}
	}
}
