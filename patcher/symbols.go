package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Dynamic section tags and the size of a symbol.
const (
	dtHash    = 4
	dtStrtab  = 5
	dtSymtab  = 6
	dtGnuHash = 0x6ffffef5

	symSize = 24
)

// symbols is the symbol table of a mapped library. All of it lies in [lo, hi), one segment.
type symbols struct {
	lo, hi                uintptr
	base                  uintptr
	symtab, strtab        uintptr
	buckets, chain        uintptr
	nbuckets, first, last uintptr // last: number of symbols the segment has room for
	older                 uintptr // the table of an object that has none of the kind that the others describe
}

// open finds the tables of the library at base, which text has approved.
func (s *symbols) open(m *memory, base uintptr) bool {
	off, n := uintptr(nocgo.Load64(base+32)), uintptr(nocgo.Load16(base+56))
	dyn, dynsz := uintptr(0), uintptr(0)
	for i := range n {
		ph := base + off + i*phdrSize
		vaddr, filesz := uintptr(nocgo.Load64(ph+16)), uintptr(nocgo.Load64(ph+32))
		switch nocgo.Load32(ph) {
		case ptLoad:
			if s.hi != 0 { // the tables are in the first segment
				continue
			}
			if vaddr > maxText || filesz > maxText {
				return false
			}
			s.lo, s.hi = base+vaddr, base+vaddr+filesz
		case ptDynamic:
			dyn, dynsz = base+vaddr, filesz
		}
	}
	if dyn == 0 || dynsz > 64<<10 || !m.readable(dyn, dynsz) || s.hi-s.lo < 8 || !m.readable(s.lo, 8) || !m.readable(s.hi-8, 8) {
		return false
	}
	s.base = base
	hash := s.tables(base, dyn, dyn+dynsz)
	if hash&3 != 0 || s.symtab&7 != 0 || !s.inside(hash, 16) || !s.inside(s.symtab, symSize) || !s.inside(s.strtab, 1) {
		return false
	}
	s.header(hash)
	s.last = (s.hi - s.symtab) / symSize
	return s.nbuckets != 0 && s.nbuckets < 1<<20 && s.inside(s.buckets, 4*s.nbuckets+4)
}

// tables reads a dynamic section, which ends with a null entry or at end, and returns where the hash table is, or 0.
func (s *symbols) tables(base, dyn, end uintptr) (hash uintptr) {
	for a := dyn; a+16 <= end && nocgo.Load64(a) != 0; a += 16 {
		v := uintptr(nocgo.Load64(a + 8))
		if v < base { // some dynamic linkers relocate their copy of the section, some do not
			v += base
		}
		switch nocgo.Load64(a) {
		case dtStrtab:
			s.strtab = v
		case dtSymtab:
			s.symtab = v
		case dtGnuHash:
			hash = v
		case dtHash:
			s.older = v
		}
	}
	return hash
}

// header reads the beginning of the hash table.
func (s *symbols) header(hash uintptr) {
	s.nbuckets, s.first = uintptr(nocgo.Load32(hash)), uintptr(nocgo.Load32(hash+4))
	s.buckets = hash + 16 + 8*uintptr(nocgo.Load32(hash+8))
	s.chain = s.buckets + 4*s.nbuckets
}

// inside says whether [a, a+n) is in the segment.
func (s *symbols) inside(a, n uintptr) bool { return a >= s.lo && a < s.hi && s.hi-a >= n }

// find looks a function up by its name (the n bytes at name) and gives its place.
func (s *symbols) find(name, n uintptr) (addr, size uintptr, ok bool) {
	h := uint32(5381)
	for i := range n {
		h = h*33 + uint32(nocgo.Load8(name+i))
	}
	i := uintptr(nocgo.Load32(s.buckets + 4*(uintptr(h)%s.nbuckets)))
	for ; i >= s.first && i < s.last; i++ {
		at := s.chain + 4*(i-s.first)
		if !s.inside(at, 4) {
			return 0, 0, false
		}
		c := nocgo.Load32(at)
		if (c^h)>>1 == 0 {
			sym := s.symtab + i*symSize
			str := s.strtab + uintptr(nocgo.Load32(sym))
			if s.inside(str, n+1) && same(str, name, n) && nocgo.Load8(str+n) == 0 {
				return s.base + uintptr(nocgo.Load64(sym+8)), uintptr(nocgo.Load64(sym + 16)), true
			}
		}
		if c&1 != 0 {
			break
		}
	}
	return 0, 0, false
}

// same compares n bytes.
func same(a, b, n uintptr) bool {
	for i := range n {
		if nocgo.Load8(a+i) != nocgo.Load8(b+i) {
			return false
		}
	}
	return true
}

// Variable gives the address of a variable of size bytes that the library at base exports, or 0. The program may have a
// copy that is used instead.
func (p *Plan) Variable(base uintptr, name string, size uintptr) uintptr {
	var s symbols
	t, ok := p.mem.text(base)
	if !ok || !s.open(&p.mem, base) {
		return 0
	}
	addr, n, ok := s.find(uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(len(name)))
	if !ok || n != size || addr < t.Hi || addr-t.Hi > maxText || !p.mem.readable(addr, size) {
		return 0
	}
	return addr
}

// Behind gives the address of the function that would be found if the object with a dynamic section were not there: that of
// the first object behind it in the dynamic linker's list, which may be one that wants to be asked instead of the C library (a
// sanitizer). 0 is for none. It asks nobody and changes nothing, and may be called at any time: up to the C library the
// list, whose head list is, stays as it is, since all objects that are loaded later come behind. An object that comes behind the
// C library itself is in nobody's way, and what is loaded later is not to be found by everybody: so the C library's own ends
// the search. Only where it has a name that is not known the first with such a function is taken for it.
func Behind(list, dynamic uintptr, function string) uintptr {
	const name, ld, next = 8, 16, 24 // struct link_map
	m := memory{trusted: true}
	text, size := uintptr(unsafe.Pointer(unsafe.StringData(function))), uintptr(len(function))
	passed := false
	for i := 0; i < maxLibraries && list != 0; i++ {
		base, str, dyn := uintptr(nocgo.Load64(list)), uintptr(nocgo.Load64(list+name)), uintptr(nocgo.Load64(list+ld))
		list = uintptr(nocgo.Load64(list + next))
		if dyn != 0 && dyn == dynamic {
			passed = true
			continue
		}
		if n, ok := m.length(str, maxName); ok && kindOf(str, n) == Libc {
			if addr := m.exported(base, function); addr != 0 {
				return addr
			}
			continue
		}
		var s symbols
		if passed && dyn != 0 && s.trust(base, dyn) {
			if addr, ok := s.search(text, size); ok {
				return addr
			}
		}
	}
	return 0
}

// trust finds the tables of any object as the dynamic linker does: base is what its addresses are moved by, dyn where its
// dynamic section is.
func (s *symbols) trust(base, dyn uintptr) bool {
	hash := s.tables(base, dyn, ^uintptr(0))
	if hash == 0 && s.older == 0 || s.symtab == 0 || s.strtab == 0 {
		return false
	}
	s.base, s.lo, s.hi, s.last = base, granule, ^uintptr(0), 1<<32
	if hash == 0 {
		return true
	}
	s.older = 0
	s.header(hash)
	return s.nbuckets != 0
}

// search looks a function up in an object that trust has approved.
func (s *symbols) search(name, n uintptr) (addr uintptr, ok bool) {
	if s.older == 0 {
		addr, _, ok = s.find(name, n)
		return addr, ok
	}
	// The older table says how many symbols there are. All are looked at, which happens once.
	for i := range uintptr(nocgo.Load32(s.older + 4)) {
		sym := s.symtab + i*symSize
		str := s.strtab + uintptr(nocgo.Load32(sym))
		if nocgo.Load16(sym+6) != 0 && spells(str, name, n) { // there is a section, so it is defined here
			return s.base + uintptr(nocgo.Load64(sym+8)), true
		}
	}
	return 0, false
}

// spells says whether the text at str is the n bytes at name, and nothing more.
func spells(str, name, n uintptr) bool {
	for i := range n {
		if c := nocgo.Load8(str + i); c == 0 || c != nocgo.Load8(name+i) {
			return false
		}
	}
	return nocgo.Load8(str+n) == 0
}

// exported looks in one library.
func (m *memory) exported(base uintptr, function string) uintptr {
	var s symbols
	t, ok := m.text(base)
	if !ok || !s.open(m, base) {
		return 0
	}
	addr, _, ok := s.find(uintptr(unsafe.Pointer(unsafe.StringData(function))), uintptr(len(function)))
	if !ok || addr < t.Lo || addr >= t.Hi {
		return 0
	}
	return addr
}
