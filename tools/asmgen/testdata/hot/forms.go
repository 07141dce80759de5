package hot

// The functions below use forms of Go that compile through less common paths.

type number interface {
	~int | ~uint8 | ~int16 | ~uint32
}

func clamp[T number](x, lo, hi T) T {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

type pair[T number] struct{ a, b T }

func (p *pair[T]) sum() T { return p.a*3 + p.b }

// Generic instantiates generic functions and types.
func Generic(a int, b uint8, c int16) (int, uint8, int16, uint32) {
	p := pair[uint32]{uint32(a), uint32(b)}
	return clamp(a, -5, 50), clamp(b, 3, 200), clamp(c, -100, 100), p.sum()
}

type base struct {
	x, y int32
}

func (b base) total() int32   { return b.x*2 + b.y }
func (b *base) shift(n int32) { b.x += n; b.y -= n }

type derived struct {
	z int64
	base
	p *base
}

// Embedded calls promoted methods.
func Embedded(n int32, q *base) int64 {
	d := derived{z: 5, base: base{n, n + 1}, p: q}
	d.shift(7)
	d.p.shift(1)
	e := d
	e.base.shift(3)
	return d.z + int64(d.total())*1000 + int64(e.total()) + int64(d.p.total())<<32
}

// Immediate calls a function literal at once.
func Immediate(n int) int {
	return func(k int) int { return k*k - 1 }(n) + 2
}

// Jumps uses goto, labels and fallthrough.
func Jumps(a []uint8, n int) (s int) {
	i := 0
again:
	if i >= len(a) {
		goto out
	}
	switch a[i] & 7 {
	case 0:
		s++
		fallthrough
	case 1:
		s += 10
	case 2, 3:
		i += 2
		goto again
	default:
		s += 100
	}
	i++
	if s < n&0xfff {
		goto again
	}
out:
outer:
	for x := range 5 {
		for y := range a {
			if int(a[y]) == x {
				continue outer
			}
			if y > 6 {
				break outer
			}
			s += x * y
		}
	}
	return s
}

// Irreducible jumps into a loop.
func Irreducible(n, m uint) (s uint) {
	n &= 63
	m &= 3
	if m == 1 {
		goto middle
	}
top:
	s += n
	if n == 0 {
		return s
	}
middle:
	s = s*3 + 1
	if n == 0 {
		return s + 100
	}
	n--
	goto top
}

type matrix [3][4]int16

// Matrix copies and compares arrays of arrays.
func Matrix(m *matrix, i, j int, v int16) (matrix, bool, bool) {
	c := *m
	c[i%3][j&3] = v
	row := c[1]
	row[0]++
	d := c
	d[2] = row
	var r matrix
	r = d
	return r, c == *m, row == [4]int16{1, 2, 3, 4}
}

// Words switches on strings.
func Words(s string) int {
	switch s {
	case "":
		return 0
	case "a", "abc", "abcdefgh":
		return 1
	case "0123456789abcdef0123456789abcdef0123456789":
		return 2
	}
	if s > "m" && len(s) >= 2 && s[1:] != "bc" {
		return 3
	}
	return len(s)
}

type tagged struct {
	name string
	b    bool
	n    [2]uint8
	q    *int
}

// Equal compares structures with strings.
func Equal(a, b string, n uint8, p bool) (r int) {
	x := tagged{name: a, b: p, n: [2]uint8{n, 3}}
	y := tagged{name: b, b: true, n: [2]uint8{7, 3}}
	if x == y {
		r++
	}
	y.b = p
	y.n[0] = n
	if x == y {
		r += 2
	}
	y.name = a
	if x != y {
		r += 4
	}
	z := [20]tagged{4: x}
	w := [20]tagged{4: y}
	if z == w {
		r += 8
	}
	w[19].n[1]++
	if z == w {
		r += 16
	}
	return r
}

var table = [...]struct {
	name string
	f    [3]uint16
	next *[2]int
}{{"one", [3]uint16{1, 2, 3}, &links}, {name: "two"}, {"three", [3]uint16{2: 9}, &links}}

var links = [2]int{40, -2}

var counter struct {
	n    uint64
	hist [4]uint32
}

// Globals reads and writes package variables.
func Globals(i uint) (uint64, int) {
	counter.n++
	counter.hist[i&3] += uint32(counter.n)
	e := &table[i%3]
	n := len(e.name) + int(e.f[2])
	if e.next != nil {
		n += e.next[0] + e.next[1]
	}
	counter.n--
	h := counter.hist[i&3]
	counter.hist[i&3] = 0
	return uint64(h), n
}

type huge struct {
	n int
	d [30]int
}

func makeHuge(n int, v int) (h huge, ok bool) {
	h.n = n
	h.d[n&15] = v
	return h, v > 0
}

func (h huge) with(i, v int) huge {
	h.d[i&15] = v
	return h
}

// Huge passes and returns big values.
func Huge(n, v int) int {
	h, ok := makeHuge(n, v)
	if !ok {
		h = h.with(3, 4)
	}
	a := [2]huge{h, h.with(n+1, 5)}
	b := a
	b[0] = b[1]
	b[1].d[0] = 77
	x, _ := makeHuge(b[0].d[1], b[1].d[0])
	s := 0
	for i, k := range b {
		s = s*3 + k.n + k.d[i] + k.d[(n+1)&15]
	}
	for _, k := range x.d {
		s = s*5 + k
	}
	return s + a[1].d[3]
}

// BigFrame has variables far from the stack pointer.
func BigFrame(n uint, a, b, c, d, e, f, g, h uint64) uint64 {
	var x [5000]uint64
	var y [3]uint64
	var z [600]uint32
	x[n%5000] = a
	y[n%3] = b
	z[n%600] = uint32(c)
	p, q := &x[4999], &y[1]
	*p += 3
	*q += 5
	x[17], x[18], y[0] = d, e, y[0]+f
	s := touch(&x, n) + touch(&x, n+1)*3
	return s + x[4999]*5 + y[0]*7 + y[1]*11 + y[2] + uint64(z[(n+1)%600]) + uint64(z[n%600])*13 + x[17]*17 + x[18]*19 + g*h + a*b + c*d + e*f
}

func touch(x *[5000]uint64, n uint) (s uint64) {
	for i := n % 4990; i < n%4990+9; i++ {
		s = s*3 + x[i]
	}
	x[n%5000]++
	return s
}

// Pressure keeps more values alive across calls than there are registers.
func Pressure(a [6]uint64, b [6]uint32, c [6]int16, n uint) uint64 {
	t0, t1, t2, t3, t4, t5 := a[0]*3, a[1]*5, a[2]*7, a[3]*9, a[4]*11, a[5]*13
	u0, u1, u2, u3, u4, u5 := b[0]*3, b[1]*5, b[2]*7, b[3]*9, b[4]*11, b[5]*13
	v0, v1, v2, v3, v4, v5 := c[0]*3, c[1]*5, c[2]*7, c[3]*9, c[4]*11, c[5]*13
	var s uint64
	for i := uint(0); i < n&15; i++ {
		s += many(t0, t1, t2, t3, t4, t5, u0, u1, u2, u3, v0, v1, v2, i)
		t0, t1, t2, t3, t4, t5 = t5, t0, t1, t2, t3, t4
		u0, u1 = u1, u0
		v5 ^= v4
		if i&1 == 0 {
			v0, v3, u5 = v3, v0, u5+u4
			s ^= many(s, t1, s, t3, s, t5, u5, u4, u3, u2, v5, v4, v3, i)
		}
	}
	return s + t0 + t1*3 + t2*5 + t3*7 + t4*9 + t5*11 + uint64(u0) + uint64(u1)*3 + uint64(u2)*5 + uint64(u3) + uint64(u4)*9 +
		uint64(u5) + uint64(v0) + uint64(v1)*3 + uint64(v2) + uint64(v3)*7 + uint64(v4) + uint64(v5)*5
}

func many(a, b, c, d, e, f uint64, g, h, i, j uint32, k, l, m int16, n uint) uint64 {
	x := a
	for y := uint(0); y < n&3; y++ {
		x = x*31 + b ^ c + d ^ e + f
		x += uint64(g)*uint64(h) ^ uint64(i+j)
		if x&1 != 0 {
			x ^= uint64(k*l - m)
			continue
		}
		x += a<<(y&7) | b>>(y+3) | c<<1 | d>>2 | e<<3 | f>>4
		if x%7 == 3 {
			break
		}
	}
	return x + uint64(m) + uint64(j)<<7
}
