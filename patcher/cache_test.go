package patcher

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// cached is a world with a build-id and a directory for the cache.
type cached struct {
	*world
	tmp    string
	path   []byte
	all    []Found // what a search finds
	config uint64
	room   [RoomSize / 8]uint64
}

const atNote = 0x180 // in the library

func newCached(t testing.TB) *cached {
	t.Helper()
	w := &cached{world: newWorld(t), tmp: t.TempDir()}
	binary.LittleEndian.PutUint16(w.mem[atLib+56:], 2)
	w.phdr(atLib+64, 1, ptNote, 0, atNote, 36)
	copy(w.mem[atLib+atNote:], "\x04\x00\x00\x00\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00twenty bytes of name")
	w.path = []byte(w.tmp + "\x00")
	return w
}

// start discovers the sites as a new process does.
func (w *cached) start(t testing.TB) *Plan {
	t.Helper()
	w.plan = Plan{Cache: Cache{Dir: uintptr(unsafe.Pointer(&w.path[0])), Config: w.config, Room: uintptr(unsafe.Pointer(&w.room[0]))}}
	for i := range w.room {
		w.room[i] = 0xa5a5a5a5a5a5a5a5
	}
	if !w.discover() {
		t.Fatal("nothing discovered")
	}
	p := &w.plan
	if p.Count != 3 || p.Seen != 7 || p.Dispatchers != 1 || p.Sites[0].Nr != 56 || p.Sites[1].Nr != 79 || p.Sites[2].Form != Any {
		t.Fatalf("%d sites of %d: %+v", p.Count, p.Seen, p.Sites[:3])
	}
	return p
}

// warm says whether a start does without a search.
func (w *cached) warm(t *testing.T) bool {
	t.Helper()
	return w.start(t).Scanned == 0
}

// dir is the directory of this user's cache.
func (w *cached) dir() string { return filepath.Join(w.tmp, "svcrelay-"+strconv.Itoa(os.Getuid())) }

// file is the only file of the cache.
func (w *cached) file(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(w.dir() + "/*")
	if err != nil || len(names) != 1 {
		t.Fatalf("files in the cache: %q, %v", names, err)
	}
	return names[0]
}

// lie makes system calls answer otherwise where change says so.
func lie(t *testing.T, change func(nr uintptr, a [6]uintptr) (r uintptr, done bool)) {
	t.Helper()
	old := nocgo.HostRaw
	t.Cleanup(func() { nocgo.HostRaw = old })
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if r, done := change(nr, [6]uintptr{a0, a1, a2, a3, a4, a5}); done {
			return r
		}
		return old(nr, a0, a1, a2, a3, a4, a5)
	}
}

func TestWarmStartSearchesNothing(t *testing.T) {
	w := newCached(t)
	if w.warm(t) {
		t.Error("the first start found a cache")
	}
	if st, err := os.Stat(w.dir()); err != nil || st.Mode() != os.ModeDir|dirMode {
		t.Errorf("the directory: %v, %v", st, err)
	}
	if st, err := os.Stat(w.file(t)); err != nil || st.Mode() != fileMode || st.Size() != headSize+recordSize+8+5*siteSize {
		t.Errorf("the file: %v, %v", st, err)
	}
	for range 3 {
		if !w.warm(t) {
			t.Error("a later start searched")
		}
	}
	w.file(t) // still one
}

// TestAnotherKeyAnotherFile changes everything that the key is made of.
func TestAnotherKeyAnotherFile(t *testing.T) {
	for name, change := range map[string]func(*cached){
		"build-id":      func(w *cached) { w.mem[atLib+atNote+20]++ },
		"text size":     func(w *cached) { w.phdr(atLib+64, 0, ptLoad, pfX, 0, 0x404) },
		"kind":          func(w *cached) { copy(w.mem[atNames+0x80:], "/lib/ld-linux-aarch64.so.1\x00") },
		"configuration": func(w *cached) { w.config++ },
	} {
		w := newCached(t)
		w.start(t)
		first := w.file(t)
		change(w)
		if w.warm(t) || !w.warm(t) {
			t.Errorf("another %s took the same file, or made none", name)
		}
		if names := names(t, w.dir()); len(names) != 3 || !slices.Contains(names, first) {
			t.Errorf("another %s: files %q", name, names)
		}
	}
}

func TestNoBuildIDNoCache(t *testing.T) {
	for name, note := range map[string]string{
		"none": "\x04\x00\x00\x00\x14\x00\x00\x00\x01", "too short": "\x04\x00\x00\x00\x04\x00\x00\x00\x03", "too long": "\x04\x00\x00\x00\x30\x00\x00\x00\x03",
		"a size beyond the segment": "\x04\x00\x00\x00\xff\xff\xff\xff\x03", "a name beyond the segment": "\xff\xff\xff\xff\x14\x00\x00\x00\x03",
	} {
		w := newCached(t)
		copy(w.mem[atLib+atNote:], note)
		if w.warm(t) || w.warm(t) {
			t.Errorf("%s: no search", name)
		}
		if _, err := os.Stat(w.dir()); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

// load8 is a part of the room, as bytes.
func (w *cached) load8(at int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&w.room[0])), RoomSize)[at:]
}
