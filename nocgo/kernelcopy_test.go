package nocgo

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// vector is where the kernel's descriptions go.
const vector = 12 << 10

func self() uintptr { return Raw(SysGetpid, 0, 0, 0, 0, 0, 0) }

// Strings of all lengths come out as CString has them, at the end of memory too.
func TestKernelString(t *testing.T) {
	const page = 4096
	m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	syscall.Mprotect(m[page:], syscall.PROT_NONE)
	base := uintptr(unsafe.Pointer(&m[0]))
	for n := range 40 {
		for _, start := range []int{100, 101, page - n - 1, page - n} {
			for i := range page {
				m[i] = 0x81
			}
			ends := start+n < page
			if ends {
				m[start+n] = 0
			}
			for size := range 48 {
				dst := arena[8192 : 8192+size]
				arena[8192+size] = 0x33
				got := KernelString(at(vector), self(), dst, base+uintptr(start))
				want := CString(arena[2048:2048+size], base+uintptr(start))
				if start+n == page && size > n { // CString probes before it knows that nothing more is needed
					want = Fail(EFAULT)
				}
				if got != want || !Failed(got) && string(dst[:got+1]) != strings.Repeat("\x81", n)+"\x00" {
					t.Fatalf("%d bytes at %d to %d: %d %q, not %d", n, start, size, int64(got), dst, int64(want))
				}
				if arena[8192+size] != 0x33 {
					t.Fatalf("%d bytes at %d to %d: wrote past the buffer", n, start, size)
				}
			}
		}
	}
}

// What lies before memory that is not there is copied, and nothing from there; nothing but memory is believed.
func TestKernelCopies(t *testing.T) {
	const page = 4096
	m, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	copy(m[page-100:], bytes.Repeat([]byte{7}, 200))
	base := uintptr(unsafe.Pointer(&m[0]))
	check := func(what string, got, want uintptr) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, not %d", what, int64(got), int64(want))
		}
	}
	check("read over a border", KernelRead(at(vector), self(), at(0), base+page-100, 200), 200)
	if !bytes.Equal(arena[:200], m[page-100:page+100]) {
		t.Error("read something else")
	}
	syscall.Mprotect(m[page:2*page], syscall.PROT_READ)
	check("write to a border", KernelWrite(at(vector), self(), base+page-100, at(0), 200), 100)
	check("write to what may only be read", KernelWrite(at(vector), self(), base+page, at(0), 8), Fail(EFAULT))
	syscall.Mprotect(m[page:2*page], syscall.PROT_NONE)
	check("read to a border", KernelRead(at(vector), self(), at(0), base+page-100, 200), 100)
	check("read nothing", KernelRead(at(vector), self(), at(0), base+page, 200), Fail(EFAULT))
	for _, a := range []uintptr{0, 8, ^uintptr(7), base | 1<<56} {
		check("read from nowhere", KernelRead(at(vector), self(), at(0), a, 8), Fail(EFAULT))
		check("write to nowhere", KernelWrite(at(vector), self(), a, at(0), 8), Fail(EFAULT))
	}
}
