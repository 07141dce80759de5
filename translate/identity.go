package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// With -0, -i or --change-id PRoot fakes an identity. To the calls that are answered here this means:
//
//   - Files that belong to the user or the group that PRoot has are shown as belonging to the faked saved ids.
//     PRoot keeps these by thread, and setuid and its like change them. fstat is rewritten in the same way.
//   - While root is faked, PRoot makes everything on the way readable and writable, and directories searchable, for
//     the time of the call. So EACCES and EPERM prove nothing (Handle declines them), but all that succeeds without
//     would succeed with it. What would show the lent rights is declined: directories that lack them, and with statx,
//     where Termux's fork lends them at the end of the path too, files as well.
//   - While rights are lent, the set-user-ID, set-group-ID and sticky bits are gone. A new file could get another
//     group for it.
//
// Not imitated: lending gives what lacked rights a new time of change.

// AskOwners tells the View that PRoot fakes an identity, and asks PRoot for it: a pipe belongs to whoever makes it. It
// is false where the View cannot know what PRoot would show; then it must not be used. The caller sees to two things:
//
//   - setuid and its like must pass through Handle wherever the C library makes them, also from the function that makes
//     all threads change their identity, which takes the number from memory.
//   - PRoot takes back what it lent for a call without an exit stop (openat, unlinkat and others) only when the same
//     thread stops the next time. Between a call that PRoot answers and an answer from here there must be such a stop.
func (v *View) AskOwners(s *Scratch) bool {
	fds := s.pathAddr()
	if nocgo.Failed(nocgo.Raw(nocgo.SysPipe2, fds, nocgo.OCloexec, 0, 0, 0, 0)) {
		return false
	}
	fd, other := uintptr(nocgo.Load32(fds)), uintptr(nocgo.Load32(fds+4))
	ok := v.compareOwners(s, fd)
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
	nocgo.Raw(nocgo.SysClose, other, 0, 0, 0, 0, 0)
	return ok
}

// compareOwners learns the identities from the two points of view of a pipe.
func (v *View) compareOwners(s *Scratch, fd uintptr) bool {
	uid := uint32(nocgo.Raw(nocgo.SysGetuid, 0, 0, 0, 0, 0, 0))
	gid := uint32(nocgo.Raw(nocgo.SysGetgid, 0, 0, 0, 0, 0, 0))
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) || s.stat.UID != uid || s.stat.GID != gid {
		return false
	}
	if nocgo.Failed(nocgo.Plain(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) {
		return false
	}
	v.uid, v.gid = uid, gid
	v.suid, v.sgid = s.stat.UID, s.stat.GID
	nocgo.StoreRelease32(&v.faked, 1)
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

// fstat answers fstat, where PRoot stops at it.
func (v *View) fstat(s *Scratch, c *Call) (uintptr, Reason) {
	if v.faked == 0 {
		return 0, Number
	}
	r := nocgo.Raw(nocgo.SysFstat, c.Arg[0], s.statAddr(), 0, 0, 0, 0)
	if nocgo.Failed(r) {
		return r, Answered
	}
	v.disguise(s)
	return 0, v.deliver(s, c.Arg[1], s.statAddr(), unsafe.Sizeof(s.stat))
}

// disguise changes the owner in s.stat as PRoot does.
func (v *View) disguise(s *Scratch) {
	if s.stat.UID == v.uid {
		s.stat.UID = v.suid
	}
	if s.stat.GID == v.gid {
		s.stat.GID = v.sgid
	}
}

// deliverStat gives the guest what s.stat holds, with the owner that PRoot shows.
func (v *View) deliverStat(s *Scratch, buf uintptr) Reason {
	if v.faked != 0 {
		// Rights are not lent at the end of the path, but at the end of a link's text. A directory may be met on the
		// way as well.
		kind := s.stat.Mode & nocgo.ModeType
		if lends(s.stat.Mode) && (kind == nocgo.ModeDirectory || s.links != 0 && kind != nocgo.ModeSymlink) {
			return Rights
		}
		v.disguise(s)
	}
	return v.deliver(s, buf, s.statAddr(), unsafe.Sizeof(s.stat))
}

// lastStat is the newfstatat that decides. The kernel writes into the guest's buffer itself where its answer is
// PRoot's.
func (v *View) lastStat(s *Scratch, buf, flags uintptr) (uintptr, Reason) {
	if v.faked == 0 {
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

// deliverStatx gives the guest the struct statx at out, with the owner that PRoot shows. Termux's fork compares the
// group with the user that PRoot has, so where that makes a difference it is declined.
func (v *View) deliverStatx(s *Scratch, buf, out uintptr) Reason {
	if v.faked != 0 {
		mode := uint32(nocgo.Load16(out + statxMode))
		if nocgo.Load32(out)&statxOwner != statxOwner || mode&nocgo.ModeType != nocgo.ModeSymlink && lends(mode) {
			return Rights
		}
		if nocgo.Load32(out+statxUID) == v.uid {
			nocgo.Store32(out+statxUID, v.suid)
		}
		gid := nocgo.Load32(out + statxGID)
		if v.uid != v.gid && (gid == v.uid || gid == v.gid) && gid != v.sgid {
			return Rights
		}
		if gid == v.gid {
			nocgo.Store32(out+statxGID, v.sgid)
		}
	}
	return v.deliver(s, buf, out, statxSize)
}

// createsAlike says whether a new file would be the same where PRoot lends rights on its directory: that takes the
// bit away by which the file gets the directory's group.
func (v *View) createsAlike(s *Scratch, flags uintptr) bool {
	const setGID = 0o2000
	if flags&nocgo.OTmpfile != 0 || s.tail != tailNone {
		return false
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

// tellsRights says whether an attribute that has been read shows the rights on a file: access control lists do.
func (v *View) tellsRights(s *Scratch, c *Call) bool {
	if c.Nr != nocgo.SysGetxattr && c.Nr != nocgo.SysLgetxattr {
		return false
	}
	name := s.pathAddr()
	n := nocgo.ReadCString(s.path[:textMax], c.Arg[1])
	return nocgo.Failed(n) || n >= 4 && nocgo.Load32(name) == 's'|'y'<<8|'s'<<16|'t'<<24
}
