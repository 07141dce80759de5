package corpus

// ManyArguments has more than fit registers.
func ManyArguments(a uint8, b int16, c uint32, d int64, e bool, f uint64, g int8, h uint16, i int32, j uint64, k uint8, l int64) (uint64, int64) {
	s := uint64(a) + uint64(c)*3 + f*5 + uint64(h)*7 + j*11 + uint64(k)*13
	t := int64(b) + d*3 + int64(g)*5 + int64(i)*7 + l*11
	if e {
		s, t = uint64(t), int64(s)
	}
	return s, t
}

// PassMany calls functions with more arguments than registers, in changed order.
func PassMany(a, b, c, d, e, f, g, h uint64) uint64 {
	x := mixNine(h, g, f, e, d, c, b, a, a+b)
	y := mixNine(a, a, b, b, c, c, d, d, x)
	z := mixTwelve(1, 2, 3, 4, 5, 6, 7, 8, uint8(a), int16(b), x, -1)
	return x ^ y*3 + z
}

func mixNine(a, b, c, d, e, f, g, h, i uint64) uint64 {
	s := a
	for k := uint64(0); k < i%5; k++ {
		s = s*3 + b ^ c + d ^ e + f ^ g + h
		a, b, c, d, e, f, g, h = b, c, d, e, f, g, h, a
	}
	return s + i
}

func mixTwelve(a, b, c, d, e, f, g, h uint32, i uint8, j int16, k uint64, l int8) uint64 {
	r := uint64(a+b*2+c*3+d*4+e*5+f*6+g*7+h*8) + uint64(i)
	if j < 0 {
		return r - k*uint64(i)
	}
	for n := int16(0); n < j%7; n++ {
		r += k >> uint(n)
	}
	return r + uint64(l)
}

// PassSlices passes slices and strings, which take several registers each.
func PassSlices(a []uint8, s string, b []uint16, n uint64) uint64 {
	r := useSlices(n, b, s, a, s)
	return r + useSlices(r, b, "constant", a, s[len(s)/2:])
}

func useSlices(n uint64, b []uint16, s string, a []uint8, t string) uint64 {
	for i := range a {
		n = n*3 + uint64(a[i])
	}
	for i := range b {
		n ^= uint64(b[i]) << (i & 31)
	}
	for i := 0; i < len(s); i++ {
		n += uint64(s[i])
	}
	return n*uint64(len(t)) + uint64(cap(a)+cap(b))
}

// PassStructs passes structures by value.
func PassStructs(s small, p pair, n uint8) uint64 {
	t, u := flip(s, p)
	v, w := flip(t, pair{u.y, uint32(n)})
	return uint64(t.a) + uint64(v.b) + v.c + uint64(w.x)<<3 + uint64(u.y)
}

func flip(s small, p pair) (small, pair) {
	for i := uint8(0); i < s.a&3; i++ {
		p.x += p.y
	}
	return small{uint8(p.x), -s.b, s.c ^ uint64(p.y)}, pair{p.y, uint32(s.c)}
}

// EightResults fill all result registers.
func EightResults(a uint8, b int16, c uint64) (uint8, int16, uint64, bool, uint32, int8, int64, uint16) {
	return a + 1, -b, c * 3, c > 5, uint32(a) << 20, int8(b), int64(b) * -3, uint16(c)
}

// UseResults takes results of calls apart.
func UseResults(a uint8, b int16, c uint64) uint64 {
	p, q, r, s, t, u, v, w := EightResults(a, b, c)
	p2, _, r2, _, _, _, _, _ := EightResults(p, q, r)
	n := uint64(p) + uint64(q) + r + uint64(t) + uint64(u) + uint64(v) + uint64(w) + uint64(p2)<<9 + r2
	if s {
		n = ^n
	}
	return n
}

// NamedResults are set in several places.
func NamedResults(a int32) (x, y int32, ok bool) {
	x = a
	if a < 0 {
		return
	}
	y = a * 2
	if y > 100 {
		x, y = y, x
		ok = true
	}
	return
}

// CallsInLoop keeps values alive across calls.
func CallsInLoop(a, b, c, d uint64, n uint8) uint64 {
	s := a
	for i := uint64(0); i < uint64(n%9); i++ {
		s += mixNine(a, b, c, d, s, i, a^b, c^d, i+3)
		a, b = b, a+i
		c ^= s
	}
	return s ^ a ^ b ^ c ^ d
}

// CallsInArguments nests calls.
func CallsInArguments(a, b uint32) uint32 {
	return mulAdd(mulAdd(a, b, 1), mulAdd(b, a, mulAdd(a, a, b)), mulAdd(1, 2, a)-b)
}

func mulAdd(a, b, c uint32) uint32 { return a*b + c }

// Chain goes several calls down.
func Chain(n uint64, p *uint64) uint64 {
	r := chain1(n+1, p)
	return r ^ n
}

func chain1(n uint64, p *uint64) uint64 {
	for range n & 3 {
		n = n*5 + chain2(n, p)
	}
	return n
}

func chain2(n uint64, p *uint64) uint64 {
	s := n
	for i := range n & 7 {
		s += chain3(i, n, p)
	}
	return s - 1
}

func chain3(i, n uint64, p *uint64) uint64 {
	if p != nil {
		*p += i
		if *p%5 == 0 {
			return *p
		}
	}
	return i*n + 1
}

// ManyLive has more values alive than registers, across a call and a loop.
func ManyLive(p *[32]uint64, n uint8) uint64 {
	a0, a1, a2, a3, a4, a5, a6, a7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	b0, b1, b2, b3, b4, b5, b6, b7 := p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]
	c0, c1, c2, c3, c4, c5, c6, c7 := p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23]
	d0, d1, d2, d3, d4, d5, d6, d7 := p[24], p[25], p[26], p[27], p[28], p[29], p[30], p[31]
	for i := range n & 7 {
		a0, a1, a2, a3, a4, a5, a6, a7 = a1+b0, a2^c1, a3+d2, a4, a5-c3, a6, a7, a0
		b0, b1, b2, b3, b4, b5, b6, b7 = b7, b0, b1+a0, b2, b3, b4*3, b5, b6
		p[i] = mixNine(a0, b0, c0, d0, a1, b1, c1, d1, uint64(i))
		c0, d0 = d0+p[i], c0
		c7, d7, c2 = d7^a7, c7, c2+1
	}
	s := a0 + a1*3 + a2*5 + a3*7 + a4*9 + a5*11 + a6*13 + a7*15
	s ^= b0 + b1*3 + b2*5 + b3*7 + b4*9 + b5*11 + b6*13 + b7*15
	s += c0 + c1*3 + c2*5 + c3*7 + c4*9 + c5*11 + c6*13 + c7*15
	s ^= d0 + d1*3 + d2*5 + d3*7 + d4*9 + d5*11 + d6*13 + d7*15
	return s
}

// ManyLiveNarrow does so with narrow and signed values.
func ManyLiveNarrow(p *[24]int8, q *[24]uint16, n uint8) int64 {
	a0, a1, a2, a3, a4, a5, a6, a7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	b0, b1, b2, b3, b4, b5, b6, b7 := q[8], q[9], q[10], q[11], q[12], q[13], q[14], q[15]
	c0, c1, c2, c3, c4, c5, c6, c7 := p[16], q[17], p[18], q[19], p[20], q[21], p[22], q[23]
	for i := range n & 15 {
		a0, a1, a2, a3, a4, a5, a6, a7 = a7+1, a0-a1, a1, a2*3, a3, a4>>1, a5, a6
		b0, b1, b2, b3, b4, b5, b6, b7 = b7, b0+b1, b1<<1, b2, b3-1, b4, b5/3, b6
		c0, c1, c2, c3 = c2+a0, c3^b0, c0, c1
		if a0 < c0 {
			c4, c5, c6, c7 = c6, c7, c4, c5+uint16(i)
		}
	}
	return int64(a0) + int64(a1)*2 + int64(a2)*3 + int64(a3)*4 + int64(a4)*5 + int64(a5)*6 + int64(a6)*7 + int64(a7)*8 +
		int64(b0)*9 + int64(b1)*10 + int64(b2)*11 + int64(b3)*12 + int64(b4)*13 + int64(b5)*14 + int64(b6)*15 + int64(b7)*16 +
		int64(c0)*17 + int64(c1)*18 + int64(c2)*19 + int64(c3)*20 + int64(c4)*21 + int64(c5)*22 + int64(c6)*23 + int64(c7)*24
}

// Expression is one deep expression.
func Expression(a, b, c, d uint64) uint64 {
	return ((a+b)*(c-d) ^ (a-c)*(b+d)) + ((a|b)&(c^d)<<3 - (a&^d|c>>2)*(b^0x5555)) ^
		(((a*3+1)*(b*5+2)+(c*7+3)*(d*9+4))>>7 | (a^b^c^d)*((a+1)*(b+2)^(c+3)*(d+4)))
}

// Constants of every shape.
func Constants(a uint64) (r uint64) {
	r = a + 0x123456789abcdef0
	r ^= 0xffff0000ffff0000
	r += 4096
	r -= 4097
	r |= 0x8000000000000001
	r *= 0xdeadbeef
	r &= 0xfffffffffffffffe
	r ^= 0xff00
	r += 0xfffffffffffff000
	r &^= 0x1234
	if r > 0xffffffff00000000 {
		r -= 0x7fffffffffffffff
	}
	return r
}
