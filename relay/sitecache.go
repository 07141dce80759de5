package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// keepSites tells the plan where sites are kept: below the guest's /tmp, whatever TMPDIR says, so that all programs of
// the guest find the same. s must stay as it is until the plan has discovered them.
func keepSites(s *translate.Scratch) {
	if conf.nocache {
		return
	}
	dir, ok := view.Place(s, "/tmp")
	if !ok {
		return
	}
	plan.Cache.Dir = dir
	plan.Cache.Config = nocgo.HashPair(nocgo.HashPair(wanted.Hash(), conf.api), ownBuild())
	plan.Cache.Room = uintptr(unsafe.Pointer(&buffer))
}

// The room must fit: a negative length does not compile.
var _ [maxFile - patcher.RoomSize]byte

// ownBuild stands for this very library: another one may find other sites in the same text.
func ownBuild() uint64 {
	const head, id = 16, 20 // of a note with a SHA-1
	note := nocgo.Symbol("svcrelay_buildid")
	if note == 0 {
		return 0
	}
	return nocgo.HashWords(note+head, id)
}
