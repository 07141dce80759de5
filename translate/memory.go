package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Pointers of the guest may be anything, and what they lead to may go away while a call is answered: another thread
// unmaps it, or forbids it. The kernel answers EFAULT then, and so must we, not fault. What is read or written here of the
// guest's memory is therefore one of these:
//
//   - part of the main thread's first stack (TrustStack), or in the granule of the stack that the relay itself stands on:
//     who takes that away ends the thread anyway;
//   - probed and then used, where nobody else has this memory (crowded): nothing happens in between;
//   - copied by the kernel (nocgo.KernelRead), where somebody else has.
//
// What the kernel refuses in one of these ways is declined, and PRoot says what comes of it.
//
// Not covered, as nothing tells it: a handler that interrupts the few instructions between a probe and its use and takes
// the memory away, and a file that another process makes shorter in just that moment while it is mapped here, both in a
// process with one thread.

const granule = 4096

// Whether somebody else can use the memory of this process, as far as a call has asked.
const (
	crowdUnknown = iota
	crowdNone
	crowdSome
)

// crowded says whether somebody else can use the memory of this process now: another thread, or another process that
// shares it. It is found out once in a call; only the thread itself could change a no, and it is here.
func (v *View) crowded(s *Scratch) bool {
	if s.crowd == crowdUnknown {
		s.crowd = crowdNone
		if v.company(s) {
			s.crowd = crowdSome
		}
	}
	return s.crowd == crowdSome
}

// copies says whether the kernel makes copies. r is what came of one. Where a filter forbids them, or the kernel has none,
// it is not tried again.
func (v *View) copies(r uintptr) bool {
	if r == nocgo.Fail(nocgo.EPERM) || r == nocgo.Fail(nocgo.ENOSYS) {
		nocgo.StoreRelease32(&v.barred, 1)
	}
	return !nocgo.Failed(r)
}

// fetchText copies the string at addr, which may be any address at all, to dst: see nocgo.CString. What is at vec,
// nocgo.VectorSize bytes of Scratch, is lost. seen says that the kernel has just read the string.
func (v *View) fetchText(s *Scratch, vec uintptr, dst []byte, addr uintptr, seen bool) uintptr {
	switch {
	case v.trusts(addr, textMax):
	case v.crowded(s):
		if v.barred != 0 {
			return nocgo.Fail(nocgo.EFAULT)
		}
		n := nocgo.KernelString(vec, nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0), dst, addr)
		v.copies(n)
		return n
	case !seen:
		return nocgo.CString(dst, addr)
	}
	return nocgo.ReadCString(dst, addr)
}

// fetch copies n bytes, less than a page and at least one, of the guest's from addr to a place in Scratch, and says whether
// all of them could be read. What is at vec, nocgo.VectorSize bytes of Scratch, is lost. seen says that the kernel has just
// read or written the bytes.
func (v *View) fetch(s *Scratch, vec, to, addr, n uintptr, seen bool) bool {
	switch {
	case v.trusts(addr, n) || s.near(addr, n):
	case v.crowded(s):
		if v.barred != 0 {
			return false
		}
		r := nocgo.KernelRead(vec, nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0), to, addr, n)
		return v.copies(r) && r == n
	case !seen && !readable(addr, n):
		return false
	}
	nocgo.CopyUp(to, addr, n)
	return true
}

// give copies n bytes, less than a page, from a place in Scratch other than s.host to the guest's buffer, and touches
// nothing behind them. s.host is lost. seen says that the kernel has just written there.
func (v *View) give(s *Scratch, buf, from, n uintptr, seen bool) Reason {
	switch {
	case v.trusts(buf, n) || s.near(buf, n):
	case n < 8 && !seen || v.crowded(s): // a probe would overwrite more
		if v.barred != 0 {
			return Memory
		}
		r := nocgo.KernelWrite(s.hostAddr(), nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0), buf, from, n)
		if !v.copies(r) || r != n {
			return Memory
		}
		return Answered
	case !seen && (!s.writable(buf) || (buf^(buf+n-1))&^(granule-1) != 0 && !s.writable(buf+n-8)):
		return Memory
	}
	i := uintptr(0)
	for ; i+32 <= n; i += 32 {
		nocgo.Store64(buf+i, nocgo.Load64(from+i))
		nocgo.Store64(buf+i+8, nocgo.Load64(from+i+8))
		nocgo.Store64(buf+i+16, nocgo.Load64(from+i+16))
		nocgo.Store64(buf+i+24, nocgo.Load64(from+i+24))
	}
	nocgo.CopyUp(buf+i, from+i, n-i)
	return Answered
}

// near says whether n bytes, less than a page, are in the granule in which the scratch area ends: whoever called Handle
// has just written there. The buffers of a function that makes a call are often in it.
func (s *Scratch) near(addr, n uintptr) bool {
	top := uintptr(unsafe.Pointer(s)) + unsafe.Sizeof(*s)
	return (addr^top)&^(granule-1) == 0 && (addr+n-1^top)&^(granule-1) == 0
}

// overlap says whether n bytes at a and m bytes at b have one in common.
func overlap(a, n, b, m uintptr) bool { return a < b+m && b < a+n }

// writable says whether the 8 bytes at addr can be written.
func (s *Scratch) writable(addr uintptr) bool { return s.near(addr, 8) || nocgo.Writable(addr) }

// readable says whether n bytes, less than a page and at least one, can be read.
func readable(addr, n uintptr) bool {
	return nocgo.Readable(addr) && ((addr^(addr+n-1))&^(granule-1) == 0 || nocgo.Readable((addr+n-1)&^7))
}

// Fetch copies n bytes of the guest's, at most 128, from addr to Scratch before a call is handled, and says where they are
// then; ok is false where they cannot be read.
func (v *View) Fetch(s *Scratch, addr, n uintptr) (at uintptr, ok bool) {
	s.crowd = crowdUnknown
	at = s.statAddr()
	return at, v.fetch(s, s.hostAddr(), at, addr, n, false)
}
