package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Since Linux 6.12 a kernel may be built so that /proc/self/mem does not write to what is mapped read-only (EIO): Debian's
// 7.2 is. There text is made writable instead, and not executable meanwhile, for the moment in which it is changed. Nothing
// runs in it then: this is the only thread, it makes its calls from the library, and signals are blocked.
//
// A policy may refuse to make text executable again once it was changed. The library's own room for stubs, in which
// nothing runs yet, shows whether it does, before the C library is touched.

// refused says whether the kernel does not let us write text through the file.
func (p *Plan) refused(fd uintptr) bool {
	for i := range p.Count {
		if s := &p.Sites[i]; s.Stub != 0 && !s.Published {
			p.word = s.was
			return write(fd, uintptr(unsafe.Pointer(&p.word)), 4, s.Addr) == nocgo.Fail(nocgo.EIO)
		}
	}
	return false
}

// rewrite does the work of Publish in this way.
func (p *Plan) rewrite() bool {
	if p.Own.At == 0 || !p.block() {
		return false
	}
	p.rewritten = true
	ok := p.rewriteOwn()
	for i := 0; i < p.Libraries && ok; i++ {
		l := &p.Library[i]
		ok = p.open(l.Segment.Lo, l.Segment.Hi)
		if !ok {
			break
		}
		ok = p.publishAll(stores, l.First, l.Count)
		ok = p.close(l.Segment.Lo, l.Segment.Hi) && ok
	}
	p.unblock()
	if !ok {
		p.unwrite()
	}
	return ok
}

// rewriteOwn fills the room for stubs in the library, and the addresses for its unwind information. If no site is in its
// reach, it is only changed as if.
func (p *Plan) rewriteOwn() bool {
	o := &p.Own
	if !p.open(o.At, o.At+ownSize) {
		return false
	}
	nocgo.Store32(o.At, nocgo.Load32(o.At))
	ok := o.unused() || o.writeText(stores)
	if !p.close(o.At, o.At+ownSize) || !ok {
		return false
	}
	if o.unused() {
		return true
	}
	end := o.Returns + unsafe.Sizeof(o.returns)
	if !p.open(o.Returns, end) {
		return false
	}
	ok = o.writeReturns(stores)
	return p.close(o.Returns, end) && ok
}

// unwrite takes back what was published in this way.
func (p *Plan) unwrite() {
	if !p.block() {
		return
	}
	for i := range p.Libraries {
		l := &p.Library[i]
		if p.published(l) && p.open(l.Segment.Lo, l.Segment.Hi) {
			p.revertSites(stores, l.First, l.Count)
			p.close(l.Segment.Lo, l.Segment.Hi)
		}
	}
	p.unblock()
}

func (p *Plan) published(l *Library) bool {
	for i := l.First; i < l.First+l.Count; i++ {
		if p.Sites[i].Published {
			return true
		}
	}
	return false
}

// open makes text writable, close executable again. These calls do not come from the trampoline page: it is text, too.
func (p *Plan) open(lo, hi uintptr) bool { return p.protect(lo, hi, nocgo.ProtRead|nocgo.ProtWrite) }

func (p *Plan) close(lo, hi uintptr) bool { return p.protect(lo, hi, nocgo.ProtRead|nocgo.ProtExec) }

// protect changes whole pages, all that belong to the same mapping: it stays one.
func (p *Plan) protect(lo, hi, how uintptr) bool {
	lo &^= p.page - 1
	hi = (hi + p.page - 1) &^ (p.page - 1)
	return nocgo.Plain(nocgo.SysMprotect, lo, hi-lo, how, 0, 0, 0) == 0
}

// block blocks all signals, unblock gives back what was blocked before.
func (p *Plan) block() bool {
	p.all = ^uint64(0)
	return nocgo.Plain(nocgo.SysRtSigprocmask, 0, uintptr(unsafe.Pointer(&p.all)), uintptr(unsafe.Pointer(&p.blocked)), 8, 0, 0) == 0
}

func (p *Plan) unblock() {
	const set = 2
	nocgo.Plain(nocgo.SysRtSigprocmask, set, uintptr(unsafe.Pointer(&p.blocked)), 0, 8, 0, 0)
}
