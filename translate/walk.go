package translate

import "svcrelay/nocgo"

// maxLinks is how many symbolic links a path may lead through. PRoot's own limit depends on the libc it was built
// with (20, or 8 with bionic) and on how the links are nested, so a path with more links is declined.
const maxLinks = 8

// locate finds the directory of the absolute path of n bytes in s.path, and the final component in it.
func (v *View) locate(s *Scratch, n uintptr) (errno uintptr, why Reason) {
	path := s.pathAddr()
	end := path + n
	name := end
	for nocgo.Load8(name-1) != '/' {
		name--
	}
	s.at, s.end = path, end
	s.links = 0
	s.tail = tailNone
	s.inner = false
	s.learn = false
	s.fd = nocgo.AtFdcwd
	if ordinary(name, end-name) {
		if name-path == 1 {
			v.setRoot(s)
			s.name, s.nameLen, s.at = name, end-name, end
			s.inner = true
			return 0, v.target(s)
		}
		s.keyLen = name - path - 1
		s.keyHash = nocgo.HashWords(path, s.keyLen)
		if v.lookup(s, path, s.keyLen, s.keyHash) {
			s.name, s.nameLen, s.at = name, end-name, end
			s.inner = true
			return 0, v.target(s)
		}
		s.learn = true
	}
	v.seek(s)
	errno, why = v.toParent(s)
	if errno != 0 || why != Answered {
		return errno, why
	}
	return 0, v.target(s)
}

// ordinary says whether a name is one that a directory can hold: not "", "." or "..", and shorter than what
// PRoot accepts (which is one byte less than the kernel does).
func ordinary(name, n uintptr) bool {
	if n == 0 || n >= nocgo.NameMax {
		return false
	}
	if nocgo.Load8(name) != '.' {
		return true
	}
	return n > 2 || n == 2 && nocgo.Load8(name+1) != '.'
}

// setRoot makes "/" the directory reached.
func (v *View) setRoot(s *Scratch) {
	nocgo.Store8(s.guestAddr(), '/')
	s.guestLen = 1
	s.bind = 0
	s.kids = true
	s.unproven = false
	v.expand(s, 0)
}

// seek makes the longest remembered directory on the way to the end of the absolute path at s.at the directory
// reached, or "/".
func (v *View) seek(s *Scratch) {
	if v.ttl != 0 {
		p := s.end - 1
		for p > s.at && nocgo.Load8(p) == '/' {
			p-- // what is left must keep its last component, and the slashes after it
		}
		for ; p > s.at; p-- {
			if nocgo.Load8(p) == '/' && v.lookup(s, s.at, p-s.at, nocgo.HashWords(s.at, p-s.at)) {
				s.at = p
				return
			}
		}
	}
	v.setRoot(s)
}

// toParent walks what is left of the path up to its final component, from the directory reached. It returns an
// errno where PRoot would, for certain.
func (v *View) toParent(s *Scratch) (errno uintptr, why Reason) {
	s.nameLen = 0
	for {
		p, end := s.at, s.end
		for p < end && nocgo.Load8(p) == '/' {
			p++
		}
		q := p
		for q < end && nocgo.Load8(q) != '/' {
			q++
		}
		next := q
		for next < end && nocgo.Load8(next) == '/' {
			next++
		}
		s.at = next
		n := q - p
		last := next == end
		if n >= nocgo.NameMax {
			return 0, TooLong
		}
		if n == 0 { // the path is "/", or a link's text is
			s.inner = true
			s.name, s.nameLen = p, 0
			return 0, Answered
		}
		if n == 1 && nocgo.Load8(p) == '.' {
			if last {
				return v.stay(s, tailDot)
			}
			continue
		}
		if n == 2 && nocgo.Load8(p) == '.' && nocgo.Load8(p+1) == '.' {
			if errno, why = v.leave(s); errno != 0 || why != Answered {
				return errno, why
			}
			if last {
				return v.stay(s, tailSlash)
			}
			continue
		}
		if last {
			if q < end && !s.inner {
				s.tail = tailSlash
			}
			s.inner = true
			s.name, s.nameLen = p, n
			return 0, Answered
		}
		if errno, why = v.descend(s, p, n); errno != 0 || why != Answered {
			return errno, why
		}
	}
}

// stay ends the walk in the directory reached, because the final component was "." or "..".
func (v *View) stay(s *Scratch, tail uintptr) (errno uintptr, why Reason) {
	if !s.inner {
		s.tail = tail
	}
	s.inner = true
	s.name, s.nameLen = s.end, 0
	return v.prove(s)
}

// leave goes to the directory above, in guest terms. PRoot does it textually, but only from a directory.
func (v *View) leave(s *Scratch) (errno uintptr, why Reason) {
	s.turned = true
	if errno, why = v.prove(s); errno != 0 || why != Answered {
		return errno, why
	}
	n := s.guestLen
	for n > 1 && nocgo.Load8(s.guestAddr()+n-1) != '/' {
		n--
	}
	if n > 1 {
		n--
	}
	s.guestLen = n
	return 0, v.settle(s)
}

// prove makes sure that the directory reached is one.
func (v *View) prove(s *Scratch) (errno uintptr, why Reason) {
	if !s.unproven {
		return 0, Answered
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.hostAddr(), s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)) {
		return 0, Changed
	}
	if s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory {
		if s.stat.Mode&nocgo.ModeType == nocgo.ModeSymlink {
			return 0, Changed
		}
		return nocgo.ENOTDIR, Answered
	}
	s.unproven = false
	return 0, Answered
}

// descend goes into the component name of n bytes, which is not the last one. PRoot looks at it with lstat: a
// missing one is ENOENT, one that is neither a directory nor a link is ENOTDIR. Here readlink looks: it reads a
// link, answers EINVAL for all else, and ENOTDIR where the directory is none (which PRoot would have said one
// component earlier, as there is nothing to fail in between). Other errors differ between PRoots.
func (v *View) descend(s *Scratch, name, n uintptr) (errno uintptr, why Reason) {
	guestLen, bind, fresh := s.guestLen, s.bind, s.unproven
	if why = v.append(s, name, n); why != Answered {
		return 0, why
	}
	host := s.hostAddr()
	mine, referrer, why := v.referrer(s, s.bind)
	if why != Answered {
		return 0, why
	}
	r := nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, host, host, textMax, 0, 0)
	if fresh && (r == nocgo.Fail(nocgo.EINVAL) || !nocgo.Failed(r)) {
		v.passed(s, guestLen, bind)
	}
	if r == nocgo.Fail(nocgo.EINVAL) {
		s.unproven = true
		s.kids = true
		return 0, v.enterable(s)
	}
	if r == nocgo.Fail(nocgo.ENOENT) || r == nocgo.Fail(nocgo.ENOTDIR) {
		return nocgo.Errno(r), Answered
	}
	if nocgo.Failed(r) {
		return 0, Denied
	}
	s.guestLen, s.bind = guestLen, bind
	s.unproven = false
	return 0, v.splice(s, r, mine, referrer, name, n)
}

// passed remembers the directory that the walk has just led through, by its own name: the first n bytes of s.guest.
func (v *View) passed(s *Scratch, n, bind uintptr) {
	if v.ttl == 0 {
		return
	}
	guestLen, own := s.guestLen, s.bind
	s.guestLen, s.bind = n, bind
	v.remember(s, s.guestAddr(), n, nocgo.HashWords(s.guestAddr(), n), 0)
	s.guestLen, s.bind = guestLen, own
}

// append adds a component to the guest and host path of the directory reached.
func (v *View) append(s *Scratch, name, n uintptr) Reason {
	kid := none
	if v.rebound(name, n) {
		return Hidden
	}
	if s.kids && v.active > 1 {
		kid = v.kid(s.guestAddr(), s.guestLen, name, n)
	}
	if kid != none && !v.leadsOn(s) {
		return Changed
	}
	at := s.guestLen
	if at == 1 {
		at = 0
	}
	if at+1+n >= textMax {
		return TooLong
	}
	nocgo.Store8(s.guestAddr()+at, '/')
	nocgo.CopyWords(s.guestAddr()+at+1, name, n)
	s.guestLen = at + 1 + n
	if kid != none {
		if v.bindings[kid].opaque {
			return Hidden
		}
		s.bind = kid
		if !v.expand(s, kid) {
			return TooLong
		}
		return Answered
	}
	return s.hostAppend(name, n)
}

// leadsOn says whether the directory reached is one. Its next component is a binding, whose host path does not lead through
// it: nothing else would show that it is not there any more, or is a file now.
func (v *View) leadsOn(s *Scratch) bool {
	errno, why := v.prove(s)
	return errno == 0 && why == Answered
}

// hostAppend adds a component to the host path.
func (s *Scratch) hostAppend(name, n uintptr) Reason {
	at := s.hostLen
	if at == 1 {
		at = 0
	}
	if at+1+n >= textMax {
		return TooLong
	}
	host := s.hostAddr()
	nocgo.Store8(host+at, '/')
	nocgo.CopyWords(host+at+1, name, n)
	s.hostLen = at + 1 + n
	nocgo.Store8(host+s.hostLen, 0)
	return Answered
}

// target makes s.host the host path of the final component, without what the tail asks for.
func (v *View) target(s *Scratch) Reason {
	s.fd, s.call = nocgo.AtFdcwd, s.hostAddr()
	s.leafBind = s.bind
	if s.nameLen == 0 {
		return Answered
	}
	if v.rebound(s.name, s.nameLen) {
		return Hidden
	}
	if s.kids && v.active > 1 {
		if kid := v.kid(s.guestAddr(), s.guestLen, s.name, s.nameLen); kid != none {
			if v.bindings[kid].opaque {
				return Hidden
			}
			if !v.leadsOn(s) {
				return Changed
			}
			s.leafBind = kid
			host, n := v.hostText(kid)
			nocgo.CopyWords(s.hostAddr(), host, n)
			s.hostLen = n
			nocgo.Store8(s.hostAddr()+n, 0)
			return Answered
		}
	}
	return s.hostAppend(s.name, s.nameLen)
}

// seal adds the slash or the dot that PRoot keeps from the end of the original path.
func (v *View) seal(s *Scratch) {
	if s.tail == tailNone || s.tail == tailSlash && s.nameLen == 0 && s.guestLen == 1 {
		return // the guest's "/" has its slash
	}
	at := s.hostLen
	host := s.hostAddr()
	if at > 1 {
		nocgo.Store8(host+at, '/')
		at++
	}
	if s.tail == tailDot {
		nocgo.Store8(host+at, '.')
		at++
	}
	s.hostLen = at
	nocgo.Store8(host+at, 0)
}

// follow looks whether the final component is a symbolic link and, if so, walks its text: then there is another
// final component, and linked is true.
func (v *View) follow(s *Scratch) (linked bool, errno uintptr, why Reason) {
	if s.nameLen == 0 {
		return false, 0, Answered
	}
	if s.fd != nocgo.AtFdcwd && s.bind != 0 {
		if why = v.settle(s); why != Answered {
			return false, 0, why
		}
		if why = s.hostAppend(s.name, s.nameLen); why != Answered {
			return false, 0, why
		}
	}
	mine, referrer, why := v.referrer(s, s.leafBind)
	if why != Answered {
		return false, 0, why
	}
	r := nocgo.Raw(nocgo.SysReadlinkat, s.fd, s.call, s.hostAddr(), textMax, 0, 0)
	if r == nocgo.Fail(nocgo.EINVAL) {
		v.learnt(s, 0)
		return false, 0, Answered
	}
	v.learnt(s, r)
	if r == nocgo.Fail(nocgo.ENOENT) || r == nocgo.Fail(nocgo.ENOTDIR) {
		return false, 0, Answered
	}
	if nocgo.Failed(r) {
		return false, 0, Denied // PRoot may have more rights than the guest, and see a link
	}
	s.at = s.end
	if why = v.splice(s, r, mine, referrer, s.name, s.nameLen); why != Answered {
		return true, 0, why
	}
	if errno, why = v.toParent(s); errno != 0 || why != Answered {
		return true, errno, why
	}
	return true, 0, v.target(s)
}

// splice puts a link's text, n bytes in s.host, before what is left to walk. The directory reached is the link's.
func (v *View) splice(s *Scratch, n uintptr, mine bool, referrer, name, nameLen uintptr) Reason {
	text := s.hostAddr()
	s.links++
	if s.links > maxLinks {
		return Links
	}
	if n == 0 || n >= textMax {
		return TooLong
	}
	// Links of procfs whose text depends on who reads it: PRoot reads them as itself.
	if c := nocgo.Load8(text); c >= '0' && c <= '9' && isSelf(name, nameLen) {
		return Proc
	}
	text, n, why := v.linkText(s, n, mine, referrer)
	if why != Answered {
		return why
	}
	left := s.end - s.at
	need := n
	if left != 0 {
		need += left + 1
	}
	if need >= textMax {
		return TooLong
	}
	end := s.restAddr() + textMax
	if left != 0 {
		if s.end != end {
			nocgo.CopyUp(end-left, s.at, left)
		}
		nocgo.Store8(end-left-1, '/')
	}
	s.at, s.end = end-need, end
	nocgo.CopyUp(s.at, text, n)
	if nocgo.Load8(s.at) == '/' {
		v.setRoot(s)
		return Answered
	}
	return v.settle(s)
}

// isSelf says whether a name is "self" or "thread-self".
func isSelf(p, n uintptr) bool {
	if n == 11 && nocgo.Load32(p) == 't'|'h'<<8|'r'<<16|'e'<<24 && nocgo.Load32(p+3) == 'e'|'a'<<8|'d'<<16|'-'<<24 {
		p, n = p+7, 4
	}
	return n == 4 && nocgo.Load32(p) == 's'|'e'<<8|'l'<<16|'f'<<24
}
