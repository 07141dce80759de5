package translate

import "svcrelay/nocgo"

// What is answered of /proc, where it is the host's own, bound to its own name. PRoot makes of /proc/self the number of
// the calling thread, as it knows it, and answers some links there from its records:
//
//   - Ordinary files, /proc/NAME and /proc/self/NAME, in calls that ask for just that path. Declined are those that a
//     binding covers, that the kernel does not show as ordinary files, and that some PRoot answers itself.
//   - readlink of /proc/self/exe: the program's path, which PRoot keeps until the next exec. It is asked for once.
//   - readlink of /proc/self/fd/N: the kernel's text, given the guest's point of view.
//   - fchmodat of /proc/self/fd/N (chmodOpen).
//   - openat of /proc/self/fd, to list the descriptors.
const (
	procNone    = iota
	procProgram // the path is /proc/self/exe
	procNumber  // it is /proc/self/fd/N, and s.name the number
	procList    // it is /proc/self/fd
)

// procFile finds what the absolute path of n bytes in s.path names, if it is one of those. For links s.proc says which.
func (v *View) procFile(s *Scratch, n uintptr) Reason {
	path := s.pathAddr()
	name, end := path+6, path+n
	own := n > 11 && isSelf(name, 4) && nocgo.Load8(name+4) == '/'
	if own {
		name += 5
	}
	if name >= end || v.ownProc() == none {
		return Proc
	}
	if own && v.procLink(s, name, end) || hasSlash(name, end-name) || !ordinary(name, end-name) || private(name, end-name) {
		return Proc
	}
	guest := s.guestAddr()
	nocgo.CopyUp(guest, path, 6)
	s.guestLen = 5
	s.bind = v.ownProc()
	if own {
		number := s.threadNumber()
		if number == 0 {
			return Proc
		}
		s.guestLen = digits(guest+6, number) - guest
	} else if v.kid(guest, s.guestLen, name, end-name) != none {
		return Hidden
	}
	s.leafBind = s.bind
	s.kids, s.inner = false, true
	s.name, s.nameLen, s.at, s.end = name, end-name, end, end
	s.fd, s.call = nocgo.AtFdcwd, s.hostAddr()
	if !v.expand(s, s.bind) {
		return TooLong
	}
	if why := s.hostAppend(s.name, s.nameLen); why != Answered {
		return why
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.hostAddr(), s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)) ||
		s.stat.Mode&nocgo.ModeType != nocgo.ModeRegular {
		return Proc
	}
	return Answered
}

// ownProc finds the binding of /proc, if it is the host's and nothing is hidden in it.
func (v *View) ownProc() uintptr {
	const proc = "/proc\x00\x00\x00" // read by words
	b := v.byGuest(stringAddr(proc), 5)
	host, n := v.hostText(b)
	if v.closed || b == 0 || v.bindings[b].opaque || v.bindings[b].guestLen != 5 || n != 5 || !inProc(host, n) {
		return none
	}
	return b
}

// procLink notes that the name, up to end, below /proc/self is a link that is answered, and says whether it is.
func (v *View) procLink(s *Scratch, name, end uintptr) bool {
	const maxDigits = 9
	if end-name == 3 && nocgo.Load16(name) == 'e'|'x'<<8 && nocgo.Load8(name+2) == 'e' {
		s.proc = procProgram
		return true
	}
	if end-name == 2 && nocgo.Load16(name) == 'f'|'d'<<8 {
		s.proc = procList
		return true
	}
	if end-name < 4 || end-name > 3+maxDigits || nocgo.Load16(name) != 'f'|'d'<<8 || nocgo.Load8(name+2) != '/' {
		return false
	}
	for p := name + 3; p < end; p++ {
		if c := nocgo.Load8(p); c < '0' || c > '9' {
			return false
		}
	}
	s.proc, s.name, s.nameLen = procNumber, name+3, end-name-3
	return true
}

// threadNumber is the number that the thread has in /proc, or 0 if it has another one for itself: then it is in a name space
// of its own, made by clone, and PRoot has a number for it that nobody here knows. It needs s.rest.
func (s *Scratch) threadNumber() uintptr {
	const self = "/proc/thread-self\x00"
	text := s.restAddr()
	n := nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, stringAddr(self), text, textMax, 0, 0)
	if nocgo.Failed(n) || n >= textMax {
		return 0
	}
	at := n
	for at > 0 && nocgo.Load8(text+at-1) != '/' {
		at--
	}
	tid := nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)
	if shown, length := number(text+at, n-at); shown != tid || length != n-at {
		return 0
	}
	return tid
}

// ownDescriptor makes s.call the path that PRoot makes of /proc/self/fd/N, and says what N is.
func (v *View) ownDescriptor(s *Scratch) (fd uintptr) {
	for p := s.name; p < s.name+s.nameLen; p++ {
		fd = fd*10 + uintptr(nocgo.Load8(p)-'0')
	}
	at := v.ownDescriptors(s)
	if at == 0 {
		s.call = 0 // at fault, whatever looks there
		return 0
	}
	nocgo.Store8(at, '/')
	nocgo.CopyUp(at+1, s.name, s.nameLen)
	nocgo.Store8(at+1+s.nameLen, 0)
	return fd
}

// ownDescriptors makes s.call the path that PRoot makes of /proc/self/fd, and says where it ends, or 0 if that is not known.
func (v *View) ownDescriptors(s *Scratch) (end uintptr) {
	const proc, fds = "/proc/", "/fd\x00"
	path, number := s.guestAddr(), s.threadNumber()
	if number == 0 {
		return 0
	}
	nocgo.CopyUp(path, stringAddr(proc), uintptr(len(proc)))
	at := digits(path+uintptr(len(proc)), number)
	nocgo.CopyUp(at, stringAddr(fds), uintptr(len(fds)))
	s.fd, s.call = nocgo.AtFdcwd, path
	return at + 3
}

// private says whether Termux's fork answers for a file of /proc/self: the auxiliary vector, the list of mounts, and
// what user name spaces are told.
func private(p, n uintptr) bool {
	switch n {
	case 4:
		return nocgo.Load32(p) == 'a'|'u'<<8|'x'<<16|'v'<<24
	case 7, 10: // uid_map, gid_map, projid_map
		return nocgo.Load32(p+n-4) == '_'|'m'<<8|'a'<<16|'p'<<24
	case 9: // setgroups, mountinfo
		w := nocgo.Load32(p)
		return w == 's'|'e'<<8|'t'<<16|'g'<<24 || w == 'm'|'o'<<8|'u'<<16|'n'<<24
	}
	return false
}

// digits writes a number at an address and returns where it ends.
func digits(at, n uintptr) uintptr {
	div := uintptr(1)
	for n/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		nocgo.Store8(at, uint8('0'+n/div%10))
		at++
	}
	return at
}

// readProcLink answers readlink of a link that begin has noted. What PRoot puts over the kernel's text in the buffer is
// declined if it does not fit together with its NUL.
func (v *View) readProcLink(s *Scratch, buf, size uintptr) (uintptr, Reason) {
	switch s.proc {
	case procProgram:
		return v.readExe(s, buf, size)
	case procList:
		return 0, Proc
	}
	// PRoot looks below the number of the thread, as identify does.
	const fds = "/proc/thread-self/fd/"
	link, text := s.guestAddr(), s.restAddr()
	nocgo.CopyUp(link, stringAddr(fds), uintptr(len(fds)))
	nocgo.CopyUp(link+uintptr(len(fds)), s.name, s.nameLen)
	nocgo.Store8(link+uintptr(len(fds))+s.nameLen, 0)
	n := nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, link, text, textMax, 0, 0)
	if n == nocgo.Fail(nocgo.ENOENT) {
		return n, Answered
	}
	if nocgo.Failed(n) || n == 0 {
		return 0, Proc
	}
	if nocgo.Load8(text) != '/' { // a pipe, a socket and the like
		n = nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, link, buf, size, 0, 0)
		if nocgo.Failed(n) || !v.fetch(s, s.hostAddr(), text, buf, 1, true) || nocgo.Load8(text) == '/' {
			return 0, Changed
		}
		return n, Answered
	}
	if n >= size || n >= textMax {
		return 0, TooLong
	}
	if v.murky || v.rootIsHost() || hasShortName(text, n) {
		return 0, Proc
	}
	host := s.hostAddr()
	nocgo.CopyUp(host, text, n)
	nocgo.Store8(host+n, 0)
	at, length := host, n
	if v.underRoot(host, n) {
		at, length = v.withoutRoot(host, n)
	} else if b := v.byHost(host, n); b != none {
		if v.bindings[b].opaque {
			return 0, Hidden
		}
		length = v.toGuest(host, n, b)
	}
	if length == n && nocgo.EqualWords(at, text, n) {
		return n, v.give(s, buf, text, n, false)
	}
	return v.overText(s, buf, size, at, length, n)
}

// overText delivers the text at an address with a NUL, over the n bytes of the kernel's text in s.rest.
func (v *View) overText(s *Scratch, buf, size, at, length, n uintptr) (uintptr, Reason) {
	if length+1 >= min(size, textMax) {
		return 0, TooLong
	}
	text := s.restAddr()
	nocgo.CopyUp(text, at, length)
	nocgo.Store8(text+length, 0)
	return length, v.give(s, buf, text, max(length+1, min(n, size)), false)
}

// readExe answers readlink of /proc/self/exe. The kernel's text is that of PRoot's loader; what is left of it in the
// buffer behind PRoot's answer is PRoot's, too.
func (v *View) readExe(s *Scratch, buf, size uintptr) (uintptr, Reason) {
	e := &v.exe
	if nocgo.LoadAcquire32(&e.seq) != 2 {
		n := nocgo.Plain(nocgo.SysReadlinkat, nocgo.AtFdcwd, s.pathAddr(), s.hostAddr(), textMax, 0, 0)
		if nocgo.Failed(n) || n == 0 || n > slotText || nocgo.Load8(s.hostAddr()) != '/' {
			return 0, Proc
		}
		if !nocgo.CompareAndSwap32(&e.seq, 0, 1) {
			return 0, Changed // somebody else has just asked
		}
		e.guestLen = uint16(n)
		nocgo.CopyUp(e.textAddr(), s.hostAddr(), n)
		nocgo.StoreRelease32(&e.seq, 2)
	}
	n := nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, s.pathAddr(), s.restAddr(), textMax, 0, 0)
	if nocgo.Failed(n) || n >= textMax {
		return 0, Proc
	}
	return v.overText(s, buf, size, e.textAddr(), uintptr(e.guestLen), n)
}
