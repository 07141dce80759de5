//go:build !freestanding

package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Examined is an svc instruction of a library, or a call (bl) that becomes a branch, as the constructor sees it.
type Examined struct {
	// Offset is where it is, in bytes from the library's base.
	Offset uintptr
	// Form and Nr are what it was recognised as.
	Form Form
	Nr   uintptr
	// Patched says whether it becomes a branch.
	Patched bool
	// Calls is the address of the function that a Bridge calls, from the library's base.
	Calls uintptr
}

// Examine finds what the constructor finds in a library of a kind whose image is at base, by the same code. ok is false
// for an image that the constructor would leave alone. The plan must be zero.
func (p *Plan) Examine(base uintptr, kind Kind, want *Numbers) (all []Examined, text Text, ok bool) {
	if text, ok = p.mem.text(base); !ok {
		return nil, Text{}, false
	}
	p.want = *want
	l := &p.Library[0]
	*l = Library{Base: base, Text: text, Kind: kind}
	p.Libraries = 1
	if !p.search(l) {
		return nil, text, false
	}
	l.afterFound = p.FoundCount
	if !p.adopt(l) {
		return nil, text, false
	}
	patched := map[uintptr]bool{}
	for i := range p.Count {
		patched[p.Sites[i].Addr] = true
	}
	lo, hi := (text.Lo+3)&^3, text.Hi&^3
	for at := lo; at < hi; at += 4 {
		w := nocgo.Load32(at)
		e := Examined{Offset: at - base, Patched: patched[at]}
		switch {
		case w == SVC:
			e.Form, e.Nr = Recognise(at, lo, hi)
		case e.Patched:
			e.Form, e.Calls = Bridge, at+callOffset(w)-base
		default:
			continue
		}
		all = append(all, e)
	}
	return all, text, true
}

// KindOf tells a library by its name, as the constructor does.
func KindOf(name string) Kind {
	return kindOf(uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(len(name)))
}
