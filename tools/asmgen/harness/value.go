package harness

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand"
	"reflect"
	"runtime"
	"unsafe"
)

// foreign stands for a pointer to something outside the arena, a string constant for example.
const foreign = 0xf0f0f0f0f0f0f0f0

// emptySlice stands for the pointer of a slice without capacity: where that
// leads is nobody's business.
const emptySlice = 0xe0e0e0e0e0e0e0e0

// inArena marks a pointer that has become an offset in the arena.
const inArena = 0xa0a0a0a000000000

// Case is one call of a Go function, prepared for both sides.
type Case struct {
	Call   Call
	fn     reflect.Value
	in     []reflect.Value
	mem    []uint64 // the native arena; its pointers lead into itself
	used   int
	ptrAt  []pointerPlace // where the arena holds pointers, by type
	small  bool           // numbers are small, as indexes are
	places map[reflect.Type][]int
	rng    *rand.Rand
}

// pointerPlace is a place in the arena that holds a pointer: of a string, of a
// slice, or a plain one.
type pointerPlace struct {
	at   int
	kind reflect.Kind
}

// Outcome is what a call left, in a form that can be compared across machines.
type Outcome struct {
	Aborted bool
	// Panic is the native panic's text.
	Panic   string
	Results []uint64
	Arena   []byte
}

// Diff describes the first difference, or is empty.
func (a Outcome) Diff(b Outcome) string {
	if a.Aborted != b.Aborted {
		return fmt.Sprintf("panics: %v (%s) and %v", a.Aborted, a.Panic, b.Aborted)
	}
	if !a.Aborted {
		for i := range a.Results {
			if a.Results[i] != b.Results[i] {
				return fmt.Sprintf("result scalar %d: %#x and %#x", i, a.Results[i], b.Results[i])
			}
		}
	}
	for i := 0; i+8 <= len(a.Arena); i += 8 {
		x, y := binary.LittleEndian.Uint64(a.Arena[i:]), binary.LittleEndian.Uint64(b.Arena[i:])
		if x != y {
			return fmt.Sprintf("memory at %#x: %#x and %#x", i, x, y)
		}
	}
	return ""
}

// NewCase prepares a call of fn, whose symbol is entry, with random arguments.
// Parameters and results may be integers, booleans, strings, slices, pointers,
// and structs and arrays of those; memory is shared between arguments of one
// type now and then.
func NewCase(entry string, fn any, rng *rand.Rand) *Case {
	c := newCase(entry, fn, rng, 4096)
	t := c.fn.Type()
	for i := range t.NumIn() {
		v := reflect.New(t.In(i)).Elem()
		c.fill(v, 0)
		c.in = append(c.in, v)
	}
	return c.finish()
}

// EdgeCases prepares calls of fn with every combination of the values at which
// arithmetic changes its ways. It gives none for a function with parameters that
// are no numbers, or more than three.
func EdgeCases(entry string, fn any) []*Case {
	t := reflect.TypeOf(fn)
	if t.NumIn() == 0 || t.NumIn() > 3 {
		return nil
	}
	values := make([][]reflect.Value, t.NumIn())
	for i := range values {
		if values[i] = edges(t.In(i), t.NumIn() == 3); values[i] == nil {
			return nil
		}
	}
	cases := [][]reflect.Value{nil}
	for _, vs := range values {
		var longer [][]reflect.Value
		for _, c := range cases {
			for _, v := range vs {
				longer = append(longer, append(c[:len(c):len(c)], v))
			}
		}
		cases = longer
	}
	var out []*Case
	rng := rand.New(rand.NewSource(1))
	for _, in := range cases {
		c := newCase(entry, fn, rng, 8) // numbers need no memory
		c.in = in
		out = append(out, c.finish())
	}
	return out
}

// edges are the values at which a type's arithmetic changes its ways, or nil if it has none.
func edges(t reflect.Type, few bool) []reflect.Value {
	var out []reflect.Value
	add := func(u uint64) {
		v := reflect.New(t).Elem()
		n := 8 * t.Size()
		switch {
		case t.Kind() == reflect.Bool:
			v.SetBool(u != 0)
		case v.CanInt():
			v.SetInt(int64(u<<(64-n)) >> (64 - n))
		default:
			v.SetUint(u << (64 - n) >> (64 - n))
		}
		out = append(out, v)
	}
	v := reflect.Zero(t)
	switch {
	case t.Kind() == reflect.Bool:
		add(0)
		add(1)
	case v.CanInt() || v.CanUint():
		n := 8 * t.Size()
		us := []uint64{0, 1, ^uint64(0), 1 << (n - 1), 1<<(n-1) - 1, 2, 7, uint64(n), uint64(n) - 1, 1<<(n-1) + 1, ^uint64(0) - 6, 63, 64}
		if few {
			us = us[:6]
		}
		for _, u := range us {
			add(u)
		}
	}
	return out
}

func newCase(entry string, fn any, rng *rand.Rand, memory int) *Case {
	return &Case{
		Call: Call{Entry: entry}, fn: reflect.ValueOf(fn), rng: rng,
		mem: make([]uint64, memory/8), places: map[reflect.Type][]int{}, small: rng.Intn(2) == 0,
	}
}

// finish turns the arguments into those of the compiled call.
func (c *Case) finish() *Case {
	for _, v := range c.in {
		for _, s := range flatten(nil, v) {
			a := Arg{Value: s.v, Pointer: s.ptr && s.v != 0}
			if a.Pointer {
				a.Value -= c.base()
			} else if !s.ptr {
				// Bits beyond a narrow argument are unspecified: make them junk.
				a.Value = s.v&mask(s.size) | c.rng.Uint64()&^mask(s.size)
			}
			c.Call.Args = append(c.Call.Args, a)
		}
	}
	c.used = (c.used + 7) &^ 7
	c.Call.Arena = c.bytes(c.used)
	for _, pp := range c.ptrAt {
		if p := c.mem[pp.at/8]; p != 0 {
			c.Call.Pointers = append(c.Call.Pointers, Pointer{pp.at, int(p - c.base())})
			binary.LittleEndian.PutUint64(c.Call.Arena[pp.at:], 0)
		}
	}
	return c
}

func (c *Case) base() uint64 { return uint64(uintptr(unsafe.Pointer(&c.mem[0]))) }

func (c *Case) bytes(n int) []byte {
	out := make([]byte, 0, n)
	for _, w := range c.mem[:n/8] {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// Native calls the function here. It can be done once.
func (c *Case) Native() (o Outcome) {
	defer runtime.KeepAlive(c.mem)
	func() {
		defer func() {
			if p := recover(); p != nil {
				o.Aborted, o.Panic = true, fmt.Sprint(p)
			}
		}()
		var scalars []scalar
		for _, v := range c.fn.Call(c.in) {
			scalars = flatten(scalars, v)
		}
		var words []uint64
		for _, s := range scalars {
			words = append(words, s.v)
		}
		o.Results = normalResults(scalars, words, c.base(), c.used)
	}()
	o.Arena = normalArena(c.bytes(c.used), c.ptrAt, c.base(), c.used)
	return o
}

// Compiled turns a result of Run into an Outcome.
func (c *Case) Compiled(r Result) Outcome {
	o := Outcome{Aborted: r.Aborted, Arena: normalArena(r.Arena, c.ptrAt, r.ArenaBase, c.used)}
	if r.Aborted {
		return o
	}
	t := c.fn.Type()
	var scalars []scalar
	for i := range t.NumOut() {
		scalars = flatten(scalars, reflect.Zero(t.Out(i)))
	}
	o.Results = normalResults(scalars, r.Regs[:], r.ArenaBase, c.used)
	return o
}

// normalResults makes result scalars comparable.
func normalResults(scalars []scalar, words []uint64, base uint64, used int) []uint64 {
	var out []uint64
	for i, s := range scalars {
		switch {
		case !s.ptr:
			out = append(out, words[i]&mask(s.size))
		case s.kind == reflect.String:
			out = append(out, normal(s.kind, words[i], words[i+1], base, used))
		case s.kind == reflect.Slice:
			out = append(out, normal(s.kind, words[i], words[i+2], base, used))
		default:
			out = append(out, normal(s.kind, words[i], 1, base, used))
		}
	}
	return out
}

// normal makes a pointer comparable; size is the length of its string or the capacity of its slice.
func normal(kind reflect.Kind, p, size, base uint64, used int) uint64 {
	switch {
	case kind == reflect.String && size == 0, p == 0:
		return 0
	case kind == reflect.Slice && size == 0:
		return emptySlice
	case p >= base && p <= base+uint64(used):
		return inArena + p - base
	}
	return foreign
}

func normalArena(b []byte, ptrAt []pointerPlace, base uint64, used int) []byte {
	le := binary.LittleEndian
	for _, pp := range ptrAt {
		size := uint64(1)
		switch pp.kind {
		case reflect.String:
			size = le.Uint64(b[pp.at+8:])
		case reflect.Slice:
			size = le.Uint64(b[pp.at+16:])
		}
		le.PutUint64(b[pp.at:], normal(pp.kind, le.Uint64(b[pp.at:]), size, base, used))
	}
	return b
}

// String shows the arguments.
func (c *Case) String() string {
	s := c.Call.Entry + "("
	for i, v := range c.in {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%+v", v)
	}
	return s + ")"
}

// scalar is one value of a flattened type.
type scalar struct {
	v    uint64
	size int
	ptr  bool
	kind reflect.Kind // of what a pointer belongs to
}

func mask(size int) uint64 {
	if size == 8 {
		return ^uint64(0)
	}
	return 1<<(8*size) - 1
}

// flatten appends the scalars of v as the internal calling convention orders them.
func flatten(out []scalar, v reflect.Value) []scalar {
	switch v.Kind() {
	case reflect.Bool:
		b := uint64(0)
		if v.Bool() {
			b = 1
		}
		return append(out, scalar{v: b, size: 1})
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return append(out, scalar{v: uint64(v.Int()), size: int(v.Type().Size())})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return append(out, scalar{v: v.Uint(), size: int(v.Type().Size())})
	case reflect.String:
		return append(out, scalar{uint64(uintptr(unsafe.Pointer(unsafe.StringData(v.String())))), 8, true, reflect.String}, scalar{v: uint64(v.Len()), size: 8})
	case reflect.Slice:
		return append(out, scalar{uint64(v.Pointer()), 8, true, reflect.Slice}, scalar{v: uint64(v.Len()), size: 8}, scalar{v: uint64(v.Cap()), size: 8})
	case reflect.Pointer, reflect.UnsafePointer:
		return append(out, scalar{uint64(v.Pointer()), 8, true, reflect.Pointer})
	case reflect.Struct:
		for i := range v.NumField() {
			out = flatten(out, v.Field(i))
		}
		return out
	case reflect.Array:
		for i := range v.Len() {
			out = flatten(out, v.Index(i))
		}
		return out
	}
	panic("harness: no scalars of " + v.Type().String())
}

// words are strings that are equal, or nearly equal, often enough to matter.
var words = []string{"", "a", "abc", "abd", "abcdefgh", "abcdefghi", "abcdefgX", "/", "/usr/lib", "..", "proc"}

// fill gives v a random value; depth limits pointers to pointers.
func (c *Case) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(c.rng.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(c.integer(int(v.Type().Size()))) << (64 - 8*v.Type().Size()) >> (64 - 8*v.Type().Size()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(c.integer(int(v.Type().Size())) & mask(int(v.Type().Size())))
	case reflect.String:
		s := words[c.rng.Intn(len(words))]
		if c.rng.Intn(4) == 0 {
			b := make([]byte, c.rng.Intn(40))
			c.rng.Read(b)
			s = string(b)
		}
		if s == "" {
			return
		}
		at := c.alloc(1, len(s))
		mem := unsafe.Slice((*byte)(c.ptr(at)), len(s))
		copy(mem, s)
		v.Set(reflect.ValueOf(unsafe.String(&mem[0], len(s))).Convert(v.Type()))
	case reflect.Slice:
		if c.rng.Intn(12) == 0 {
			return
		}
		n := c.rng.Intn(10)
		if c.rng.Intn(8) == 0 {
			n = c.rng.Intn(64)
		}
		at := c.place(reflect.ArrayOf(n+c.rng.Intn(3), v.Type().Elem()), depth)
		arr := reflect.NewAt(reflect.ArrayOf(n, v.Type().Elem()), c.ptr(at)).Elem()
		v.Set(arr.Slice(0, n))
	case reflect.Pointer:
		if c.rng.Intn(12) == 0 || depth > 3 {
			return
		}
		v.Set(reflect.NewAt(v.Type().Elem(), c.ptr(c.place(v.Type().Elem(), depth))))
	case reflect.Struct:
		for i := range v.NumField() {
			c.fill(settable(v.Field(i)), depth)
		}
	case reflect.Array:
		for i := range v.Len() {
			c.fill(v.Index(i), depth)
		}
	default:
		panic("harness: no random " + v.Type().String())
	}
}

// settable lifts the protection of an unexported field.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// integer is a random number of size bytes, with a liking for edges and small values.
func (c *Case) integer(size int) uint64 {
	n := 8 * size
	if c.small && c.rng.Intn(8) != 0 {
		return uint64(c.rng.Intn(6))
	}
	switch c.rng.Intn(8) {
	case 0:
		return uint64(c.rng.Intn(4))
	case 1:
		return uint64(-int64(c.rng.Intn(4)))
	case 2:
		return uint64(c.rng.Intn(72))
	case 3: // the smallest and largest signed values, and their neighbours
		return uint64(1)<<(n-1) + uint64(c.rng.Intn(5)) - 2
	case 4: // near a power of two
		return bits.RotateLeft64(1, c.rng.Intn(n)) + uint64(c.rng.Intn(3)) - 1
	case 5:
		return c.rng.Uint64() >> c.rng.Intn(64)
	}
	return c.rng.Uint64()
}

func (c *Case) ptr(at int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(&c.mem[0]), at)
}

func (c *Case) alloc(align, size int) int {
	c.used = (c.used + align - 1) &^ (align - 1)
	at := c.used
	c.used += size
	if c.used+64 > 8*len(c.mem) {
		panic(fmt.Sprintf("harness: %s needs more than %d bytes", c.Call.Entry, 8*len(c.mem)))
	}
	return at
}

// place makes room for a random value of t, or finds one made before.
func (c *Case) place(t reflect.Type, depth int) int {
	if old := c.places[t]; len(old) > 0 && c.rng.Intn(4) == 0 {
		return old[c.rng.Intn(len(old))]
	}
	at := c.alloc(max(t.Align(), 1), int(t.Size()))
	c.fill(reflect.NewAt(t, c.ptr(at)).Elem(), depth+1)
	c.places[t] = append(c.places[t], at)
	c.pointers(t, at)
	return at
}

// pointers notes where a value of t at an offset holds pointers.
func (c *Case) pointers(t reflect.Type, at int) {
	switch t.Kind() {
	case reflect.String, reflect.Slice, reflect.Pointer:
		c.ptrAt = append(c.ptrAt, pointerPlace{at, t.Kind()})
	case reflect.Struct:
		for i := range t.NumField() {
			c.pointers(t.Field(i).Type, at+int(t.Field(i).Offset))
		}
	case reflect.Array:
		for i := range t.Len() {
			c.pointers(t.Elem(), at+i*int(t.Elem().Size()))
		}
	}
}
