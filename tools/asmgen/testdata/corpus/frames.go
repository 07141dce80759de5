package corpus

// BigFrame has a local array beyond the reach of short offsets.
func BigFrame(seed uint64, i, j uint16) uint64 {
	var a [900]uint64
	a[i%900] = seed
	a[899] += 3
	s := fillEvery(&a, uint64(j%64)+1)
	return s + a[0] + a[j%900] + a[i%900]
}

func fillEvery(a *[900]uint64, step uint64) (s uint64) {
	for i := uint64(0); i < 900; i += step {
		a[i] += i
		s += a[i]
	}
	return s
}

// HugeFrame has one beyond the reach of long offsets, and small variables around it.
func HugeFrame(seed uint32, i uint16, b uint8) uint32 {
	var before pair
	var a [12000]uint32
	var after [3]uint8
	before.x = seed
	setTo(&before.y, uint32(b))
	a[i%12000] = seed
	a[11999]++
	after[b%3] = b
	p := &a[(i+1)%12000]
	*p = before.sum()
	for _, v := range after {
		before.x += uint32(v)
	}
	return before.x ^ a[i%12000] ^ a[(i+1)%12000] + a[11999] + uint32(after[b%3])
}

// BigFrameArguments has stack arguments above a big frame and below it.
func BigFrameArguments(a, b, c, d, e, f, g, h, i, j uint64) uint64 {
	var w [700]uint64
	w[a%700], w[j%700] = i, j
	s := mixNine(a, b, c, d, e, f, g, w[a%700], w[j%700]&7)
	w[s%700] ^= h
	return s + w[b%700] + i*j + w[s%700]
}

// TwoFrames calls from one big frame into another.
func TwoFrames(seed uint64, i uint8) uint64 {
	var a [300]uint64
	a[i] = seed
	for k := range uint16(3) {
		a[k] += BigFrame(seed+uint64(k), k, uint16(i))
	}
	return a[0] ^ a[1]<<1 ^ a[2]<<2 ^ a[i]
}

// Pressure needs more registers than there are inside a loop with calls and memory.
func Pressure(p *[16]uint64, q *[16]int32, n uint8) uint64 {
	a, b, c, d, e, f, g, h := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	i, j, k, l, m, o, r, s := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	t, u, v, w := uint8(a), int8(b), uint16(c), int16(d)
	for x := range n & 7 {
		a, b, c, d = b+uint64(i), c^a, d-b, a+c
		e, f, g, h = mulAddWide(e, f, g), e^uint64(x), h>>1, f|1
		i, j, k, l = j-i, k+l, l^int32(t), i*3
		m, o, r, s = o+int32(u), r-m, s|int32(v), m&int32(w)
		t, u, v, w = t+uint8(i), u-int8(j), v^uint16(k), w+int16(l)
		if i < j {
			p[x] += a
			k, l = l, k
		} else {
			q[x] ^= m
			e, h = h, e
		}
	}
	y := a + b*3 + c*5 + d*7 + e*9 + f*11 + g*13 + h*15
	z := int64(i) + int64(j)*3 + int64(k)*5 + int64(l)*7 + int64(m)*9 + int64(o)*11 + int64(r)*13 + int64(s)*15
	return y ^ uint64(z) + uint64(t) + uint64(u)<<8 + uint64(v)<<16 + uint64(w)<<24
}

func mulAddWide(a, b, c uint64) uint64 {
	s := uint64(0)
	for range a & 3 {
		s = s*b + c
		a, b, c = b, c, s
	}
	return s + a
}
