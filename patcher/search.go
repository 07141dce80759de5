package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// scanRange is what the hand-laid scanner is given.
type scanRange struct{ from, to uintptr }

// nextSVC returns the address of the first svc #0 in [from, to), or to. Both are multiples of 4.
func (p *Plan) nextSVC(from, to uintptr) uintptr {
	if fn := nocgo.Symbol("svcrelay_scan"); fn != 0 {
		p.span = scanRange{from, to}
		return nocgo.Call1(fn, uintptr(unsafe.Pointer(&p.span)))
	}
	return slowNextSVC(from, to)
}

// slowNextSVC is nextSVC for the host, where there is no hand-laid code, and for the tail of a range.
func slowNextSVC(from, to uintptr) uintptr {
	for ; from < to; from += 4 {
		if nocgo.Load32(from) == SVC {
			break
		}
	}
	return from
}

// search looks through all of a library's functions and appends what is worth a relay to Found, in ascending order but
// for the bridges, which come last. It is false where there is no room for all of them.
func (p *Plan) search(l *Library) bool {
	lo := (l.Text.Lo + 3) &^ 3
	hi := l.Text.Hi &^ 3
	first := p.FoundCount
	bodies := 0
	for at := lo; at < hi; at += 4 {
		at = p.nextSVC(at, hi)
		if at >= hi {
			break
		}
		l.Seen++
		form, nr := Recognise(at, lo, hi)
		switch form {
		case Fixed, Async:
			if !p.want.Has(nr) {
				continue
			}
		case Body:
			bodies++
		}
		if !p.found(l, at, form, nr) {
			return false
		}
	}
	if bodies == 0 {
		return true
	}
	last := p.FoundCount
	for i := first; i < last; i++ {
		if p.Found[i].Form == Any && !p.bridges(l, l.Base+uintptr(p.Found[i].Offset), lo, hi) {
			return false
		}
	}
	return true
}

// bridges appends the calls of a Body near an Any site.
func (p *Plan) bridges(l *Library, at, lo, hi uintptr) bool {
	from, to := lo, hi
	if at-from > 4*bridgeWindow {
		from = at - 4*bridgeWindow
	}
	if to-at > 4*bridgeWindow {
		to = at + 4*bridgeWindow
	}
	for ; from < to; from += 4 {
		if isBridge(from, lo, hi) && !p.found(l, from, Bridge, 0) {
			return false
		}
	}
	return true
}

// found appends a site, once.
func (p *Plan) found(l *Library, at uintptr, form Form, nr uintptr) bool {
	off := uint32(at - l.Base)
	for i := p.FoundCount - 1; form == Bridge && i >= 0 && p.Found[i].Form == Bridge; i-- {
		if p.Found[i].Offset == off {
			return true
		}
	}
	if p.FoundCount >= MaxSites {
		return false
	}
	p.Found[p.FoundCount] = Found{Offset: off, Nr: uint16(nr), Form: form}
	p.FoundCount++
	return true
}

// Confirm says whether the library has the site f, which may come from anywhere: within its functions, aligned, and
// recognised there as exactly this.
func (p *Plan) Confirm(l *Library, f Found) bool {
	lo, hi := (l.Text.Lo+3)&^3, l.Text.Hi&^3
	at := l.Base + uintptr(f.Offset)
	if at < lo || at >= hi || at&3 != 0 {
		return false
	}
	if f.Form == Bridge {
		return f.Nr == 0 && isBridge(at, lo, hi)
	}
	if nocgo.Load32(at) != SVC {
		return false
	}
	form, nr := Recognise(at, lo, hi)
	return form == f.Form && nr == uintptr(f.Nr) && (form != Fixed && form != Async || p.want.Has(nr))
}

// isBridge says whether a Body is called at addr.
func isBridge(addr, lo, hi uintptr) bool {
	w := nocgo.Load32(addr)
	if w&0xfc000000 != 0x94000000 {
		return false
	}
	return entersBody(addr+callOffset(w), lo, hi)
}
