package patcher

// Reach is the range of a branch: from 128 MiB below it to four bytes less than 128 MiB above it.
const Reach = 128 << 20

// Branch encodes b from one address to another. It is false where the distance does not fit exactly.
func Branch(from, to uintptr) (w uint32, ok bool) {
	return branch(0x14000000, from, to)
}

// Call encodes bl from one address to another. It is false where the distance does not fit exactly.
func Call(from, to uintptr) (w uint32, ok bool) {
	return branch(0x94000000, from, to)
}

func branch(op uint32, from, to uintptr) (w uint32, ok bool) {
	d := to - from
	if d&3 != 0 || d+Reach >= 2*Reach {
		return 0, false
	}
	return op | uint32(d>>2)&0x3ffffff, true
}

// Reaches says whether every address of [lo, hi) can branch to every address of [to, to+n) and back.
func Reaches(lo, hi, to, n uintptr) bool {
	if hi <= lo || n == 0 || to+n < to {
		return false
	}
	low, high := min(lo, to), max(hi, to+n)
	return high-low <= Reach
}
