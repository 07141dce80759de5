package patcher

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

const (
	libSize = 1 << 20
	libDyn  = 0x200
	libHash = 0x400
	libSyms = 0x1000
	libStrs = 0x4000
	libFunc = 0x10000 // functions, 0x2000 apart
)

var exported = []string{"open", "dl_iterate_phdr", "dl_iterate_phdr_all", "read"}

// library is a synthetic library that exports functions, in one chain of its hash table.
func library(t *testing.T) (mem []byte, base uintptr) {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, libSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	base = uintptr(unsafe.Pointer(&mem[0]))
	le := binary.LittleEndian
	copy(mem, "\x7fELF\x02\x01\x01")
	le.PutUint16(mem[16:], elfDyn)
	le.PutUint16(mem[18:], elfAArch64)
	le.PutUint64(mem[32:], 64)
	le.PutUint16(mem[54:], phdrSize)
	le.PutUint16(mem[56:], 2)
	for i, ph := range [][3]uint64{{ptLoad | pfX<<32, 0, libSize}, {ptDynamic, libDyn, 64}} {
		p := mem[64+phdrSize*i:]
		le.PutUint64(p, ph[0])
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
	for i, name := range exported {
		h := uint32(5381)
		for _, c := range []byte(name) {
			h = h*33 + uint32(c)
		}
		h &^= 1
		if i == len(exported)-1 {
			h |= 1
		}
		le.PutUint32(mem[libHash+28+4*i:], h)
		sym := mem[libSyms+symSize*(i+1):]
		le.PutUint32(sym, uint32(str))
		le.PutUint64(sym[8:], uint64(libFunc+0x2000*i))
		le.PutUint64(sym[16:], 0x100)
		str += copy(mem[libStrs+str:], name+"\x00")
	}
	return mem, base
}

func TestExport(t *testing.T) {
	_, base := library(t)
	p := new(memory)
	for i, name := range exported {
		if got, want := p.exported(base, name), base+libFunc+0x2000*uintptr(i); got != want {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
	for _, name := range []string{"", "ope", "opens", "write"} {
		if got := p.exported(base, name); got != 0 {
			t.Errorf("%q: %#x", name, got)
		}
	}
}

// TestExportHostile damages every word of the tables in turn: the answer may be anything within the text, or nothing.
func TestExportHostile(t *testing.T) {
	mem, base := library(t)
	p := new(memory)
	for _, area := range [][2]int{{32, 36}, {56, 60}, {64, 64 + 2*phdrSize}, {libDyn, libDyn + 64}, {libHash, libHash + 60}, {libSyms, libSyms + 150}} {
		for at := area[0]; at < area[1]; at += 4 {
			for _, v := range []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0xfff0} {
				old := binary.LittleEndian.Uint32(mem[at:])
				binary.LittleEndian.PutUint32(mem[at:], v)
				for _, name := range exported {
					if got := p.exported(base, name); got != 0 && got-base >= libSize {
						t.Fatalf("%#x at %#x: %#x", v, at, got)
					}
				}
				binary.LittleEndian.PutUint32(mem[at:], old)
			}
		}
	}
}

// A variable is behind the text, has the size that is asked for, and is there.
func TestVariable(t *testing.T) {
	mem, base := library(t)
	p := new(Plan)
	sym := mem[libSyms+symSize*4:] // the last one
	set := func(at, size uint64) {
		binary.LittleEndian.PutUint64(sym[8:], at)
		binary.LittleEndian.PutUint64(sym[16:], size)
	}
	const text = 0x80000
	binary.LittleEndian.PutUint64(mem[64+32:], text) // the first segment ends there
	set(text+0x100, 1)
	if got := p.Variable(base, "read", 1); got != base+text+0x100 {
		t.Errorf("%#x, want %#x", got, base+text+0x100)
	}
	set(text+0x100, 8)
	if got := p.Variable(base, "read", 1); got != 0 {
		t.Errorf("of another size: %#x", got)
	}
	set(text-0x100, 1)
	if got := p.Variable(base, "read", 1); got != 0 {
		t.Errorf("in the text: %#x", got)
	}
	set(text+0x100, 1)
	if err := unix.Mprotect(mem[text:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if got := p.Variable(base, "read", 1); got != 0 {
		t.Errorf("that cannot be read: %#x", got)
	}
}

// TestExported looks for functions of the C library in a list of libraries.
func TestExported(t *testing.T) {
	_, base := library(t)
	_, other := library(t)
	name := func(s string) uintptr {
		b := append([]byte(s), 0)
		t.Cleanup(func() { runtime.KeepAlive(b) })
		return uintptr(unsafe.Pointer(&b[0]))
	}
	entries := [4][5]uintptr{
		{0: 0, 1: name("")}, {0: other, 1: name("/usr/lib/libother.so.6")}, {0: base, 1: name("/usr/lib/libc.so.6")}, {0: other, 1: name("libz.so.1")},
	}
	for i := range len(entries) - 1 {
		entries[i][3] = uintptr(unsafe.Pointer(&entries[i+1]))
	}
	first := uintptr(unsafe.Pointer(&entries[0]))
	if got, want := Exported(first, "read"), base+libFunc+3*0x2000; got != want {
		t.Errorf("read: %#x, want %#x", got, want)
	}
	if got := Exported(first, "write"); got != 0 {
		t.Errorf("write: %#x", got)
	}
	if got := Exported(uintptr(unsafe.Pointer(&entries[3])), "read"); got != 0 {
		t.Errorf("without a C library: %#x", got)
	}
	if got := Exported(0, "read"); got != 0 {
		t.Errorf("without a list: %#x", got)
	}
	runtime.KeepAlive(&entries)
}

// TestExportedAfter has the first function of the name behind an entry, if the C library comes later.
func TestExportedAfter(t *testing.T) {
	_, libc := library(t)
	_, other := library(t)
	name := func(s string) uintptr {
		b := append([]byte(s), 0)
		t.Cleanup(func() { runtime.KeepAlive(b) })
		return uintptr(unsafe.Pointer(&b[0]))
	}
	dynamic := func(base uintptr) uintptr {
		off, n := uintptr(nocgo.Load64(base+32)), uintptr(nocgo.Load16(base+56))
		for i := range n {
			if ph := base + off + i*phdrSize; nocgo.Load32(ph) == ptDynamic {
				return base + uintptr(nocgo.Load64(ph+16))
			}
		}
		t.Fatal("no dynamic section")
		return 0
	}
	entries := [5][5]uintptr{
		{other, name(""), dynamic(other)}, {0, name("libsvcrelay.so"), 0}, {other, name("libtsan.so.2"), dynamic(other)},
		{libc, name("/usr/lib/libc.so.6"), dynamic(libc)}, {other, name("libz.so.1"), dynamic(other)},
	}
	at := func(i int) uintptr { return uintptr(unsafe.Pointer(&entries[i])) }
	for i := range len(entries) - 1 {
		entries[i][3] = at(i + 1)
	}
	const read = libFunc + 3*0x2000
	for _, c := range []struct {
		from int
		name string
		want uintptr
	}{{1, "read", other + read}, {2, "read", libc + read}, {3, "read", 0}, {4, "read", 0}, {1, "nothing", 0}} {
		if got := ExportedAfter(at(c.from), c.name); got != c.want {
			t.Errorf("%s behind %d: %#x, want %#x", c.name, c.from, got, c.want)
		}
	}
	runtime.KeepAlive(&entries)
}
