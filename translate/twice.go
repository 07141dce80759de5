package translate

import "svcrelay/nocgo"

// Calls with two paths are resolved one after the other, in one Scratch. What the kernel is to be given for the first
// waits at the end of s.path, and the second has to do with the rest of it.

// keep copies what s.call names to the end of s.path, where it stays until Handle is called again, and gives its address there, or 0 for
// want of room. The next path has s.room bytes.
func (v *View) keep(s *Scratch) uintptr {
	n := s.hostLen
	if s.fd != nocgo.AtFdcwd {
		n = s.nameLen
	}
	if s.empty {
		n = 0
	}
	if n > textMax-shortest {
		return 0
	}
	kept := s.pathAddr() + (textSize-8-n-1)&^7
	if s.call >= s.pathAddr() && s.call < s.pathAddr()+textSize {
		nocgo.CopyDown(kept, s.call, n)
	} else {
		nocgo.CopyUp(kept, s.call, n)
	}
	nocgo.Store8(kept+n, 0)
	s.room = kept - s.pathAddr() - 16
	return kept
}

// shortest is the room that a second path needs at least.
const shortest = 64
