package patcher

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inputs is how many inputs of each fuzzer every test run tries.
const inputs = 20000

// FuzzCacheFile gives the reader of cache files anything. Its checksum may be made right, since that is no protection
// against somebody who means it: whatever is accepted are sites that the search finds too.
func FuzzCacheFile(f *testing.F) {
	w := newCached(f)
	w.start(f)
	w.all = slices.Clone(w.plan.Found[:w.plan.FoundCount])
	good := w.load8(roomFile)[:w.plan.compose()]
	f.Add(append([]byte{1}, good...))
	f.Add(append([]byte{0}, good...))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) { w.try(t, b) })
}

// try lets accept look at the bytes after the first. The first says whether the checksum is made right.
func (w *cached) try(t *testing.T, b []byte) {
	if len(b) == 0 {
		return
	}
	n := copy(w.load8(roomFile)[:maxFile], b[1:])
	if b[0]&1 == 1 && n >= 8 {
		seal(w.load8(roomFile)[:n])
	}
	if n < headSize {
		return // read gives none of these
	}
	p := &w.plan
	p.forgetFound()
	if !p.accept(uintptr(n)) {
		if p.FoundCount != 0 {
			t.Errorf("not accepted, but %d sites were taken", p.FoundCount)
		}
		return
	}
	for i := range p.FoundCount {
		if f := p.Found[i]; !slices.Contains(w.all, f) || i > 0 && f.Offset <= p.Found[i-1].Offset {
			t.Errorf("accepted %+v", f)
		}
	}
}

// TestCacheFileMutations is the fuzzer for a fixed number of inputs, the same ones every time.
func TestCacheFileMutations(t *testing.T) {
	w := newCached(t)
	w.start(t)
	w.all = slices.Clone(w.plan.Found[:w.plan.FoundCount])
	good := append([]byte{0}, w.load8(roomFile)[:w.plan.compose()]...)
	rnd := rand.New(rand.NewPCG(3, 5))
	for range inputs {
		w.try(t, mutate(rnd, good))
	}
}

// mutate changes some bytes, words or the length of b. What it makes is mostly close to b.
func mutate(rnd *rand.Rand, b []byte) []byte {
	b = append([]byte{byte(rnd.Uint32())}, b[1:]...)
	for range 1 + rnd.IntN(4) {
		at := rnd.IntN(len(b))
		switch rnd.IntN(8) {
		case 0:
			b = b[:at+1]
		case 1:
			b = append(b, b[at:]...)
		case 2:
			if at+8 < len(b) {
				from := 1 + (at-at%8)%max(len(b)-8, 1)
				copy(b[min(from, len(b)-8):], b[at:at+8])
			}
		case 3:
			b[at] = byte(rnd.Uint32())
		case 4:
			b[at] ^= 1 << rnd.IntN(8)
		case 5:
			b[at] += byte(rnd.IntN(9)) - 4
		case 6:
			for i := at; i < min(at+8, len(b)); i++ {
				b[i] = byte(-rnd.IntN(2))
			}
		case 7:
			b[at] = 0
		}
	}
	return b
}

// island is a library's text with nothing readable around it.
type island struct {
	text []byte
	plan Plan
}

const islandSize = 16 << 10

func newIsland(tb testing.TB) *island {
	tb.Helper()
	mem, err := unix.Mmap(-1, 0, islandSize+128<<10, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Munmap(mem) })
	text := mem[64<<10 : 64<<10+islandSize]
	if err := unix.Mprotect(text, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		tb.Fatal(err)
	}
	return &island{text: text}
}

// try searches text, put at the begin or at the end of the island.
func (is *island) try(t *testing.T, text []byte) {
	text = text[:min(len(text), islandSize)&^3]
	if len(text) < 8 {
		return
	}
	for _, room := range [][]byte{is.text[:len(text)], is.text[islandSize-len(text):]} {
		copy(room, text)
		lo := uintptr(unsafe.Pointer(&room[0]))
		is.plan = Plan{want: everyCall(), Libraries: 1}
		p := &is.plan
		l := &p.Library[0]
		l.Text = Text{lo, lo + uintptr(len(text))}
		l.Base = lo &^ (granule - 1)
		if complete := p.search(l); !complete && p.FoundCount < MaxSites {
			t.Errorf("%d sites, and no room", p.FoundCount)
		}
		for i := range p.FoundCount {
			if !p.Confirm(l, p.Found[i]) {
				t.Errorf("%+v is not confirmed in %x", p.Found[i], text)
			}
		}
	}
}

func everyCall() (n Numbers) {
	for i := uintptr(0); i < MaxNumber; i++ {
		n.Add(i)
	}
	return n
}

// FuzzText searches anything at all as a library's text.
func FuzzText(f *testing.F) {
	is := newIsland(f)
	for _, s := range texts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) { is.try(t, b) })
}

// TestTextMutations is the fuzzer for a fixed number of inputs, the same ones every time.
func TestTextMutations(t *testing.T) {
	is := newIsland(t)
	rnd := rand.New(rand.NewPCG(7, 11))
	seeds := texts()
	for i := range inputs {
		b := append([]byte{0}, seeds[rnd.IntN(len(seeds))]...)
		if i%4 == 0 { // instructions in any order
			for len(b) < 400 {
				b = binary.LittleEndian.AppendUint32(b, common[rnd.IntN(len(common))]^uint32(rnd.IntN(8))>>2<<rnd.IntN(32))
			}
		}
		is.try(t, mutate(rnd, b)[1:])
	}
}

// common are instructions that the search looks at.
var common = []uint32{SVC, SVC, 0xd2800708, 0x2a0003e8, 0xaa0103e0, 0xaa0603e8, 0xd65f03c0, 0x14000004, 0x17fffffc, 0x54000041, 0xb4000068,
	0x37000068, 0x94000002, 0x97fffffd, 0xd63f0100, 0x52800708, 0x92800008, 0x321d03e8, 0xf2a00008, 0xf94003e8, 0xa94023e8, 0xd4200000, 0xd503201f, 0xd503245f}

// texts are small functions with sites of all kinds.
func texts() [][]byte {
	var out [][]byte
	for _, words := range [][]uint32{
		{0xd2800708, SVC, 0xd65f03c0},
		{0x2a0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, 0xaa0403e3, 0xaa0503e4, 0xaa0603e5, SVC, 0xd65f03c0},
		{0xaa0603e8, SVC, 0xd65f03c0},
		{0x94000000, 0xd2800708, 0xaa1303e0, SVC},
		{0xb4000068, 0xd2800708, 0x14000002, 0xd28009e8, SVC, 0xd65f03c0},
		{SVC, SVC, SVC},
	} {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		out = append(out, b)
	}
	return out
}
