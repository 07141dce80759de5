package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// memPath is the file through which a process may write its own text: the kernel copies the page first, so neither
// the file nor other processes see it, and no page is ever writable and executable.
const memPath = "/proc/self/mem\x00"

// stores stands for a descriptor of that file where text is writable for a moment (see rewrite).
const stores = ^uintptr(0)

// Publish writes the branches of all sites that have a stub, the sites of one granule with one write. If one cannot
// be written or does not read back, those already written are taken back and the result is false.
func (p *Plan) Publish() bool {
	fd := openMem()
	if nocgo.Failed(fd) {
		return false
	}
	ok := p.Own.write(fd) && p.publishAll(fd, 0, p.Count)
	if !ok {
		p.revertThrough(fd)
	}
	refused := !ok && p.refused(fd)
	closeMem(fd)
	return ok || refused && p.rewrite()
}

// publishAll writes the branches of n sites from first on.
func (p *Plan) publishAll(fd uintptr, first, n int) bool {
	for i := first; i < first+n; {
		k := min(p.group(i), first+n-i)
		if !p.publish(fd, i, k) {
			return false
		}
		i += k
	}
	return true
}

// group gives the number of sites from the i-th on that lie in one granule in ascending order.
func (p *Plan) group(i int) int {
	first := p.Sites[i].Addr
	n := 1
	for ; i+n < p.Count; n++ {
		at := p.Sites[i+n].Addr
		if at < p.Sites[i+n-1].Addr || at&^(granule-1) != first&^(granule-1) {
			break
		}
	}
	return n
}

// publish writes the branches of n sites in one granule. What lies between them is written as it is: there is no other
// thread that could be executing it.
func (p *Plan) publish(fd uintptr, first, n int) bool {
	from, to := p.Sites[first].Addr, p.Sites[first+n-1].Addr+4
	text := uintptr(unsafe.Pointer(&p.text))
	whole := (to - from) &^ 7
	nocgo.CopyWords(text, from, whole)
	if whole != to-from {
		nocgo.Store32(text+whole, nocgo.Load32(from+whole))
	}
	for i := first; i < first+n; i++ {
		s := &p.Sites[i]
		if s.Stub == 0 {
			continue // it stays as it is
		}
		w, reaches := Branch(s.Addr, s.Stub)
		if s.Form == Bridge {
			w, reaches = Call(s.Addr, s.Stub)
		}
		if !reaches || nocgo.Load32(text+s.Addr-from) != s.was {
			return false
		}
		nocgo.Store32(text+s.Addr-from, w)
		s.Published = true // first, so that a write that goes half wrong is taken back too
	}
	wrote := write(fd, text, to-from, from)
	nocgo.SyncInstructions(from, to-from)
	if wrote != to-from {
		return false
	}
	return nocgo.EqualWords(from, text, whole) &&
		(whole == to-from || nocgo.Load32(from+whole) == nocgo.Load32(text+whole))
}

// revert writes the instructions back where branches were published.
func (p *Plan) revert() {
	any := false
	for i := range p.Count {
		any = any || p.Sites[i].Published
	}
	if !any {
		return
	}
	if p.rewritten {
		p.unwrite()
		return
	}
	fd := openMem()
	if nocgo.Failed(fd) {
		return
	}
	p.revertThrough(fd)
	closeMem(fd)
}

func (p *Plan) revertThrough(fd uintptr) { p.revertSites(fd, 0, p.Count) }

// revertSites writes them back for n sites from first on.
func (p *Plan) revertSites(fd uintptr, first, n int) {
	for i := first; i < first+n; i++ {
		s := &p.Sites[i]
		if s.Published {
			p.word = s.was
			poke(fd, s.Addr, uintptr(unsafe.Pointer(&p.word)), 4)
			nocgo.SyncInstructions(s.Addr, 4)
			s.Published = false
		}
	}
}

// write writes n bytes, a multiple of four, from a place of ours to addr.
func write(fd, from, n, addr uintptr) (wrote uintptr) {
	if fd != stores {
		return nocgo.Raw(nocgo.SysPwrite64, fd, from, n, addr, 0, 0)
	}
	for i := uintptr(0); i < n; i += 4 {
		nocgo.Store32(addr+i, nocgo.Load32(from+i))
	}
	return n
}

func openMem() uintptr {
	const readWrite = 2
	path := memPath
	return nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(unsafe.StringData(path))), readWrite|nocgo.OCloexec, 0, 0, 0)
}

func closeMem(fd uintptr) { nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0) }
