package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// begin reads the path at addr and finds what it names, as seen from the descriptor dirfd: afterwards s.fd and
// s.call are what to give the kernel, with the final component not followed. An empty path is only noted.
func (v *View) begin(s *Scratch, dirfd, addr uintptr) (errno uintptr, why Reason) {
	v.reset(s)
	n := v.fetchText(s, s.hostAddr(), s.path[:s.room], addr, false)
	if nocgo.Failed(n) {
		if n == nocgo.Fail(nocgo.ENAMETOOLONG) {
			return 0, TooLong
		}
		return 0, Memory
	}
	if n == 0 {
		s.empty = true
		s.fd, s.call = uintptr(int64(int32(dirfd))), s.pathAddr()
		return 0, Answered
	}
	if nocgo.Load8(s.pathAddr()) == '/' {
		if n > 6 && inProc(s.pathAddr(), n) {
			why = v.procFile(s, n)
			if why == Answered || s.proc != procNone {
				return 0, why
			}
		}
		return v.locate(s, n)
	}
	if int32(dirfd) == atFdcwd {
		return v.fromCwd(s, n)
	}
	return v.fromDescriptor(s, dirfd, n)
}

const atFdcwd = -100

// reset begins a call.
func (v *View) reset(s *Scratch) {
	s.empty = false
	s.proc = procNone
	s.unproven = false
	s.learn = false
	s.links = 0
	s.tail = tailNone
	s.gen = nocgo.LoadAcquire32(&v.gen)
	s.linkGen = nocgo.LoadAcquire32(&v.links)
	s.roots = nocgo.LoadAcquire32(&v.uprootings)
	if v.ttl != 0 {
		s.born = nocgo.Counter()
	}
}

// join puts the guest directory reached before the relative path of n bytes in s.path.
func (v *View) join(s *Scratch, n uintptr) (length uintptr, ok bool) {
	skip := s.guestLen + 1
	if s.guestLen == 1 {
		skip = 1
	}
	if skip+n >= s.room {
		return 0, false
	}
	path := s.pathAddr()
	nocgo.CopyDown(path+skip, path, n)
	nocgo.CopyUp(path, s.guestAddr(), skip-1)
	nocgo.Store8(path+skip-1, '/')
	return skip + n, true
}

// fromDescriptor finds what a relative path names that starts at a descriptor. PRoot reads the descriptor's host
// path, gives it the guest's point of view and walks from "/" again. A directory whose identity was found to be
// where its guest path leads is remembered. A single name in it is given to the kernel relative to the
// descriptor itself, as long as no thread has got fewer rights (FewerRights).
func (v *View) fromDescriptor(s *Scratch, dirfd, n uintptr) (errno uintptr, why Reason) {
	if int32(dirfd) < 0 || nocgo.Failed(nocgo.Raw(nocgo.SysFstat, dirfd, s.statAddr(), 0, 0, 0, 0)) {
		return 0, Descriptor
	}
	// A removed directory has another name under /proc, which leads nowhere.
	if s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || s.stat.Nlink == 0 {
		return 0, Descriptor
	}
	s.dev, s.ino = s.stat.Dev, s.stat.Ino
	if !v.recall(s) {
		if why = v.identify(s, dirfd); why != Answered {
			return 0, why
		}
	}
	name := s.pathAddr()
	if v.fewer != 0 || hasSlash(name, n) || !ordinary(name, n) {
		n, ok := v.join(s, n)
		if !ok {
			return 0, TooLong
		}
		return v.locate(s, n)
	}
	if v.single == 0 {
		nocgo.StoreRelease32(&v.single, 1)
	}
	s.links = 0
	s.inner = true
	s.name, s.nameLen = name, n
	s.at, s.end = name+n, name+n
	if v.rebound(name, n) {
		return 0, Hidden
	}
	if s.kids && v.active > 1 && v.kid(s.guestAddr(), s.guestLen, name, n) != none {
		return 0, v.target(s)
	}
	s.leafBind = s.bind
	s.fd, s.call = uintptr(int64(int32(dirfd))), name
	return 0, Answered
}

// fdText reads the text of a descriptor's link under /proc to s.host. It needs s.rest.
func (s *Scratch) fdText(fd uintptr) uintptr {
	// PRoot looks below the number of the thread; threads may have descriptors of their own.
	const fds = "/proc/thread-self/fd/"
	link := s.restAddr()
	for i := range len(fds) {
		nocgo.Store8(link+uintptr(i), fds[i])
	}
	at := link + uintptr(len(fds))
	at = digits(at, fd&0x7fffffff)
	nocgo.Store8(at, 0)
	return nocgo.Raw(nocgo.SysReadlinkat, nocgo.AtFdcwd, link, s.hostAddr(), textMax, 0, 0)
}

// identify finds the guest directory of a descriptor: the text that PRoot would use, if walking it leads to that
// very directory and through no link. A link would mean that the text names another place now.
func (v *View) identify(s *Scratch, dirfd uintptr) Reason {
	host := s.hostAddr()
	n := s.fdText(dirfd)
	if nocgo.Failed(n) || n == 0 || n >= textMax || nocgo.Load8(host) != '/' {
		return Descriptor
	}
	if inProc(host, n) {
		return Proc
	}
	s.hostLen = n
	// directoryText may overwrite the host path that the walk must lead to.
	wanted := s.restAddr()
	nocgo.CopyUp(wanted, host, n)
	if why := v.directoryText(s); why != Answered {
		return why
	}
	if why := v.verify(s); why != Answered {
		return why
	}
	if s.hostLen != n || !nocgo.EqualWords(host, wanted, n) {
		return Outside
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, host, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)) ||
		s.stat.Dev != s.dev || s.stat.Ino != s.ino {
		return Changed
	}
	v.name(s)
	return Answered
}

// adopt remembers the directory that was just opened as fd, in a way that cannot have gone through a link at the
// end: its parent is the directory reached, and PRoot will give its host path the very guest path that led to it.
// Nothing is remembered where that is not so.
func (v *View) adopt(s *Scratch, fd uintptr) {
	if v.ttl == 0 || s.nameLen == 0 || s.tail != tailNone || s.leafBind != s.bind {
		return
	}
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) ||
		s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || s.stat.Nlink == 0 {
		return
	}
	s.dev, s.ino = s.stat.Dev, s.stat.Ino
	at := s.guestLen
	if at == 1 {
		at = 0
	}
	n := at + 1 + s.nameLen
	guest, wanted := s.guestAddr(), s.restAddr()
	// The name may lie in rest itself, at its end.
	if n >= textMax || s.name < wanted+n+8 && s.name+s.nameLen > wanted {
		return
	}
	nocgo.Store8(guest+at, '/')
	nocgo.CopyWords(guest+at+1, s.name, s.nameLen)
	s.guestLen = n
	if !v.expand(s, s.bind) || v.enterable(s) != Answered {
		return
	}
	nocgo.CopyWords(wanted, guest, n)
	if v.directoryText(s) != Answered || s.guestLen != n || !nocgo.EqualWords(guest, wanted, n) {
		return
	}
	v.name(s)
}

// verify walks the guest path in s.guest, which must lead through directories only, and makes it the directory
// reached. Whether the last one is a directory is left to the caller.
func (v *View) verify(s *Scratch) Reason {
	guest, whole := s.guestAddr(), s.guestLen
	if why := v.settle(s); why != Answered {
		return why
	}
	known := whole - 1
	for known > 1 && (nocgo.Load8(guest+known) != '/' || !v.knows(s, guest, known)) {
		known--
	}
	for n := max(known, 1) + 1; n <= whole && whole > 1; n++ {
		if n < whole && nocgo.Load8(guest+n) != '/' {
			continue
		}
		s.guestLen = n
		if why := v.settle(s); why != Answered {
			return why
		}
		if n == whole {
			return Answered
		}
		// A directory: what a binding begins at would be there even if this were a file.
		r := nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, s.hostAddr(), s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
		if nocgo.Failed(r) || s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory {
			return Changed
		}
	}
	return Answered
}

// fromCwd finds what a relative path names that starts at the current directory. PRoot keeps the text of the
// guest's current directory in its own memory; so does the View. It asks PRoot for it (getcwd) whenever a call
// may have changed it, and once in every thread: the threads of a process may have directories of their own, as PRoot
// 5.4.0 gives them to those that are made by clone3, and vfork shares the memory of two processes. So the text is kept
// with the thread's number.
//
// Not noticed: a chdir whose svc instruction is not one of the patched sites, one in a program that shares the
// directory with this process but was executed since, and a thread that has the number of an ended one, and another directory.
func (v *View) fromCwd(s *Scratch, n uintptr) (errno uintptr, why Reason) {
	if nocgo.LoadAcquire32(&v.track) == 0 {
		return 0, Directory
	}
	if why = v.findCwd(s); why != Answered {
		return 0, why
	}
	n, ok := v.join(s, n)
	if !ok {
		return 0, TooLong
	}
	return v.locate(s, n)
}

// findCwd makes s.guest the text of the current directory.
func (v *View) findCwd(s *Scratch) Reason {
	tid := uint64(nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0))
	if !v.knowCwd(s, tid) {
		if why := v.askCwd(s, tid); why != Answered {
			return why
		}
	}
	if s.guestLen == 0 {
		return Directory
	}
	return Answered
}

// knowCwd copies the current directory's text to s.guest, if it is known in thread tid.
func (v *View) knowCwd(s *Scratch, tid uint64) bool {
	e := &v.places[tid%placeCount]
	seq := nocgo.LoadAcquire32(&e.seq)
	size := uintptr(e.guestLen)
	if seq&1 != 0 || e.id != tid || e.gen != nocgo.LoadAcquire32(v.moves()) || size > slotText {
		return false
	}
	nocgo.CopyWords(s.guestAddr(), uintptr(unsafe.Pointer(&e.text)), size)
	nocgo.Fence()
	if nocgo.LoadAcquire32(&e.seq) != seq {
		return false
	}
	s.guestLen = size
	return true
}

// askCwd asks PRoot for the current directory and remembers the answer; an unusable one as length 0.
func (v *View) askCwd(s *Scratch, tid uint64) Reason {
	gen := nocgo.LoadAcquire32(v.moves())
	r := nocgo.Plain(nocgo.SysGetcwd, s.guestAddr(), textMax, 0, 0, 0, 0)
	if v.faked != 0 {
		stop() // PRoot walks to the directory when the call is over, and leaves what it lends on the way
	}
	s.guestLen = 0
	if !nocgo.Failed(r) && r > 1 && r <= textMax && nocgo.Load8(s.guestAddr()) == '/' {
		s.guestLen = r - 1
	}
	if s.guestLen > slotText {
		return TooLong
	}
	v.keepCwd(s, tid, gen)
	return Answered
}

// keepCwd remembers s.guest as the text of the current directory of thread tid, as it was when moves stood at gen.
func (v *View) keepCwd(s *Scratch, tid uint64, gen uint32) {
	e := &v.places[tid%placeCount]
	seq := nocgo.LoadAcquire32(&e.seq)
	if seq&1 == 0 && nocgo.CompareAndSwap32(&e.seq, seq, seq+1) {
		nocgo.Fence()
		e.gen = gen
		e.id = tid
		e.guestLen = uint16(s.guestLen)
		nocgo.CopyUp(uintptr(unsafe.Pointer(&e.text)), s.guestAddr(), s.guestLen)
		nocgo.Fence()
		nocgo.StoreRelease32(&e.seq, seq+2)
	}
}
