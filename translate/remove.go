package translate

import "svcrelay/nocgo"

// unlink answers unlinkat, which does not follow a link at the end unless slashes follow it. Like PRoot it removes the
// host's side of a binding.
//
// It proves that the directory of the final component is what PRoot finds, and declines only paths; in modes also what look declines.
//
// Removing a name makes wrong what was found through a link of that name; removing a directory, also what is remembered
// of it (uproot.go).
func (v *View) unlink(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.find(s, c.Arg[0], c.Arg[1], false)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return nocgo.Raw(nocgo.SysUnlinkat, s.fd, s.call, c.Arg[2], 0, 0, 0), Answered
	}
	if c.Arg[2]&nocgo.AtRemovedir == 0 {
		v.seal(s)
		nocgo.Add32(&v.links, 1)
		r := nocgo.Raw(nocgo.SysUnlinkat, s.fd, s.call, c.Arg[2], 0, 0, 0)
		nocgo.Add32(&v.links, 1)
		v.learnt(s, r)
		return v.priority(s, r)
	}
	if why := v.complete(s); why != Answered {
		return 0, why
	}
	if v.movesRoot(s) {
		return 0, Withdrawn
	}
	n := s.hostLen
	v.seal(s)
	mark := v.uproot(s, n)
	r := nocgo.Raw(nocgo.SysUnlinkat, s.fd, s.call, c.Arg[2], 0, 0, 0)
	v.uprooted(s, n, mark)
	return v.priority(s, r)
}

// complete makes s.host the host path of the final component where the kernel is given a name and a descriptor.
func (v *View) complete(s *Scratch) Reason {
	if s.fd == nocgo.AtFdcwd {
		return Answered
	}
	if why := v.settle(s); why != Answered {
		return why
	}
	return s.hostAppend(s.name, s.nameLen)
}
