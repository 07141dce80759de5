package relay

import "svcrelay/nocgo"

// Programs of Go make system calls themselves, without the C library, although they may well load one: the current directory
// moves, directories are renamed and identities change without any site. PRoot answers almost all of their calls anyway, so
// they are left alone. The linker of Go leaves a note in them.
const (
	ptNote, ptPhdr = 4, 6
	programHeaders = 64 // more of them are not looked at
	headerSize     = 56
	maxNotes       = 64 << 10

	goName = 'G' | 'o'<<8 // with its NUL, and one more
	goNote = 4            // the kind that has Go's build id
)

// goProgram says whether the program has that note.
func goProgram(p *process) bool {
	bias, n := uintptr(0), p.phnum
	if n > programHeaders {
		n = programHeaders
	}
	for i := range n {
		h := p.phdr + i*headerSize
		if !p.readable(h, headerSize) {
			return false
		}
		kind, addr, size := nocgo.Load32(h), uintptr(nocgo.Load64(h+16)), uintptr(nocgo.Load64(h+40))
		switch {
		case kind == ptPhdr: // it comes before what is loaded
			bias = p.phdr - addr
		case kind == ptNote && size <= maxNotes && noteOfGo(p, bias+addr, size, uintptr(nocgo.Load64(h+48))):
			return true
		}
	}
	return false
}

// noteOfGo looks for the note among those in n bytes at addr.
func noteOfGo(p *process, addr, n, align uintptr) bool {
	const head = 12
	round := uintptr(3)
	if align == 8 {
		round = 7
	}
	for n >= head+4 && addr&3 == 0 && p.readable(addr, head+4) {
		name, desc := uintptr(nocgo.Load32(addr)), uintptr(nocgo.Load32(addr+4))
		if name == 4 && nocgo.Load32(addr+8) == goNote && nocgo.Load32(addr+head) == goName {
			return true
		}
		size := head + (name+3)&^3
		size = (size+round)&^round + (desc+round)&^round
		if size >= n || name > n || desc > n {
			return false
		}
		addr, n = addr+size, n-size
	}
	return false
}
