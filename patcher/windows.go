package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// near fills p.window with the parts of t where sites are to be expected, ascending and apart from each other. It
// is false where all of t has to be searched.
func (p *Plan) near(base uintptr, t Text) bool {
	p.windows = 0
	p.table = symbols{}
	if t.Hi-t.Lo < worthwhile || !p.table.open(&p.mem, base) {
		return false
	}
	list := neighbours
	name := uintptr(unsafe.Pointer(unsafe.StringData(list)))
	end := name + uintptr(len(list))
	for name < end {
		n := uintptr(0)
		for nocgo.Load8(name+n) != 0 {
			n++
		}
		if at, size, ok := p.table.find(name, n); ok && at >= t.Lo && at < t.Hi && size < 64<<10 {
			p.insert(Text{max(t.Lo, at-around), min(t.Hi, at+size+around)})
		}
		name += n + 1
	}
	if p.windows < enough {
		return false
	}
	p.merge()
	return true
}

// insert keeps the windows sorted.
func (p *Plan) insert(w Text) {
	if p.windows == maxWindows {
		return
	}
	i := p.windows
	for i > 0 && p.window[i-1].Lo > w.Lo {
		p.window[i] = p.window[i-1]
		i--
	}
	p.window[i] = w
	p.windows++
}

// merge joins windows that touch, so that no instruction is searched twice.
func (p *Plan) merge() {
	n := 0
	for i := 1; i < p.windows; i++ {
		w := p.window[i]
		if w.Lo <= p.window[n].Hi {
			p.window[n].Hi = max(p.window[n].Hi, w.Hi)
			continue
		}
		n++
		p.window[n] = w
	}
	p.windows = n + 1
}
