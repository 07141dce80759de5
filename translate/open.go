package translate

import "svcrelay/nocgo"

// open answers openat, with all flags.
//
// It proves that the final component is no link, or that the call does not follow links (O_NOFOLLOW, or O_CREAT
// with O_EXCL), and leaves everything else about the flags to the kernel, as PRoot does. A dangling link is
// resolved in guest terms, so that O_CREAT creates its target where PRoot would.
func (v *View) open(s *Scratch, c *Call) (uintptr, Reason) {
	flags := c.Arg[2]
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return nocgo.Raw(nocgo.SysOpenat, s.fd, s.call, flags, c.Arg[3], 0, 0), Answered
	}
	stop := flags&nocgo.ONofollow != 0 || flags&nocgo.OExcl != 0 && flags&nocgo.OCreat != 0
	if s.tail != tailNone || !stop {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
	}
	v.seal(s)
	r := nocgo.Raw(nocgo.SysOpenat, s.fd, s.call, flags, c.Arg[3], 0, 0)
	v.learnt(s, r)
	return v.priority(s, r)
}
