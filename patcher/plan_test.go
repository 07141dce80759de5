package patcher

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"svcrelay/nocgo"
)

// world is a synthetic process image: a program's headers with a DT_DEBUG, a link map, and a library.
type world struct {
	mem  []byte
	base uintptr
	plan Plan
}

const (
	atPhdr  = 0x0    // program headers of the program
	atDyn   = 0x100  // its dynamic section
	atDebug = 0x200  // struct r_debug
	atMap   = 0x280  // three link map entries, 0x40 apart
	atNames = 0x400  // their names, 0x40 apart
	atLib   = 0x1000 // the library: one page of headers and text
	atText  = 0x200  // offset in it
	worldSz = 0x3000
)

func newWorld(t testing.TB) *world {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, worldSz, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	w := &world{mem: mem, base: uintptr(unsafe.Pointer(&mem[0]))}
	w.phdr(atPhdr, 0, ptPhdr, 0, 0, 0x70)
	w.phdr(atPhdr, 1, ptDynamic, 0, atDyn, 0x30)
	w.quads(atDyn, 1, 0, dtDebug, w.base+atDebug, 0, 0)
	w.quads(atDebug, 1, w.base+atMap)
	names := []string{"", "linux-vdso.so.1", "/usr/lib/aarch64-linux-gnu/libc.so.6"}
	bases := []uintptr{0, w.base, w.base + atLib}
	for i, name := range names {
		at := atMap + 0x40*i
		next := w.base + uintptr(at) + 0x40
		if i == len(names)-1 {
			next = 0
		}
		w.quads(at, bases[i], w.base+uintptr(atNames+0x40*i), 0, next, 0)
		copy(mem[atNames+0x40*i:], name+"\x00")
	}
	copy(mem[atLib:], "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(mem[atLib+16:], elfDyn)
	binary.LittleEndian.PutUint16(mem[atLib+18:], elfAArch64)
	binary.LittleEndian.PutUint64(mem[atLib+32:], 64)
	binary.LittleEndian.PutUint16(mem[atLib+54:], phdrSize)
	binary.LittleEndian.PutUint16(mem[atLib+56:], 1)
	w.phdr(atLib+64, 0, ptLoad, pfX, 0, 0x400)
	for i, word := range []uint32{
		0xd2800708, SVC, // openat
		0xd28009e8, 0xaa1303e0, SVC, // newfstatat
		0xd2801ba8, SVC, // execve
		SVC,             // no number... the block before gives execve
		0xd65f03c0, SVC, // none at all
		0xd28009e8, 0x14000010, SVC, // behind a branch
		0xd65f03c0, 0x2a0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, SVC, // syscall()
	} {
		binary.LittleEndian.PutUint32(mem[atLib+atText+4*i:], word)
	}
	return w
}

func (w *world) quads(at int, v ...uintptr) {
	for i, x := range v {
		binary.LittleEndian.PutUint64(w.mem[at+8*i:], uint64(x))
	}
}

func (w *world) phdr(at, i int, typ, flags uint32, vaddr, filesz uint64) {
	p := w.mem[at+phdrSize*i:]
	binary.LittleEndian.PutUint32(p, typ)
	binary.LittleEndian.PutUint32(p[4:], flags)
	binary.LittleEndian.PutUint64(p[16:], vaddr)
	binary.LittleEndian.PutUint64(p[32:], filesz)
	binary.LittleEndian.PutUint64(p[40:], filesz)
}

func (w *world) discover() bool {
	var want Numbers
	want.Add(nocgo.SysOpenat)
	want.Add(nocgo.SysNewfstatat)
	return w.plan.Discover(w.base+atPhdr, 2, &want)
}

func (w *world) word(site int) uint32 {
	return binary.LittleEndian.Uint32(w.mem[atLib+atText+4*site:])
}

func TestWholePlan(t *testing.T) {
	w := newWorld(t)
	if !w.discover() {
		t.Fatal("nothing discovered")
	}
	p := &w.plan
	if p.Count != 3 || p.Seen != 7 || p.Libraries != 1 || p.Dispatchers != 1 {
		t.Fatalf("%d sites of %d in %d libraries", p.Count, p.Seen, p.Libraries)
	}
	if p.Sites[0].Nr != 56 || p.Sites[1].Nr != 79 || p.Sites[2].Form != Any {
		t.Fatalf("sites %+v", p.Sites[:3])
	}
	if !p.Place(w.base, w.base, 4096) {
		t.Fatal("no stubs placed")
	}
	if err := unix.Mprotect(w.mem[atLib:atLib+0x1000], unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	if !p.Publish() {
		t.Fatal("not published")
	}
	for i, site := range []int{1, 4, 18} {
		want, _ := Branch(p.Sites[i].Addr, p.Sites[i].Stub)
		if got := w.word(site); got != want {
			t.Errorf("site %d: %#x, want %#x", i, got, want)
		}
	}
	if nocgo.Load32(p.Sites[0].Stub) != 0xd1000108|56<<10 || nocgo.Load32(p.Sites[2].Stub) != 0x93c82508 {
		t.Error("the stubs are not those of the sites' forms")
	}
	if w.word(6) != SVC || w.word(7) != SVC || w.word(9) != SVC || w.word(12) != SVC {
		t.Error("another site was touched")
	}
	stub := p.Sites[0].Stub
	p.Undo()
	if w.word(1) != SVC || w.word(4) != SVC || w.word(18) != SVC {
		t.Error("Undo left a branch")
	}
	if nocgo.Readable(stub) {
		t.Error("Undo left the stubs mapped")
	}
}

// TestPublishFails moves the second site to where there is no svc, near the first or in a page of its own: the first
// must be taken back.
func TestPublishFails(t *testing.T) {
	for _, off := range []uintptr{4, 0x1000} {
		w := newWorld(t)
		w.discover()
		p := &w.plan
		if !p.Place(w.base, w.base, 4096) {
			t.Fatal("no stubs placed")
		}
		p.Sites[1].Addr += off
		if p.Publish() {
			t.Fatal("published")
		}
		if w.word(1) != SVC {
			t.Error("the first branch was left")
		}
		p.Undo()
		if p.Sites[0].Published || p.nareas != 0 {
			t.Error("something is left of the plan")
		}
	}
}

// TestHostileLists gives Discover damaged structures; it must come back with nothing.
func TestHostileLists(t *testing.T) {
	hole := uintptr(0x10) // never mapped
	for name, damage := range map[string]func(w *world){
		"no debug":          func(w *world) { w.quads(atDyn+16, 0, 0) },
		"debug unmapped":    func(w *world) { w.quads(atDyn+24, hole) },
		"debug unaligned":   func(w *world) { w.quads(atDyn+24, w.base+atDebug+4) },
		"debug version":     func(w *world) { w.quads(atDebug, 0) },
		"map unmapped":      func(w *world) { w.quads(atDebug+8, ^uintptr(7)) },
		"map circular":      func(w *world) { w.quads(atMap+24, w.base+atMap) },
		"name unmapped":     func(w *world) { w.quads(atMap+0x80+8, ^uintptr(0)-3) },
		"base unmapped":     func(w *world) { w.quads(atMap+0x80, 0x7000_0000_0000_0000) },
		"base unaligned":    func(w *world) { w.quads(atMap+0x80, w.base+atLib+8) },
		"not ELF":           func(w *world) { w.mem[atLib] = 0 },
		"32-bit":            func(w *world) { w.mem[atLib+4] = 1 },
		"machine":           func(w *world) { w.mem[atLib+18] = 62 },
		"headers far":       func(w *world) { w.quads(atLib+32, 1<<40) },
		"headers unmapped":  func(w *world) { w.quads(atLib+32, 0x100000) },
		"too many headers":  func(w *world) { w.mem[atLib+57] = 0xff },
		"segment huge":      func(w *world) { w.quads(atLib+64+32, 1<<40) },
		"segment far":       func(w *world) { w.quads(atLib+64+16, 1<<63) },
		"segment empty":     func(w *world) { w.quads(atLib+64+32, 0) },
		"dynamic unmapped":  func(w *world) { w.quads(atPhdr+phdrSize+16, 0x7000_0000_0000) },
		"dynamic truncated": func(w *world) { w.quads(atPhdr+phdrSize+40, 8) },
	} {
		w := newWorld(t)
		damage(w)
		if w.discover() {
			t.Errorf("%s: discovered %d sites", name, w.plan.Count)
		}
	}
	w := newWorld(t)
	for _, phdr := range []uintptr{0, 8, 12, w.base + 4, ^uintptr(7), 0x7000_0000_0000} {
		var want Numbers
		if w.plan.Discover(phdr, 2, &want) {
			t.Errorf("discovered through headers at %#x", phdr)
		}
	}
}

func TestNarrow(t *testing.T) {
	var m memory
	buf := make([]uint32, 0x4000)
	base := addrOf(buf)
	whole := Text{base, base + 0x10000}
	hdr := base + 0x8000
	i := 0x8000 / 4
	const entries = 33
	rel := func(off int) uint32 { return uint32(int32(off - 0x8000)) }
	copy(buf[i:], []uint32{0x3b031b01, 0, entries})
	for k := range entries {
		buf[i+3+2*k], buf[i+4+2*k] = rel(0x2000+0x80*k), rel(0x8200)
	}
	buf[(0x8200+12)/4] = 0x40
	if got, want := m.narrow(whole, hdr), (Text{base + 0x1000, base + 0x4040}); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
	last := i + 3 + 2*(entries-1)
	for name, damage := range map[string]func(){
		"encoding":  func() { buf[i] = 0 },
		"count":     func() { buf[i+2] = 1 << 31 },
		"none":      func() { buf[i+2] = 0 },
		"sparse":    func() { buf[i+2] = entries - 2 },
		"backwards": func() { buf[last] = rel(0x1000) },
		"outside":   func() { buf[i+3] = rel(-0x1000) },
		"fde":       func() { buf[last+1] = 0x7fffffff },
	} {
		old := append([]uint32(nil), buf...)
		damage()
		if got := m.narrow(whole, hdr); got != whole {
			t.Errorf("%s: %#x, want the whole %#x", name, got, whole)
		}
		copy(buf, old)
	}
}
