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
// file or directory (Flags, or as missingOr says).
//
// It proves that the final component is no link, or that the call does not follow links. Declined are besides: an empty path
// without AT_EMPTY_PATH or without a descriptor (Empty). In modes: with hard links that are symbolic ones an empty path, where
// the PRoots look for the file in different ways, and an answer that does not say what kind of file it is (Twin); with a faked
// identity an answer without mode or owner, of something that PRoot lends rights (Rights), and a group for which the PRoots differ (Owner).
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
		return v.lastStatx(s, buf, flags, mask)
	}
	if s.tail != tailNone || flags&nocgo.AtSymlinkNofollow == 0 && mask&statxType == 0 {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		v.seal(s)
		return v.lastStatx(s, buf, flags, mask)
	}
	if flags&nocgo.AtSymlinkNofollow != 0 {
		return v.lastStatx(s, buf, flags, mask)
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
			return 0, v.deliverStatx(s, buf, out)
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

// lastStatx is the statx that decides. Termux's fork may turn failures into something else. The kernel writes into
// the guest's buffer itself where its answer is PRoot's.
func (v *View) lastStatx(s *Scratch, buf, flags, mask uintptr) (uintptr, Reason) {
	out := buf
	if v.modes&(Identity|HardLinks) != 0 {
		out = s.restAddr()
	}
	r := nocgo.Raw(nocgo.SysStatx, s.fd, s.call, flags, mask, out, 0)
	if flags&nocgo.AtSymlinkNofollow != 0 && s.tail == tailNone && !s.empty {
		v.learnt(s, r)
	}
	if nocgo.Failed(r) {
		return missingOr(r)
	}
	if out == buf {
		return r, Answered
	}
	return 0, v.deliverStatx(s, buf, out)
}
