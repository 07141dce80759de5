package corpus

import "unsafe"

// mixed has every kind of field, with padding.
type mixed struct {
	a uint8
	b int64
	c bool
	d int16
	e [3]uint8
	f uint32
	g inner
	h string
	i []uint16
	j *inner
}

type inner struct {
	p uint16
	q int32
	r [2]uint64
}

type small struct {
	a uint8
	b int32
	c uint64
}

type empty struct{}

// ReadFields reads every field.
func ReadFields(m *mixed) uint64 {
	s := uint64(m.a) + uint64(m.b) + uint64(m.d) + uint64(m.e[1]) + uint64(m.f) + uint64(m.g.p) + uint64(m.g.q) + m.g.r[1]
	if m.c {
		s ^= 0xff00
	}
	if m.j != nil {
		s += m.j.r[0]
	}
	return s + uint64(len(m.h)) + uint64(len(m.i))
}

// WriteFields writes every field.
func WriteFields(m *mixed, v int64) {
	m.a = uint8(v)
	m.b = v
	m.c = v > 0
	m.d = int16(v >> 3)
	m.e = [3]uint8{1, uint8(v), 3}
	m.f++
	m.g = inner{p: 7, q: int32(v)}
	m.h = "constant"
	m.i = m.i[:0]
	m.j = &m.g
}

// CopyStruct copies whole structures through pointers, possibly onto itself.
func CopyStruct(a, b *mixed) int64 {
	*a = *b
	a.b++
	return b.b
}

// SwapStructs exchanges structures.
func SwapStructs(a, b *inner) { *a, *b = *b, *a }

// ByValue takes and returns structures.
func ByValue(s small, k uint8) (small, uint64) {
	t := s
	t.a += k
	s.b = -s.b
	return t, s.c + uint64(s.b)
}

// ReturnStruct builds one from parts.
func ReturnStruct(a uint8, b int32, c uint64) small {
	if a == 0 {
		return small{c: c}
	}
	return small{a, b, c}
}

// Literal leaves fields out.
func Literal(x uint32) uint64 {
	s := small{b: int32(x)}
	p := &small{a: 3, c: uint64(x)}
	q := inner{r: [2]uint64{1: 9}}
	return uint64(s.a) + uint64(s.b) + uint64(p.a) + p.c + q.r[0] + q.r[1] + uint64(p.b)
}

// CompareStructs compares field by field.
func CompareStructs(a, b small, p, q *inner) (bool, bool, bool) {
	if p == nil || q == nil {
		return a == b, p == q, false
	}
	return a == b, p == q, *p == *q
}

// CompareStrings are part of structures too.
func CompareStrings(a, b named) bool { return a == b }

type named struct {
	name string
	n    uint8
}

// Embedded reaches promoted fields and methods.
func Embedded(p *outer, v uint32) uint32 {
	p.x += v
	p.bump()
	return p.sum() + p.pair.y
}

type outer struct {
	n uint8
	pair
	extra uint32
}

func (p *pair) bump()      { p.x, p.y = p.y+1, p.x }
func (p pair) sum() uint32 { return p.x*3 + p.y }

// Methods calls on values and pointers.
func Methods(a counter, p *counter, n int8) (counter, int64) {
	a.add(n)
	if p != nil {
		p.add(n)
		return a, p.twice()
	}
	return a, a.twice()
}

type counter int64

func (c *counter) add(n int8)  { *c += counter(n) }
func (c counter) twice() int64 { return int64(c) * 2 }

// Local has its address taken and passed down.
func Local(n uint32) uint32 {
	var c pair
	c.x = n
	setTo(&c.y, n+1)
	c.bump()
	p := &c
	q := &p.x
	*q *= 2
	return c.x + c.sum()
}

func setTo(p *uint32, v uint32) { *p = v }

// LocalScalar has scalars with their addresses taken.
func LocalScalar(a, b int64) (int64, int64) {
	swap(&a, &b)
	x := a
	p := &x
	if b > 0 {
		p = &b
	}
	*p += 5
	return x, b
}

func swap(a, b *int64) { *a, *b = *b, *a }

// LocalLoop has an address-taken variable that is new in each round.
func LocalLoop(n uint8) (s uint32) {
	for i := range uint32(n & 15) {
		var v uint32
		addTo(&v, i)
		s = s*3 + v
		addTo(&v, 1)
	}
	return s
}

func addTo(p *uint32, v uint32) { *p += v }

// New uses the built-in for memory that does not outlive the call.
func New(n uint16) uint16 {
	p := new(uint16)
	*p += n
	q := new(inner)
	q.p = *p
	return q.p + uint16(q.q)
}

// Anonymous structures and structures without fields.
func Anonymous(a, b uint8) uint8 {
	v := struct{ x, y uint8 }{a, b}
	var e empty
	_ = e
	w := v
	w.x, w.y = w.y, w.x
	return v.x*3 + w.x
}

// Big copies a structure that fits no registers.
func Big(p *big, i uint8) uint64 {
	local := *p
	local.words[i%40]++
	touch(&local)
	*p = local
	return p.words[0] + p.words[i%40]
}

func touch(p *big) { p.words[0] = uint64(p.n) }

type big struct {
	n     uint8
	words [40]uint64
}

// BigCompare compares such structures.
func BigCompare(p, q *big) bool {
	if p == nil || q == nil {
		return false
	}
	return *p == *q
}

// BigZero sets one to zero.
func BigZero(p *big) uint64 {
	*p = big{n: 4}
	return p.words[39]
}

// BigByValue passes one down by value.
func BigByValue(p *big) uint64 {
	v := sumBig(*p)
	return v + p.words[1]
}

func sumBig(b big) (s uint64) {
	b.words[1] = 1
	for _, w := range b.words {
		s = s*3 + w
	}
	return s
}

// Offsets are constants.
func Offsets() (uintptr, uintptr, uintptr, uintptr) {
	var m mixed
	return unsafe.Sizeof(m), unsafe.Offsetof(m.f), unsafe.Alignof(m.g), unsafe.Sizeof(m.e)
}

// List walks linked memory.
func List(n *node, limit uint8) (s uint64) {
	for ; n != nil && limit > 0; n, limit = n.next, limit-1 {
		s = s*5 + n.v
		n.v++
	}
	return s
}

type node struct {
	v    uint64
	next *node
}

// PointerToPointer goes two steps.
func PointerToPointer(pp **inner, v uint16) uint16 {
	p := *pp
	old := p.p
	(*pp).p = v
	return old + p.p
}

// FieldPointers hands out addresses of fields and elements.
func FieldPointers(m *mixed, i uint8) uint32 {
	a := &m.e[i]
	b := &m.g.r[i&1]
	*a += 3
	*b ^= uint64(*a)
	c := &m.f
	*c += uint32(*b)
	return m.f
}
