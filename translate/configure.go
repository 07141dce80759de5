package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Configure fills a zero View: root is the host path of the rootfs, binds the list "host:guest|host|...", in the
// order in which PRoot got it, and ttl the lifetime of what is remembered, in milliseconds. It does what PRoot does
// at its start: it resolves the host paths, and the guest paths through the bindings that are in place so far.
// False means that the configuration makes no sense, or not enough for certain answers: the View then declines
// everything.
//
// What PRoot did when it started cannot always be told later. A binding whose host path is not there now, or is
// made up by the kernel, or whose guest path PRoots resolve differently, hides what lies below its guest path;
// so do the directories PRoot makes up above a guest path. Where the paths are exact, a host path that leads through a
// link now hides, too, and a guest path that does makes no sense any more.
func (v *View) Configure(s *Scratch, root, binds string, ttl uint64) bool {
	v.state = stateInert
	if ttl > 1<<31 {
		return false
	}
	v.ttl = 0
	if ttl != 0 {
		v.ttl = nocgo.CounterHz()
	}
	v.murky, v.closed = false, false
	v.waiting = 0
	// The first steps see the host, through a rootfs that is the host's "/".
	v.text[0] = '/'
	v.used = 1
	v.bindings[0].guest, v.bindings[0].guestLen = 0, 1
	v.bindings[0].host, v.bindings[0].hostLen = 0, 1
	v.bindings[0].opaque = false
	v.parsed = 1
	v.order[0] = 0
	v.active = 1
	v.Forget()
	if len(root) == 0 || root[0] != '/' || v.realpath(s, root) != found ||
		s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || inProc(s.hostAddr(), s.hostLen) || v.strays(s, root) {
		return false
	}
	host, n := uint32(v.used), uint32(s.hostLen)
	if !v.storePath(s.hostAddr(), s.hostLen) || !v.parse(s, binds) {
		return false
	}
	v.bindings[0].host, v.bindings[0].hostLen = host, n
	v.Forget()
	for v.waiting > 0 { // PRoot installs the last one first
		v.waiting--
		if !v.install(s, uintptr(v.pending[v.waiting])) {
			return false
		}
	}
	v.murky = v.murky || v.closed
	v.findAbove()
	v.ttl = ttl * nocgo.CounterHz() / 1000
	nocgo.StoreRelease32(&v.state, stateReady)
	return true
}

// Outcomes of realpath.
const (
	found   = iota
	missing // there is nothing there now
	unsure  // below /proc, or not to be looked at
)

// realpath makes s.host the canonical form of a host path, while the View is that of the host.
func (v *View) realpath(s *Scratch, path string) int {
	if len(path) >= textMax {
		return unsure
	}
	nocgo.CopyUp(s.pathAddr(), uintptr(unsafe.Pointer(unsafe.StringData(path))), uintptr(len(path)))
	v.fresh(s)
	errno, why := v.locate(s, uintptr(len(path)))
	for {
		if errno != 0 {
			return missing
		}
		if why != Answered {
			return unsure
		}
		r := v.lookAt(s)
		if r == nocgo.Fail(nocgo.ENOENT) || r == nocgo.Fail(nocgo.ENOTDIR) {
			return missing
		}
		if nocgo.Failed(r) || s.hostLen > 5 && inProc(s.hostAddr(), s.hostLen) {
			return unsure
		}
		if s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink {
			break
		}
		_, errno, why = v.follow(s)
	}
	if s.tail != tailNone && s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory {
		return missing
	}
	return found
}

// strays says whether realpath has come to another path than one that is exact.
func (v *View) strays(s *Scratch, path string) bool {
	n := uintptr(len(path))
	return v.exact && (s.hostLen != n || !nocgo.EqualWords(s.hostAddr(), stringAddr(path), n))
}

// lookAt fills s.stat with what is at the path found.
func (v *View) lookAt(s *Scratch) uintptr {
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	v.learnt(s, r)
	return r
}

// parse stores the bindings of a list, and lists them as PRoot does before it installs them.
func (v *View) parse(s *Scratch, list string) bool {
	for at := 0; at < len(list); {
		end := at
		for end < len(list) && list[end] != '|' {
			end++
		}
		if end > at && !v.parseOne(s, list[at:end]) {
			return false
		}
		at = end + 1
	}
	return true
}

// parseOne stores the binding of one element "host:guest" or "host".
func (v *View) parseOne(s *Scratch, e string) bool {
	colon := 0
	for colon < len(e) && e[colon] != ':' {
		colon++
	}
	host, guest := e[:colon], e[:colon]
	if colon < len(e) {
		guest = e[colon+1:]
	}
	if len(guest) > 1 && guest[len(guest)-1] == '/' {
		guest = guest[:len(guest)-1]
	}
	if len(host) == 0 || host[0] != '/' || len(host) >= textMax || !plainPath(guest) || v.parsed == maxBindings {
		return false
	}
	b := v.parsed
	v.parsed++
	v.bindings[b].opaque = false
	v.bindings[b].literal = v.exact || v.line&Termux != 0 && host == "/proc/self/fd"
	v.bindings[b].hostLen = 0
	if !v.setGuest(b, stringAddr(guest), uintptr(len(guest))) {
		return false
	}
	state := unsure
	if !ownProc(host) { // Termux's fork leaves such a path as it is, to mean whoever uses it
		state = v.realpath(s, host)
		if state == found && v.strays(s, host) {
			state = unsure
		}
	}
	from, n := s.hostAddr(), s.hostLen
	known := state == unsure && v.tracersDescriptors(host)
	if state == unsure && !known {
		v.bindings[b].opaque = true
		v.murky = v.murky || !ownDescriptors(host)
		return v.enlist(b)
	}
	if state == missing || known {
		// PRoot has dropped it, unless it was there when PRoot started.
		v.bindings[b].opaque = true
		from, n = stringAddr(host), uintptr(len(host))
	}
	v.bindings[b].host, v.bindings[b].hostLen = uint32(v.used), uint32(n)
	return v.storePath(from, n) && v.enlist(b)
}

// plainPath says whether a guest path is absolute, not "/", and has no component that needs thought. PRoot takes
// an exclamation mark at the end for a request of its own.
func plainPath(p string) bool {
	if len(p) < 2 || len(p) >= textMax || p[0] != '/' || p[len(p)-1] == '!' {
		return false
	}
	for at := 1; at <= len(p); {
		end := at
		for end < len(p) && p[end] != '/' {
			end++
		}
		if !ordinary(stringAddr(p)+uintptr(at), uintptr(end-at)) {
			return false
		}
		at = end + 1
	}
	return true
}

// ownProc says whether a path is /proc/self or lies below it.
func ownProc(p string) bool {
	const self = "/proc/self"
	return len(p) >= len(self) && p[:len(self)] == self && (len(p) == len(self) || p[len(self)] == '/')
}

// ownDescriptors says whether a path is the directory of descriptors or a standard stream. Distributions bind
// these; no PRoot is started with a directory for a standard stream, so nothing lies below them.
func ownDescriptors(p string) bool {
	const fd = "/proc/self/fd"
	return p == fd || len(p) == len(fd)+2 && p[:len(fd)] == fd && p[len(fd)] == '/' && p[len(fd)+1] >= '0' && p[len(fd)+1] <= '2'
}

// tracersDescriptors says whether a path is PRoot's own directory of descriptors, by its number. PRoots that resolve
// /proc/self/fd themselves bind that.
func (v *View) tracersDescriptors(p string) bool {
	const proc = "/proc/"
	if len(p) < len(proc) || p[:len(proc)] != proc {
		return false
	}
	n, at := number(stringAddr(p)+uintptr(len(proc)), uintptr(len(p)-len(proc)))
	rest := p[uintptr(len(proc))+at:]
	return n != 0 && n == v.tracer && rest == "/fd"
}

// number reads the decimal number that n bytes begin with, and says how long it is.
func number(p, n uintptr) (value, length uintptr) {
	const maxDigits = 9
	for length < n && length < maxDigits {
		c := nocgo.Load8(p + length)
		if c < '0' || c > '9' {
			break
		}
		value = value*10 + uintptr(c-'0')
		length++
	}
	return value, length
}

func stringAddr(p string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(p))) }

// store appends n bytes to the View's texts. They are never moved or freed.
func (v *View) store(from, n uintptr) bool {
	if v.used+n+8 > maxText {
		return false
	}
	nocgo.CopyUp(v.textAddr()+v.used, from, n)
	v.used += n
	return true
}

// storePath is store for a path that the kernel will be given: a NUL follows.
func (v *View) storePath(from, n uintptr) bool {
	if !v.store(from, n) {
		return false
	}
	nocgo.Store8(v.textAddr()+v.used, 0)
	v.used++
	return true
}

// setGuest gives a binding another guest path.
func (v *View) setGuest(b, from, n uintptr) bool {
	v.bindings[b].guest, v.bindings[b].guestLen = uint32(v.used), uint32(n)
	return n < textMax && v.store(from, n)
}

// enlist puts binding b into the list of those to install: in the place of one with the same guest path, else
// after the last one that lies below it, else first.
func (v *View) enlist(b uintptr) bool {
	guest, n := v.guestText(b)
	at := uintptr(0)
	for i := uintptr(0); i < v.waiting; i++ {
		other, otherLen := v.guestText(uintptr(v.pending[i]))
		if same(guest, n, other, otherLen) {
			v.pending[i] = uint8(b)
			return true
		}
		if contains(guest, n, other, otherLen) {
			at = i + 1
		}
	}
	for i := v.waiting; i > at; i-- {
		v.pending[i] = v.pending[i-1]
	}
	v.pending[at] = uint8(b)
	v.waiting++
	return true
}

// fresh prepares a Scratch for locate.
func (v *View) fresh(s *Scratch) {
	s.gen = nocgo.LoadAcquire32(&v.gen)
	s.linkGen = nocgo.LoadAcquire32(&v.links)
	s.roots = nocgo.LoadAcquire32(&v.uprootings)
	s.born = nocgo.Counter()
	s.unproven = false
}

// install resolves the guest path of a binding in the guest as it is so far, and puts the binding in place.
func (v *View) install(s *Scratch, b uintptr) bool {
	guest, n := v.guestText(b)
	if n > 5 && inProc(guest, n) {
		return v.installProc(b, guest+6, n-6)
	}
	nocgo.CopyUp(s.pathAddr(), guest, n)
	v.fresh(s)
	errno, why := v.locate(s, n)
	for errno == 0 && why == Answered {
		r := v.lookAt(s)
		if r == nocgo.Fail(nocgo.ENOTDIR) {
			return false // below a file; PRoot drops the binding, and is out of step afterwards
		}
		if nocgo.Failed(r) && r != nocgo.Fail(nocgo.ENOENT) {
			return false
		}
		if nocgo.Failed(r) || s.stat.Mode&nocgo.ModeType != nocgo.ModeSymlink || v.bindings[b].literal {
			break
		}
		errno, why = v.lastLink(s, b)
	}
	if v.exact && s.links != 0 {
		return false // the link is new; what PRoot made where it is, when it started, cannot be seen any more
	}
	switch {
	case errno == nocgo.ENOENT:
		// PRoot could not go on either. It made a directory there, or failed and made one up elsewhere.
		v.murky = true
		if !v.hide(s.guestAddr(), s.guestLen) {
			return false
		}
	case errno == 0 && why == Proc:
		// Distributions bind /proc/self/fd/0 to /dev/stdin, which may be a link to it already. What PRoot makes of
		// that link depends on numbers of processes, but it stays below /proc.
		v.closed = true
		return true
	case errno == 0 && why == Hidden:
		v.bindings[b].opaque = v.bindings[b].opaque || s.at == s.end
	case errno != 0 || why != Answered:
		return false
	}
	return v.takeGuest(s, b) && v.activate(b)
}

// installProc puts a binding below /proc in place. All of /proc is declined by its name; what may lead elsewhere
// from there is too much. PRoot's own directory is nobody else's: distributions bind the standard streams there, by way of
// links in /dev.
func (v *View) installProc(b, name, n uintptr) bool {
	end := uintptr(0)
	for end < n && nocgo.Load8(name+end) != '/' {
		end++
	}
	c := nocgo.Load8(name)
	if c >= '0' && c <= '9' {
		pid, digits := number(name, end)
		if digits != end || pid != v.tracer {
			return false
		}
	}
	if isSelf(name, end) {
		return false
	}
	if v.byGuest(name-6, n+6) == 0 {
		v.murky = true // PRoot may have made up directories
	}
	v.bindings[b].opaque = true
	return v.activate(b)
}

// lastLink follows a link at the end of a guest path. All PRoots do so where a file is bound; where a directory is,
// one does and another does not: then both places are uncertain.
func (v *View) lastLink(s *Scratch, b uintptr) (errno uintptr, why Reason) {
	if !v.bindsFile(s, b) {
		v.bindings[b].opaque = true
		at := v.used
		if s.guestLen > 1 && !v.store(s.guestAddr(), s.guestLen) || !v.store(stringAddr("/"), 1) || !v.store(s.name, s.nameLen) ||
			!v.hide(v.textAddr()+at, v.used-at) {
			return 0, TooLong
		}
	}
	_, errno, why = v.follow(s)
	return errno, why
}

// bindsFile says whether a binding's host path is known and no directory.
func (v *View) bindsFile(s *Scratch, b uintptr) bool {
	if v.bindings[b].opaque {
		return false
	}
	host, _ := v.hostText(b)
	return !nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, host, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)) &&
		s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory
}

// takeGuest makes what locate found the guest path of a binding: the directory reached, and what is left.
func (v *View) takeGuest(s *Scratch, b uintptr) bool {
	at, end := s.at, s.end
	if at == end {
		at, end = s.name, s.name+s.nameLen
	}
	for at < end && nocgo.Load8(end-1) == '/' {
		end--
	}
	if at == end {
		return false // "/" itself
	}
	for p := at; p < end; {
		q := p
		for q < end && nocgo.Load8(q) != '/' {
			q++
		}
		if !ordinary(p, q-p) {
			return false
		}
		p = q + 1
	}
	out := uint32(v.used)
	if s.guestLen > 1 && !v.store(s.guestAddr(), s.guestLen) || !v.store(stringAddr("/"), 1) || !v.store(at, end-at) {
		return false
	}
	v.bindings[b].guest, v.bindings[b].guestLen = out, uint32(v.used)-out
	return v.bindings[b].guestLen < textMax
}

// hide makes everything below a guest path PRoot's business.
func (v *View) hide(guest, n uintptr) bool {
	if v.parsed == maxBindings {
		return false
	}
	b := v.parsed
	v.parsed++
	v.bindings[b].opaque, v.bindings[b].literal = true, false
	v.bindings[b].hostLen = 0
	return v.setGuest(b, guest, n) && v.activate(b)
}

// activate puts a binding in place: instead of one with the same guest path, and in v.order after the last one
// whose host path is the same or lies below its own, else first.
func (v *View) activate(b uintptr) bool {
	v.Forget()
	guest, n := v.guestText(b)
	for i := uintptr(0); i < v.active; i++ {
		other, otherLen := v.guestText(uintptr(v.order[i]))
		if same(guest, n, other, otherLen) {
			if v.order[i] == 0 {
				return false
			}
			v.active--
			for ; i < v.active; i++ {
				v.order[i] = v.order[i+1]
			}
		}
	}
	if v.active == maxBindings {
		return false
	}
	host, n := v.hostText(b)
	at := uintptr(0)
	for i := uintptr(0); i < v.active; i++ {
		other, otherLen := v.hostText(uintptr(v.order[i]))
		if n != 0 && otherLen != 0 && contains(host, n, other, otherLen) {
			at = i + 1
		}
	}
	for i := v.active; i > at; i-- {
		v.order[i] = v.order[i-1]
	}
	v.order[at] = uint8(b)
	v.active++
	return true
}
