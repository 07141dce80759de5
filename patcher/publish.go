package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// memPath is the file through which a process may write its own text: the kernel copies the page first, so neither
// the file nor other processes see it, and no page is ever writable and executable.
const memPath = "/proc/self/mem\x00"

// Publish writes the branches of all sites that have a stub. If one cannot be written or does not read back, those
// already written are taken back and the result is false.
func (p *Plan) Publish() bool {
	fd := openMem()
	if nocgo.Failed(fd) {
		return false
	}
	ok := true
	for i := 0; i < p.Count && ok; i++ {
		s := &p.Sites[i]
		if s.Stub == 0 {
			continue
		}
		w, reaches := Branch(s.Addr, s.Stub)
		if !reaches || nocgo.Load32(s.Addr) != SVC {
			ok = false
			break
		}
		s.Published = true // first, so that a write that went half wrong is taken back too
		ok = p.poke(fd, s.Addr, w)
	}
	if !ok {
		p.revertThrough(fd)
	}
	closeMem(fd)
	return ok
}

// revert writes the svc instructions back where branches were published.
func (p *Plan) revert() {
	any := false
	for i := range p.Count {
		any = any || p.Sites[i].Published
	}
	if !any {
		return
	}
	fd := openMem()
	if nocgo.Failed(fd) {
		return
	}
	p.revertThrough(fd)
	closeMem(fd)
}

func (p *Plan) revertThrough(fd uintptr) {
	for i := range p.Count {
		s := &p.Sites[i]
		if s.Published {
			p.poke(fd, s.Addr, SVC)
			s.Published = false
		}
	}
}

// poke replaces the instruction at addr and says whether it reads back.
func (p *Plan) poke(fd, addr uintptr, w uint32) bool {
	p.word = w
	n := nocgo.Raw(nocgo.SysPwrite64, fd, uintptr(unsafe.Pointer(&p.word)), 4, addr, 0, 0)
	nocgo.SyncInstructions(addr, 4)
	return n == 4 && nocgo.Load32(addr) == w
}

func openMem() uintptr {
	const readWrite = 2
	path := memPath
	return nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(unsafe.StringData(path))), readWrite|nocgo.OCloexec, 0, 0, 0)
}

func closeMem(fd uintptr) { nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0) }
