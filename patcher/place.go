package patcher

import "svcrelay/nocgo"

const areaProt = nocgo.ProtRead | nocgo.ProtWrite

// Place maps memory for the stubs within reach of the sites, fills it and makes it executable. entry is the address
// the stubs call; stack the lowest address of the main thread's stack that needs no probe, 0 if unknown; page the
// page size. Stubs go to the library's own room as far as it suffices and is within reach. Sites that nothing reaches
// have none afterwards, and stay as they are. On false nothing is left mapped.
func (p *Plan) Place(entry, stack, page uintptr) bool {
	if page < granule || page&(page-1) != 0 || page > 1<<20 {
		return false
	}
	p.page = page
	sh := shared{entry: entry, stack: stack, seen: p.Mark, wanted: &p.want, effects: &p.Effects}
	if !sh.count() {
		return false
	}
	p.Own.place(&sh, p.Sites[:min(p.Count, MaxSites)])
	if !p.place(&sh, 0, p.Count, page) {
		for i := range p.Libraries {
			l := &p.Library[i]
			p.place(&sh, l.First, l.Count, page)
		}
	}
	placed := false
	for i := range p.Count {
		if p.Sites[i].Stub == 0 {
			p.Unreachable++
		} else {
			placed = true
		}
	}
	if !placed {
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

// elsewhere says whether a site may have its stub outside of the library's text. While cancellation is asynchronous, an
// open is not made where there is no unwind information.
func (s *Site) elsewhere() bool {
	return s.Stub == 0 && (s.Form != Async || s.Nr != nocgo.SysOpenat)
}

// place maps and fills one area for those of n sites from first on that have no stub yet. It is false where not all
// of them can have theirs in one.
func (p *Plan) place(sh *shared, first, n int, page uintptr) bool {
	lo, hi := ^uintptr(0), uintptr(0)
	size := uintptr(areaHead)
	for i := first; i < first+n; i++ {
		s := &p.Sites[i]
		if s.elsewhere() {
			lo, hi = min(lo, s.Addr), max(hi, s.Addr)
			size += sh.size(s)
		}
	}
	if hi == 0 {
		return true
	}
	size = (size + page - 1) &^ (page - 1)
	base := mapNear(lo, hi+4, size)
	if base == 0 || p.nareas >= MaxLibraries {
		return false
	}
	sh.area, sh.shift = base, 0
	sh.head()
	at := base + areaHead
	for i := first; i < first+n; i++ {
		s := &p.Sites[i]
		if !s.elsewhere() {
			continue
		}
		if !sh.stub(at, s) { // it cannot be: mapNear has seen to it
			unmap(base, size)
			p.forget(base, size)
			return false
		}
		s.Stub = at
		at += sh.size(s)
	}
	p.areas[p.nareas] = area{base, size, at - base}
	p.nareas++
	return true
}

// forget takes the stubs in [base, base+size) back.
func (p *Plan) forget(base, size uintptr) {
	for i := range p.Count {
		if s := &p.Sites[i]; s.Stub-base < size {
			s.Stub = 0
		}
	}
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
