package patcher

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// TestBadFiles makes each kind of file that must not be believed. What is found is right all the same, and where a file
// can be replaced the next start finds a good one.
func TestBadFiles(t *testing.T) {
	change := func(f func(b []byte) []byte) func(*testing.T, *cached, string) {
		return func(t *testing.T, w *cached, name string) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	aside := func(t *testing.T, w *cached, name string) string {
		to := filepath.Join(w.tmp, "aside")
		must(os.Rename(name, to))
		return to
	}
	for name, damage := range map[string]func(t *testing.T, w *cached, name string){
		"missing":           func(t *testing.T, w *cached, name string) { must(os.Remove(name)) },
		"empty":             change(func(b []byte) []byte { return nil }),
		"a byte short":      change(func(b []byte) []byte { return b[:len(b)-1] }),
		"a site short":      change(func(b []byte) []byte { return b[:len(b)-siteSize] }),
		"only a head":       change(func(b []byte) []byte { return b[:headSize] }),
		"a byte long":       change(func(b []byte) []byte { return append(b, 0) }),
		"a site long":       change(func(b []byte) []byte { return append(b, b[len(b)-siteSize:]...) }),
		"large":             change(func(b []byte) []byte { return make([]byte, maxFile+1) }),
		"zeros":             change(func(b []byte) []byte { return make([]byte, len(b)) }),
		"text":              change(func(b []byte) []byte { return []byte(strings.Repeat("no cache\n", 30)) }),
		"for the group":     func(t *testing.T, w *cached, name string) { must(os.Chmod(name, 0o620)) },
		"for everybody":     func(t *testing.T, w *cached, name string) { must(os.Chmod(name, 0o602)) },
		"with another name": func(t *testing.T, w *cached, name string) { must(os.Link(name, filepath.Join(w.tmp, "other"))) },
		"a link":            func(t *testing.T, w *cached, name string) { must(os.Symlink(aside(t, w, name), name)) },
		"a dangling link":   func(t *testing.T, w *cached, name string) { aside(t, w, name); must(os.Symlink("nowhere", name)) },
		"a FIFO":            func(t *testing.T, w *cached, name string) { aside(t, w, name); must(syscall.Mkfifo(name, 0o600)) },
		"a socket": func(t *testing.T, w *cached, name string) {
			aside(t, w, name)
			must(syscall.Mknod(name, syscall.S_IFSOCK|0o600, 0))
		},
		"a directory":          func(t *testing.T, w *cached, name string) { aside(t, w, name); must(os.Mkdir(name, 0o700)) },
		"directory for others": func(t *testing.T, w *cached, name string) { must(os.Chmod(w.dir(), 0o770)) },
		"directory a link":     func(t *testing.T, w *cached, name string) { must(os.Symlink(aside(t, w, w.dir()), w.dir())) },
		"directory a file": func(t *testing.T, w *cached, name string) {
			aside(t, w, w.dir())
			must(os.WriteFile(w.dir(), nil, 0o600))
		},
		"directory away": func(t *testing.T, w *cached, name string) { aside(t, w, w.dir()) },
		"the whole place a link": func(t *testing.T, w *cached, name string) {
			w.path = []byte(w.tmp + "-link\x00")
			must(os.Symlink(w.tmp, w.tmp+"-link"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCached(t)
			w.start(t)
			damage(t, w, w.file(t))
			before := names(t, w.tmp)
			if strings.HasPrefix(name, "the whole") { // reading through it does no harm, see docs/sites.md
				must(os.RemoveAll(w.dir()))
				before = names(t, w.tmp)
			}
			if w.warm(t) {
				t.Fatal("believed")
			}
			lasting := name == "a directory" || strings.HasPrefix(name, "directory") && name != "directory away" || strings.HasPrefix(name, "the whole")
			if again := w.warm(t); again == lasting {
				t.Errorf("warm afterwards: %v", again)
			}
			if lasting {
				if after := names(t, w.tmp); !slices.Equal(before, after) {
					t.Errorf("there were %q and are %q", before, after)
				}
			}
		})
	}
}

// names lists everything below a directory.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error { out = append(out, path); return err }); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForeign lets the kernel say that something belongs to another user.
func TestForeign(t *testing.T) {
	for name, kind := range map[string]uint32{"file": nocgo.ModeRegular, "directory": nocgo.ModeDirectory} {
		w := newCached(t)
		w.start(t)
		on := true
		lie(t, func(nr uintptr, a [6]uintptr) (uintptr, bool) {
			if nr != nocgo.SysFstat || !on {
				return 0, false
			}
			r := nocgo.HostSyscall(nr, a[0], a[1], 0, 0, 0, 0)
			if st := (*nocgo.Stat)(nocgo.Ptr(a[1])); st.Mode&nocgo.ModeType == kind {
				st.UID++
			}
			return r, true
		})
		if w.warm(t) || w.warm(t) {
			t.Errorf("a foreign %s was believed", name)
		}
		on = false
		if !w.warm(t) {
			t.Errorf("our own %s was not believed any more", name)
		}
	}
}

// TestWholesomeFilesWithWrongContents keeps the checksum right: every site is looked at all the same.
func TestWholesomeFilesWithWrongContents(t *testing.T) {
	const sites = headSize + recordSize + 8
	put := binary.LittleEndian.PutUint64
	get := binary.LittleEndian.Uint64
	for name, change := range map[string]func(b []byte) []byte{
		"another number":  func(b []byte) []byte { put(b[sites:], get(b[sites:])+1<<32); return b },
		"any number":      func(b []byte) []byte { put(b[sites:], get(b[sites:])|0xffffffff<<32); return b },
		"no svc":          func(b []byte) []byte { put(b[sites:], get(b[sites:])-4); return b },
		"unaligned":       func(b []byte) []byte { put(b[sites:], get(b[sites:])+1); return b },
		"before the text": func(b []byte) []byte { put(b[headSize:], 8); put(b[sites:], 4); return b },
		"beyond the text": func(b []byte) []byte { put(b[sites+16:], get(b[sites+16:])+0x400); return b },
		"far away":        func(b []byte) []byte { put(b[sites+16:], 0xfffffff0); return b },
		"the last word":   func(b []byte) []byte { put(b[sites+16:], 0x3fe); return b },
		"not ascending": func(b []byte) []byte {
			x := get(b[sites:])
			put(b[sites:], get(b[sites+8:]))
			put(b[sites+8:], x)
			return b
		},
		"twice":              func(b []byte) []byte { put(b[sites+8:], get(b[sites:])); return b },
		"an unwanted site":   func(b []byte) []byte { put(b[sites+8:], 6*4+atText|221<<32); return b },
		"count too large":    func(b []byte) []byte { put(b[sites-8:], 4|7<<32); return b },
		"count huge":         func(b []byte) []byte { put(b[sites-8:], 0xffffffff); return b },
		"count too small":    func(b []byte) []byte { put(b[sites-8:], 2|7<<32); return b },
		"no sites":           func(b []byte) []byte { put(b[sites-8:], 0); return b[:sites] },
		"libraries huge":     func(b []byte) []byte { put(b[24:], 1<<40); return b },
		"no libraries":       func(b []byte) []byte { put(b[24:], 0); return b[:headSize] },
		"another magic":      func(b []byte) []byte { put(b[8:], get(b[8:])+1); return b },
		"another config":     func(b []byte) []byte { put(b[16:], 1); return b },
		"another build-id":   func(b []byte) []byte { b[headSize+24]++; return b },
		"another text begin": func(b []byte) []byte { put(b[headSize:], 4); return b },
		"another text end":   func(b []byte) []byte { put(b[headSize+8:], 0x404); return b },
	} {
		w := newCached(t)
		w.start(t)
		file := w.file(t)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		good := slices.Clone(b)
		b = change(b)
		seal(b)
		if slices.Equal(b, good) {
			t.Errorf("%s: nothing was changed", name)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if w.warm(t) {
			t.Errorf("%s: believed", name)
		}
		if b, _ = os.ReadFile(file); !slices.Equal(b, good) {
			t.Errorf("%s: not replaced", name)
		}
	}
}

// seal makes the checksum right.
func seal(b []byte) {
	long := append(slices.Clone(b), make([]byte, 8)...)
	binary.LittleEndian.PutUint64(b, nocgo.HashWords(uintptr(unsafe.Pointer(&long[8])), uintptr(len(b)-8)))
}

// TestEveryBit flips each bit of the file.
func TestEveryBit(t *testing.T) {
	w := newCached(t)
	w.start(t)
	file := w.file(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := copy(w.load8(roomFile), good)
	p := &w.plan
	found := p.FoundCount
	for bit := range n * 8 {
		p.forgetFound()
		copy(w.load8(roomFile), good)
		w.load8(roomFile)[bit/8] ^= 1 << (bit % 8)
		if p.accept(uintptr(n)) || p.FoundCount != 0 {
			t.Errorf("bit %d was not noticed", bit)
		}
	}
	copy(w.load8(roomFile), good)
	if !p.accept(uintptr(n)) || p.FoundCount != found {
		t.Error("the file itself was not taken")
	}
}
