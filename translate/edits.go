package translate

import "svcrelay/nocgo"

// Calls that change files, where PRoot fakes an identity or makes hard links of symbolic ones. What is done without
// modes is done here as well, if a look at the paths before it shows that the modes make no difference:
//
//   - With --link2symlink nothing at the end of a path may be such a link (twin.go); linkat is PRoot's.
//   - While root is faked PRoot lends rights on the file itself, too, and gives them back to whatever has the name when
//     the call is over. A file that is gone by then, or has another name, keeps the lent rights under its other names.
//     PRoot looks at the end of a link for this. So what would be lent something must not be removed or renamed here.
//     Set-user-ID comes back after a chown or truncate that takes it away. Where the path itself names something without
//     such bits, a chmod ends with the mode that was asked for, and a chown with the mode that was there (alters).
//   - A new file must get the group that it gets where rights are lent on its directory (createsAlike).
//   - The faked real ids in a chown stand for those that PRoot has.
//   - What fails for want of rights is left to PRoot, which may have lent them, or say that it was done.

// edit answers such a call, or has change do it.
func (v *View) edit(s *Scratch, c *Call) (uintptr, Reason) {
	why := v.look(s, c)
	if why == Answered {
		s.asked = Answered
		s.room = textMax
		r, outcome := v.answer(s, c)
		if s.asked != Answered || outcome == Answered && r != nocgo.Fail(nocgo.EACCES) && r != nocgo.Fail(nocgo.EPERM) {
			v.noteAsked(s, c)
			return r, outcome
		}
		if why = outcome; outcome == Answered {
			why = Rights
		}
	}
	r, outcome := v.change(s, c)
	if outcome == Number {
		outcome = why
	}
	if why != Number {
		s.asked = why
	}
	v.noteAsked(s, c)
	return r, outcome
}

// noteAsked notes the thread where PRoot was asked, or will be, and may then still lend it rights.
func (v *View) noteAsked(s *Scratch, c *Call) {
	if s.asked != Answered && v.faked != 0 && EndsUnseen(c.Nr) {
		v.noteLent()
	}
}

// look says whether modes make a difference to a call that changes files.
func (v *View) look(s *Scratch, c *Call) Reason {
	switch c.Nr {
	case nocgo.SysUnlinkat:
		return v.lookEnd(s, c.Arg[0], c.Arg[1], false, leaves)
	case nocgo.SysRenameat, nocgo.SysRenameat2:
		if why := v.lookEnd(s, c.Arg[0], c.Arg[1], false, leaves); why != Answered {
			return why
		}
		moves := v.faked != 0 && s.isDirectory()
		if why := v.lookEnd(s, c.Arg[2], c.Arg[3], false, leaves); why != Answered {
			return why
		}
		moves = moves || v.faked != 0 && s.isDirectory() // one may be exchanged for the other
		if moves && (v.turnsBack(s, c.Arg[0], c.Arg[1]) || v.turnsBack(s, c.Arg[2], c.Arg[3])) {
			return Rights
		}
		return Answered
	case nocgo.SysMkdirat:
		return v.lookNew(s, c.Arg[0], c.Arg[1], false)
	case nocgo.SysMknodat:
		return v.lookNew(s, c.Arg[0], c.Arg[1], true)
	case nocgo.SysSymlinkat:
		return v.lookNew(s, c.Arg[1], c.Arg[2], false)
	case nocgo.SysUtimensat:
		if c.Arg[1] == 0 || c.Arg[3]&nocgo.AtSymlinkNofollow == 0 {
			return Answered
		}
		return v.lookEnd(s, c.Arg[0], c.Arg[1], false, stays)
	case nocgo.SysFchmodat:
		why := v.lookEnd(s, c.Arg[0], c.Arg[1], true, changes)
		if why == Proc && s.proc == procNumber {
			return Answered // chmodOpen looks
		}
		return v.unlessPassed(s, c, why)
	case nocgo.SysTruncate:
		return v.lookEnd(s, nocgo.AtFdcwd, c.Arg[0], true, leaves)
	case nocgo.SysFchownat:
		if why := v.knowIDs(); why != Answered {
			return why
		}
		return v.unlessPassed(s, c, v.lookEnd(s, c.Arg[0], c.Arg[1], c.Arg[4]&nocgo.AtSymlinkNofollow == 0, changes))
	}
	return Number
}

// unlessPassed is what lookEnd said of a new mode or owner, but for a way that may have led through what gets it: there PRoot
// may have lent rights, and gives back the mode from before the call.
func (v *View) unlessPassed(s *Scratch, c *Call, why Reason) Reason {
	if why == Answered && v.faked != 0 && v.turnsBack(s, c.Arg[0], c.Arg[1]) {
		return Rights
	}
	return why
}

// What a call does with the final component of a path.
const (
	stays   = iota
	leaves  // it will not have this name afterwards
	changes // it will have another mode or owner
)

// lookEnd looks at the final component of a path.
func (v *View) lookEnd(s *Scratch, dirfd, path uintptr, follow bool, does int) Reason {
	errno, why := v.find(s, dirfd, path, follow)
	if errno != 0 && why == Answered && does == leaves && v.modes&HardLinks != 0 {
		// PRoot takes the text for a path of the host then, and counts down a hard link that it finds there.
		return Twin
	}
	if errno != 0 || why != Answered {
		return why // an errno is the answer, whatever the mode
	}
	if s.empty {
		return Empty
	}
	if v.faked != 0 && does != stays && !(does == changes && v.alters(s)) {
		r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), 0, 0, 0)
		if nocgo.Failed(r) {
			s.stat.Mode = 0
		} else if lends(s.stat.Mode) {
			return Rights
		}
	}
	if follow || s.tail != tailNone {
		return Answered
	}
	return v.notFollowed(s)
}

// isDirectory says whether lookEnd has come to one, or a link to one.
func (s *Scratch) isDirectory() bool { return s.stat.Mode&nocgo.ModeType == nocgo.ModeDirectory }

// turnsBack says whether the way of a path leads into a directory and up again, itself or by the text of a link. What PRoot
// lends such a directory it gives back by name, and after a rename of one above it that name leads nowhere.
func (v *View) turnsBack(s *Scratch, dirfd, path uintptr) bool {
	s.bare, s.turned = true, false
	v.find(s, dirfd, path, false)
	s.bare = false
	return s.turned
}

// alters says whether the end of the path is such that a chmod or chown of it comes out as with lent rights. PRoot lends
// them where it follows a link to it once more, and what it gives back then is not what was asked for.
func (v *View) alters(s *Scratch) bool {
	const special = 0o7000 // set-user-ID, set-group-ID, sticky
	if s.links != 0 || s.tail != tailNone {
		return false
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	return !nocgo.Failed(r) && s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink && s.stat.Mode&special == 0
}

// lookNew looks at a path that is to be made.
func (v *View) lookNew(s *Scratch, dirfd, path uintptr, follow bool) Reason {
	if why := v.lookEnd(s, dirfd, path, follow, stays); why != Answered {
		return why
	}
	if v.faked == 0 {
		return Answered
	}
	if s.nameLen != 0 && !v.createsAlike(s, 0) {
		return Rights
	}
	return Answered
}

// knowIDs asks PRoot for the faked real ids, for owner and group.
func (v *View) knowIDs() Reason {
	if v.faked == 0 {
		return Answered
	}
	if _, why := v.oneID(nocgo.SysGetuid); why != Answered {
		return why
	}
	_, why := v.oneID(nocgo.SysGetgid)
	return why
}

// owner is what PRoot makes of the new owner in a chown, once knowIDs has answered.
func (v *View) owner(id uintptr) uintptr {
	if v.faked != 0 && uint32(id) == uint32(v.kept[0]) {
		return uintptr(v.uid)
	}
	return id
}

// group is owner for the group.
func (v *View) group(id uintptr) uintptr {
	if v.faked != 0 && uint32(id) == uint32(v.kept[nocgo.SysGetgid-nocgo.SysGetuid]) {
		return uintptr(v.gid)
	}
	return id
}

// editOpen does fchmod and fchown under a faked identity, where PRoot stops at them. They do not walk to the file, so
// nothing is lent. It is false where PRoot has to say what comes of it.
func (v *View) editOpen(c *Call) (uintptr, bool) {
	r := uintptr(0)
	if c.Nr == nocgo.SysFchmod {
		r = nocgo.Raw(c.Nr, c.Arg[0], c.Arg[1], 0, 0, 0, 0)
	} else if v.knowIDs() == Answered {
		r = nocgo.Raw(c.Nr, c.Arg[0], v.owner(c.Arg[1]), v.group(c.Arg[2]), 0, 0, 0)
	} else {
		return 0, false
	}
	return r, r != nocgo.Fail(nocgo.EACCES) && r != nocgo.Fail(nocgo.EPERM)
}
