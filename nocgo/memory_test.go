package nocgo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// arena is memory that does not move, with room for what words touch behind a text.
var arena = make([]byte, 1<<14)

func at(i int) uintptr { return uintptr(unsafe.Pointer(&arena[i])) }

// C strings of all lengths at all alignments come out whole, or not at all where the buffer is too small.
func TestCString(t *testing.T) {
	for start := 64; start < 80; start++ {
		for n := range 40 {
			for i := range 256 {
				arena[i] = 0x80 + byte(i) | 1 // high and never zero: bytes that a careless test takes for zero
			}
			want := strings.Repeat("\x01\x80\xff", 20)[:n]
			copy(arena[start:], want)
			arena[start+n] = 0
			for size := range 48 {
				dst := arena[4096 : 4096+size]
				arena[4096+size] = 0x33
				for _, f := range []func([]byte, uintptr) uintptr{CString, ReadCString} {
					got := f(dst, at(start))
					switch {
					case size <= n:
						if got != Fail(ENAMETOOLONG) {
							t.Fatalf("%d bytes at %d to %d: %d", n, start, size, int64(got))
						}
					case got != uintptr(n) || string(dst[:n]) != want || dst[n] != 0:
						t.Fatalf("%d bytes at %d to %d: %d %q", n, start, size, int64(got), dst)
					}
					if arena[4096+size] != 0x33 {
						t.Fatalf("%d bytes at %d to %d: wrote past the buffer", n, start, size)
					}
				}
			}
		}
	}
}

// Comparing and hashing depend on the bytes asked for and on nothing behind them.
func TestWords(t *testing.T) {
	for n := range 40 {
		a, b := arena[1000:1100], arena[2000:2100]
		for i := range a {
			a[i], b[i] = byte(i), byte(i)
		}
		for i := n; i < 100; i++ {
			a[i], b[i] = 0xee, 0x11
		}
		if !EqualWords(at(1000), at(2000), uintptr(n)) || HashWords(at(1000), uintptr(n)) != HashWords(at(2000), uintptr(n)) {
			t.Errorf("%d equal bytes differ", n)
		}
		for i := range n {
			b[i] ^= 0x40
			if EqualWords(at(1000), at(2000), uintptr(n)) || HashWords(at(1000), uintptr(n)) == HashWords(at(2000), uintptr(n)) {
				t.Errorf("%d bytes that differ in byte %d are equal", n, i)
			}
			b[i] ^= 0x40
		}
		for shift := range 20 {
			copy(arena[3000:3100], a)
			CopyUp(at(3000-shift), at(3000), uintptr(n))
			if !bytes.Equal(arena[3000-shift:3000-shift+n], a[:n]) {
				t.Errorf("%d bytes copied up by %d", n, shift)
			}
			copy(arena[3000:3100], a)
			CopyDown(at(3000+shift), at(3000), uintptr(n))
			if !bytes.Equal(arena[3000+shift:3000+shift+n], a[:n]) {
				t.Errorf("%d bytes copied down by %d", n, shift)
			}
		}
	}
}

// The structure is arm64's: 128 bytes, and not one more is written.
func TestStatSize(t *testing.T) {
	if unsafe.Sizeof(Stat{}) != 128 {
		t.Fatal("struct stat has not 128 bytes")
	}
	p := filepath.Join(t.TempDir(), "f")
	os.WriteFile(p, []byte("twelve bytes"), 0o640)
	copy(arena[500:], p+"\x00")
	for i := range 200 {
		arena[1000+i] = 0x77
	}
	if r := Raw(SysNewfstatat, AtFdcwd, at(500), at(1000), 0, 0, 0); r != 0 {
		t.Fatal(int64(r))
	}
	st := (*Stat)(Ptr(at(1000)))
	if st.Size != 12 || st.Mode != ModeRegular|0o640 || st.Nlink != 1 {
		t.Errorf("%+v", st)
	}
	if strings.Trim(string(arena[1128:1200]), "\x77") != "" {
		t.Error("wrote past 128 bytes")
	}
	if r := Raw(SysNewfstatat, AtFdcwd, at(500), 8, 0, 0, 0); r != Fail(EFAULT) {
		t.Errorf("to address 8: %d", int64(r))
	}
}

// NULL is neither readable nor writable, whatever the kernel thinks of it.
func TestProbes(t *testing.T) {
	for _, a := range []uintptr{0, 8, ^uintptr(7)} {
		if Readable(a) || Writable(a) {
			t.Errorf("%#x can be read or written", a)
		}
	}
	if !Readable(at(0)) || !Writable(at(0)) {
		t.Error("own memory cannot be read or written")
	}
	// What lies in two granules could be written in part.
	edge := (at(0) + 2*probeGranule - 1) &^ (probeGranule - 1)
	if edge+8 > at(0)+uintptr(len(arena)) {
		t.Fatal("the arena is too small")
	}
	for i := uintptr(1); i < 8; i++ {
		if Writable(edge - i) {
			t.Errorf("%d bytes before a granule", i)
		}
	}
	if !Writable(edge-8) || !Writable(edge) {
		t.Error("beside a granule's edge")
	}
	if CString(arena[:64], 3) != Fail(EFAULT) {
		t.Error("a string in the first page")
	}
}
