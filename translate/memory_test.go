package translate

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// crowd makes the host say that others use this process's memory.
func crowd(t testing.TB) {
	nocgo.HostCrowd = true
	t.Cleanup(func() { nocgo.HostCrowd = false })
}

// What is answered does not depend on who has the memory.
func TestCrowded(t *testing.T) {
	for name, f := range map[string]func(*testing.T){"model": TestModel, "sockets": TestSocketModel, "other addresses": TestOtherAddresses,
		"path at a page's end": TestPathAtPageEnd, "address at the edge": TestAddressAtTheEdge, "buffers": TestBufferEdges,
		"untouched": TestBufferUntouched, "lengths": TestLengths} {
		t.Run(name, func(t *testing.T) {
			crowd(t)
			f(t)
		})
	}
}

// flipping forbids and allows a page all the time until the test is over.
func flipping(t *testing.T, page []byte) {
	var over atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for !over.Load() {
			syscall.Mprotect(page, syscall.PROT_NONE)
			runtime.Gosched()
			syscall.Mprotect(page, syscall.PROT_READ|syscall.PROT_WRITE)
		}
	}()
	t.Cleanup(func() { over.Store(true); <-done })
}

// Memory that another thread takes away at any moment is there or not, and nothing faults.
func TestRaced(t *testing.T) {
	crowd(t)
	m, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	dir := tree(t, "root/d/f", "root/d/l->/d/f", "root/d/s->f")
	path, safe, out := m[100:], buffer(4096), m[1000:]
	copy(path, "/d/f\x00")
	link, short := cstring("/d/l"), cstring("/d/s")
	lenAt := uintptr(unsafe.Pointer(&m[2000]))
	nocgo.Store32(lenAt, 110)
	how := m[3000:]
	at, fd := uintptr(nocgo.AtFdcwd), socket(t, afUnix, syscall.SOCK_STREAM)
	sun, size := sockaddr("/d/none")
	copy(m[3500:], unsafe.Slice((*byte)(nocgo.Ptr(sun)), size))
	for name, c := range map[string]Call{
		"a path":            {Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{at, addr(path), addr(safe)}},
		"a structure":       {Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{at, cstring("/d/f"), addr(out)}},
		"a text":            {Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{at, link, addr(out), 100}},
		"a short text":      {Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{at, short, addr(out), 100}},
		"a file system":     {Nr: nocgo.SysStatfs, Arg: [6]uintptr{cstring("/d/f"), addr(out)}},
		"flags":             {Nr: nocgo.SysOpenat2, Arg: [6]uintptr{at, cstring("/d/f"), addr(how), 24}},
		"a socket's name":   {Nr: nocgo.SysGetsockname, Arg: [6]uintptr{fd, addr(out), lenAt}},
		"a socket's length": {Nr: nocgo.SysGetsockname, Arg: [6]uintptr{fd, addr(safe), lenAt}},
		"an address":        {Nr: nocgo.SysConnect, Arg: [6]uintptr{fd, uintptr(unsafe.Pointer(&m[3500])), size}},
		"a name":            {Nr: nocgo.SysLsetxattr, Arg: [6]uintptr{cstring("/d/f"), addr(how[100:]), cstring("x"), 1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := configure(t, dir+"/root", "", 1000)
			g.v.stopsOpen, g.v.stopsSocket = stopsThere, stopsNot
			want, why := g.v.Handle(g.s, &c)
			if why != Answered {
				t.Fatal(why)
			}
			if c.Nr == nocgo.SysOpenat2 {
				syscall.Close(int(want))
			}
			flipping(t, m)
			for range 4000 {
				again := c
				r, why := g.v.Handle(g.s, &again)
				if c.Nr == nocgo.SysOpenat2 && !nocgo.Failed(r) && why == Answered {
					syscall.Close(int(r))
					continue
				}
				if why != Memory && (why != Answered || r != want && r != nocgo.Fail(nocgo.EFAULT)) {
					t.Fatalf("%d %v, not %d", int64(r), why, int64(want))
				}
			}
		})
	}
}

// A path that another thread replaces is read once. Here it is replaced as soon as the kernel has read it: a path that only
// the guest has must not be looked up on the host and then be taken for the name that follows.
func TestReplacedPath(t *testing.T) {
	crowd(t)
	dir := tree(t, "root/d/f", "root/only-in-the-guest")
	g := configure(t, dir+"/root", "", 1000)
	fd, err := syscall.Open(dir+"/root/d", syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	path, out := buffer(64), buffer(256)
	look := func(text string) {
		t.Helper()
		copy(path, text+"\x00")
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{uintptr(fd), addr(path), addr(out)}})
		if r != 0 || why != Answered {
			t.Errorf("%s: %d %v", text, int64(r), why)
		}
	}
	for range 3 {
		look("f") // now the directory is remembered, and single names are expected
	}
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		r := nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		if a1 == addr(path) {
			copy(path, "f\x00")
		}
		return r
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	look("/only-in-the-guest")
}

// The kernel is asked whenever it could matter, and seldom where the C library says that there is one thread.
func TestCompany(t *testing.T) {
	g := configure(t, tree(t, "root/f")+"/root", "", 0)
	asked := 0
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysUnshare {
			asked++
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	lone := buffer(1)
	step := func(what string, calls, want int) {
		t.Helper()
		asked = 0
		for range calls {
			g.v.Handle(g.s, &Call{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f")}})
		}
		if asked != want {
			t.Errorf("%s: %d questions in %d calls, not %d", what, asked, calls, want)
		}
	}
	step("nothing known", 10, 10)
	lone[0] = 1
	g.v.TrustCount(addr(lone))
	step("another stack", 10, 10)
	top := uintptr(unsafe.Pointer(g.s))
	g.v.TrustStack(top, top+unsafe.Sizeof(*g.s))
	step("one thread", 160, 10)
	lone[0] = 0
	step("threads", 10, 10)
	lone[0] = 1
	nocgo.HostCrowd = true
	step("a thread that the C library does not know", 160, 160-15)
	nocgo.HostCrowd = false
	step("it is gone", 161, 1+10)
	g.v.Blind()
	step("another C library", 10, 10)
}

// Where the kernel makes no copies, calls are declined while there are threads, and it is not tried again.
func TestNoCopies(t *testing.T) {
	crowd(t)
	dir := tree(t, "root/f")
	g := configure(t, dir+"/root", "", 0)
	tried := 0
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysProcessVMReadv || nr == nocgo.SysProcessVMWritev {
			tried++
			return nocgo.Fail(nocgo.EPERM)
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	for range 3 {
		g.declines("/f", Memory)
	}
	if tried != 1 {
		t.Errorf("tried %d times", tried)
	}
	nocgo.HostCrowd = false
	g.is("/f", dir+"/root/f")
}

// PRoot reads a word where a length is, so one at the end of memory is its business whoever has the memory.
func TestLengthAtTheEdge(t *testing.T) {
	g := configure(t, tree(t, "root/f")+"/root", "", 0)
	p := pages(t)
	fd := socket(t, afUnix, syscall.SOCK_STREAM)
	for _, nocgo.HostCrowd = range []bool{false, true} {
		for back, want := range map[int]Reason{4: Memory, 7: Memory, 8: Answered} {
			at := addr(p[8192-back:])
			nocgo.Store32(at, 110)
			for _, nr := range []uintptr{nocgo.SysAccept, nocgo.SysGetsockname} {
				g.v.stopsSocket = stopsNot
				if r, why := g.v.Handle(g.s, &Call{Nr: nr, Arg: [6]uintptr{fd, addr(buffer(128)), at}}); why != want {
					t.Errorf("call %d, %d bytes before the end, others %v: %d %v", nr, back, nocgo.HostCrowd, int64(r), why)
				}
			}
		}
	}
	nocgo.HostCrowd = false
}
