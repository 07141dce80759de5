package translate

import "svcrelay/nocgo"

// referrer says what must be known of a link before its text overwrites its host path: whether the link is of the
// rootfs (mine), and else which binding PRoot finds for it. s.host is the link's path, unless bind is the rootfs.
func (v *View) referrer(s *Scratch, bind uintptr) (mine bool, b uintptr, why Reason) {
	if bind == 0 {
		return true, none, Answered
	}
	if v.underRoot(s.hostAddr(), s.hostLen) {
		return true, none, Answered
	}
	b = v.byHost(s.hostAddr(), s.hostLen)
	if b == none {
		return false, none, Outside
	}
	return false, b, Answered
}

// linkText gives a link's text, n bytes in s.host, the guest's point of view, in place. A relative text stays.
// The text of a link outside of the rootfs that points into the binding it belongs to is put below the binding's
// guest path. Otherwise a text that names the rootfs loses that prefix, and any other is taken as it is.
func (v *View) linkText(s *Scratch, n uintptr, mine bool, referrer uintptr) (text, length uintptr, why Reason) {
	text = s.hostAddr()
	if nocgo.Load8(text) != '/' {
		return text, n, Answered
	}
	nocgo.Store8(text+n, 0)
	if !mine {
		b := v.byHost(text, n)
		if v.murky && (v.rootIsHost() || !v.underRoot(text, n)) || v.bindings[referrer].opaque {
			return 0, 0, Outside
		}
		if b != none {
			if v.bindings[b].opaque {
				return 0, 0, Outside
			}
			x, xLen := v.hostText(b)
			y, yLen := v.hostText(referrer)
			if same(x, xLen, y, yLen) {
				n = v.toGuest(text, n, b)
				if n >= textMax {
					return 0, 0, TooLong
				}
				return text, n, Answered
			}
		}
	}
	at, n := v.withoutRoot(text, n)
	return at, n, Answered
}

// withoutRoot removes the rootfs from the beginning of a host path.
func (v *View) withoutRoot(text, n uintptr) (at, length uintptr) {
	root, rootLen := v.hostText(0)
	if rootLen == 1 || !contains(root, rootLen, text, n) {
		return text, n
	}
	if n <= rootLen+1 {
		nocgo.Store8(text, '/')
		return text, 1
	}
	return text + rootLen, n - rootLen
}

// toGuest replaces the host path of binding b at the beginning of a host path by its guest path, in place in a
// buffer of textSize bytes. The length may come out as textMax or more: then there was no room.
func (v *View) toGuest(text, n, b uintptr) uintptr {
	guest, guestLen := v.guestText(b)
	skip := uintptr(v.bindings[b].hostLen)
	if skip == 1 {
		skip = 0
	}
	if guestLen == 1 {
		guestLen = 0
	}
	if n == 1 {
		n = skip // the host's "/" itself
	}
	left := n - skip
	if guestLen+left >= textMax {
		return textMax
	}
	if guestLen <= skip {
		nocgo.CopyUp(text+guestLen, text+skip, left)
	} else {
		nocgo.CopyDown(text+guestLen, text+skip, left)
	}
	nocgo.CopyUp(text, guest, guestLen)
	if guestLen+left == 0 {
		nocgo.Store8(text, '/')
		return 1
	}
	return guestLen + left
}

// directoryText makes s.guest of the host path in s.host of a directory, as PRoot names the directory of a
// descriptor: by the first binding of its list that contains it, else by the rootfs.
func (v *View) directoryText(s *Scratch) Reason {
	host, n := s.hostAddr(), s.hostLen
	text := host
	if v.rootIsHost() || !v.underRoot(host, n) {
		b := v.byHost(host, n)
		if b == none {
			return Outside
		}
		if v.murky || v.bindings[b].opaque {
			return Hidden
		}
		n = v.toGuest(host, n, b)
		if n >= textMax {
			return TooLong
		}
	} else {
		text, n = v.withoutRoot(host, n)
	}
	nocgo.CopyUp(s.guestAddr(), text, n)
	s.guestLen = n
	return Answered
}
