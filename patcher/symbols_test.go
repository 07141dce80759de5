package patcher

import (
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	libSize = 1 << 20
	libDyn  = 0x200
	libHash = 0x400
	libSyms = 0x1000
	libStrs = 0x4000
	libFunc = 0x10000 // functions, 0x2000 apart
)

// library is a synthetic library that exports the first n of the neighbours, in one chain of its hash table.
func library(t *testing.T, n int) (mem []byte, base uintptr) {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, libSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	base = uintptr(unsafe.Pointer(&mem[0]))
	le := binary.LittleEndian
	le.PutUint64(mem[32:], 64)
	le.PutUint16(mem[56:], 2)
	for i, ph := range [][3]uint64{{ptLoad, 0, libSize}, {ptDynamic, libDyn, 64}} {
		p := mem[64+phdrSize*i:]
		le.PutUint32(p, uint32(ph[0]))
		le.PutUint64(p[16:], ph[1])
		le.PutUint64(p[32:], ph[2])
	}
	for i, d := range [][2]uint64{{dtGnuHash, libHash}, {dtSymtab, libSyms}, {dtStrtab, uint64(base) + libStrs}} {
		le.PutUint64(mem[libDyn+16*i:], d[0])
		le.PutUint64(mem[libDyn+16*i+8:], d[1])
	}
	for i, v := range []uint32{1, 1, 1, 0, 0, 0, 1} { // a bucket, the first symbol is 1, a word of filter, its bucket
		le.PutUint32(mem[libHash+4*i:], v)
	}
	str := 1
	for i, name := range strings.Split(neighbours, "\x00")[:n] {
		h := uint32(5381)
		for _, c := range []byte(name) {
			h = h*33 + uint32(c)
		}
		h &^= 1
		if i == n-1 {
			h |= 1
		}
		le.PutUint32(mem[libHash+28+4*i:], h)
		sym := mem[libSyms+symSize*(i+1):]
		le.PutUint32(sym, uint32(str))
		le.PutUint64(sym[8:], uint64(libFunc+0x2000*(n-i)))
		le.PutUint64(sym[16:], 0x100)
		str += copy(mem[libStrs+str:], name+"\x00")
	}
	return mem, base
}

func TestNear(t *testing.T) {
	const n = 40
	_, base := library(t, n)
	whole := Text{base + 0x8000, base + libSize}
	p := new(Plan)
	if !p.near(base, whole) {
		t.Fatal("the names are not found")
	}
	if p.windows != n {
		t.Fatalf("%d windows for %d functions", p.windows, n)
	}
	for i := range p.windows {
		f := base + libFunc + 0x2000*uintptr(i+1)
		if want := (Text{f - around, f + 0x100 + around}); p.window[i] != want {
			t.Errorf("window %d is %#x, want %#x", i, p.window[i], want)
		}
	}
}

func TestNearMerges(t *testing.T) {
	const n = 40
	mem, base := library(t, n)
	for i := range n {
		binary.LittleEndian.PutUint64(mem[libSyms+symSize*(i+1)+8:], uint64(libFunc+0x400*(i%7)))
	}
	p := new(Plan)
	if !p.near(base, Text{base + 0x8000, base + libSize}) {
		t.Fatal("the names are not found")
	}
	if want := (Text{base + libFunc - around, base + libFunc + 6*0x400 + 0x100 + around}); p.windows != 1 || p.window[0] != want {
		t.Errorf("%d windows, the first %#x, want %#x", p.windows, p.window[0], want)
	}
}

// TestNearHostile damages every word of the tables in turn: the answer may be anything, but it must come, and what is
// to be searched must be within the text.
func TestNearHostile(t *testing.T) {
	mem, base := library(t, 40)
	whole := Text{base + 0x8000, base + libSize}
	if (&Plan{}).near(base, Text{base, base + 4096}) {
		t.Error("names are looked up for a small text")
	}
	p := new(Plan)
	for _, area := range [][2]int{{56, 60}, {64, 64 + 2*phdrSize}, {libDyn, libDyn + 64}, {libHash, libHash + 200}, {libSyms, libSyms + 100}} {
		for at := area[0]; at < area[1]; at += 4 {
			for _, v := range []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0xfff0} {
				if at == 56 && v&0xffff > maxHeaders {
					continue // text does not let that pass
				}
				old := binary.LittleEndian.Uint32(mem[at:])
				binary.LittleEndian.PutUint32(mem[at:], v)
				if p.near(base, whole) {
					for i := range p.windows {
						if w := p.window[i]; w.Lo < whole.Lo || w.Hi > whole.Hi || w.Lo > w.Hi {
							t.Fatalf("%#x at %#x: window %#x", v, at, w)
						}
					}
				}
				binary.LittleEndian.PutUint32(mem[at:], old)
			}
		}
	}
}
