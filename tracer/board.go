package tracer

import (
	"unsafe"

	"svcrelay/nocgo"
)

const keyVar = "PROOT_FASTPATH="

// The board's descriptor in PRoot, its size, and what it begins with. Guests know them too: see translate.Board.
const (
	boardDescriptor = 200
	boardSize       = 4096
)

var boardMagic = [8]byte{'r', 'l', 'y', 'b', 'o', 'a', 'r', 'd'}

// makeBoard makes the memory through which the processes that PRoot traces tell each other when PRoot's records change:
// a file without a name that ends with PRoot. They reach it by way of /proc, as they do PRoot's environment. Where it
// cannot be made they do without.
func makeBoard(envp uintptr) {
	const dupCloexec, memfdCloexec = 1030, 1
	if !hasKey(envp) {
		return
	}
	name := "svcrelay-board\x00"
	fd := nocgo.Plain(nocgo.SysMemfdCreate, uintptr(unsafe.Pointer(unsafe.StringData(name))), memfdCloexec, 0, 0, 0, 0)
	if nocgo.Failed(fd) {
		return
	}
	if nocgo.Plain(nocgo.SysFtruncate, fd, boardSize, 0, 0, 0, 0) == 0 &&
		nocgo.Plain(nocgo.SysPwrite64, fd, uintptr(unsafe.Pointer(&boardMagic)), 8, 0, 0, 0) == 8 {
		nocgo.Plain(nocgo.SysFcntl, fd, dupCloexec, boardDescriptor, 0, 0, 0)
	}
	nocgo.Plain(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
}

// hasKey says whether the environment has the key by which guests know their tracer.
func hasKey(envp uintptr) bool {
	for p := envp; nocgo.Load64(p) != 0; p += wordBytes {
		if s := uintptr(nocgo.Load64(p)); hasPrefix(s, keyVar) && nocgo.Load8(s+uintptr(len(keyVar))) != 0 {
			return true
		}
	}
	return false
}
