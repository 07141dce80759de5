package translate

import "svcrelay/nocgo"

// access answers faccessat, which always follows links. It declines modes that the kernel refuses, because PRoot
// resolves the path first (Flags). It proves of the path what begin and chase prove.
func (v *View) access(s *Scratch, c *Call) (uintptr, Reason) {
	mode := uintptr(uint32(c.Arg[2]))
	if mode&^7 != 0 {
		return 0, Flags
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if !s.empty {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		v.seal(s)
	}
	r := nocgo.Raw(nocgo.SysFaccessat, s.fd, s.call, mode, 0, 0, 0)
	return v.priority(s, r)
}
