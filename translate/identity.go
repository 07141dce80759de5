package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// With -0, -i or --change-id PRoot fakes an identity. To the calls that are answered here this means:
//
//   - Files that belong to the user or the group that PRoot has are shown as belonging to the faked saved ids.
//     PRoot keeps these by thread, and setuid and its like change them (ids.go). fstat is rewritten in the same way.
//   - While root is faked, PRoot makes everything on the way readable and writable, and directories searchable, for
//     the time of the call. So EACCES and EPERM prove nothing (Handle declines them), but all that succeeds without
//     would succeed with it. What would show the lent rights is declined: directories that lack them, and with statx,
//     where Termux's fork lends them at the end of the path too, files as well. When the rights are taken back is in
//     lend.go.
//   - While rights are lent, the set-user-ID, set-group-ID and sticky bits are gone. A new file could get another
//     group for it.
//
// Not imitated: lending gives what lacked rights a new time of change.

// AskOwners asks PRoot for the owner and group that it shows instead of its own. What belongs to this process under
// /proc is certain to be owned by them. Where it does not get to know, the View declines to say who owns PRoot's files.
// It is for the constructor: it opens a descriptor for a moment, and the identity must not have been changed yet. From
// then on setuid and its like must pass through Handle wherever the C library makes them, also from the function that
// makes all threads change their identity, which takes the number from memory.
func (v *View) AskOwners(s *Scratch) {
	const self = "/proc/self\x00"
	const flags = nocgo.OPath | nocgo.ODirectory | nocgo.OCloexec
	fd := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(unsafe.StringData(self))), flags, 0, 0, 0)
	if nocgo.Failed(fd) {
		return
	}
	v.owners = v.compareOwners(s, fd)
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
}

// compareOwners learns the identities from the two points of view of what fd is.
func (v *View) compareOwners(s *Scratch, fd uintptr) bool {
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) || s.stat.UID != v.uid || s.stat.GID != v.gid ||
		nocgo.Failed(nocgo.Plain(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) {
		return false
	}
	v.suid, v.sgid = s.stat.UID, s.stat.GID
	return true
}

// lends says whether PRoot would lend rights on something of this mode, which is no link.
func lends(mode uint32) bool {
	need := uint32(0o600)
	if mode&nocgo.ModeType == nocgo.ModeDirectory {
		need = 0o700
	}
	return mode&need != need
}

// disguise changes the owner and the group at those addresses as PRoot does.
func (v *View) disguise(uid, gid uintptr) Reason {
	mine, ours := nocgo.Load32(uid) == v.uid, nocgo.Load32(gid) == v.gid
	if !mine && !ours {
		return Answered
	}
	if !v.owners || nocgo.LoadAcquire32(&v.ids) != idsAsked {
		return Owner
	}
	if mine {
		nocgo.Store32(uid, v.suid)
	}
	if ours {
		nocgo.Store32(gid, v.sgid)
	}
	return Answered
}

// disguiseStat is disguise for s.stat.
func (v *View) disguiseStat(s *Scratch) Reason {
	return v.disguise(uintptr(unsafe.Pointer(&s.stat.UID)), uintptr(unsafe.Pointer(&s.stat.GID)))
}

// fstat answers fstat, where PRoot stops at it: where it fakes an identity or makes hard links of symbolic ones (otherwise Number).
// It proves that the descriptor is of no such link, by the text of its own link in /proc, and knows whom PRoot shows as the owner.
// Declined are descriptors of such links and of removed files (Twin), owners that are not known any more (Owner), and buffers that
// cannot be written (Memory).
func (v *View) fstat(s *Scratch, c *Call) (uintptr, Reason) {
	if v.modes&(Identity|HardLinks) == 0 {
		return 0, Number
	}
	r := nocgo.Raw(nocgo.SysFstat, c.Arg[0], s.statAddr(), 0, 0, 0, 0)
	if nocgo.Failed(r) {
		return r, Answered
	}
	if v.modes&HardLinks != 0 {
		if why := v.openTwin(s, c.Arg[0]); why != Answered {
			return 0, why
		}
	}
	if v.faked != 0 {
		if why := v.disguiseStat(s); why != Answered {
			return 0, why
		}
	}
	return 0, v.give(s, c.Arg[1], s.statAddr(), unsafe.Sizeof(s.stat), false)
}

// deliverStat gives the guest what s.stat holds of the final component, as PRoot shows it.
func (v *View) deliverStat(s *Scratch, buf uintptr) Reason {
	if v.modes&HardLinks != 0 {
		if why := v.statTwin(s); why != Answered {
			return why
		}
	}
	if v.faked != 0 {
		// Rights are not lent at the end of the path, but at the end of a link's text. A directory may be met on the
		// way as well. Without a path there is no way.
		kind := s.stat.Mode & nocgo.ModeType
		if !s.empty && lends(s.stat.Mode) && (kind == nocgo.ModeDirectory || s.links != 0 && kind != nocgo.ModeSymlink) {
			return Rights
		}
		if why := v.disguiseStat(s); why != Answered {
			return why
		}
	}
	return v.give(s, buf, s.statAddr(), unsafe.Sizeof(s.stat), false)
}

// lastStat is the newfstatat that decides. The kernel writes into the guest's buffer itself where its answer is
// PRoot's.
func (v *View) lastStat(s *Scratch, buf, flags uintptr) (uintptr, Reason) {
	if v.modes&(Identity|HardLinks) == 0 {
		return nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, buf, flags, 0, 0), Answered
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), flags, 0, 0)
	if nocgo.Failed(r) {
		return r, Answered
	}
	return 0, v.deliverStat(s, buf)
}

// Offsets in struct statx, and bits of its mask.
const (
	statxUID   = 20
	statxGID   = 24
	statxOwner = 1 | 2 | 8 | 16 // STATX_TYPE, STATX_MODE, STATX_UID, STATX_GID
)

// deliverStatx gives the guest the struct statx at out, as PRoot shows it. Termux's fork compares the group with the
// user that PRoot has, so where that makes a difference it is declined.
func (v *View) deliverStatx(s *Scratch, buf, out uintptr) Reason {
	mode := uint32(nocgo.Load16(out + statxMode))
	if v.modes&HardLinks != 0 {
		s.stat.Mode = mode
		if nocgo.Load32(out)&statxType == 0 || s.empty {
			return Twin
		}
		if why := v.statTwin(s); why != Answered {
			return why
		}
	}
	if v.faked != 0 {
		if nocgo.Load32(out)&statxOwner != statxOwner || mode&nocgo.ModeType != nocgo.ModeSymlink && lends(mode) {
			return Rights
		}
		gid := nocgo.Load32(out + statxGID)
		if v.uid != v.gid && (gid == v.uid || gid == v.gid) && gid != v.sgid {
			return Owner
		}
		if why := v.disguise(out+statxUID, out+statxGID); why != Answered {
			return why
		}
	}
	return v.give(s, buf, out, statxSize, false)
}

// createsAlike says whether a new file would be the same where PRoot lends rights on its directory: that takes the
// bit away by which the file gets the directory's group.
//
// An open that empties a file must not be of one that PRoot lends something: set-user-ID comes back to it.
func (v *View) createsAlike(s *Scratch, flags uintptr) bool {
	const setGID = 0o2000
	if flags&nocgo.OTmpfile != 0 || s.tail != tailNone {
		return false
	}
	if flags&nocgo.OTrunc != 0 {
		r := nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), 0, 0, 0)
		if !nocgo.Failed(r) && lends(s.stat.Mode) {
			return false
		}
	}
	r := nocgo.Fail(nocgo.ENOENT)
	if s.fd != nocgo.AtFdcwd {
		r = nocgo.Raw(nocgo.SysFstat, s.fd, s.statAddr(), 0, 0, 0, 0)
	} else if s.call == s.hostAddr() {
		end := s.hostLen
		for end > 1 && nocgo.Load8(s.call+end-1) != '/' {
			end--
		}
		cut := s.call + end // behind the slash
		kept := nocgo.Load8(cut)
		nocgo.Store8(cut, 0)
		r = nocgo.Raw(nocgo.SysNewfstatat, s.fd, s.call, s.statAddr(), 0, 0, 0)
		nocgo.Store8(cut, kept)
	}
	return !nocgo.Failed(r) && (s.stat.Mode&setGID == 0 || !lends(s.stat.Mode))
}

// namesRights says whether the attribute whose name is at addr shows the rights on a file: access control lists do. seen says that the
// kernel has just read the name.
func (v *View) namesRights(s *Scratch, addr uintptr, seen bool) bool {
	if v.crowded(s) {
		return true // the kernel may read another name
	}
	name := s.pathAddr()
	n := v.fetchText(s, s.hostAddr(), s.path[:textMax], addr, seen)
	return nocgo.Failed(n) || n >= 4 && nocgo.Load32(name) == 's'|'y'<<8|'s'<<16|'t'<<24
}
