package translate

import (
	"unsafe"

	"svcrelay/nocgo"
)

// The directory cache remembers, for the configured lifetime, that a path's directory part (its exact text) or a
// directory's identity (device and inode) leads to a certain guest directory: it was walked component by
// component, it is canonical and in view. Nothing is remembered of what does not exist.
//
// It is a table of slots that are written under a sequence number: even at rest, odd while someone writes. Readers
// take a copy and look at the number again; a writer that finds a slot busy does without. So a thread that is
// killed or jumps away while it writes loses a slot, and blocks nobody.

const (
	slotCount = 256 // a power of two
	slotText  = 464
)

// slot is one fact. 512 bytes.
type slot struct {
	seq      uint32
	gen      uint32 // View.gen when it was learnt
	key      uint64 // hash of the text, or the device
	id       uint64 // 0 for texts, or the inode
	born     uint64
	links    uint32 // View.links then
	_        uint32
	keyLen   uint16
	guestLen uint16
	bind     uint16
	flags    uint16
	text     [slotText]byte // the key's text, then the guest directory if it is another
}

const (
	slotSame = 1 << iota // the guest directory is the key's text itself
	slotKids             // a binding may lie directly below it
)

func (e *slot) textAddr() uintptr { return uintptr(unsafe.Pointer(&e.text)) }

// lookup finds the directory that the text key of length n leads to, and makes it the directory reached.
func (v *View) lookup(s *Scratch, key, n uintptr, hash uint64) bool {
	if v.ttl == 0 || s.bare {
		return false
	}
	first := uintptr(hash>>32) & (slotCount - 2)
	return v.take(s, &v.slots[first], key, n, hash, 0) || v.take(s, &v.slots[first+1], key, n, hash, 0)
}

// recall finds the guest directory with an identity. Host path and binding are left for later.
func (v *View) recall(s *Scratch) bool {
	if v.ttl == 0 || s.ino == 0 {
		return false
	}
	first := uintptr(nocgo.HashPair(s.dev, s.ino)>>32) & (slotCount - 2)
	return v.take(s, &v.slots[first], 0, 0, s.dev, s.ino) || v.take(s, &v.slots[first+1], 0, 0, s.dev, s.ino)
}

// take copies a slot's directory to s if the slot is about the key and still holds.
func (v *View) take(s *Scratch, e *slot, key, n uintptr, hash, id uint64) bool {
	seq := nocgo.LoadAcquire32(&e.seq)
	if seq&1 != 0 || e.key != hash || e.id != id || uintptr(e.keyLen) != n || e.gen != s.gen {
		return false
	}
	born := e.born
	if nocgo.Counter()-born > v.ttl {
		return false
	}
	text := uintptr(unsafe.Pointer(&e.text))
	if n > slotText || !nocgo.EqualWords(text, key, n) {
		return false
	}
	from, size := text, uintptr(e.guestLen)
	if e.flags&slotSame == 0 {
		if id == 0 && e.links != s.linkGen {
			return false
		}
		from += (n + 7) &^ 7
	}
	if size >= textMax {
		return false
	}
	bind, flags := uintptr(e.bind), e.flags
	nocgo.CopyWords(s.guestAddr(), from, size)
	nocgo.Fence()
	if nocgo.LoadAcquire32(&e.seq) != seq {
		return false
	}
	s.guestLen = size
	s.bind = bind
	s.kids = flags&slotKids != 0
	s.unproven = false
	if born-s.born > 1<<63 { // older
		s.born = born
	}
	return id != 0 || v.expand(s, bind)
}

// knows says whether the text key of length n is known to be the canonical name of a directory.
func (v *View) knows(s *Scratch, key, n uintptr) bool {
	if v.ttl == 0 || n > slotText {
		return false
	}
	hash := nocgo.HashWords(key, n)
	first := uintptr(hash>>32) & (slotCount - 2)
	for i := first; i < first+2; i++ {
		e := &v.slots[i]
		seq := nocgo.LoadAcquire32(&e.seq)
		born := e.born
		if seq&1 != 0 || e.key != hash || e.id != 0 || uintptr(e.keyLen) != n || e.gen != s.gen || e.flags&slotSame == 0 ||
			nocgo.Counter()-born > v.ttl || !nocgo.EqualWords(uintptr(unsafe.Pointer(&e.text)), key, n) {
			continue
		}
		nocgo.Fence()
		if nocgo.LoadAcquire32(&e.seq) != seq {
			continue
		}
		if born-s.born > 1<<63 {
			s.born = born
		}
		return true
	}
	return false
}

// name stores the directory reached under its own name and under its identity.
func (v *View) name(s *Scratch) {
	if v.ttl == 0 {
		return
	}
	v.remember(s, s.guestAddr(), s.guestLen, nocgo.HashWords(s.guestAddr(), s.guestLen), 0)
	if s.ino != 0 {
		v.remember(s, 0, 0, s.dev, s.ino)
	}
}

// remember stores that the text key (or, with an id, the identity) leads to the directory reached.
func (v *View) remember(s *Scratch, key, n uintptr, hash, id uint64) {
	identical := n == s.guestLen && nocgo.EqualWords(key, s.guestAddr(), n)
	at := (n + 7) &^ 7
	if identical {
		at = 0
	}
	if v.ttl == 0 || at+s.guestLen > slotText || n > slotText {
		return
	}
	mixed := hash
	if id != 0 {
		mixed = nocgo.HashPair(hash, id)
	}
	e := v.victim(s, uintptr(mixed>>32)&(slotCount-2), hash, id)
	seq := nocgo.LoadAcquire32(&e.seq)
	if seq&1 != 0 || !nocgo.CompareAndSwap32(&e.seq, seq, seq+1) {
		return
	}
	nocgo.Add32(&v.stores, 1)
	nocgo.Fence()
	if nocgo.LoadAcquire32(&v.uprootings) != s.roots {
		nocgo.StoreRelease32(&e.seq, seq+2)
		return
	}
	e.gen = s.gen
	e.key = hash
	e.id = id
	e.born = s.born
	e.links = s.linkGen
	e.keyLen = uint16(n)
	e.guestLen = uint16(s.guestLen)
	e.bind = uint16(s.bind)
	e.flags = 0
	if identical {
		e.flags = slotSame
	}
	if v.hasKids(s.guestAddr(), s.guestLen) {
		e.flags |= slotKids
	}
	text := uintptr(unsafe.Pointer(&e.text))
	nocgo.CopyUp(text, key, n)
	if !identical {
		nocgo.CopyUp(text+at, s.guestAddr(), s.guestLen)
	}
	nocgo.Fence()
	nocgo.StoreRelease32(&e.seq, seq+2)
}

// victim chooses which of the two slots of a key to overwrite: its own, else one that no longer holds, else the
// older one. Its reads may be torn; that only makes for a bad choice.
func (v *View) victim(s *Scratch, first uintptr, hash, id uint64) *slot {
	a, b := &v.slots[first], &v.slots[first+1]
	if a.key == hash && a.id == id || a.gen != s.gen {
		return a
	}
	if b.key == hash && b.id == id || b.gen != s.gen || b.seq == 0 {
		return b
	}
	if a.seq == 0 || a.born-b.born > 1<<63 {
		return a
	}
	return b
}

// learnt stores the directory reached under the text of the path's directory part, once a call has shown that
// it is a directory: the call succeeded in it, or found nothing there.
func (v *View) learnt(s *Scratch, result uintptr) {
	if !s.learn {
		return
	}
	s.learn = false
	if !nocgo.Failed(result) || result == nocgo.Fail(nocgo.ENOENT) {
		v.remember(s, s.pathAddr(), s.keyLen, s.keyHash, 0)
	}
}
