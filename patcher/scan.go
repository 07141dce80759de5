package patcher

import (
	"unsafe"

	"svcrelay/nocgo"
)

// Site is one svc instruction that is to become a branch.
type Site struct {
	// Addr is the address of the instruction.
	Addr uintptr
	// Stub is the address of its stub, or of the first of them; 0 where it has none.
	Stub uintptr
	// Nr is the system call number found before it, or AnyNumber.
	Nr uint32
	// Published says whether the branch has been written.
	Published bool
}

// AnyNumber stands for the number of a site that makes any call. It has a stub for each number that is wanted, one
// after the other.
const AnyNumber = ^uint32(0)

// AnyCancellable stands for the number of the site that makes all cancellable calls. It has a stub for each of these
// that is wanted.
const AnyCancellable = AnyNumber - 1

// scanRange is what the hand-laid scanner is given.
type scanRange struct{ from, to uintptr }

// nextSVC returns the address of the first svc #0 in [from, to), or to. Both are multiples of 4.
func (p *Plan) nextSVC(from, to uintptr) uintptr {
	if fn := nocgo.Symbol("svcrelay_scan"); fn != 0 {
		p.span = scanRange{from, to}
		return nocgo.Call1(fn, uintptr(unsafe.Pointer(&p.span)))
	}
	return slowNextSVC(from, to)
}

// slowNextSVC is nextSVC for the host, where there is no hand-laid code, and for the tail of a range.
func slowNextSVC(from, to uintptr) uintptr {
	for ; from < to; from += 4 {
		if nocgo.Load32(from) == SVC {
			break
		}
	}
	return from
}

// scan appends to the plan the sites of [lo, hi) whose number is wanted. It is false where the plan is full.
func (p *Plan) scan(lo, hi uintptr, want *Numbers) bool {
	lo = (lo + 3) &^ 3
	hi &^= 3
	for at := lo; at < hi; at += 4 {
		at = p.nextSVC(at, hi)
		if at >= hi {
			break
		}
		p.Seen++
		nr, ok := Number(at, lo)
		if !ok && Dispatches(at, lo) {
			nr = uintptr(AnyNumber)
			p.Dispatchers++
		} else if !ok && at+4 < hi && Cancels(at, lo) {
			nr = uintptr(AnyCancellable)
		} else if !ok || !want.Has(nr) || nr == nocgo.SysOpenat && Async(at, lo) {
			continue
		}
		if p.Count >= MaxSites {
			return false
		}
		p.Sites[p.Count] = Site{Addr: at, Nr: uint32(nr)}
		p.Count++
	}
	return true
}
