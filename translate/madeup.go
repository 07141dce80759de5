package translate

import "svcrelay/nocgo"

// Termux's fork makes a socket of another kind of one that asks the kernel for network interfaces, where the host forbids
// those, and answers for it from then on. It keeps the descriptor's number for the thread that made it until this thread
// closes that number, whatever it names by then, also across exec. So that closing (close.go) leaves just these to PRoot, the
// numbers are kept here, too: with the thread, in the process's own memory, and for the programs it executes on the board.
//
// A child of fork begins without such numbers in PRoot's records; what it has here is only left to PRoot in vain.

const (
	madeUpNumbers = 8 // that PRoot keeps for a thread; here they are for all
	boardHeirs    = 64
	netlink       = 16 // AF_NETLINK
)

// What the program that was executed before this one in the same process has left behind.
const (
	heirUnknown = iota
	heirNot
	heirMaybe
)

// socket answers no socket, but issues those that PRoot may make up, to learn their numbers.
func (v *View) socket(s *Scratch, c *Call) (uintptr, Reason) {
	if uint32(c.Arg[0]) != netlink || uint32(c.Arg[2]) != 0 { // NETLINK_ROUTE
		return 0, Differs
	}
	heir := v.inherits() // before the board says so
	r := v.plain(s, c)
	s.asked = Differs
	if !nocgo.Failed(r) && !heir && v.isMadeUp(s, r) {
		v.keepMadeUp(r)
	}
	return r, Answered
}

// isMadeUp says whether a descriptor is not the socket that was asked for.
func (v *View) isMadeUp(s *Scratch, fd uintptr) bool {
	const room = 16
	name, size := s.statAddr(), s.statAddr()+room
	nocgo.Store64(name, 0)
	nocgo.Store32(size, room)
	return nocgo.Failed(nocgo.Raw(nocgo.SysGetsockname, fd, name, size, 0, 0, 0)) || nocgo.Load16(name) != netlink
}

// keepMadeUp notes a number.
func (v *View) keepMadeUp(fd uintptr) {
	tid := nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)
	kept := false
	for i := 0; i < madeUpNumbers && !kept; i++ {
		kept = nocgo.CompareAndSwap64(&v.madeUp[i], 0, madeUpBy(tid, fd))
	}
	if !kept {
		nocgo.StoreRelease32(&v.heir, heirMaybe)
	}
	if tid != nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0) {
		return // an executed program goes on in the first thread's place
	}
	b := (*Board)(nocgo.Ptr(v.board))
	p := &b.Heirs[tid%boardHeirs]
	old := nocgo.LoadAcquire32(p)
	if old != 0 && old != uint32(tid) && nocgo.Raw(nocgo.SysTgkill, uintptr(old), uintptr(old), 0, 0, 0, 0) == 0 ||
		!nocgo.CompareAndSwap32(p, old, uint32(tid)) {
		nocgo.StoreRelease32(&b.Heirless, 1)
	}
}

func madeUpBy(tid, fd uintptr) uint64 { return uint64(tid)<<32 | uint64(uint32(fd)+1) }

// knowsNumber says whether PRoot may know a descriptor by its number. It is asked when PRoot is about to forget it.
func (v *View) knowsNumber(fd uintptr) bool {
	if v.inherits() {
		return true
	}
	for i := range v.madeUp {
		held := nocgo.LoadAcquire64(&v.madeUp[i])
		if held == 0 || uint32(held) != uint32(fd)+1 {
			continue
		}
		tid := nocgo.Raw(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)
		if held == madeUpBy(tid, fd) && nocgo.CompareAndSwap64(&v.madeUp[i], held, 0) {
			v.disinherit(tid)
		}
		return true
	}
	return false
}

// disinherit takes a thread from the board, if it has no more numbers.
func (v *View) disinherit(tid uintptr) {
	for i := range v.madeUp {
		if nocgo.LoadAcquire64(&v.madeUp[i])>>32 == uint64(tid) {
			return
		}
	}
	nocgo.CompareAndSwap32(&(*Board)(nocgo.Ptr(v.board)).Heirs[tid%boardHeirs], uint32(tid), 0)
}

// inherits says whether there may be numbers in PRoot's records that are not known here.
func (v *View) inherits() bool {
	known := nocgo.LoadAcquire32(&v.heir)
	if known == heirUnknown {
		known = heirMaybe
		if v.board != 0 {
			b := (*Board)(nocgo.Ptr(v.board))
			pid := nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)
			if nocgo.LoadAcquire32(&b.Heirless) == 0 && nocgo.LoadAcquire32(&b.Heirs[pid%boardHeirs]) != uint32(pid) {
				known = heirNot
			}
		}
		nocgo.StoreRelease32(&v.heir, known)
	}
	return known == heirMaybe
}

// MissSockets tells the View that sockets may be made unseen.
func (v *View) MissSockets() { nocgo.StoreRelease32(&v.heir, heirMaybe) }
