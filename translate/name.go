package translate

import "svcrelay/nocgo"

// statName answers newfstatat where the path is a single name in a remembered directory given by its descriptor,
// which is how fts, find and tar go through a tree. It saves the probe of the path: the kernel reads the path first,
// and what it could read can be read here. Only then is it known whether the path was a single name; if not, nothing
// has happened that counts (a lookup has no effects), and the general way is taken until single names are seen again.
//
// The path is read twice, so nobody may replace it in between: where somebody else has the memory, this is not done.
//
// What is not certain here is not done: then the general way begins from the start.
func (v *View) statName(s *Scratch, c *Call, flags uintptr) (ret uintptr, why Reason, done bool) {
	if v.fewer != 0 || v.crowded(s) {
		return 0, Answered, false
	}
	v.reset(s)
	fd := uintptr(int64(int32(c.Arg[0])))
	if nocgo.Failed(nocgo.Raw(nocgo.SysFstat, fd, s.statAddr(), 0, 0, 0, 0)) ||
		s.stat.Mode&nocgo.ModeType != nocgo.ModeDirectory || s.stat.Nlink == 0 {
		return 0, Answered, false
	}
	s.dev, s.ino = s.stat.Dev, s.stat.Ino
	if !v.recall(s) {
		return 0, Answered, false
	}
	r := nocgo.Raw(nocgo.SysNewfstatat, fd, c.Arg[1], s.statAddr(), flags|nocgo.AtSymlinkNofollow, 0, 0)
	if r != 0 && r != nocgo.Fail(nocgo.ENOENT) {
		return 0, Answered, false
	}
	n := v.fetchText(s, s.hostAddr(), s.path[:textMax], c.Arg[1], true)
	name := s.pathAddr()
	if nocgo.Failed(n) || hasSlash(name, n) || !ordinary(name, n) {
		nocgo.StoreRelease32(&v.single, 0)
		return 0, Answered, false
	}
	if v.rebound(name, n) {
		return 0, Answered, false
	}
	if s.kids && v.active > 1 && v.kid(s.guestAddr(), s.guestLen, name, n) != none {
		return 0, Answered, false
	}
	if r != 0 {
		return r, Answered, true
	}
	if flags&nocgo.AtSymlinkNofollow == 0 && s.stat.Mode&nocgo.ModeType == nocgo.ModeSymlink {
		return 0, Answered, false
	}
	s.fd, s.call, s.name, s.nameLen = fd, name, name, n
	return 0, v.deliverStat(s, c.Arg[2]), true
}
