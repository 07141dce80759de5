package translate

import "svcrelay/nocgo"

const (
	statxFlags = statFlags | 0x6000 // with AT_STATX_FORCE_SYNC and AT_STATX_DONT_SYNC
	statxSync  = 0x6000             // both together are refused
	statxType  = 1                  // STATX_TYPE
	statxMask  = 0x7fffffff         // the other bit is refused
	statxSize  = 256
	statxMode  = 28 // offset of stx_mode
)

// statx answers statx.
//
// Termux's fork looks at the file again after the kernel did: it makes up an answer of its own where the kernel
// refuses the flags or the mask or lacks the call, so these are declined, and so are all failures but a missing
// file or directory.
func (v *View) statx(s *Scratch, c *Call) (uintptr, Reason) {
	flags, mask, buf := uintptr(uint32(c.Arg[2])), uintptr(uint32(c.Arg[3])), c.Arg[4]
	if flags&^statxFlags != 0 || flags&statxSync == statxSync || mask&^statxMask != 0 {
		return 0, Flags
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		if flags&nocgo.AtEmptyPath == 0 || int32(c.Arg[0]) < 0 {
			return 0, Empty
		}
		return missingOrDone(nocgo.Raw(nocgo.SysStatx, s.fd, s.call, flags, mask, buf, 0))
	}
	if s.tail != tailNone || flags&nocgo.AtSymlinkNofollow == 0 && mask&statxType == 0 {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		v.seal(s)
		return missingOrDone(nocgo.Raw(nocgo.SysStatx, s.fd, s.call, flags, mask, buf, 0))
	}
	if flags&nocgo.AtSymlinkNofollow != 0 {
		r := nocgo.Raw(nocgo.SysStatx, s.fd, s.call, flags, mask, buf, 0)
		v.learnt(s, r)
		return missingOrDone(r)
	}
	for {
		// Nothing is left to walk at this point, so rest is free.
		out := s.restAddr()
		r := nocgo.Raw(nocgo.SysStatx, s.fd, s.call, flags|nocgo.AtSymlinkNofollow, mask, out, 0)
		v.learnt(s, r)
		if nocgo.Failed(r) {
			return missingOr(r)
		}
		if uint32(nocgo.Load16(out+statxMode))&nocgo.ModeType != nocgo.ModeSymlink {
			return 0, v.deliver(s, buf, out, statxSize)
		}
		linked, errno, why := v.follow(s)
		if errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		if !linked {
			return 0, Changed
		}
	}
}

// missingOrDone is missingOr for the last call: Termux's fork may turn other failures into something else.
func missingOrDone(r uintptr) (uintptr, Reason) {
	if !nocgo.Failed(r) {
		return r, Answered
	}
	return missingOr(r)
}
