package corpus

// NilLoad may be given nil.
func NilLoad(p *uint32) uint32 { return *p }

// NilStore may be given nil; what comes before has happened.
func NilStore(p, q *uint32, v uint32) {
	*p = v
	*q = v + 1
}

// NilField reaches into a structure that may not be there.
func NilField(m *mixed) uint64 { return m.g.r[1] }

// NilBig reaches far into a structure that may not be there.
func NilBig(p *big) uint64 { return p.words[39] }

// NilArray indexes an array that may not be there.
func NilArray(p *[64]uint16, i uint8) uint16 { return p[i] }

// NilMethod calls on a pointer that may be nil.
func NilMethod(p *pair) uint32 { return p.sum() }

// NilOK compares only.
func NilOK(p *pair, n *node) (bool, bool) { return p == nil, n != nil && n.next != nil }

// NilUnused drops what it loads.
func NilUnused(p *uint64) uint8 {
	_ = *p
	return 1
}

// NilCheckedOnce dereferences again after a test.
func NilCheckedOnce(p *pair) uint32 {
	if p == nil {
		return 7
	}
	p.x++
	return p.x + p.y
}

// NilLater finds out in a loop.
func NilLater(n *node, steps uint8) (s uint64) {
	for range steps & 7 {
		s += n.v
		n = n.next
	}
	return s
}

// DivideInOrder divides after a store.
func DivideInOrder(p *int32, a, b int32) int32 {
	*p = a
	q := a / b
	*p = q
	return q % (b - 3)
}

// DivideUnused drops the quotient.
func DivideUnused(a, b uint32) uint32 {
	_ = a / b
	return a
}

// DivideOverflow is the one signed overflow of a division.
func DivideOverflow(a int64, b int64) (int64, int64) {
	if b == 0 {
		return 0, 1
	}
	return a / b, a % b
}

// BoundsInOrder checks the first index first.
func BoundsInOrder(a []uint8, i, j int) uint8 {
	a[i] = 1
	a[j] = 2
	return a[i] + a[j]
}

// SliceBounds checks low against high.
func SliceBounds(a []uint8, i, j uint16) int {
	b := a[i:j]
	return len(b) + cap(b)
}

// SliceThree checks all of them.
func SliceThree(a []uint8, i, j, k int8) int {
	b := a[i:j:k]
	return len(b)*1000 + cap(b)
}

// ArrayConvert needs enough elements.
func ArrayConvert(a []uint32) uint32 {
	return (*[4]uint32)(a)[3]
}

// ShiftNegative must not be.
func ShiftNegative(p *uint8, a uint32, n int32) uint32 {
	*p = 9
	return a<<n + a>>(n+1)
}

// Panics when told to.
func Panics(p *uint64, a, b uint64) uint64 {
	*p = a
	if a > b {
		panic("a is greater")
	}
	*p = b
	return a
}

// DeepAbort aborts some calls down.
func DeepAbort(a []uint16, i, n int) uint16 {
	s := uint16(0)
	for k := range n & 7 {
		s += deepAbort(a, i+k, &s)
	}
	return s
}

func deepAbort(a []uint16, i int, p *uint16) uint16 {
	v := a[i] + *p
	for range v & 3 {
		*p += a[i/2]
	}
	return v
}

// RedundantChecks could be merged, and must not be merged wrongly.
func RedundantChecks(a []uint8, i int) (s uint32) {
	if i < 0 {
		i = -i
	}
	s = uint32(a[i])
	if i > 3 {
		s += uint32(a[i-1]) + uint32(a[i-4])
	}
	for j := i; j < len(a); j++ {
		s += uint32(a[j])
	}
	if len(a) > 8 {
		s += uint32(a[8]) + uint32(a[0])
	}
	return s + uint32(a[i])
}

// ShrinkingChecks loses what it knew when the slice changes.
func ShrinkingChecks(a []uint8, i, k int) uint8 {
	if i >= 0 && i < len(a) && k >= 0 && k <= len(a) {
		a = a[k:]
		return a[i]
	}
	return 0
}

// LoopBounds has a bound that changes in the loop.
func LoopBounds(a []uint8, n int) (s int) {
	for i := 0; i < n; i++ {
		s += int(a[i])
		if a[i] == 7 {
			n += 2
		}
	}
	return s
}
