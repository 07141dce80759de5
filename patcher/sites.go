package patcher

import "svcrelay/nocgo"

// Site is one instruction that is to become a branch.
type Site struct {
	// Addr is the address of the instruction.
	Addr uintptr
	// Stub is the address of its stub; 0 where it has none.
	Stub uintptr
	// Nr is the system call number of a Fixed or an Async site.
	Nr uint32
	// Form says how the site makes its call.
	Form Form
	// Published says whether the branch has been written.
	Published bool

	was     uint32 // the instruction
	careful bool   // an Any site that several threads use
}

// adopt makes sites of what was found in a library. It is false where the plan is full.
func (p *Plan) adopt(l *Library) bool {
	l.First = p.Count
	for i := l.found; i < l.afterFound; i++ {
		f := &p.Found[i]
		switch f.Form {
		case Body:
			p.Bodies++
			continue
		case Unknown:
			p.Unknowns++
			continue
		case Async:
			if !quick(uintptr(f.Nr)) {
				continue // it always goes on to PRoot, so it need not be seen
			}
		case Bridge:
			p.Bridges++
		case Any:
			p.Dispatchers++
		}
		if p.Count >= MaxSites {
			return false
		}
		at := l.Base + uintptr(f.Offset)
		p.Sites[p.Count] = Site{Addr: at, Nr: uint32(f.Nr), Form: f.Form, was: nocgo.Load32(at)}
		p.Count++
	}
	l.Count = p.Count - l.First
	for i := l.First; i < p.Count; i++ {
		s := &p.Sites[i]
		s.careful = s.Form == Any && !p.bridged(l, s.Addr)
	}
	return true
}

// bridged says whether a Bridge is near: then the Any site at addr is used only where the thread cannot be cancelled.
func (p *Plan) bridged(l *Library, addr uintptr) bool {
	for i := l.First; i < p.Count; i++ {
		s := &p.Sites[i]
		if s.Form == Bridge && s.Addr-addr+4*bridgeWindow <= 8*bridgeWindow {
			return true
		}
	}
	return false
}
