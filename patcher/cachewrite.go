package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// save keeps what a search has found. Nothing of it may be noticed: no room, no rights or no such directory only mean
// that the next process searches too.
func (p *Plan) save() {
	c := &p.Cache
	if c.Dir == 0 || !p.describe() {
		return
	}
	n := p.compose()
	if !c.mayWrite(n) {
		return
	}
	dir := c.makeDir()
	if nocgo.Failed(dir) {
		return
	}
	if !c.link(dir, n) {
		c.rename(dir, n)
	}
	closeFile(dir)
}

// mayWrite says whether a file of n bytes is within the limit of the process: to exceed it means a signal.
func (c *Cache) mayWrite(n uintptr) bool {
	const fsize = 1 // RLIMIT_FSIZE
	limit := c.Room + roomStat
	return nocgo.Raw(nocgo.SysPrlimit64, 0, fsize, 0, limit, 0, 0) == 0 && nocgo.Load64(limit) >= uint64(n)
}

// makeDir opens this user's directory and makes it if it is not there. Here the way to it must not lead through a
// link at all, so that nothing is created elsewhere.
func (c *Cache) makeDir() uintptr {
	tmp := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, c.Dir, dirFlags, 0, 0, 0)
	if nocgo.Failed(tmp) {
		return tmp
	}
	name := c.Room + roomPath
	c.ownName(name)
	dir := nocgo.Raw(nocgo.SysOpenat, tmp, name, dirFlags, 0, 0, 0)
	if dir == nocgo.Fail(nocgo.ENOENT) {
		nocgo.Raw(nocgo.SysMkdirat, tmp, name, dirMode, 0, 0, 0)
		dir = nocgo.Raw(nocgo.SysOpenat, tmp, name, dirFlags, 0, 0, 0)
	}
	closeFile(tmp)
	return c.check(dir)
}

// link publishes the file from one that has no name before it is complete, so that a process killed here leaves
// nothing. It is false where the file system or a policy does not allow that.
func (c *Cache) link(dir, n uintptr) bool {
	const here, self = ".\x00", "/proc/self/fd/"
	dot := here
	fd := nocgo.Raw(nocgo.SysOpenat, dir, uintptr(unsafe.Pointer(unsafe.StringData(dot))),
		nocgo.OTmpfile|nocgo.ODirectory|oWronly|nocgo.OCloexec, fileMode, 0, 0)
	if nocgo.Failed(fd) {
		return false
	}
	done := true
	if c.write(fd, n) {
		name := c.Room + roomName
		path := c.Room + roomOther
		end := putText(path, self)
		nocgo.Store8(putDecimal(end, uint64(fd)), 0)
		r := nocgo.Raw(nocgo.SysLinkat, nocgo.AtFdcwd, path, dir, name, nocgo.AtSymlinkFollow, 0)
		if r == nocgo.Fail(nocgo.EEXIST) { // what is there was found to be of no use, or another process was faster
			nocgo.Raw(nocgo.SysUnlinkat, dir, name, 0, 0, 0, 0)
			r = nocgo.Raw(nocgo.SysLinkat, nocgo.AtFdcwd, path, dir, name, nocgo.AtSymlinkFollow, 0)
		}
		done = r == 0 || r == nocgo.Fail(nocgo.EEXIST)
	}
	closeFile(fd)
	return done
}

const oWronly = 1

// rename publishes the file from one that has a name of this process's own. A process killed here leaves it; it is
// never read, and removed when a process of the same number comes by.
func (c *Cache) rename(dir, n uintptr) {
	name, own := c.Room+roomName, c.Room+roomOther
	length := textEnd(name, 64)
	nocgo.CopyUp(own, name, length)
	nocgo.Store8(own+length, '.')
	end := putDecimal(own+length+1, uint64(nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)))
	nocgo.Store8(end, 0)
	fd := nocgo.Raw(nocgo.SysOpenat, dir, own, oWronly|nocgo.OCreat|nocgo.OExcl|nocgo.ONofollow|nocgo.OCloexec, fileMode, 0, 0)
	if fd == nocgo.Fail(nocgo.EEXIST) {
		nocgo.Raw(nocgo.SysUnlinkat, dir, own, 0, 0, 0, 0)
	}
	if nocgo.Failed(fd) {
		return
	}
	if !c.write(fd, n) || nocgo.Raw(nocgo.SysRenameat, dir, own, dir, name, 0, 0) != 0 {
		nocgo.Raw(nocgo.SysUnlinkat, dir, own, 0, 0, 0, 0)
	}
	closeFile(fd)
}

// write writes the file in the room.
func (c *Cache) write(fd, n uintptr) bool {
	return nocgo.Raw(nocgo.SysWrite, fd, c.Room+roomFile, n, 0, 0, 0) == n
}
