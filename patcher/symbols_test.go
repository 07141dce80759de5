package patcher

import (
	"encoding/binary"
	"runtime"
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

// TestBehind looks for functions in lists of objects: behind the library itself, in the C library, in one of unknown name.
func TestBehind(t *testing.T) {
	_, libc := library(t)
	tsanMem, tsan := library(t)
	_, late := library(t)
	const read = libFunc + 3*0x2000
	name := func(s string) uintptr {
		b := append([]byte(s), 0)
		t.Cleanup(func() { runtime.KeepAlive(b) })
		return uintptr(unsafe.Pointer(&b[0]))
	}
	type object struct {
		base, dynamic uintptr
		name          string
	}
	program, own := object{late, late + libDyn, ""}, object{1 << 20, 1<<20 + 8, "/usr/lib/libsvcrelay.so"}
	before, wants, c := object{late, late + libDyn, "libz.so.1"}, object{tsan, tsan + libDyn, "libtsan.so.2"}, object{libc, libc + libDyn, "/usr/lib/libc.so.6"}
	musl, unknown := c, c
	musl.name, unknown.name = "/lib/ld-musl-aarch64.so.1", "/opt/libc.so"
	look := func(function string, objects ...object) uintptr {
		entries := make([][5]uintptr, len(objects))
		if len(entries) == 0 {
			return Behind(0, own.dynamic, function)
		}
		for i, o := range objects {
			entries[i] = [5]uintptr{o.base, name(o.name), o.dynamic}
			if i > 0 {
				entries[i-1][3] = uintptr(unsafe.Pointer(&entries[i]))
			}
		}
		got := Behind(uintptr(unsafe.Pointer(&entries[0])), own.dynamic, function)
		runtime.KeepAlive(entries)
		return got
	}
	cases := []struct {
		what    string
		objects []object
		want    uintptr
	}{
		{"the C library's", []object{program, own, c, before}, libc + read},
		{"a sanitizer's", []object{program, own, wants, c}, tsan + read},
		{"behind musl's name", []object{program, own, wants, musl}, tsan + read},
		{"what stands before the library", []object{program, wants, own, c}, libc + read},
		{"loaded later than the C library", []object{program, own, c, wants}, libc + read},
		{"the library loaded late", []object{program, c, wants, own, before}, libc + read},
		{"not in the list", []object{program, wants, c}, libc + read},
		{"a C library of another name", []object{program, own, unknown, wants}, libc + read},
		{"nobody's", []object{program, own}, 0},
		{"nobody's, and no library", nil, 0},
	}
	for _, table := range []uint64{dtGnuHash, dtHash} {
		// In the older table the second word is how many symbols there are.
		binary.LittleEndian.PutUint64(tsanMem[libDyn:], table)
		if table == dtHash {
			binary.LittleEndian.PutUint32(tsanMem[libHash+4:], uint32(len(exported)+1))
			for i := range exported {
				binary.LittleEndian.PutUint16(tsanMem[libSyms+symSize*(i+1)+6:], 1)
			}
		}
		for _, c := range cases {
			if got := look("read", c.objects...); got != c.want {
				t.Errorf("%s (table %#x): %#x, want %#x", c.what, table, got, c.want)
			}
		}
		if got := look("write", program, own, wants, c); got != 0 {
			t.Errorf("a function nobody has: %#x", got)
		}
		if got := look("rea", program, own, wants, c); got != 0 {
			t.Errorf("the beginning of a function's name: %#x", got)
		}
	}
}
