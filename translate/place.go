package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Place gives the host path, with its NUL, that a guest path names as far as bindings say: no link is followed, nothing
// is looked at. It lies in s. ok is false where that is PRoot's business.
func (v *View) Place(s *Scratch, guest string) (host uintptr, ok bool) {
	n := uintptr(len(guest))
	if n == 0 || n >= textMax || guest[0] != '/' {
		return 0, false
	}
	nocgo.CopyUp(s.guestAddr(), uintptr(unsafe.Pointer(unsafe.StringData(guest))), n)
	s.guestLen = n
	if v.settle(s) != Answered {
		return 0, false
	}
	return s.hostAddr(), true
}
