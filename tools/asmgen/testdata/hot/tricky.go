package hot

import (
	"math"
	"unsafe"
)

// The functions below look like ones whose checks can go, loads can be shared or branches can be decided, and are not.

// WrapUp counts over the top of int.
func WrapUp(a []uint8, start, n int) (s int) {
	if start < 0 {
		return -1
	}
	for i, k := start, 0; k < 12; i, k = i+1, k+1 {
		if i < len(a) {
			s += int(a[i&0xff]) + i
		}
		if i == n {
			break
		}
	}
	return s
}

// WrapUpMax starts at the top.
func WrapUpMax(a []uint8, n int) (s int) {
	for i := math.MaxInt - n&7; i > 0; i++ {
		s += i
		if i < len(a) {
			s += int(a[i])
		}
	}
	return s
}

// WrapDown counts below the bottom.
func WrapDown(a []uint8, start int) (s int) {
	k := 0
	for i := start; i < len(a); i -= 2 {
		s += int(a[i])
		if k++; k > 5 {
			break
		}
	}
	return s
}

// Wrap32 wraps in 32 bits.
func Wrap32(a []uint8, start uint32) (s int) {
	for i, k := start, 0; k < 9; i, k = i+0x40000000, k+1 {
		if i < uint32(len(a)) {
			s += int(a[i])
		}
	}
	return s
}

// Wrap32s wraps in signed 32 bits.
func Wrap32s(a []uint8, start int32) (s int) {
	for i, k := start, 0; k < 9 && i < int32(len(a)); i, k = i+0x50000000, k+1 {
		s += int(a[i])
	}
	return s
}

// Wrap8 indexes with a wrapping byte.
func Wrap8(a *[256]uint8, start uint8) (s int) {
	for i, k := start, 0; k < 300; i, k = i+3, k+1 {
		s = s*3 + int(a[i])
	}
	return s
}

// PlusOne reads one past the counter.
func PlusOne(a []uint8) (s int) {
	for i := 0; i < len(a); i++ {
		s = s*5 + int(a[i+1])
	}
	return s
}

// MinusOne reads one before the counter.
func MinusOne(a []uint8, n int) (s int) {
	for i := n; i < len(a); i++ {
		s = s*5 + int(a[i-1])
	}
	return s
}

// LessEqual goes one too far.
func LessEqual(a []uint8) (s int) {
	for i := 0; i <= len(a); i++ {
		if i == 7 {
			return s
		}
		s += int(a[i])
	}
	return s
}

// Shrinks makes the slice shorter inside the loop.
func Shrinks(a []uint8) (s int) {
	for i := 0; i < len(a); i++ {
		s = s*7 + int(a[i])
		if a[i]&1 == 1 {
			a = a[1:]
		}
	}
	return s
}

// ShrinksMore makes it so short that the next index is out of range.
func ShrinksMore(a []uint8) (s int) {
	n := len(a)
	for i := 0; i < n; i++ {
		s = s*7 + int(a[i])
		if a[i] > 200 {
			a = a[:len(a)/2]
		}
	}
	return s
}

// Strides has a step that is not one and a length that is no multiple.
func Strides(a []uint32, step int) (s uint32) {
	if step <= 0 {
		return 0
	}
	for i := 0; i < len(a); i += step {
		s += a[i]
	}
	for i := 0; i+2 < len(a); i += 3 {
		s = s*3 + a[i] + a[i+1] + a[i+2]
	}
	return s
}

// Backward walks down by three.
func Backward(a []uint32) (s uint32) {
	for i := len(a) - 1; i >= 0; i -= 3 {
		s = s*3 + a[i]
	}
	for i := len(a); i > 0; i-- {
		s = s*5 + a[i-1]
	}
	for i := len(a); i >= 0; i-- {
		if i == 2 {
			break
		}
		s = s*5 + a[i]
	}
	return s
}

// TwoCounters use each other's bound.
func TwoCounters(a, b []uint8) (s int) {
	for i, j := 0, len(b)-1; i < len(a) && j >= 0; i, j = i+1, j-1 {
		s = s*3 + int(a[i]) - int(b[j])
	}
	for i, j := 0, 0; i < len(a); i, j = i+1, j+2 {
		s = s*3 + int(b[j])
	}
	return s
}

// Nested has a bound that the outer loop changes.
func Nested(a []uint8, n int) (s int) {
	for i := 0; i < n && i < 20; i++ {
		for j := i; j < len(a)-i; j++ {
			s = s*3 + int(a[j]) + int(a[j-i])
		}
	}
	return s
}

// MinMax indexes with bounds from min and max.
func MinMax(a, b []uint8, n int) (s int) {
	m := min(len(a), len(b), n)
	for i := 0; i < m; i++ {
		s = s*3 + int(a[i]) + int(b[i])
	}
	m = max(len(a), len(b))
	for i := 0; i < m; i++ {
		s = s*3 + int(a[i])
	}
	return s
}

// Slices takes slices of slices.
func Slices(a []uint8, i, j, k int) int {
	b := a[i:j]
	c := b[k:]
	if len(c) > 2 {
		c[0] = c[2]
	}
	return len(b)*100 + len(c) + cap(c)*10000
}

// Unsigned compares unsigned.
func Unsigned(a []uint8, i uint64, j uintptr) int {
	if i < uint64(len(a)) && j <= uintptr(i) {
		return int(a[i]) + int(a[j])
	}
	if i > 5 {
		return int(a[i-5])
	}
	return -1
}

// Branchy decides the same question more than once.
func Branchy(a []uint8, i, j int) (s int) {
	ok := i >= 0 && i < len(a)
	if ok || j > 100 {
		s = int(a[i])
	}
	neg := !ok
	if neg && j < 5 {
		return s - 1
	}
	if ok == (j > 3) {
		s += 10
	}
	switch {
	case ok && j == 1:
		s += int(a[i]) * 2
	case !ok && j == 2:
		s += 7
	case neg:
		s += 1000
	}
	return s
}

func classify(x int) (kind int, ok bool) {
	if x < 10 {
		return 1, x&1 == 0
	}
	if x < 100 {
		return 2, true
	}
	return x, false
}

// Threads tests results of inlined calls.
func Threads(x, y int) int {
	k, ok := classify(x)
	if !ok {
		k += 5
	}
	l, ok2 := classify(y)
	if ok && ok2 {
		return k*l + 1
	}
	if ok2 {
		return k - l
	}
	for i := 0; i < 3; i++ {
		if m, ok := classify(x + i*7); ok {
			k += m
			continue
		} else if m == 1 {
			l -= 3
		}
		k *= 2
	}
	return k*1000 + l
}

type cell struct {
	a, b uint32
	next *cell
	arr  [4]uint16
}

// Alias writes through pointers that may be the same.
func Alias(p, q *cell, i uint) uint64 {
	x := p.a
	q.a = 7
	y := p.a
	p.b = y + 1
	q.b++
	z := p.b
	p.arr[i&3] = uint16(z)
	w := q.arr[0]
	q.arr[i&3]++
	return uint64(x) + uint64(y)<<8 + uint64(z)<<16 + uint64(w)<<32 + uint64(p.arr[i&3])<<48
}

// AliasLocal mixes locals whose address is taken with pointers.
func AliasLocal(p *cell, c bool) uint64 {
	var l cell
	q := &l
	if c {
		q = p
	}
	l.a = 3
	q.a += 2
	p.b = l.a
	q.b = 9
	l.arr[p.a&3] = 4
	return uint64(l.a) + uint64(l.b)<<8 + uint64(p.a)<<16 + uint64(p.b)<<32 + uint64(q.arr[1])<<48 + uint64(l.arr[0]+l.arr[1]*2+l.arr[2]*3)<<40
}

func bump(p *cell) uint32 { p.a++; return p.a }

// AliasCall changes memory in calls and loops.
func AliasCall(p, q *cell, n int) (s uint64) {
	for i := 0; i < n&7; i++ {
		x := p.a
		s = s*3 + uint64(bump(q)) + uint64(x)
		if p.a != x {
			s ^= 0x5555
		}
		q.b += p.b
		s += uint64(p.b)
	}
	return s
}

// Signs reloads what was stored with another sign and size.
func Signs(p *[8]int8, v int, i uint) (s int) {
	p[2] = int8(v)
	s += int(p[2])
	p[i&7] = int8(v >> 8)
	s = s*3 + int(p[2])
	u := uint8(p[2])
	return s*5 + int(u)
}

// Zeroed has a variable that is cleared each time.
func Zeroed(a []uint8) (s int) {
	for i := range a {
		var buf [20]uint8
		var n int
		for j := i; j < len(a) && n < len(buf); j++ {
			buf[n] = a[j]
			n++
		}
		s = s*3 + int(buf[0]) + int(buf[len(buf)-1]) + n
	}
	return s
}

// Swap swaps through phis in a loop.
func Swap(a, b, c uint64, n uint) uint64 {
	x, y, z := a, b, c
	for i := uint(0); i < n&31; i++ {
		x, y, z = y, z, x
		if i&3 == 2 {
			x, y = y, x
		}
	}
	return x*3 + y*5 + z*7
}

// Divide divides by constants.
func Divide(a int64, b uint32, c int8) (s int64) {
	s = a/8 + a%8*3 + a/7 + a%-4 + a/-8 + a/1 + a%1
	s = s*31 + int64(b/16) + int64(b%16) + int64(b/10) + int64(b%1000)
	return s*31 + int64(c/4) + int64(c%4) + int64(c/-1) + int64(c%3)
}

// Shifts shifts by what is just in or out of range.
func Shifts(a uint64, b int32, n uint8, m int) uint64 {
	if m < 0 {
		m = -(m + 1)
	}
	x := a<<(n&63) + a>>(n&64) + uint64(b>>(n%40)) + uint64(uint32(b)<<n)
	return x ^ a<<m>>3 ^ uint64(int64(a)>>m) ^ uint64(int8(a)>>n) ^ uint64(uint8(a)<<n)
}

// Fields extracts parts of words with all extensions.
func Fields(x uint64, y uint32, z int64) (s uint64) {
	s = uint64(uint32(int8(x>>8))) + uint64(uint32(int16(x>>40)))*3 + uint64(int8(x>>30))*5 + uint64(uint8(x>>28))*7
	s += uint64(uint32(int8(y>>20)))*11 + uint64(uint16(y>>16))*13 + uint64(int16(y>>3))*17 + uint64(y>>24)*19
	s += uint64(uint32(int16(z>>60)))*23 + uint64(uint8(z>>57))*29 + uint64(int64(int8(z>>33)))*31 + uint64(z>>3&0x1fff)*37
	s ^= uint64(uint32(x)>>7&0xff)<<9 ^ uint64(int32(z))<<3 ^ uint64(y)<<33>>40 ^ uint64(z<<20>>50)
	return s ^ uint64(uint32(x>>16)) ^ uint64(int32(x>>20))*41 ^ uint64(uint32(int32(int8(y)))>>4)
}

// Views makes slices of pointers that may be nil.
func Views(p *uint32, q *[4]uint8, n, i int) (s int) {
	a := unsafe.Slice(p, n&1)
	s = len(a)
	if len(a) > 0 {
		s += int(a[0] & 0xff)
	}
	if q != nil || i == 3 {
		b := unsafe.String((*byte)(unsafe.Pointer(q)), n&3)
		s += len(b) * 1000
		if i >= 0 && i < len(b) {
			s += int(b[i])
		}
	}
	return s
}
