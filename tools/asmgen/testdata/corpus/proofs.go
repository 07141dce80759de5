package corpus

// The functions here hold only in some places what a careless optimiser would
// take for true in others.

// Shrink cuts a slice to a counter: the counter is a length there, and not negative, but passes zero elsewhere.
func Shrink(s []uint8, start uint8) (n int) {
	for i := int(start & 15); i >= 0; i-- {
		if i <= cap(s) {
			s = s[:i]
		}
		n = n*3 + len(s)
	}
	return n
}

// ShrinkPanics does so without a check.
func ShrinkPanics(s []uint8) (n int) {
	for i := 9; i >= 0; i-- {
		s = s[:i]
		n += len(s)
	}
	return n
}

// HoistLength computes a length that is checked in one branch only.
func HoistLength(s []uint8, i, j int, n uint8) (r int) {
	for k := range n & 7 {
		if k == 5 {
			r += len(s[i:j])
		}
		if j-i < 0 {
			r += 7
		}
		if j-i == 3 {
			r ^= 1
		}
	}
	return r
}

// HoistLoad reads in a loop what must not be read before it.
func HoistLoad(p *uint32, q *pair, a []uint16, n uint8) (s uint32) {
	for k := range n & 3 {
		if k == 0 && p == nil {
			s++
			continue
		}
		s += *p + q.x
		s += uint32(a[2])
	}
	return s
}

// HoistPastStore has a loop-invariant load of what the loop changes through another name.
func HoistPastStore(p *uint32, a []uint32, n uint8) (s uint32) {
	if p == nil {
		return 0
	}
	for i := range a {
		s = s*3 + *p
		a[i] = s
		if i > int(n&7) {
			*p++
		}
	}
	return s + *p
}

// HoistDivide divides in a branch by what is zero outside it.
func HoistDivide(a, b uint32, n uint8) (s uint32) {
	for k := range n & 7 {
		if b != 0 {
			s += a / b
			s ^= a % b
		}
		s += uint32(k)
	}
	return s
}

// HoistCall keeps its calls in order with its loads.
func HoistCall(p *int32, n uint8) (s int32) {
	if p == nil {
		return 0
	}
	for range n & 7 {
		s = s*2 + *p
		bump(p)
		s += *p
	}
	return s
}

// Wrapped counters come round.
func Wrapped(a []uint8, start uint8) (s int) {
	for i, n := start, 0; n < 300; i, n = i+1, n+1 {
		if int(i) < len(a) {
			s = s*3 + int(a[i])
		}
	}
	return s
}

// WrappedSigned counters come round to negative.
func WrappedSigned(a []uint8, start int8) (s int) {
	for i, n := start, 0; n < 300; i, n = i+1, n+1 {
		if i >= 0 && int(i) < len(a) {
			s += int(a[i]) + 1
		} else if i < 0 {
			s--
		}
	}
	return s
}

// WrappedWide counters come round at 32 and 64 bits.
func WrappedWide(a []uint8, u uint32, w int32, x uint64, y int64) (s int) {
	for range 5 {
		u += 1 << 30
		w += 1 << 30
		x += 1 << 62
		y += 1 << 62
		if u < 8 && int(u) < len(a) {
			s += int(a[u])
		}
		if w < 8 {
			s++
		}
		if x < 8 && x < uint64(len(a)) {
			s += int(a[x])
		}
		if y < 3 {
			s += 2
		}
		if w+5 < w {
			s += 100
		}
		if y-1 > y {
			s += 1000
		}
	}
	return s
}

// SumWraps compares sums that overflow.
func SumWraps(a []uint8, i, j int) (s int) {
	if i+j < len(a) && i >= 0 && j >= 0 {
		s += 1
		if i+j >= 0 {
			s += int(a[i+j])
		}
	}
	if i-j > 0 {
		s += 10
	}
	if i > j {
		s += 100
	}
	if i < len(a) && i+1 > i {
		s += 1000
	}
	return s
}

// Truncated indexes lose their upper bits.
func Truncated(a []uint8, i uint64, j int64) (s int) {
	if uint32(i) < uint32(len(a)) {
		s += int(a[uint32(i)])
	}
	if uint8(i) < uint8(len(a)) {
		s += 7
	}
	if int8(j) >= 0 && int(int8(j)) < len(a) {
		s += int(a[int8(j)])
	}
	if i < uint64(len(a)) {
		s += int(a[i]) * 3
	}
	return s
}

// Joined knows one thing on one way and another on the other.
func Joined(a []uint8, i int, c bool) (s int) {
	j := i
	if c {
		if i < 0 || i >= len(a) {
			return -1
		}
		j = len(a) - 1 - i
	} else if i > 3 {
		j = 3
	}
	s = int(a[j])
	if j == 0 {
		a = a[1:]
	}
	if len(a) > 0 {
		s += int(a[len(a)-1])
	}
	return s + int(a[j])
}

// Relative compares variables with one another in a chain.
func Relative(a []uint8, i, j, k int) (s int) {
	if 0 <= i && i < j && j < k && k < len(a) {
		s += int(a[i]) + int(a[j])*2 + int(a[k])*4 + int(a[i+1]) + int(a[k-1]) + int(a[j-i])
	}
	if i <= j && j <= k && k <= len(a) && i >= 0 {
		b := a[i:k]
		s += len(b) + len(b[j-i:])
		if j > i {
			s += int(b[j-i-1])
		}
	}
	return s
}

// Steps counts in steps that may jump over the end.
func Steps(a []uint8, n int, step uint8) (s int) {
	d := int(step&3) + 1
	n &= 127
	for i := 0; i < n; i += d {
		if i < len(a) {
			s += int(a[i])
		}
	}
	for i := 0; i+2 < len(a); i += 3 {
		s += int(a[i]) ^ int(a[i+2])
	}
	for i := len(a) - 1; i > 0; i -= 2 {
		s += int(a[i-1])
	}
	for i := 1; i != len(a); i += 2 {
		if i > len(a) {
			break
		}
		s += int(a[i])
	}
	return s
}

// Equalities make one thing of two.
func Equalities(a, b []uint8, i int) (s int) {
	if len(a) == len(b) {
		for i := range a {
			s += int(b[i]) - int(a[i])
		}
	}
	if i == len(a)-1 && i >= 0 {
		s += int(a[i])
	}
	if i != len(b) && i <= len(b) && i >= 0 {
		s += int(b[i])
	}
	if len(a) != 0 && len(a) < 3 {
		s += int(a[0])
	}
	return s
}

// Reassigned loses what was known of an earlier value.
func Reassigned(a []uint8, i int) (s int) {
	if i >= 0 && i < len(a) {
		s += int(a[i])
		i *= 2
		if i < len(a) {
			s += int(a[i])
		}
		i = len(a) - i
		if i > 0 {
			s += int(a[i-1])
		}
	}
	return s
}

// SelfCopy copies memory onto itself in loops that look like copies.
func SelfCopy(a []uint8, d uint8) {
	k := int(d&7) + 1
	for i := k; i < len(a); i++ {
		a[i] = a[i-k]
	}
	for i := 0; i+k < len(a); i++ {
		a[i] ^= a[i+k]
	}
}

// Forward stores and loads the same places under several types.
func Forward(p *[4]uint64, i, j uint8) (s uint64) {
	p[i&3] = 1
	p[j&3] = 2
	s = p[i&3]
	p[i&3]++
	s = s*10 + p[j&3]
	x := p[0]
	p[(i+1)&3] = 9
	s = s*10 + p[0] - x
	return s*10 + p[i&3]
}

// ForwardStruct does so with fields and whole structures.
func ForwardStruct(p, q *triple, v uint8) (s uint64) {
	p.b = v
	q.c = int32(v) - 5
	t := *p
	q.b = 1
	s = uint64(p.b) + uint64(t.b)<<8
	*q = t
	p.a++
	return s + q.a<<16 + uint64(uint32(q.c))<<24 + uint64(p.b)
}

// The functions below index a fixed table with sums that wrap at the ends of
// their types: an index may look bounded when it is not.

// AfterTop adds to an index that may be the largest number.
func AfterTop(i int) (s uint32) {
	if i >= -1 && i+1 < len(table) {
		s += table[i+1]
	}
	if i > -3 && i+2 < 8 {
		s += table[i+2] * 3
	}
	if i >= 0 && i+1 < len(table) {
		s += table[i+1] * 5
	}
	if i >= 0 && i+7 < 8 {
		s += table[i+7]
	}
	return s
}

// ApartProducts computes one thing on ways that exclude each other, and where they meet.
func ApartProducts(a, b, c uint64, p *uint64) (s uint64) {
	if c&3 == 1 {
		s = a*b + 1
		*p = s
	} else if c&3 == 2 {
		s = a*b + 7
		if p == nil {
			return s ^ (a / (c | 1))
		}
		*p = a / (c | 1)
	}
	for range c & 7 {
		if s&1 == 0 {
			s += a * b
			a++
		} else {
			s ^= a*b - (a / (c | 1))
		}
	}
	switch c & 15 {
	case 3:
		return a*b ^ c
	case 5, 7:
		s -= a * b
	}
	return s + a*b
}

// BeforeBottom subtracts from one that may be the smallest.
func BeforeBottom(i int) (s uint32) {
	if i-1 < len(table) && i < 9 {
		if i-1 >= 0 {
			s += table[i-1]
		}
	}
	if i <= 8 && i-1 > -2 {
		s += uint32(primes[i-1])
	}
	return s
}

// Doubled multiplies and negates.
func Doubled(i int) (s uint32) {
	if i*2 < 8 && i >= 0 {
		s += table[i*2]
	}
	if -i > 0 && -i < 8 {
		s += table[-i]
	}
	if i < 0 && -i <= 7 {
		s += table[-i]
	}
	return s
}

// SumOfTwo adds two indexes.
func SumOfTwo(i, j int) (s uint32) {
	if i >= 0 && j >= 0 && i+j < len(table) {
		s += table[i+j]
	}
	if i > j && j > -1 && i-j < 8 {
		s += table[i-j]
	}
	if i-j >= 0 && i-j <= 7 && j >= 0 {
		s += table[i-j]
	}
	return s
}

// Unsigned does so without signs.
func Unsigned(i, j uint64) (s uint32) {
	if i+1 < 8 {
		s += table[i+1]
	}
	if i-1 < 8 {
		s += table[i-1]
	}
	if i < 8 && j <= i {
		s += table[i-j] + uint32(primes[i-j])
	}
	if i+j < uint64(len(primes)) {
		s += uint32(primes[i+j])
	}
	if i >= j && i-j < uint64(len(primes)) {
		s += uint32(primes[i-j])
	}
	return s
}

// Narrow does so in small types.
func Narrow(i uint8, j int8, k int32) (s uint32) {
	if i+1 < 8 {
		s += table[i+1]
	}
	if j+1 < 8 && j >= 0 {
		s += table[j+1]
	}
	if k+1 < 8 && k >= -1 {
		s += table[k+1]
	}
	if k-1 < 7 && k > 0 {
		s += uint32(primes[k-1])
	}
	if int(i)+int(j) < 8 && j >= 0 {
		s += table[int(i)+int(j)]
	}
	return s
}

// CountPast counts beyond the largest number.
func CountPast(start int) (s uint32) {
	for i, n := start, 0; i+1 > 0 && n < 20; i, n = i+1, n+1 {
		if i < len(table) {
			s = s*3 + table[i]
		}
	}
	for i := start; i >= 0 && i < len(table); i++ {
		s += table[i]
		if i+1 < len(primes) {
			s += uint32(primes[i+1])
		}
	}
	for i := start; i < len(primes) && i > start-5; i-- {
		if i >= 0 {
			s ^= uint32(primes[i])
		}
	}
	return s
}
