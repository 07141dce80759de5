package translate

import "svcrelay/nocgo"

// readlink answers readlinkat.
//
// The text is given the guest's point of view as PRoot does on the way out: over the kernel's own answer in the
// buffer, with a NUL after it. Declined are empty paths and sizes the kernel refuses or PRoot reads as others (Flags), and
// absolute texts that do not fit, which PRoots treat differently.
func (v *View) readlink(s *Scratch, c *Call) (uintptr, Reason) {
	buf, size := c.Arg[2], c.Arg[3]
	if size-1 >= 1<<31-1 { // to the kernel it is an int, to PRoot it has 64 bits
		return 0, Flags
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if why == Proc && s.proc != procNone {
		return v.readProcLink(s, buf, size)
	}
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return 0, Empty
	}
	if s.tail != tailNone {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		v.seal(s)
	}
	mine, referrer, why := v.readlinkReferrer(s)
	if why != Answered {
		return 0, why
	}
	// Nothing is left to walk, so rest is free. The kernel's text stays there, s.host gets a copy to work on.
	text := s.restAddr()
	n := nocgo.Raw(nocgo.SysReadlinkat, s.fd, s.call, text, textMax, 0, 0)
	if n == nocgo.Fail(nocgo.EINVAL) {
		v.learnt(s, 0)
	} else {
		v.learnt(s, n)
	}
	if nocgo.Failed(n) {
		return v.priority(s, n)
	}
	if n >= textMax || n == 0 {
		return 0, TooLong
	}
	if v.modes&HardLinks != 0 && endsTwin(text, n) {
		return 0, Twin
	}
	if nocgo.Load8(text) != '/' {
		if size > n {
			size = n
		}
		return size, v.give(s, buf, text, size, false)
	}
	if n >= size {
		return 0, TooLong
	}
	nocgo.CopyWords(s.hostAddr(), text, n)
	at, length, why := v.linkText(s, n, mine, referrer)
	if why != Answered {
		return 0, why
	}
	if length == n && nocgo.EqualWords(at, text, n) && !v.rootIsHost() {
		return n, v.give(s, buf, text, n, false)
	}
	// PRoot counts the NUL it adds: where text and NUL do not leave a byte free, the answer is the buffer's size.
	nocgo.CopyUp(text, at, length)
	nocgo.Store8(text+length, 0)
	if length+1 >= size {
		return size, v.give(s, buf, text, size, false)
	}
	if n <= length {
		n = length + 1
	}
	return length, v.give(s, buf, text, n, false)
}

// readlinkReferrer is referrer for the final component, whose host path may not have been made yet.
func (v *View) readlinkReferrer(s *Scratch) (mine bool, referrer uintptr, why Reason) {
	if s.fd != nocgo.AtFdcwd && s.bind != 0 {
		if why = v.settle(s); why != Answered {
			return false, none, why
		}
		if why = s.hostAppend(s.name, s.nameLen); why != Answered {
			return false, none, why
		}
	}
	return v.referrer(s, s.leafBind)
}
