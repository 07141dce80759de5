package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Cache is where the sites of a set of libraries are kept from one process to the next, so that only the first one
// searches for them. docs/sites.md has the format and why a file may be believed.
type Cache struct {
	// Dir is the address of the path, with its NUL, of the directory that holds the cache: the guest's /tmp, as the
	// kernel calls it. 0: nothing is kept.
	Dir uintptr
	// Config stands for everything besides the libraries that decides which sites are found.
	Config uint64
	// Room is the address of RoomSize bytes to work in.
	Room uintptr

	owner uint32 // the user that the kernel knows
}

// What is where in Cache.Room, and the limits that follow.
const (
	roomPath   = 0    // text of a path
	roomName   = 2048 // name of the file
	roomOther  = 2176 // another name
	roomStat   = 2304 // struct stat
	roomHeader = 3072 // what the file has to begin with
	roomFile   = 4096 // the file
	// RoomSize is what Cache.Room must have.
	RoomSize = roomFile + maxFile + 16

	maxPath = roomName - 64 // longest path of a directory, with room for the name of ours in it
	maxFile = headSize + MaxLibraries*(recordSize+8) + MaxSites*siteSize
)

// dirMode and fileMode are the permissions of what is made; nobody else has any.
const (
	dirMode  = 0o700
	fileMode = 0o600
	// othersWrite are the permissions that make a file or directory anybody's.
	othersWrite = 0o022
)

// load takes the sites from the cache. It is false, with nothing taken, where there is none that can be believed.
func (p *Plan) load() bool {
	c := &p.Cache
	if c.Dir == 0 || !p.describe() {
		return false
	}
	dir := c.openDir()
	if nocgo.Failed(dir) {
		return false
	}
	n := c.read(dir)
	closeFile(dir)
	return n != 0 && p.accept(n)
}

// openDir opens the directory of this user below Cache.Dir. A link is not followed, and a directory of somebody else,
// or one that others may write to, is not used.
func (c *Cache) openDir() uintptr {
	n := textEnd(c.Dir, maxPath)
	if n == maxPath {
		return nocgo.Fail(nocgo.ENAMETOOLONG)
	}
	at := c.Room + roomPath
	nocgo.CopyUp(at, c.Dir, n)
	nocgo.Store8(at+n, '/')
	c.ownName(at + n + 1)
	return c.check(nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, at, dirFlags, 0, 0, 0))
}

const dirFlags = nocgo.OPath | nocgo.ODirectory | nocgo.ONofollow | nocgo.OCloexec

// ownName puts the name of this user's directory, with a NUL, at an address, and remembers the user. The number is the real one: what PRoot
// pretends to the program is not what files are created as.
func (c *Cache) ownName(at uintptr) {
	const name = "svcrelay-"
	c.owner = uint32(nocgo.Raw(nocgo.SysGetuid, 0, 0, 0, 0, 0, 0))
	at = putText(at, name)
	at = putDecimal(at, uint64(c.owner))
	nocgo.Store8(at, 0)
}

// check closes a directory again that is not this user's alone.
func (c *Cache) check(dir uintptr) uintptr {
	if nocgo.Failed(dir) {
		return dir
	}
	st := (*nocgo.Stat)(unsafe.Pointer(nocgo.Ptr(c.Room + roomStat)))
	if nocgo.Raw(nocgo.SysFstat, dir, c.Room+roomStat, 0, 0, 0, 0) != 0 || st.UID != c.owner ||
		st.Mode&nocgo.ModeType != nocgo.ModeDirectory || st.Mode&othersWrite != 0 {
		closeFile(dir)
		return nocgo.Fail(nocgo.EPERM)
	}
	return dir
}

// read reads the file into the room and gives its size, 0 where there is none that may be used: a regular file of this
// user, with one name, that nobody else may write to. It is read once and never mapped, so that what is checked is
// what is used.
func (c *Cache) read(dir uintptr) uintptr {
	const nonblock = 0x800 // a FIFO in its place must not be waited for
	fd := nocgo.Raw(nocgo.SysOpenat, dir, c.Room+roomName, nocgo.ORdonly|nocgo.ONofollow|nocgo.OCloexec|nonblock, 0, 0, 0)
	if nocgo.Failed(fd) {
		return 0
	}
	n := uintptr(0)
	st := (*nocgo.Stat)(unsafe.Pointer(nocgo.Ptr(c.Room + roomStat)))
	if nocgo.Raw(nocgo.SysFstat, fd, c.Room+roomStat, 0, 0, 0, 0) == 0 && st.UID == c.owner && st.Nlink == 1 &&
		st.Mode&nocgo.ModeType == nocgo.ModeRegular && st.Mode&othersWrite == 0 && st.Size >= headSize && st.Size <= maxFile {
		n = uintptr(st.Size)
		if nocgo.Raw(nocgo.SysRead, fd, c.Room+roomFile, n, 0, 0, 0) != n {
			n = 0
		}
	}
	closeFile(fd)
	return n
}

func closeFile(fd uintptr) { nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0) }

// textEnd gives the length of a string, at most limit.
func textEnd(addr, limit uintptr) (n uintptr) {
	for n < limit && nocgo.Load8(addr+n) != 0 {
		n++
	}
	return n
}

// putText writes a string at an address and gives its end.
func putText(at uintptr, s string) uintptr {
	for i := range len(s) {
		nocgo.Store8(at, s[i])
		at++
	}
	return at
}

// putDecimal writes a number at an address and gives its end.
func putDecimal(at uintptr, v uint64) uintptr {
	div := uint64(1)
	for v/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		nocgo.Store8(at, byte('0'+v/div%10))
		at++
	}
	return at
}

// putHex writes 16 hexadecimal digits at an address and gives their end.
func putHex(at uintptr, v uint64) uintptr {
	for range 16 {
		d := byte(v >> 60)
		if d > 9 {
			d += 'a' - '0' - 10
		}
		nocgo.Store8(at, '0'+d)
		v <<= 4
		at++
	}
	return at
}
