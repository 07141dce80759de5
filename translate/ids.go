package translate

import "svcrelay/nocgo"

// How much is known of the identity that PRoot keeps for the threads of this process. A new thread or process gets a
// copy of its maker's, so all are the same until one of them changes its own.
const (
	idsAsked   = iota // what PRoot has said holds
	idsChanged        // a thread has changed its identity: nothing is known any more in this process
)

// identity answers the calls that ask for the faked identity, where there is one; without PRoot does not stop at them (Number).
//
// It proves that no thread of the process has changed its identity yet, as far as the C library makes it: the first answer to
// each is PRoot's own, and is kept. Declined is all that asks for an identity after setuid or one of its like, or where those
// may happen unseen (Owner): PRoot changes its records of threads, and of none but the caller.
func (v *View) identity(s *Scratch, c *Call) (uintptr, Reason) {
	if v.faked == 0 {
		return 0, Number // PRoot does not stop at these
	}
	switch c.Nr {
	case nocgo.SysGetgroups: // PRoot stops, but leaves the answer as it is
		return nocgo.Raw(c.Nr, c.Arg[0], c.Arg[1], 0, 0, 0, 0), Answered
	case nocgo.SysGetresuid:
		return v.threeIDs(s, c, v.uid, 0, v.suid)
	case nocgo.SysGetresgid:
		return v.threeIDs(s, c, v.gid, 2, v.sgid)
	}
	id, why := v.oneID(c.Nr)
	return uintptr(id), why
}

// oneID gives what getuid, geteuid, getgid or getegid answers.
func (v *View) oneID(nr uintptr) (uint32, Reason) {
	if nocgo.LoadAcquire32(&v.ids) != idsAsked {
		return 0, Owner
	}
	const kept = 1 << 32
	p := &v.kept[nr-nocgo.SysGetuid]
	if w := nocgo.LoadAcquire64(p); w&kept != 0 {
		return uint32(w), Answered
	}
	id := uint32(nocgo.Plain(nr, 0, 0, 0, 0, 0, 0))
	nocgo.StoreRelease64(p, uint64(id)|kept)
	return id, Answered
}

// threeIDs answers getresuid or getresgid. Declined are, besides what identity declines: saved ids that could not be learnt, and
// with a PRoot that may be Termux's ids with other upper halves (Owner); what the kernel or we cannot store (Memory). How it is done: the kernel stores what PRoot itself has, then PRoot replaces it. Termux's fork
// replaces only the lower halves, so all is well only where the upper ones are equal. first is the place in v.kept of the
// real id, and saved the saved one.
func (v *View) threeIDs(s *Scratch, c *Call, own uint32, first uintptr, saved uint32) (uintptr, Reason) {
	if !v.owners {
		return 0, Owner
	}
	real, why := v.oneID(nocgo.SysGetuid + first)
	if why != Answered {
		return 0, why
	}
	effective, why := v.oneID(nocgo.SysGetuid + first + 1)
	if why != Answered {
		return 0, why
	}
	if ((real^own)|(effective^own)|(saved^own))>>16 != 0 && v.modes&Upstream == 0 {
		return 0, Owner
	}
	if r := nocgo.Raw(c.Nr, c.Arg[0], c.Arg[1], c.Arg[2], 0, 0, 0); r != 0 {
		return 0, Memory
	}
	ids := s.restAddr()
	nocgo.Store32(ids, real)
	nocgo.Store32(ids+4, effective)
	nocgo.Store32(ids+8, saved)
	for i := uintptr(0); i < 3; i++ {
		if why = v.give(s, c.Arg[i], ids+4*i, 4, true); why != Answered {
			return 0, why
		}
	}
	return 0, Answered
}

// MissIdentity tells the View that setuid or one of its like may happen unseen.
func (v *View) MissIdentity() { nocgo.StoreRelease32(&v.ids, idsChanged) }

// changeIdentity is told of setuid and its like before they are done. It answers none of them: what PRoot makes of them depends
// on its records (Owner). Without a faked identity PRoot does not stop at them (Number), and they are real (FewerRights).
func (v *View) changeIdentity() (uintptr, Reason) {
	if v.faked == 0 {
		v.FewerRights()
		return 0, Number
	}
	nocgo.StoreRelease32(&v.ids, idsChanged)
	return 0, Owner
}

// ChangesRights says whether a call may take rights from the thread that makes it, as setuid and its like do.
func ChangesRights(nr uintptr) bool {
	switch nr {
	case nocgo.SysSetregid, nocgo.SysSetgid, nocgo.SysSetreuid, nocgo.SysSetuid, nocgo.SysSetresuid, nocgo.SysSetresgid,
		nocgo.SysSetfsuid, nocgo.SysSetfsgid, nocgo.SysSetgroups, nocgo.SysCapset:
		return true
	}
	return false
}

// FewerRights tells the View that a thread may have, or get unseen, fewer rights than when a directory was opened. To PRoot a path that
// starts at a descriptor begins at "/", and the thread needs the rights for all of the way. So the kernel is given no descriptor
// from then on.
func (v *View) FewerRights() { nocgo.StoreRelease32(&v.fewer, 1) }
