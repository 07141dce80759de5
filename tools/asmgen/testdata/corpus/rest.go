package corpus

// Variables whose values follow from those of others before the program starts.
var (
	derived   = negative + 5
	widened   = int64(negative) * 3
	converted = uint8(pointed << 1)
	chosen    = limits.high ^ 0x55
	inside    = &table[3]
	title     = names[2]
)

// Derived reads them.
func Derived(i uint8) (int16, int64, uint8, int32, uint16, uint32, int) {
	return derived, widened, converted, chosen, primes[i&1], *inside, len(title)
}

// LongStrings compares with constants of every length.
func LongStrings(s string, i uint8) (bool, bool, bool, int) {
	const long = "a string constant that is longer than what is compared in line, by far"
	t := long[:int(i)%(len(long)+1)]
	n := 0
	for _, w := range [...]string{"", "a", "a s", "a str", "a strin", "a string", "a string constant", long[:31], long[:33]} {
		if t == w {
			n += len(w) + 1
		}
	}
	return s == long, t == long, t == "a string constant that is longer than", n
}

// BigResult returns a structure that fits no registers.
func BigResult(n uint8, i uint8) uint64 {
	b := makeBig(n)
	c := makeBig(n + 1)
	if b == c {
		return 1
	}
	return b.words[i%40]*3 + c.words[(i+1)%40] + uint64(c.n)
}

func makeBig(n uint8) big {
	b := big{n: n}
	for i := range b.words {
		b.words[i] = uint64(i) * uint64(n)
	}
	return b
}

// BigResults returns one with other results.
func BigResults(p *big, n uint8) (uint64, bool) {
	if p == nil {
		return 0, false
	}
	b, k, ok := nextBig(*p, n)
	*p = b
	return k + b.words[n%40], ok
}

func nextBig(b big, n uint8) (big, uint64, bool) {
	b.n += n
	b.words[n%40]++
	return b, b.words[0], b.n > n
}

// BigLiteral compares memory with a literal.
func BigLiteral(p *[20]uint16, v uint16) (bool, bool) {
	if p == nil {
		return false, true
	}
	if v&1 == 0 {
		*p = [20]uint16{2: v, 19: 1}
	}
	return *p == [20]uint16{2: v, 19: 1}, *p != [20]uint16{}
}

// BigIndex takes elements out of array values.
func BigIndex(p *[20]triple, i uint8) (triple, int32) {
	if p == nil {
		return triple{}, 0
	}
	a := *p
	a[i%20].b++
	t := a[i%20]
	return t, [3]int32{1, int32(i), 3}[i%3]
}

// Blank fields do not count in comparisons.
func Blank(p, q *blank) (bool, bool) {
	if p == nil || q == nil {
		return false, false
	}
	return *p == *q, *p == blank{a: 1, b: 2}
}

type blank struct {
	a uint8
	_ uint16
	b uint32
	_ [3]uint8
}

// WriteNil clears pointers, slices and strings in memory.
func WriteNil(m *mixed, n *node) {
	m.h = ""
	m.i = nil
	m.j = nil
	if n != nil {
		n.next = nil
	}
}

// SliceArrayThree cuts an array with all three bounds.
func SliceArrayThree(p *[9]uint32, i, j, k int) (int, []uint32) {
	b := p[i:j:k]
	return len(b)*100 + cap(b), b
}

// SliceArrayConst does so with constants, and past a nil pointer.
func SliceArrayConst(p *[9]uint32) (int, uint32) {
	b := p[2:5:7]
	return len(b)*100 + cap(b), b[:5][4]
}

// Rotations written with shifts.
func Rotations(a uint32, b uint64, n uint8) (uint32, uint64, uint32, uint64) {
	return a<<7 | a>>25, b>>13 | b<<51, a<<(n&31) | a>>(32-n&31), b<<(n&63) | b>>(64-n&63)
}

// Funnels shift two words as one.
func Funnels(a, b uint64, c, d uint32) (uint64, uint32) { return a<<20 | b>>44, c>>5 | d<<27 }

// Fields of bits taken out and put back.
func Fields(a uint64, b uint32, c int32, d int16) (uint64, uint32, int32, int16, int64) {
	return a >> 12 & 0xfff, b >> 5 & 7 << 2, c << 9 >> 20, d << 3 >> 5, int64(int32(a >> 7))
}

// Insert replaces fields of bits.
func Insert(a, b uint64, c, d uint32) (uint64, uint32, uint32) {
	return a&^0xff0 | b&0xff<<4, c&0xffff | d<<16, c&0xfffffff0 | d&15
}

// Flips of conditions that are values.
func Flips(a, b int32, c bool) (bool, bool, uint8) {
	x := a < b
	y := !x != c
	var z uint8
	if !(y == false) && x != true {
		z = 1
	}
	if x == c {
		z |= 2
	}
	return !y, x && !c || y, z
}

// Selects are branches that only choose.
func Selects(a, b, c uint32, d, e int64) (uint32, int64, uint32, int64, uint32) {
	x := a
	if b > c {
		x = b + 1
	}
	y := d
	if d < e {
		y = -d
	}
	z := ^a
	if a == b {
		z = a
	}
	w := int64(0)
	if d != 0 {
		w = 1
	}
	v := b
	if c&1 == 0 {
		v++
	}
	return x, y, z, w, v
}

// Divisors that are powers of two, or nearly, and values at the edges.
func Divisors(a int32, b uint32, c int64) (r [8]int64) {
	r[0], r[1] = int64(a/16), int64(a%16)
	r[2], r[3] = int64(b/3), int64(b%641)
	r[4], r[5] = c/1000000007, c%(1<<33)
	r[6] = int64(a / -8)
	r[7] = c / 3
	return r
}
