package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Board is memory that all processes of one PRoot share, across exec: the shim keeps it in PRoot. On it they tell each
// other what PRoot's records will not be like any more. Whatever is written there stays; what fails is taken back.
// A process that dies in between leaves too much there, which only means fewer answers.
type Board struct {
	Magic    uint64             // BoardMagic
	Changed  uint32             // mounts and the like: bindings are not those of the configuration
	Filtered uint32             // a process has a filter of its own
	Spaces   uint32             // a process is in name spaces of its own
	Reserved uint32             // places of Watched given away
	Count    uint32             // entries ever written to Watched
	Sockets  uint32             // places of Names given away
	Watched  [boardPids]uint32  // processes or threads that a debugger among the guests watches
	Names    [boardNames]uint64 // hashes of the names of sockets for which PRoot has made a binding
	Heirs    [boardHeirs]uint32 // processes that have descriptors which PRoot knows by their numbers (madeup.go)
	Heirless uint32             // there was no place for one
}

// BoardMagic is at the beginning of a board.
const BoardMagic = 0x6472616f62796c72 // "rlyboard"

// BoardSize is how much memory a board takes, in bytes.
const BoardSize = 4096

const (
	boardPids  = 64
	boardNames = 256
)

// UseBoard tells the View of the board, which is at addr. It is false where nothing may be answered because of what is
// there already.
func (v *View) UseBoard(addr uintptr) bool {
	b := (*Board)(nocgo.Ptr(addr))
	if b.Magic != BoardMagic {
		return false
	}
	v.board = addr
	return v.undisturbed()
}

// undisturbed says whether answers are still those of PRoot, as far as other processes know. What was written by
// somebody who watches this process, or the parent that may share this memory, ends the View.
func (v *View) undisturbed() bool {
	if v.board == 0 {
		return true
	}
	b := (*Board)(nocgo.Ptr(v.board))
	if nocgo.LoadAcquire32(&b.Changed) != 0 {
		return false
	}
	count := nocgo.LoadAcquire32(&b.Count)
	if count == v.watched {
		return true
	}
	pid := nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)
	parent := nocgo.Raw(nocgo.SysGetppid, 0, 0, 0, 0, 0, 0)
	for i := range boardPids {
		tid := uintptr(nocgo.LoadAcquire32(&b.Watched[i]))
		if tid != 0 && (tid == pid || nocgo.Raw(nocgo.SysTgkill, pid, tid, 0, 0, 0, 0) == 0 ||
			nocgo.Raw(nocgo.SysTgkill, parent, tid, 0, 0, 0, 0) == 0) {
			v.Withdraw()
			return false
		}
	}
	if count-v.watched > boardPids { // some were overwritten before they were read
		v.Withdraw()
		return false
	}
	v.watched = count
	return true
}

// Watch writes to the board that a debugger is about to watch a process or thread.
func (v *View) Watch(tid uintptr) {
	if v.board == 0 {
		return
	}
	b := (*Board)(nocgo.Ptr(v.board))
	nocgo.StoreRelease32(&b.Watched[(nocgo.Add32(&b.Reserved, 1)-1)%boardPids], uint32(tid))
	nocgo.Add32(&b.Count, 1)
}

// Filter writes to the board that the process has a filter of its own from now on.
func (v *View) Filter() {
	if v.board != 0 {
		nocgo.StoreRelease32(&(*Board)(nocgo.Ptr(v.board)).Filtered, 1)
	}
}

// FiltersSeen says whether a process of this PRoot has set a filter.
func (v *View) FiltersSeen() bool {
	return v.board == 0 || nocgo.LoadAcquire32(&(*Board)(nocgo.Ptr(v.board)).Filtered) != 0
}

// SpacesSeen says whether a process of this PRoot may have gone to name spaces of its own.
func (v *View) SpacesSeen() bool {
	return v.board == 0 || nocgo.LoadAcquire32(&(*Board)(nocgo.Ptr(v.board)).Spaces) != 0
}

// mount issues mount, umount2 or pivot_root. Termux's fork makes bindings of them, for all its processes; with another
// PRoot the kernel does what was asked for, if it allows it. Either way nobody answers any more if it succeeds.
func (v *View) mount(s *Scratch, c *Call) (uintptr, Reason) {
	if v.board == 0 {
		v.Withdraw()
		return 0, Withdrawn
	}
	b := (*Board)(nocgo.Ptr(v.board))
	nocgo.Add32(&b.Changed, 1)
	r := v.plain(s, c)
	if nocgo.Failed(r) {
		nocgo.Add32(&b.Changed, ^uint32(0))
	}
	return r, Answered
}

// leaveFor issues chroot, unshare or setns, after which this process, and those that come of it, see other files. An
// executed program notices by itself that its root is another; of name spaces the board tells it.
func (v *View) leaveFor(s *Scratch, c *Call) (uintptr, Reason) {
	const spaces = 0x7e020080 // CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS and so on, CLONE_NEWTIME
	if c.Nr == nocgo.SysUnshare && c.Arg[0]&spaces == 0 {
		return v.plain(s, c), Answered
	}
	nocgo.CompareAndSwap32(&v.state, stateReady, stateAway)
	if c.Nr != nocgo.SysChroot && v.board != 0 {
		nocgo.StoreRelease32(&(*Board)(nocgo.Ptr(v.board)).Spaces, 1)
	}
	r := v.plain(s, c)
	if nocgo.Failed(r) {
		nocgo.CompareAndSwap32(&v.state, stateAway, stateReady)
	} else {
		v.Withdraw()
	}
	return r, Answered
}

// rebind writes to the board that PRoot may be about to make a binding for a socket, whose name has this hash: paths that
// have the name in them are PRoot's business from now on.
func (v *View) rebind(hash uint64) {
	if v.board == 0 {
		v.Withdraw()
		return
	}
	b := (*Board)(nocgo.Ptr(v.board))
	if hasName(b, hash, false) {
		return
	}
	i := nocgo.Add32(&b.Sockets, 1) - 1
	if i >= boardNames {
		nocgo.Add32(&b.Changed, 1)
		return
	}
	nocgo.StoreRelease64(&b.Names[i], hash)
}

// withdrawAll ends the Views of all processes of this PRoot.
func (v *View) withdrawAll() {
	if v.board == 0 {
		v.Withdraw()
		return
	}
	nocgo.Add32(&(*Board)(nocgo.Ptr(v.board)).Changed, 1)
}

// rebound says whether a name may be that of a socket for which PRoot has made a binding.
func (v *View) rebound(name, n uintptr) bool {
	if v.board == 0 {
		return false
	}
	b := (*Board)(nocgo.Ptr(v.board))
	return nocgo.LoadAcquire32(&b.Sockets) != 0 && hasName(b, nocgo.HashWords(name, n), true)
}

// hasName says whether a hash is on the board, or with maybe set whether it may be what somebody is writing now.
func hasName(b *Board, hash uint64, maybe bool) bool {
	count := nocgo.LoadAcquire32(&b.Sockets)
	for i := uint32(0); i < count && i < boardNames; i++ {
		if h := nocgo.LoadAcquire64(&b.Names[i]); h == hash || maybe && h == 0 {
			return true
		}
	}
	return false
}

var _ [BoardSize - unsafe.Sizeof(Board{})]byte // it fits
