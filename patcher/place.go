package patcher

import "svcrelay/nocgo"

const areaProt = nocgo.ProtRead | nocgo.ProtWrite

// Place maps memory for the stubs within reach of the sites, fills it and makes it executable. entry is the address
// the stubs call; stack the lowest address of the main thread's stack that needs no probe, 0 if unknown; page the
// page size. Sites that nothing reaches have no stub afterwards. On false nothing is left mapped.
func (p *Plan) Place(entry, stack, page uintptr) bool {
	if page < granule || page&(page-1) != 0 || page > 1<<20 {
		return false
	}
	if !p.placeAll(entry, stack, page) {
		for i := range p.Libraries {
			l := &p.Library[i]
			if l.Count > 0 && !p.place(l.First, l.Count, entry, stack, page) {
				p.Unreachable += l.Count
			}
		}
	}
	if p.nareas == 0 {
		return false
	}
	for i := range p.nareas {
		a := &p.areas[i]
		nocgo.SyncInstructions(a.base, a.used)
		if nocgo.Raw(nocgo.SysMprotect, a.base, a.size, nocgo.ProtRead|nocgo.ProtExec, 0, 0, 0) != 0 {
			p.Undo()
			return false
		}
	}
	return true
}

// placeAll tries one area for all libraries together, which is enough unless something large lies between them.
func (p *Plan) placeAll(entry, stack, page uintptr) bool {
	return p.place(0, p.Count, entry, stack, page)
}

// place maps and fills one area for n sites from first on.
func (p *Plan) place(first, n int, entry, stack, page uintptr) bool {
	lo, hi := p.Sites[first].Addr, p.Sites[first].Addr
	for i := first; i < first+n; i++ {
		lo = min(lo, p.Sites[i].Addr)
		hi = max(hi, p.Sites[i].Addr)
	}
	sh := shared{entry: entry, stack: stack, seen: p.Mark, wanted: &p.want, effects: &p.Effects}
	size := uintptr(areaHead)
	for i := first; i < first+n; i++ {
		size += sh.size(&p.Sites[i])
	}
	size = (size + page - 1) &^ (page - 1)
	base := mapNear(lo, hi+4, size)
	if base == 0 {
		return false
	}
	sh.area = base
	sh.head()
	at := base + areaHead
	for i := first; i < first+n; i++ {
		s := &p.Sites[i]
		if !sh.stub(at, s) {
			unmap(base, size)
			return false
		}
		s.Stub = at
		at += sh.size(s)
	}
	p.areas[p.nareas] = area{base, size, at - base}
	p.nareas++
	return true
}

// mapNear maps size bytes that every address of [lo, hi) reaches, or returns 0. The kernel's own choice is asked for
// first: it is normally right below the libraries.
func mapNear(lo, hi, size uintptr) uintptr {
	if hi-lo > Reach {
		return 0
	}
	if a := mapAt(0, 0, size); a != 0 {
		if Reaches(lo, hi, a, size) {
			return a
		}
		unmap(a, size)
	}
	const step = 1 << 20
	for d := uintptr(step); d < Reach; d += step {
		below, above := (lo-size-d)&^(step-1), (hi+d)&^(step-1)
		if below < lo && Reaches(lo, hi, below, size) {
			if a := mapAt(below, nocgo.MapFixedNoreplace, size); a != 0 {
				return a
			}
		}
		if above > hi && Reaches(lo, hi, above, size) {
			if a := mapAt(above, nocgo.MapFixedNoreplace, size); a != 0 {
				return a
			}
		}
	}
	return 0
}

// mapAt maps size bytes at addr, or anywhere if addr is 0. A kernel that does not know MAP_FIXED_NOREPLACE takes
// the address for a hint, so the answer is compared.
func mapAt(addr, flags, size uintptr) uintptr {
	a := nocgo.Raw(nocgo.SysMmap, addr, size, areaProt, nocgo.MapPrivate|nocgo.MapAnonymous|flags, ^uintptr(0), 0)
	if nocgo.Failed(a) {
		return 0
	}
	if addr != 0 && a != addr {
		unmap(a, size)
		return 0
	}
	return a
}

func unmap(addr, size uintptr) { nocgo.Raw(nocgo.SysMunmap, addr, size, 0, 0, 0, 0) }

// Undo takes back everything: branches that were written, then the memory of the stubs.
func (p *Plan) Undo() {
	p.revert()
	for i := range p.nareas {
		unmap(p.areas[i].base, p.areas[i].size)
	}
	p.nareas = 0
}
