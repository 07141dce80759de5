package patcher

import "svcrelay/nocgo"

// maxLibraries is how many entries of the link map are looked at.
const maxLibraries = 4096

// maxName is the longest library name that is read.
const maxName = 4096

// linkMap finds the first entry of the dynamic linker's list of loaded objects, from the program headers of the
// program (AT_PHDR, AT_PHNUM). The dynamic linker leaves the address of its list in the program's DT_DEBUG. It
// returns 0 where there is none, as in a program that was linked statically.
func (m *memory) linkMap(phdr, phnum uintptr) uintptr {
	if phdr&7 != 0 || phnum == 0 || phnum > maxHeaders || !m.readable(phdr, phnum*phdrSize) {
		return 0
	}
	bias, dyn, dynsz := uintptr(0), uintptr(0), uintptr(0)
	found := false
	for i := uintptr(0); i < phnum; i++ {
		ph := phdr + i*phdrSize
		vaddr := uintptr(nocgo.Load64(ph + 16))
		switch nocgo.Load32(ph) {
		case ptPhdr:
			bias, found = phdr-vaddr, true
		case ptLoad:
			// Without a PT_PHDR: the headers follow the file header, which the first segment maps.
			if !found && nocgo.Load64(ph+8) == 0 {
				bias, found = phdr-64-vaddr, true
			}
		case ptDynamic:
			dyn, dynsz = vaddr, uintptr(nocgo.Load64(ph+40))
		}
	}
	if !found || dyn == 0 || dynsz > 64<<10 {
		return 0
	}
	for a := bias + dyn; a+16 <= bias+dyn+dynsz; a += 16 {
		if !m.readable(a, 16) {
			return 0
		}
		switch nocgo.Load64(a) {
		case 0:
			return 0
		case dtDebug:
			return m.firstOf(uintptr(nocgo.Load64(a + 8)))
		}
	}
	return 0
}

// firstOf reads the head of the list from the dynamic linker's struct r_debug.
func (m *memory) firstOf(debug uintptr) uintptr {
	if debug&7 != 0 || !m.readable(debug, 16) {
		return 0
	}
	if v := nocgo.Load32(debug); v == 0 || v > 16 {
		return 0
	}
	return uintptr(nocgo.Load64(debug + 8))
}

// Entry finds the object with a dynamic section in the dynamic linker's list, which is trusted; 0 for none.
func Entry(list, dynamic uintptr) uintptr {
	const ld, next = 16, 24 // struct link_map: l_addr, l_name, l_ld, l_next, l_prev
	for i := 0; i < maxLibraries && list != 0; i++ {
		if uintptr(nocgo.Load64(list+ld)) == dynamic {
			return list
		}
		list = uintptr(nocgo.Load64(list + next))
	}
	return 0
}

// Kind says what a library is.
type Kind uint8

// The kinds.
const (
	Other  Kind = iota
	Libc        // the C library, or the part of glibc before 2.34 that has its threads and file calls of their own
	Loader      // the dynamic linker
)

// kindOf tells a library by its name. musl is C library and dynamic linker in one.
func kindOf(name, n uintptr) Kind {
	switch {
	case endsWith(name, n, "libc.so.6"), endsWith(name, n, "libpthread.so.0"), endsWith(name, n, "librt.so.1"),
		endsWith(name, n, "ld-musl-aarch64.so.1"), endsWith(name, n, "libc.musl-aarch64.so.1"):
		return Libc
	case endsWith(name, n, "ld-linux-aarch64.so.1"):
		return Loader
	}
	return Other
}

// find collects the functions of the libraries to patch from the list that starts at entry.
func (p *Plan) find(entry uintptr) {
	const name, next = 8, 24 // struct link_map: l_addr, l_name, l_ld, l_next, l_prev
	m := &p.mem
	for i := 0; i < maxLibraries && entry != 0 && p.Libraries < MaxLibraries; i++ {
		if entry&7 != 0 || !m.readable(entry, 40) {
			return
		}
		base := uintptr(nocgo.Load64(entry))
		str := uintptr(nocgo.Load64(entry + name))
		entry = uintptr(nocgo.Load64(entry + next))
		n, ok := m.length(str, maxName)
		if !ok || base == 0 {
			continue
		}
		kind := kindOf(str, n)
		if kind == Other {
			continue
		}
		if t, frames, ok := m.segment(base); ok {
			p.Library[p.Libraries].Base = base
			p.Library[p.Libraries].Segment = t
			p.Library[p.Libraries].Text = m.narrow(t, frames)
			p.Library[p.Libraries].Kind = kind
			p.Libraries++
		}
	}
}
