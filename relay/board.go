package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/translate"
)

// useBoard maps the board of the tracer, if it has one, and looks whether what is there leaves anything to answer. The
// shim keeps it in PRoot as a file without a name, see tracer.Start. It is mapped, and no descriptor of it is kept.
func useBoard() bool {
	procPath(proc.tracer, "fd/200")
	fd := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(&path)), boardFlags, 0, 0, 0)
	if !nocgo.Failed(fd) {
		a := nocgo.Raw(nocgo.SysMmap, 0, translate.BoardSize, nocgo.ProtRead|nocgo.ProtWrite, mapShared, fd, 0)
		nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
		if !nocgo.Failed(a) {
			board = a
			if !view.UseBoard(a) {
				return false
			}
		}
	}
	if board != 0 && !proc.counted && view.FiltersSeen() {
		return false // before Linux 5.9 nobody says whether one of them is ours
	}
	return !view.SpacesSeen() || sameSpace()
}

const (
	mapShared  = 1
	boardFlags = 2 | nocgo.OCloexec | 0x100 | 0x800 // O_RDWR, O_NOCTTY, O_NONBLOCK
)

// sameSpace says whether the process sees the mounts that its tracer sees.
func sameSpace() bool {
	const inode = 8 // in struct stat
	procPath(0, "ns/mnt")
	stat := uintptr(unsafe.Pointer(&buffer))
	if nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(&path)), stat, 0, 0, 0)) {
		return false
	}
	mine := nocgo.Load64(stat + inode)
	procPath(proc.tracer, "ns/mnt")
	return !nocgo.Failed(nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(&path)), stat, 0, 0, 0)) &&
		nocgo.Load64(stat+inode) == mine
}
