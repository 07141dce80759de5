package translate

import "svcrelay/nocgo"

// open answers openat, with all flags.
//
// It proves that the final component is no link, or that the call does not follow links (O_NOFOLLOW, or O_CREAT
// with O_EXCL), and leaves everything else about the flags to the kernel, as PRoot does. A dangling link is
// resolved in guest terms, so that O_CREAT creates its target where PRoot would.
//
// Declined are, besides paths: what would be made with another group where PRoot lends rights (Rights), what may block where a
// blocked thread could not be cancelled (Waits), and with a PRoot that may be Termux's /proc/self/auxv, with all that follows (Proc).
func (v *View) open(s *Scratch, c *Call) (uintptr, Reason) {
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	return v.openBegun(s, c.Arg[2], c.Arg[3], errno, why)
}

// openBegun is open where begin has read the path and said errno and why.
func (v *View) openBegun(s *Scratch, flags, mode, errno uintptr, why Reason) (uintptr, Reason) {
	if why == Proc && s.proc == procList && flags&^openList == 0 && v.ownDescriptors(s) != 0 {
		return nocgo.Raw(nocgo.SysOpenat, s.fd, s.call, flags, 0, 0, 0), Answered
	}
	if v.leavesAuxv(s) {
		return 0, Proc
	}
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		return nocgo.Raw(nocgo.SysOpenat, s.fd, s.call, flags, mode, 0, 0), Answered
	}
	v.another(s, flags)
	stop := flags&nocgo.ONofollow != 0 || flags&nocgo.OExcl != 0 && flags&nocgo.OCreat != 0
	creates := v.faked != 0 && flags&(nocgo.OCreat|nocgo.OTmpfile|nocgo.OTrunc) != 0
	if s.tail == tailNone && !stop && !creates && flags&^openKnown == 0 && nocgo.LoadAcquire32(&v.how) != 0 {
		if s.Quick {
			if why := v.mayWait(s, flags); why != Answered {
				return 0, why
			}
		}
		if r, done := v.openNoLinks(s, flags, mode); done {
			if flags&nocgo.ODirectory != 0 && !nocgo.Failed(r) {
				v.adopt(s, r)
			}
			return v.priority(s, r)
		}
	}
	if s.tail != tailNone || !stop {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
	} else if why = v.notFollowed(s); why != Answered {
		return 0, why
	}
	v.seal(s)
	if creates && !v.createsAlike(s, flags) {
		return 0, Rights
	}
	if s.Quick {
		if why := v.mayWait(s, flags); why != Answered {
			return 0, why
		}
	}
	r := nocgo.Raw(nocgo.SysOpenat, s.fd, s.call, flags, mode, 0, 0)
	v.learnt(s, r)
	if flags&nocgo.ODirectory != 0 && flags&nocgo.ONofollow != 0 && flags&nocgo.OTmpfile == 0 && !nocgo.Failed(r) {
		v.adopt(s, r)
	}
	return v.priority(s, r)
}

// leavesAuxv withdraws where /proc/self/auxv is about to be opened, and s.path says so: Termux's fork corrects what is read of
// it, and stops the thread at the calls that follow for that, those of the trampoline page among them. It looks at nothing but
// the text.
func (v *View) leavesAuxv(s *Scratch) bool {
	const auxv = "/proc/self/auxv\x00" // read by words
	if v.modes&Upstream != 0 || !nocgo.EqualWords(s.pathAddr(), stringAddr(auxv), uintptr(len(auxv))) {
		return false
	}
	v.Withdraw()
	return true
}

// mayWait declines an open that could block: of anything that is now neither a regular file nor a directory nor a link,
// which is not opened. A pipe that takes the file's place before it is opened is not noticed, nor is a lease on it.
func (v *View) mayWait(s *Scratch, flags uintptr) Reason {
	if flags&nocgo.OPath != 0 {
		return Answered
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)
	if nocgo.Failed(r) {
		_, why := missingOr(r)
		return why
	}
	switch s.stat.Mode & nocgo.ModeType {
	case nocgo.ModeRegular, nocgo.ModeDirectory, nocgo.ModeSymlink:
		return Answered
	}
	return Waits
}

// Flags of openat that openNoLinks passes on, those with which directories are listed, and those that O_PATH leaves. All were
// there before openat2.
const (
	openKnown = nocgo.OAccmode | nocgo.OCreat | nocgo.OExcl | 0x100 /* O_NOCTTY */ | nocgo.OTrunc | 0x400 /* O_APPEND */ |
		0x800 /* O_NONBLOCK */ | 0x1000 /* O_DSYNC */ | nocgo.ODirectory | nocgo.ONofollow | 0x20000 /* O_LARGEFILE */ |
		nocgo.OCloexec | nocgo.OPath
	openList = nocgo.ODirectory | nocgo.OCloexec | 0x800 /* O_NONBLOCK */ | 0x20000 /* O_LARGEFILE */
	openPath = nocgo.OPath | nocgo.ODirectory | nocgo.ONofollow | nocgo.OCloexec
)

// openNoLinks opens with openat2 and RESOLVE_NO_SYMLINKS, which fails with ELOOP where any component is a link. done
// is false where it failed like that, or with an error that openat may not meet. Everything else is openat's answer
// too, the interruption of an open that waits for the other end of a pipe above all.
func (v *View) openNoLinks(s *Scratch, flags, mode uintptr) (r uintptr, done bool) {
	const noSymlinks = 4
	if flags&nocgo.OPath != 0 {
		flags &= openPath
	}
	if flags&nocgo.OCreat == 0 {
		mode = 0
	}
	how := s.statAddr() // struct open_how
	nocgo.Store64(how, uint64(flags))
	nocgo.Store64(how+8, uint64(mode&0o7777))
	nocgo.Store64(how+16, noSymlinks)
	r = nocgo.Raw(nocgo.SysOpenat2, s.fd, s.call, how, 24, 0, 0)
	switch r {
	case nocgo.Fail(nocgo.ELOOP), nocgo.Fail(nocgo.EINVAL), nocgo.Fail(nocgo.E2BIG), nocgo.Fail(nocgo.EAGAIN), nocgo.Fail(nocgo.ENOSYS),
		nocgo.Fail(nocgo.EACCES), nocgo.Fail(nocgo.EPERM): // the last two: see missingOr
		return 0, false
	}
	v.learnt(s, r)
	return r, true
}
