package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Dynamic section tags and the size of a symbol.
const (
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
	hash := uintptr(0)
	for a := dyn; a+16 <= dyn+dynsz; a += 16 {
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
		}
	}
	if hash&3 != 0 || s.symtab&7 != 0 || !s.inside(hash, 16) || !s.inside(s.symtab, symSize) || !s.inside(s.strtab, 1) {
		return false
	}
	s.header(hash)
	s.last = (s.hi - s.symtab) / symSize
	return s.nbuckets != 0 && s.nbuckets < 1<<20 && s.inside(s.buckets, 4*s.nbuckets+4)
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

// Exported gives the address of a function that the C library exports, or 0. It asks nobody and changes nothing, and may be
// called at any time: list is the head of the dynamic linker's list, in which the C library stays where it is.
func Exported(list uintptr, function string) uintptr {
	const name, next = 8, 24 // struct link_map
	m := memory{trusted: true}
	for i := 0; i < maxLibraries && list != 0; i++ {
		base, str := uintptr(nocgo.Load64(list)), uintptr(nocgo.Load64(list+name))
		list = uintptr(nocgo.Load64(list + next))
		if n, ok := m.length(str, maxName); !ok || kindOf(str, n) != Libc {
			continue
		}
		if addr := m.exported(base, function); addr != 0 {
			return addr
		}
	}
	return 0
}

// ExportedAfter gives the address of the function that a reference finds behind an entry of the dynamic linker's list, up to
// the C library: its own, or that of a library which wants to be asked instead (a sanitizer). It is 0 where the C library
// does not follow. Otherwise it is as Exported.
func ExportedAfter(entry uintptr, function string) uintptr {
	const name, dynamic, next = 8, 16, 24 // struct link_map
	m := memory{trusted: true}
	text, size := uintptr(unsafe.Pointer(unsafe.StringData(function))), uintptr(len(function))
	first := uintptr(0)
	for i := 0; i < maxLibraries && entry != 0; i++ {
		entry = uintptr(nocgo.Load64(entry + next))
		if entry == 0 {
			break
		}
		base, str := uintptr(nocgo.Load64(entry)), uintptr(nocgo.Load64(entry+name))
		if n, ok := m.length(str, maxName); ok && kindOf(str, n) == Libc {
			if addr := m.exported(base, function); addr != 0 {
				if first != 0 {
					return first
				}
				return addr
			}
			continue
		}
		var s symbols
		if dyn := uintptr(nocgo.Load64(entry + dynamic)); first == 0 && dyn != 0 && s.trust(base, dyn) {
			if addr, _, ok := s.find(text, size); ok {
				first = addr
			}
		}
	}
	return 0
}

// trust finds the tables of any library as the dynamic linker does: base is what its addresses are moved by, dyn where its
// dynamic section is.
func (s *symbols) trust(base, dyn uintptr) bool {
	hash := uintptr(0)
	for a := dyn; nocgo.Load64(a) != 0; a += 16 {
		v := uintptr(nocgo.Load64(a + 8))
		if v < base {
			v += base
		}
		switch nocgo.Load64(a) {
		case dtStrtab:
			s.strtab = v
		case dtSymtab:
			s.symtab = v
		case dtGnuHash:
			hash = v
		}
	}
	if hash == 0 || s.symtab == 0 || s.strtab == 0 {
		return false
	}
	s.base, s.lo, s.hi, s.last = base, granule, ^uintptr(0), 1<<32
	s.header(hash)
	return s.nbuckets != 0
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
