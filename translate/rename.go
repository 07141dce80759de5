package translate

import "svcrelay/nocgo"

// AllowRenameat2 tells the View that nothing but PRoot's filter is between it and renameat2, which Android's app policy
// forbids before Android 11.
func (v *View) AllowRenameat2() { nocgo.StoreRelease32(&v.modern, 1) }

// rename answers renameat and renameat2 with flags that it leaves to the kernel. Neither path is followed at the end
// unless slashes follow it.
//
// After a rename PRoot looks whether the caller's current directory was moved, and changes its record of it: it gives
// the old host path the guest's point of view and compares the texts. So the text of the current directory has to be
// known here, and not to begin with that path. What was renamed makes no difference: if it is no directory, only what
// was found through links is forgotten, else everything is.
//
// Declined are: a first path whose directory is at fault (PRoot reads both paths before it resolves one), paths that do
// not fit together, and a path that PRoot would not find its way back from. Another process may put a directory in the
// place of a file between the look and the call; then what is remembered of it stays so for its lifetime.
func (v *View) rename(s *Scratch, c *Call) (uintptr, Reason) {
	flags := uintptr(0)
	if c.Nr == nocgo.SysRenameat2 {
		if nocgo.LoadAcquire32(&v.modern) == 0 {
			return 0, Flags
		}
		flags = uintptr(uint32(c.Arg[4]))
	}
	errno, why := v.find(s, c.Arg[0], c.Arg[1], false)
	if errno != 0 || why != Answered || s.empty {
		return 0, first(why)
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	v.learnt(s, r)
	if nocgo.Failed(r) && r != nocgo.Fail(nocgo.ENOENT) {
		return 0, Denied // or ENOTDIR, which PRoot says after it has read the second path
	}
	directory := flags != 0 || r == 0 && s.stat.Mode&nocgo.ModeType == nocgo.ModeDirectory
	if why = v.complete(s); why != Answered {
		return 0, why
	}
	if directory && v.movesRoot(s) {
		return 0, Withdrawn
	}
	v.seal(s)
	from, old := s.fd, v.keep(s)
	if old == 0 {
		return 0, TooLong
	}
	if why = v.staysHere(s); why != Answered {
		return 0, why
	}
	errno, why = v.begin(s, c.Arg[2], c.Arg[3])
	if errno == 0 && why == Answered && s.empty {
		why = Empty
	}
	if errno == 0 && why == Answered && s.tail != tailNone {
		errno, why = v.chase(s)
	}
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	counter := &v.links
	if directory {
		counter = &v.gen
		if why = v.complete(s); why != Answered {
			return 0, why
		}
		if v.movesRoot(s) {
			return 0, Withdrawn
		}
	}
	v.seal(s)
	nocgo.Add32(counter, 1)
	r = nocgo.Raw(c.Nr, from, old, s.fd, s.call, flags, 0)
	nocgo.Add32(counter, 1)
	v.madeIn(s, r)
	if !nocgo.Failed(r) || !s.unproven {
		return r, Answered
	}
	errno, why = v.proveLate(s)
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	return r, Answered
}

// first is the reason for which the first of two paths is declined.
func first(why Reason) Reason {
	if why == Answered {
		return Differs
	}
	return why
}

// staysHere makes sure that the caller's current directory is not at or below the host path in s.host, as PRoot compares
// them. It uses all of Scratch but what keep has kept.
func (v *View) staysHere(s *Scratch) Reason {
	if nocgo.LoadAcquire32(&v.track) == 0 {
		return Directory
	}
	if why := v.directoryText(s); why != Answered {
		return why
	}
	moved, n := s.hostAddr(), s.guestLen
	nocgo.CopyWords(moved, s.guestAddr(), n)
	if why := v.findCwd(s); why != Answered {
		return why
	}
	if contains(moved, n, s.guestAddr(), s.guestLen) {
		return Directory
	}
	return Answered
}

// link answers linkat. A second path is not followed at the end unless slashes follow it, the first one if the call says
// so. PRoot's extension that makes links into symbolic links is a mode of its own.
//
// Declined are, besides what rename declines of two paths: a second path at fault or at a binding, where PRoots differ.
func (v *View) link(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.find(s, c.Arg[0], c.Arg[1], c.Arg[4]&nocgo.AtSymlinkFollow != 0)
	if errno != 0 || why != Answered {
		return 0, first(why)
	}
	if s.empty && int32(c.Arg[0]) < 0 {
		return 0, Empty // the kernel's own current directory is not PRoot's
	}
	if s.unproven {
		r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
		v.learnt(s, r)
		if nocgo.Failed(r) && r != nocgo.Fail(nocgo.ENOENT) {
			return 0, Denied
		}
	}
	if !s.empty {
		v.seal(s)
	}
	from, old := s.fd, v.keep(s)
	if old == 0 {
		return 0, TooLong
	}
	errno, why = v.begin(s, c.Arg[2], c.Arg[3])
	if errno != 0 || why == Answered && (s.empty || s.leafBind != s.bind) {
		return 0, Differs
	}
	if why == Answered && s.tail != tailNone {
		errno, why = v.chase(s)
	}
	if errno != 0 || why != Answered {
		return 0, first(why)
	}
	v.seal(s)
	r := nocgo.Raw(nocgo.SysLinkat, from, old, s.fd, s.call, c.Arg[4], 0)
	v.madeIn(s, r)
	return v.agreed(s, r)
}
