package patcher

import "svcrelay/nocgo"

const (
	// window is how many instructions a number is followed backwards along one path. In the C libraries of the matrix
	// the load is at most 8 instructions away at nearly all sites.
	window = 32
	// joinWindow is how far before and after a block that only branches lead to they are looked for, in instructions;
	// nearWindow the same for a place that is reached without a branch, too.
	joinWindow = 192
	nearWindow = 96
	// maxPaths is how many paths to one site are followed.
	maxPaths = 8
)

// flow follows the number of one svc backwards through the instructions of [lo, hi).
type flow struct {
	lo, hi uintptr
	// at and reg are the paths: each asks for the value of a register before the instruction at an address.
	at    [maxPaths]uintptr
	reg   [maxPaths]uint32
	paths int

	value uintptr // the constant that was found
	found bool
	mixed bool // two paths bring different constants
	given bool // a path gets the number from a parameter or from memory
}

// Number finds the constant that x8 holds at the svc at addr, in the text [lo, hi). ok is false where there is none, or
// where paths that meet before the svc bring different ones. A stub compares x8 with what was found here before it
// relies on it.
func Number(addr, lo, hi uintptr) (nr uintptr, ok bool) {
	if nr, ok = adjacent(addr, lo); ok {
		return nr, true
	}
	var f flow
	f.run(addr, lo, hi)
	return f.value, f.found && !f.mixed && !f.given
}

// adjacent gives the number where it is loaded right before the svc, as at four sites of five.
func adjacent(addr, lo uintptr) (nr uintptr, ok bool) {
	if addr < lo+4 {
		return 0, false
	}
	w := nocgo.Load32(addr - 4)
	return uintptr(w >> 5 & 0xffff), w&0xffe0001f == 0xd2800008 || w&0xffe0001f == 0x52800008
}

// run follows all paths to addr.
func (f *flow) run(addr, lo, hi uintptr) {
	f.lo, f.hi = lo, hi
	f.add(addr, 8)
	for i := 0; i < f.paths && i < maxPaths; i++ {
		f.follow(f.at[i], f.reg[i])
	}
}

// add queues a path, unless it is known.
func (f *flow) add(at uintptr, reg uint32) {
	for i := range f.paths {
		if i < maxPaths && f.at[i] == at && f.reg[i] == reg {
			return
		}
	}
	if f.paths < maxPaths {
		f.at[f.paths], f.reg[f.paths] = at, reg
		f.paths++
	}
}

// follow goes backwards from one place until the register is set, and queues the paths that join on the way.
func (f *flow) follow(at uintptr, reg uint32) {
	moved := reg != 8                     // reg is the source of a copy
	keep, high := ^uintptr(0), uintptr(0) // what MOVK instructions leave of the value, and what they set
	end := at
	for n := 0; n < window && at >= f.lo+4; n++ {
		w := nocgo.Load32(at - 4)
		if leaves(w) {
			if !f.joins(at, end, reg, joinWindow) && moved {
				f.given = true // a function begins here
			}
			return
		}
		at -= 4
		if isCall(w) {
			if reg < 19 || reg > 28 { // a call may change all but the callee-saved registers, or never return
				f.joins(at+4, end, reg, joinWindow)
				f.given = f.given || moved // its result, or a parameter of a function that begins after it
				return
			}
			continue
		}
		if !mayWrite(w, reg) {
			continue
		}
		if w&0x7f800000 == 0x72800000 { // MOVK
			shift := w >> 21 & 3 * 16
			high |= uintptr(w>>5&0xffff) << shift & keep
			keep &^= 0xffff << shift
			continue
		}
		if at+4 < end {
			f.joins(at+4, end, reg, nearWindow)
		}
		if v, is := constant(w); is {
			f.meet(v&keep | high)
			return
		}
		src, is := copied(w)
		if is && src != 31 && high == 0 {
			reg, moved, end = src, true, at
			continue
		}
		f.given = f.given || isLoad(w)
		return
	}
	if moved {
		f.given = true // it was a parameter, long before
	}
}

// meet takes the constant that a path brings.
func (f *flow) meet(v uintptr) {
	f.mixed = f.mixed || f.found && f.value != v
	f.value, f.found = v, true
}

// joins queues the branches to the instructions of [from, to] that are no farther away than a window, for the value that
// reg has there. It is false where there are none.
func (f *flow) joins(from, to uintptr, reg uint32, window uintptr) bool {
	any := false
	lo := f.lo
	if from-lo > 4*window {
		lo = from - 4*window
	}
	hi := f.hi
	if hi-to > 4*window {
		hi = to + 4*window
	}
	for at := lo; at < hi; at += 4 {
		w := nocgo.Load32(at)
		if w&0x1c000000 != 0x14000000 {
			continue // no branch has other bits there: this is where most of a search's time goes
		}
		goal, is := target(at, w)
		if is && goal >= from && goal <= to && (at < from || at > to) {
			any = true
			f.add(at, reg)
		}
	}
	return any
}

// target gives where a direct branch that is no call goes.
func target(at uintptr, w uint32) (to uintptr, ok bool) {
	switch {
	case w&0xfc000000 == 0x14000000: // B
		return at + uintptr(int64(int32(w<<6))>>4), true
	case w&0xff000010 == 0x54000000, w&0x7e000000 == 0x34000000: // B.cond, CBZ, CBNZ
		return at + uintptr(int64(int32(w<<8))>>11&^3), true
	case w&0x7e000000 == 0x36000000: // TBZ, TBNZ
		return at + uintptr(int64(int32(w<<13))>>16&^3), true
	}
	return 0, false
}

// isLoad says whether an instruction loads general registers from memory.
func isLoad(w uint32) bool {
	return w>>25&5 == 4 && w>>26&1 == 0 && (w&0x3b000000 == 0x18000000 || w&0x3a000000 == 0x28000000 && w>>22&1 == 1 || w&0x3a000000 == 0x38000000)
}
