package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// What is remembered of a directory holds until the directory is removed, moved, or closed to the caller, and until
// that happens to a directory above it. Where the process itself does that to one directory, what leads to it or
// below it is forgotten, and what was found through links, but nothing else: so a program that removes a tree
// remembers the rest of the way.
//
// That is done before the call, for the sake of signal handlers that run at its end and may never come back, and
// again after it if something was stored in between. A thread that stores what it had seen before finds the counter
// uprooted changed, and does not.

// uproot forgets what depends on the directory with the host path of n bytes in s.host, which a call is about to
// change. The result is for uprooted.
func (v *View) uproot(s *Scratch, n uintptr) (mark uint32) {
	nocgo.Add32(&v.links, 1)
	nocgo.Add32(&v.uprootings, 1)
	nocgo.Fence()
	mark = nocgo.LoadAcquire32(&v.stores)
	v.drop(s.hostAddr(), n)
	return mark
}

// uprooted ends what uproot began, after the call.
func (v *View) uprooted(s *Scratch, n uintptr, mark uint32) {
	nocgo.Add32(&v.links, 1)
	nocgo.Add32(&v.uprootings, 1)
	nocgo.Fence()
	if nocgo.LoadAcquire32(&v.stores) != mark {
		v.drop(s.hostAddr(), n)
	}
}

// drop empties the slots of directories whose host path is path or lies below it. Everything goes where the way to a
// binding leads through there, and where another thread is writing.
func (v *View) drop(path, n uintptr) {
	if v.ttl == 0 {
		return
	}
	if n > 1 && nocgo.Load8(path+n-1) == '/' {
		n--
	}
	for i := range v.active {
		if v.onTheWay(uintptr(v.order[i]), path, n) {
			v.Forget()
			return
		}
	}
	gen := nocgo.LoadAcquire32(&v.gen)
	of, skip, at, left, inside := none, uintptr(0), uintptr(0), uintptr(0), false
	for i := range v.slots {
		e := &v.slots[i]
		seq := nocgo.LoadAcquire32(&e.seq)
		if seq&1 != 0 {
			v.Forget()
			return
		}
		if seq == 0 || e.gen != gen {
			continue
		}
		b := uintptr(e.bind)
		if b != of {
			at, left, inside = v.within(b, path, n)
			of, skip = b, uintptr(v.bindings[b].guestLen)
		}
		if !inside {
			continue
		}
		text := uintptr(unsafe.Pointer(&e.text))
		if e.flags&slotSame == 0 {
			text += (uintptr(e.keyLen) + 7) &^ 7
		}
		if leads(text, uintptr(e.guestLen), skip, at, left) && !e.empty(seq) {
			v.Forget()
			return
		}
	}
}

// empty makes a slot that nobody finds. It is false where the slot is not as it was at the sequence number seq.
func (e *slot) empty(seq uint32) bool {
	if !nocgo.CompareAndSwap32(&e.seq, seq, seq+1) {
		return false
	}
	nocgo.Fence()
	e.key = 0
	e.keyLen = ^uint16(0)
	nocgo.Fence()
	nocgo.StoreRelease32(&e.seq, seq+2)
	return true
}

// onTheWay says whether the host path lies on the way to binding b: at or above its host path, or at or above the place
// where its guest path begins in the binding above.
func (v *View) onTheWay(b, path, n uintptr) bool {
	host, hostLen := v.hostText(b)
	if hostLen != 0 && contains(path, n, host, hostLen) {
		return true
	}
	if b == 0 {
		return false
	}
	above := uintptr(v.bindings[b].above)
	at, left, ok := v.within(above, path, n)
	if !ok {
		return false
	}
	guest, guestLen := v.guestText(b)
	return leads(guest, guestLen, uintptr(v.bindings[above].guestLen), at, left)
}

// within gives what remains of a host path behind the host path of binding b, if it is there or below it.
func (v *View) within(b, path, n uintptr) (at, left uintptr, ok bool) {
	host, hostLen := v.hostText(b)
	if hostLen == 0 || !contains(host, hostLen, path, n) {
		return 0, 0, false
	}
	if hostLen == 1 {
		hostLen = 0
	}
	return path + hostLen, n - hostLen, true
}

// leads says whether a guest path of a binding, whose own guest path has skip bytes, goes on with the left bytes at at,
// and then ends or goes deeper.
func leads(guest, n, skip, at, left uintptr) bool {
	if skip == 1 {
		skip = 0
	}
	if left == 0 {
		return true
	}
	if n < skip+left || !nocgo.EqualWords(guest+skip, at, left) {
		return false
	}
	return n == skip+left || nocgo.Load8(guest+skip+left) == '/'
}

// findAbove notes for every binding in which other one its guest path begins.
func (v *View) findAbove() {
	for i := range v.active {
		b := uintptr(v.order[i])
		guest, n := v.guestText(b)
		for n > 1 && nocgo.Load8(guest+n-1) != '/' {
			n--
		}
		v.bindings[b].above = uint8(v.byGuest(guest, max(n-1, 1)))
	}
}
