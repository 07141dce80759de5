package translate

import "svcrelay/nocgo"

// Of all socket addresses PRoot changes those of Unix sockets that are paths, and only where their length is that of
// a struct sockaddr_un. All others go to the kernel as they are.
const (
	afUnix      = 1  // AF_UNIX
	afNetlink   = 16 // AF_NETLINK
	unixPath    = 2  // offset of sun_path
	unixPathMax = 108
	unixSize    = unixPath + unixPathMax

	lengthWord = 8 // how much PRoot reads where a length is: one that ends sooner is at fault
)

// address answers bind and connect. The path of a Unix socket is resolved from the current directory, and a link at its
// end followed; the kernel gets a structure of full size with the host path in it, as PRoot gives it.
//
// Rights that PRoot lends make no difference to a connect that succeeds or finds nothing; one that lacks rights is declined
// (inModes).
//
// Declined are paths that are too long for the structure on the host: PRoot makes a binding for them. Termux's fork may
// have put a Unix socket in the place of a netlink socket, to which it then answers bind itself. So are addresses that the
// program cannot read to their end.
func (v *View) address(s *Scratch, c *Call) (uintptr, Reason) {
	at, size := c.Arg[1], uintptr(int32(c.Arg[2]))
	if at == 0 || int32(size) <= unixPath || size > unixSize {
		if c.Nr == nocgo.SysBind {
			return 0, Address
		}
		return v.unlessWaits(s, c)
	}
	edge := !v.fetch(s, s.hostAddr(), s.statAddr(), at, size, false)
	if edge {
		// The call is PRoot's, which then reads in another way, as a debugger does, and may make a binding of what it
		// sees: that must be known.
		got, able := peek(s.statAddr(), at, size)
		if !able {
			v.withdrawAll()
		}
		if !got || nocgo.Load16(s.statAddr()) != afUnix {
			return 0, Memory
		}
	}
	at = s.statAddr()
	family := nocgo.Load16(at)
	if family == afNetlink && c.Nr == nocgo.SysBind {
		return 0, Address
	}
	if edge && nocgo.Load8(at+unixPath) == 0 {
		return 0, Memory
	}
	if family != afUnix || nocgo.Load8(at+unixPath) == 0 {
		return v.unlessWaits(s, c)
	}
	v.reset(s)
	path, n := s.pathAddr(), uintptr(0)
	for n < size-unixPath && nocgo.Load8(at+unixPath+n) != 0 {
		nocgo.Store8(path+n, nocgo.Load8(at+unixPath+n))
		n++
	}
	nocgo.Store64(path+n, 0)
	name := path + n
	for name > path && nocgo.Load8(name-1) != '/' {
		name--
	}
	leaf := nocgo.HashWords(name, path+n-name)
	var errno uintptr
	var why Reason
	if nocgo.Load8(path) == '/' {
		errno, why = v.locate(s, n)
	} else {
		errno, why = v.fromCwd(s, n)
	}
	if errno == 0 && why == Answered {
		errno, why = v.chase(s)
	}
	if why != Answered { // it may be too long
		if n := path + n - name; v.ownName(name, n) {
			v.rebind(leaf)
		} else {
			v.withdrawAll()
		}
		return 0, why
	}
	if errno == 0 {
		v.seal(s)
		if s.hostLen > unixPathMax {
			v.rebind(nocgo.HashWords(s.name, s.nameLen))
			return 0, TooLong
		}
	}
	if edge {
		return 0, Memory
	}
	if errno != 0 {
		return outcome(errno, why)
	}
	if c.Nr == nocgo.SysBind && v.modes&(Identity|HardLinks) != 0 {
		return 0, Rights // what is made may be other, see createsAlike
	}
	if v.modes&HardLinks != 0 {
		if s.fd != nocgo.AtFdcwd || endsTwin(s.hostAddr(), s.hostLen) {
			return 0, Twin
		}
	}
	if c.Nr == nocgo.SysConnect && s.Quick && blocks(c.Arg[0]) {
		return 0, Waits
	}
	// Nothing is left to walk, so rest is free.
	out := s.restAddr()
	for i := uintptr(0); i < unixSize; i += 8 {
		nocgo.Store64(out+i, 0)
	}
	nocgo.Store16(out, afUnix)
	nocgo.CopyUp(out+unixPath, s.hostAddr(), s.hostLen)
	r := nocgo.Raw(c.Nr, c.Arg[0], out, unixSize, 0, 0, 0)
	v.learnt(s, r)
	return v.priority(s, r)
}

// ownName says whether what a path leads to has the path's last component, of n bytes at name, for a name, as far as can be
// told where the way there is not walked: the links of the kernel's in /proc have other names than what they lead to.
func (v *View) ownName(name, n uintptr) bool {
	switch c := nocgo.Load8(name); {
	case n == 0, c == '.' && (n == 1 || n == 2 && nocgo.Load8(name+1) == '.'), c >= '0' && c <= '9':
		return false
	case n == 3:
		w := nocgo.Load32(name) & 0xffffff
		return w != 'c'|'w'<<8|'d'<<16 && w != 'e'|'x'<<8|'e'<<16
	case n == 4:
		return nocgo.Load32(name) != 'r'|'o'<<8|'o'<<16|'t'<<24
	}
	return true
}

// peek reads n bytes, at most the size of s.stat, as PRoot can: memory that the program itself must not read, too. It is not
// able to where the program may not look at itself so, as after a change of its ids.
func peek(to, from, n uintptr) (got, able bool) {
	const mem = "/proc/self/mem\x00"
	fd := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, stringAddr(mem), nocgo.OCloexec, 0, 0, 0)
	if nocgo.Failed(fd) {
		return false, false
	}
	r := nocgo.Raw(nocgo.SysPread64, fd, to, n, from<<8>>8, 0, 0) // without a tag
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
	return r == n, true
}

// blocks says whether a call on a socket may wait.
func blocks(fd uintptr) bool {
	const getFlags, nonBlocking = 3, 0x800 // F_GETFL, O_NONBLOCK
	flags := nocgo.Raw(nocgo.SysFcntl, fd, getFlags, 0, 0, 0, 0)
	return !nocgo.Failed(flags) && flags&nonBlocking == 0
}

// unlessWaits issues a bind or connect as it is, unless it could block where a blocked thread could not be cancelled.
func (v *View) unlessWaits(s *Scratch, c *Call) (uintptr, Reason) {
	if c.Nr == nocgo.SysConnect && s.Quick && blocks(c.Arg[0]) {
		return 0, Waits
	}
	if v.modes&Ports != 0 {
		return 0, Address
	}
	return v.straight(c), Answered
}

// straight issues a call as it is, without PRoot.
func (v *View) straight(c *Call) uintptr {
	return nocgo.Raw(c.Nr, c.Arg[0], c.Arg[1], c.Arg[2], c.Arg[3], c.Arg[4], c.Arg[5])
}

// accept answers accept and accept4. The peer of a Unix socket has a path only if it was bound, which clients seldom
// are: then PRoot is asked for it, by way of the new descriptor and with the same buffer. Declined is what could block where a
// blocked thread could not be cancelled (Waits), and a length that cannot be read (Memory).
func (v *View) accept(s *Scratch, c *Call) (uintptr, Reason) {
	addr, lenAt := c.Arg[1], c.Arg[2]
	if s.Quick && blocks(c.Arg[0]) {
		return 0, Waits
	}
	if addr == 0 {
		return v.straight(c), Answered
	}
	given, size, peer := s.statAddr(), s.statAddr()+8, s.statAddr()+16
	if !v.fetch(s, s.hostAddr(), given, lenAt, lengthWord, false) {
		return 0, Memory // PRoot looks first, and has another error for it
	}
	fd := v.straight(c)
	if nocgo.Failed(fd) {
		return fd, Answered
	}
	// Where what the kernel has just written is gone again, PRoot would see no path either.
	if !v.fetch(s, s.hostAddr(), size, lenAt, 4, true) {
		return fd, Answered
	}
	n := uintptr(nocgo.Load32(size))
	if n <= unixPath || n > min(uintptr(nocgo.Load32(given)), unixSize) || !v.fetch(s, s.hostAddr(), peer, addr, unixPath+1, true) ||
		nocgo.Load16(peer) != afUnix || nocgo.Load8(peer+unixPath) == 0 {
		return fd, Answered
	}
	if v.give(s, lenAt, given, 4, true) != Answered {
		return fd, Answered
	}
	if r := nocgo.Plain(nocgo.SysGetpeername, fd, addr, lenAt, 0, 0, 0); nocgo.Failed(r) {
		return r, Answered // the descriptor stays open with PRoot, too
	}
	return fd, Answered
}

// socketName answers getsockname and getpeername. A path that comes back is given the guest's point of view, over the
// kernel's own answer in the buffer, with the length that PRoot makes of it.
//
// Declined are paths of the short names that PRoot gives to long ones, with Termux's fork sockets without a name, as
// they may stand for netlink sockets (Address), and a length that lies in the buffer: PRoot then sees what the kernel has
// written of the one over the other (Memory).
func (v *View) socketName(s *Scratch, c *Call) (uintptr, Reason) {
	addr, lenAt := c.Arg[1], c.Arg[2]
	out, n := s.restAddr(), s.statAddr()
	if !v.fetch(s, s.hostAddr(), n, lenAt, lengthWord, false) {
		return 0, Memory
	}
	given := nocgo.Load32(n)
	nocgo.Store32(n, 2*unixSize)
	nocgo.Store16(out, 0)
	if r := nocgo.Raw(c.Nr, c.Arg[0], out, n, 0, 0, 0); nocgo.Failed(r) {
		return r, Answered
	}
	length := uintptr(nocgo.Load32(n))
	if nocgo.Load16(out) != afUnix {
		return v.straight(c), Answered
	}
	if length <= unixPath {
		if v.stopsAt(s, nocgo.SysSocket, &v.stopsSocket) {
			return 0, Address
		}
		return v.straight(c), Answered
	}
	room := min(uintptr(given), unixSize)
	if int32(given) < 0 || length > room || nocgo.Load8(out+unixPath) == 0 {
		return v.straight(c), Answered
	}
	if overlap(addr, room, lenAt, 4) {
		return 0, Memory
	}
	whole, size, why := v.socketPath(s, out, length, room)
	if why != Answered {
		return 0, why
	}
	if why = v.give(s, addr, out, whole, false); why != Answered {
		return 0, why
	}
	nocgo.Store32(out, uint32(size))
	return 0, v.give(s, lenAt, out, 4, false)
}

// socketPath makes of the kernel's address at out, length bytes, what PRoot makes of it for a buffer with room for room
// bytes: whole is how much of the buffer is different from before, size the length that the guest is told.
func (v *View) socketPath(s *Scratch, out, length, room uintptr) (whole, size uintptr, why Reason) {
	host, n := s.hostAddr(), uintptr(0)
	for n < length-unixPath && n < unixPathMax && nocgo.Load8(out+unixPath+n) != 0 {
		nocgo.Store8(host+n, nocgo.Load8(out+unixPath+n))
		n++
	}
	nocgo.Store64(host+n, 0)
	if nocgo.Load8(host) != '/' || hasShortName(host, n) {
		return 0, 0, Address
	}
	s.hostLen = n
	if why = v.directoryText(s); why != Answered {
		return 0, 0, why
	}
	size = unixPath + s.guestLen + 1
	written := size
	if size > room {
		written, size = room, room+1
	}
	for i := uintptr(0); unixPath+i < written; i++ {
		b := uint8(0)
		if i < s.guestLen {
			b = nocgo.Load8(s.guestAddr() + i)
		}
		nocgo.Store8(out+unixPath+i, b)
	}
	return max(written, length), size, Answered
}

// hasShortName says whether a host path may be one that PRoot made up: their names begin with "proot-".
func hasShortName(p, n uintptr) bool {
	for i := uintptr(0); i+7 <= n; i++ {
		if nocgo.Load32(p+i) == '/'|'p'<<8|'r'<<16|'o'<<24 && nocgo.Load32(p+i+3) == 'o'|'o'<<8|'t'<<16|'-'<<24 {
			return true
		}
	}
	return false
}
