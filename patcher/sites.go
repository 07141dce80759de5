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

	was uint32 // the instruction
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
			if f.Nr != nocgo.SysOpenat && f.Nr != nocgo.SysWait4 && f.Nr != nocgo.SysWaitid {
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
	return true
}
