package corpus

// Sum ranges over a slice.
func Sum(a []uint32) (s uint64) {
	for _, v := range a {
		s += uint64(v)
	}
	return s
}

// Index reads anywhere, in range or not.
func Index(a []int16, i int) int16 { return a[i] }

// IndexKinds uses index types of every size.
func IndexKinds(a []uint16, i8 int8, u8 uint8, u32 uint32, i64 int64) uint16 {
	s := uint16(0)
	if i8 >= 0 {
		s += a[i8]
	}
	if u8 < 9 {
		s += a[u8]
	}
	if u32 < uint32(len(a)) {
		s ^= a[u32]
	}
	return s + a[i64]
}

// IndexHuge has indexes whose low bits look harmless.
func IndexHuge(a []uint64, i uint64) uint64 { return a[i<<32|i&1] }

// Store writes through an index.
func Store(a []uint32, i, j int, v uint32) {
	a[i] = v
	a[j] = v + 1
}

// Reverse swaps elements.
func Reverse(a []uint8) {
	for i, j := 0, len(a)-1; i < j; i, j = i+1, j-1 {
		a[i], a[j] = a[j], a[i]
	}
}

// Sort is an insertion sort.
func Sort(a []int32) {
	for i := 1; i < len(a); i++ {
		for j := i; j > 0 && a[j] < a[j-1]; j-- {
			a[j], a[j-1] = a[j-1], a[j]
		}
	}
}

// Slices cuts a slice in every way.
func Slices(a []uint16, i, j, k int) (x, y int, z []uint16) {
	b := a[i:]
	c := a[:j]
	x, y = len(b)*100+cap(b), len(c)*100+cap(c)
	return x, y, a[i:j:k]
}

// SliceOfSlice cuts a cut slice, up to its capacity.
func SliceOfSlice(a []uint8, i, j uint8) (r []uint8) {
	b := a[1:3]
	b = b[:cap(b)]
	b = b[i:]
	return b[:j]
}

// SliceString cuts strings.
func SliceString(s string, i, j int) (string, int) {
	t := s[i:j]
	return t, len(s[j:]) + len(t[:0])
}

// SliceFull cuts with constants.
func SliceFull(a []int64) int64 {
	b := a[2:5]
	return b[0] + b[2]*3 - int64(len(b[1:]))
}

// SliceArray cuts an array behind a pointer and a local one.
func SliceArray(p *[8]uint32, i, j int) (s uint32) {
	for _, v := range p[i:j] {
		s = s*7 + v
	}
	var local [4]uint32
	l := local[:]
	l[i&3] = s
	return s + local[0] + local[3]
}

// Alias writes through two names of the same memory.
func Alias(a, b []uint8, p *uint8) uint8 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	a[0] = 5
	b[0] = 7
	*p = a[0] + 1
	return a[0]*b[0] + *p
}

// AliasPointers may get one pointer twice.
func AliasPointers(p, q *uint64) uint64 {
	*p = 1
	*q = 2
	x := *p
	*p = 3
	return x*10 + *q
}

// AliasFields may get overlapping structures.
func AliasFields(p *pair, q *pair) uint32 {
	p.x = q.y
	q.x = p.y
	p.y = q.x + 1
	return p.x + q.y
}

type pair struct{ x, y uint32 }

// Copy is the built-in.
func Copy(a, b []uint8) int { return copy(a, b) }

// CopyOverlap copies within one slice, both ways.
func CopyOverlap(a []uint16, i, j uint8) int {
	if int(i) > len(a) || int(j) > len(a) {
		return -1
	}
	return copy(a[i:], a[j:])
}

// CopyString copies from a string.
func CopyString(a []uint8, s string) int { return copy(a, s) + copy(a[len(a)/2:], "xyz") }

// CopyStructs copies elements bigger than a register.
func CopyStructs(a, b []triple) int { return copy(a, b) }

type triple struct {
	a uint64
	b uint8
	c int32
}

// Clear is the built-in on a slice.
func Clear(a []uint32) {
	if len(a) > 1 {
		clear(a[1:])
	}
}

// Array passes arrays by value.
func Array(a [4]uint8, i uint8) (r [4]uint8) {
	b := a
	b[i&3] = 9
	a[0]++
	r = b
	r[1] ^= a[0]
	return r
}

// ArrayIndex indexes an array value with a variable.
func ArrayIndex(a [5]int16, i uint8) int16 { return a[i] }

// ArrayLocal is zero at first.
func ArrayLocal(n uint8) (s uint32) {
	var a [16]uint32
	for i := range a {
		a[i] = uint32(i) * uint32(n)
	}
	for i := 0; i < len(a); i += 3 {
		s += a[i]
	}
	return s + a[n&15]
}

// ArrayLoop has an array that must be zero again in each round.
func ArrayLoop(n uint8) (s uint32) {
	for i := range n & 7 {
		var a [3]uint32
		a[i%3] += uint32(i) + 1
		s = s*5 + a[0] + a[1]*2 + a[2]*3
	}
	return s
}

// ArrayCompare compares arrays.
func ArrayCompare(a, b [3]uint16) (bool, bool) { return a == b, a != [3]uint16{1, 2, 3} }

// ArrayPointer ranges over an array behind a pointer.
func ArrayPointer(p *[6]int8) (s int) {
	for i, v := range p {
		s += int(v) * (i + 1)
	}
	return s + len(p)
}

// ArrayNested has arrays of arrays.
func ArrayNested(p *[3][4]uint16, i, j int) uint16 {
	p[i][j]++
	q := &p[j%3]
	q[i] += 2
	return p[i][j] + q[0]
}

// ArrayOfStructs changes elements in place.
func ArrayOfStructs(p *[4]triple, i uint) uint64 {
	e := &p[i]
	e.a += uint64(e.b)
	p[(i+1)%4].c = -1
	v := p[(i+1)%4]
	return v.a ^ uint64(v.c) + e.a
}

// RangeCopy ranges over a copy of an array.
func RangeCopy(a [4]uint8) (s uint32) {
	for i, v := range a {
		a[(i+1)&3] = 0
		s = s*10 + uint32(v&7)
	}
	return s
}

// SliceOfPointers follows pointers in memory.
func SliceOfPointers(a []*uint32) (s uint32) {
	for _, p := range a {
		if p != nil {
			s += *p
			*p = s
		}
	}
	return s
}

// NestedSlices has slices in memory.
func NestedSlices(a [][]uint8, i, j int) uint8 {
	a[i] = a[i][1:]
	a[i][j]++
	return a[i][j] + uint8(len(a[i]))
}

// StringsInMemory has strings in memory.
func StringsInMemory(a []string) (n int) {
	for i := range a {
		n += len(a[i])
		if a[i] == "abc" {
			n += 1000
		}
		if i > 0 {
			a[i-1] = a[i]
		}
	}
	return n
}

// LenCap of nil and other things.
func LenCap(a []uint64, p *[7]uint8, s string) (int, int, int, int, bool) {
	return len(a), cap(a), len(p), len(s), a == nil
}

// Matrix multiplies small matrices in local memory.
func Matrix(seed uint32) (r uint32) {
	var a, b, c [3][3]uint32
	for i := range 3 {
		for j := range 3 {
			a[i][j] = seed + uint32(i*j)
			b[i][j] = seed ^ uint32(i+j)
		}
	}
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c[0][0] ^ c[1][2] ^ c[2][1] ^ c[2][2]
}
