package translate

import "svcrelay/nocgo"

// watch answers inotify_add_watch, whose paths start at the current directory.
//
// It proves that the final component is no link, or that the call does not follow links. The descriptor and the mask
// are the kernel's business: PRoot resolves the path first. It declines only paths.
func (v *View) watch(s *Scratch, c *Call) (uintptr, Reason) {
	const dontFollow = 0x02000000 // IN_DONT_FOLLOW
	errno, why := v.begin(s, nocgo.AtFdcwd, c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if errno, why = v.finish(s, c.Arg[2]&dontFollow == 0); errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysInotifyAdd, c.Arg[0], s.call, c.Arg[2], 0, 0, 0)
	return v.priority(s, r)
}

// fileHandle answers name_to_handle_at. PRoot knows no flag of it: it follows a link at the end, which the kernel does only
// if it is asked to. It proves that there is none. A flag that PRoot takes for another one is declined (Flags).
func (v *View) fileHandle(s *Scratch, c *Call) (uintptr, Reason) {
	flags := uintptr(uint32(c.Arg[4]))
	if flags&^(nocgo.AtSymlinkFollow|nocgo.AtEmptyPath) != 0 {
		return 0, Flags
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty && flags&nocgo.AtEmptyPath != 0 && int32(c.Arg[0]) < 0 {
		return 0, Empty
	}
	if errno, why = v.finish(s, true); errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	r := nocgo.Raw(nocgo.SysNameToHandle, s.fd, s.call, c.Arg[2], c.Arg[3], flags, 0)
	return v.priority(s, r)
}

// finish makes s.fd and s.call what the kernel is to be given. An empty path stays as it is.
func (v *View) finish(s *Scratch, follow bool) (errno uintptr, why Reason) {
	if s.empty {
		return 0, Answered
	}
	if follow || s.tail != tailNone {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return errno, why
		}
	}
	v.seal(s)
	return 0, Answered
}
