package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Capacities of a View. A configuration that does not fit is refused.
const (
	maxBindings = 96
	maxText     = 24 << 10
	placeCount  = 8
)

// View is what is known of PRoot's view of the file system: the rootfs, the bindings, and what was learnt since.
// The zero View declines everything.
type View struct {
	state  uint32 // stateInert, stateReady or stateWithdrawn
	gen    uint32 // counts the events after which nothing remembered holds
	links  uint32 // counts those after which nothing holds that was found through a link
	cwd    uint32 // counts the events after which the current directory's text may be another
	stores uint32 // counts what is remembered (uproot.go)
	// uprootings counts the beginnings and ends of what ends single directories (uproot.go).
	uprootings uint32
	family     uintptr // where that is counted instead, if it is not 0
	track      uint32  // the current directory is tracked
	how        uint32  // openat2 may be used
	single     uint32  // the last path relative to a descriptor was a single name: so may be the next
	modern     uint32  // renameat2 may be used
	fewer      uint32  // a thread may have fewer rights than when a directory was opened or remembered
	ttl        uint64  // lifetime of what is remembered, in ticks; 0: nothing is

	stopsAccess uint32 // whether PRoot stops at faccessat2: stopsUnknown, stopsNot or stopsThere
	stopsOpen   uint32 // at openat2
	stopsSocket uint32 // and at socket, as Termux's fork does

	modes Modes // what PRoot does besides showing files

	faked      uint32 // PRoot fakes an identity
	uid, gid   uint32 // the identity that PRoot has
	owners     bool   // the next two are known
	suid, sgid uint32 // the owner and group it shows instead
	ids        uint32 // idsAsked or idsChanged
	lending    uint32 // how many places of lent are taken
	missing    bool   // see MissLent
	kept       [4]uint64
	lent       [lenders]uint32

	madeUp [madeUpNumbers]uint64 // see madeup.go: threads and descriptors
	heir   uint32                // heirUnknown, heirNot or heirMaybe

	board   uintptr // a Board, or 0
	watched uint32  // its Count when Watched was last looked at

	low, high uintptr // memory that is certain to be readable and writable: the main thread's first stack
	lone      uintptr // a byte that is not 0 while the C library knows of one thread, or 0: see memory.go
	crowd     uint32  // somebody else could use the memory of the process when that was asked last
	turn      uint32  // counts how often it was not asked
	barred    uint32  // the kernel makes no copies of memory

	tracer uintptr // PRoot's number, or 0
	line   Modes   // Upstream or Termux, where Configure may rely on it
	exact  bool    // see Exact

	parsed   uintptr // bindings stored, with the rootfs
	waiting  uintptr // entries of pending
	active   uintptr // entries of order
	murky    bool    // the host path of a directory that is bound is not known
	closed   bool    // something is bound below /proc, nobody knows where: nothing is answered there
	pending  [maxBindings]uint8
	order    [maxBindings]uint8 // the bindings in place, as PRoot lists them by host path
	bindings [maxBindings]binding
	used     uintptr
	text     [maxText]byte

	places [placeCount]slot // the texts of threads' current directories, by the number of the thread
	exe    slot             // the program's path, once seq is 2
	slots  [slotCount]slot
}

const (
	stateInert = iota
	stateReady
	stateWithdrawn
	stateAway // a call is under way after which nothing may be answered
)

// binding is one binding of PRoot, or with index 0 the rootfs. Its texts lie in View.text.
type binding struct {
	host, guest       uint32
	hostLen, guestLen uint32
	opaque            bool  // what is below guest is PRoot's business
	literal           bool  // guest is certain to be where PRoot shows it, even if a link is at its end
	above             uint8 // the binding in which guest begins
}

// Know tells the View, before it is configured, PRoot's number, and of the modes those that are certain: the line of
// descent.
func (v *View) Know(tracer uintptr, m Modes) {
	v.tracer = tracer
	v.line = m & (Upstream | Termux)
}

// Exact tells the View, before it is configured, that the paths of its configuration are what PRoot made of those that it was
// started with: what leads elsewhere now has become so since then, and not to PRoot.
func (v *View) Exact() { v.exact = true }

// ShareMoves tells the View to count changes of the current directory at addr, four bytes that this process shares
// with those it forks: clone with CLONE_FS but without CLONE_VM makes processes that share the directory, not memory.
func (v *View) ShareMoves(addr uintptr) { v.family = addr }

// moves is the counter of the events after which the current directory's text may be another.
func (v *View) moves() *uint32 {
	if v.family != 0 {
		return (*uint32)(nocgo.Ptr(v.family))
	}
	return &v.cwd
}

// TrackDirectory tells the View that every chdir, fchdir and rename of the process will pass through Handle from
// now on. Without it, paths relative to the current directory are declined.
func (v *View) TrackDirectory() { nocgo.StoreRelease32(&v.track, 1) }

// AllowOpenat2 tells the View that no filter but PRoot's own is between it and openat2, which Android's app policy
// forbids. Then opening needs no look at the final component beforehand.
func (v *View) AllowOpenat2() { nocgo.StoreRelease32(&v.how, 1) }

// TrustStack tells the View that the memory from low up to high is readable and writable for as long as the
// process lives, so that buffers there need no probe. It is meant for the part of the main thread's stack that
// the kernel makes at exec.
func (v *View) TrustStack(low, high uintptr) { v.low, v.high = low, high }

// trusts says whether n bytes at addr are certain to be readable and writable.
func (v *View) trusts(addr, n uintptr) bool {
	return addr >= v.low && addr < v.high && v.high-addr >= n
}

// Withdraw makes the View decline everything from now on.
func (v *View) Withdraw() { nocgo.StoreRelease32(&v.state, stateWithdrawn) }

// Withdrawn says whether all calls are declined.
func (v *View) Withdrawn() bool { return nocgo.LoadAcquire32(&v.state) != stateReady }

// Blind tells the View that calls may change directories unseen: nothing is remembered any more, and paths relative
// to the current directory are declined.
func (v *View) Blind() {
	if v.faked != 0 {
		v.Withdraw() // the identity may have been changed, or rights lent
	}
	v.ttl = 0
	v.lone = 0 // another C library may make threads
	v.MissSockets()
	nocgo.StoreRelease32(&v.track, 0)
}

// RememberNothing drops what is remembered of directories and keeps the View from remembering more.
func (v *View) RememberNothing() {
	v.ttl = 0
	v.Forget()
}

// Forget drops everything that is remembered of directories.
func (v *View) Forget() { nocgo.Add32(&v.gen, 1) }

func (v *View) textAddr() uintptr { return uintptr(unsafe.Pointer(&v.text)) }

func (v *View) hostText(b uintptr) (addr, n uintptr) {
	e := &v.bindings[b]
	return v.textAddr() + uintptr(e.host), uintptr(e.hostLen)
}

func (v *View) guestText(b uintptr) (addr, n uintptr) {
	e := &v.bindings[b]
	return v.textAddr() + uintptr(e.guest), uintptr(e.guestLen)
}

// contains says whether path is ref or lies below it. Both are canonical in the same point of view, apart from
// one trailing slash, which does not count.
func contains(ref, refLen, path, pathLen uintptr) bool {
	if refLen != 0 && nocgo.Load8(ref+refLen-1) == '/' {
		refLen--
	}
	if pathLen != 0 && nocgo.Load8(path+pathLen-1) == '/' {
		pathLen--
	}
	if refLen > pathLen || refLen < pathLen && nocgo.Load8(path+refLen) != '/' {
		return false
	}
	return nocgo.EqualWords(ref, path, refLen)
}

// same says whether two canonical paths are equal, apart from one trailing slash.
func same(a, aLen, b, bLen uintptr) bool {
	return contains(a, aLen, b, bLen) && contains(b, bLen, a, aLen)
}

// inProc says whether a path is /proc or lies below it.
func inProc(path, n uintptr) bool {
	return n >= 5 && nocgo.Load32(path) == 'p'<<8|'r'<<16|'o'<<24|'/' && nocgo.Load8(path+4) == 'c' &&
		(n == 5 || nocgo.Load8(path+5) == '/')
}

// underRoot says whether a host path belongs to the rootfs.
func (v *View) underRoot(path, n uintptr) bool {
	root, rootLen := v.hostText(0)
	return contains(root, rootLen, path, n)
}

// rootIsHost says whether the rootfs is the host's own "/".
func (v *View) rootIsHost() bool { return v.bindings[0].hostLen == 1 }

// none is the index of no binding.
const none = ^uintptr(0)

// byHost finds the binding that PRoot takes for a host path: the first of its list, which has contained bindings
// before those that contain them and of equal ones the older first. Paths of the rootfs belong to no binding
// unless the rootfs is "/".
func (v *View) byHost(path, n uintptr) uintptr {
	if !v.rootIsHost() && v.underRoot(path, n) {
		return none
	}
	for i := uintptr(0); i < v.active; i++ {
		b := uintptr(v.order[i])
		ref, refLen := v.hostText(b)
		if refLen != 0 && contains(ref, refLen, path, n) {
			return b
		}
	}
	return none
}

// byGuest finds the binding of a guest path: the longest that contains it.
func (v *View) byGuest(path, n uintptr) uintptr {
	best, bestLen := uintptr(0), uintptr(0)
	for i := uintptr(0); i < v.active; i++ {
		b := uintptr(v.order[i])
		ref, refLen := v.guestText(b)
		if refLen > bestLen && contains(ref, refLen, path, n) {
			best, bestLen = b, refLen
		}
	}
	return best
}

// kid finds the binding whose guest path is the component name of the guest directory dir, or none.
func (v *View) kid(dir, dirLen, name, n uintptr) uintptr {
	if dirLen == 1 {
		dirLen = 0
	}
	for i := uintptr(0); i < v.active; i++ {
		b := uintptr(v.order[i])
		ref, refLen := v.guestText(b)
		if refLen == dirLen+1+n && nocgo.Load8(ref+dirLen) == '/' && nocgo.EqualWords(ref+dirLen+1, name, n) &&
			nocgo.EqualWords(ref, dir, dirLen) {
			return b
		}
	}
	return none
}

// hasKids says whether a binding lies directly below the guest directory dir.
func (v *View) hasKids(dir, dirLen uintptr) bool {
	if dirLen == 1 {
		dirLen = 0
	}
	for i := uintptr(0); i < v.active; i++ {
		ref, refLen := v.guestText(uintptr(v.order[i]))
		if refLen > dirLen+1 && nocgo.Load8(ref+dirLen) == '/' && nocgo.EqualWords(ref, dir, dirLen) &&
			!hasSlash(ref+dirLen+1, refLen-dirLen-1) {
			return true
		}
	}
	return false
}

func hasSlash(p, n uintptr) bool {
	for i := uintptr(0); i < n; i++ {
		if nocgo.Load8(p+i) == '/' {
			return true
		}
	}
	return false
}

// settle derives binding and host path of s.guest. It declines directories that are not for us to look into.
func (v *View) settle(s *Scratch) Reason {
	guest, guestLen := s.guestAddr(), s.guestLen
	b := v.byGuest(guest, guestLen)
	if v.bindings[b].opaque {
		return Hidden
	}
	s.bind = b
	if !v.expand(s, b) {
		return TooLong
	}
	s.kids = true
	s.unproven = false
	return v.enterable(s)
}

// enterable declines directories of /proc, by whatever name.
func (v *View) enterable(s *Scratch) Reason {
	if inProc(s.hostAddr(), s.hostLen) || inProc(s.guestAddr(), s.guestLen) {
		return Proc
	}
	return Answered
}

// expand makes s.host of s.guest, which lies below binding b. It is false where there is no room.
func (v *View) expand(s *Scratch, b uintptr) bool {
	host, hostLen := v.hostText(b)
	skip := uintptr(v.bindings[b].guestLen)
	if skip == 1 {
		skip = 0
	}
	if hostLen == 1 {
		hostLen = 0
	}
	suffix := s.guestLen - skip
	if s.guestLen == 1 {
		suffix = 0
	}
	n := hostLen + suffix
	if n >= textMax {
		return false
	}
	out := s.hostAddr()
	nocgo.CopyWords(out, host, hostLen)
	nocgo.CopyWords(out+hostLen, s.guestAddr()+skip, suffix)
	if n == 0 {
		nocgo.Store8(out, '/')
		n = 1
	}
	s.hostLen = n
	nocgo.Store8(out+n, 0)
	return true
}
