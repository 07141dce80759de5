package translate

import "svcrelay/nocgo"

// PRoot looks at the rootfs's own directory at the beginning of every path, also of those that a binding leads elsewhere
// from there. Whoever has a binding of a directory above it can move it, or shut it off. Then PRoot answers all paths with
// an error, or by what has come into its place, for all its processes. So nobody answers any more.

// movesRoot leaves a call to PRoot that is about to move what is at the host path in s.host, where the rootfs is there or
// below.
func (v *View) movesRoot(s *Scratch) bool {
	root, n := v.hostText(0)
	if !contains(s.hostAddr(), s.hostLen, root, n) {
		return false
	}
	v.withdrawAll()
	return true
}

// closesRoot leaves a call to PRoot that may shut off the directory at the host path in s.host, where the rootfs is below it.
func (v *View) closesRoot(s *Scratch) bool {
	root, n := v.hostText(0)
	return !same(s.hostAddr(), s.hostLen, root, n) && v.movesRoot(s)
}

// rootMark tells one rootfs from another, or from none. It uses s.stat.
func (v *View) rootMark(s *Scratch) uint64 {
	root, _ := v.hostText(0)
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, root, s.statAddr(), nocgo.AtSymlinkNofollow, 0, 0)) {
		return 0
	}
	return nocgo.HashPair(s.stat.Dev, s.stat.Ino) | 1
}

// rootMoved ends what a call that succeeded has shown to be no longer so. before is the mark from before the call.
func (v *View) rootMoved(s *Scratch, before uint64) {
	if v.rootMark(s) != before {
		v.withdrawAll()
	}
}
