package translate

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"svcrelay/nocgo"

	"golang.org/x/sys/unix"
)

// pages maps three pages, of which the middle one is readable and writable.
func pages(t *testing.T) []byte {
	p, err := unix.Mmap(-1, 0, 3*4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mprotect(p[4096:8192], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(p) })
	return p
}

// Paths may end at the last byte of a page, and start at any.
func TestPathAtPageEnd(t *testing.T) {
	dir := tree(t, "root/some/directory/file-name")
	g := configure(t, dir+"/root", "", 1000)
	p := pages(t)
	want := inode(t, dir+"/root/some/directory/file-name")
	for _, path := range []string{"/some/directory/file-name", "/", "//some///directory/./file-name"} {
		for back := range 40 {
			text := append([]byte(path), 0)
			at := 8192 - len(text) - back
			copy(p[at:8192], strings.Repeat("x", len(text)+back))
			copy(p[at:8192], text)
			b := buffer(128)
			r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, uintptr(unsafe.Pointer(&p[4096])) + uintptr(at-4096), addr(b), 0}})
			if r != 0 || why != Answered || path != "/" && nocgo.Load64(addr(b)+8) != want {
				t.Fatalf("%q, %d from the end: %d %v", path, back, int64(r), why)
			}
		}
	}
	// No NUL before the end; nothing mapped at all; NULL; the last bytes of the address space.
	copy(p[8192-5:8192], "/some")
	base := uintptr(unsafe.Pointer(&p[4096]))
	for _, a := range []uintptr{base + 4096 - 5, base + 4096, base - 1, 0, 1, ^uintptr(0), ^uintptr(7), 1 << 60} {
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, a, addr(buffer(128)), 0}})
		if why != Memory {
			t.Errorf("path at %#x: %d %v", a, int64(r), why)
		}
	}
}

// Where the structure does not fit into writable memory, the kernel has to fail.
func TestBufferEdges(t *testing.T) {
	dir := tree(t, "root/d/file", "root/d/link->/d/a-longer-name-than-eight-bytes", "root/d/s->f")
	g := configure(t, dir+"/root", "", 1000)
	p := pages(t)
	base := uintptr(unsafe.Pointer(&p[4096]))
	path := cstring("/d/file")
	for off := -140; off <= 4096+20; off++ {
		if off > 10 && off < 4096-150 {
			continue
		}
		inside := off >= 0 && off+128 <= 4096
		for _, flags := range []uintptr{0, nocgo.AtSymlinkNofollow} {
			r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, path, base + uintptr(off), flags}})
			switch {
			case inside && (r != 0 || why != Answered):
				t.Errorf("offset %d: %d %v", off, int64(r), why)
			case !inside && why == Answered && r != nocgo.Fail(nocgo.EFAULT):
				t.Errorf("offset %d: answered %d", off, int64(r))
			}
		}
	}
	for off := -12; off <= 4096+4; off++ {
		if off > 4 && off < 4096-60 {
			continue
		}
		for _, l := range []struct{ path, text string }{{"/d/link", "/d/a-longer-name-than-eight-bytes"}, {"/d/s", "f"}} {
			r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(l.path), base + uintptr(off), 4000}})
			inside := off >= 0 && off+len(l.text) <= 4096
			if inside && why == Answered && (r != uintptr(len(l.text)) || string(p[4096+off:4096+off+len(l.text)]) != l.text) || !inside && why == Answered {
				t.Errorf("readlink(%s) to offset %d: %d %v", l.path, off, int64(r), why)
			}
		}
	}
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, path, 0, 0}}); why == Answered {
		t.Errorf("NULL buffer: %d", int64(r))
	}
}

// A failing stat leaves the buffer alone, also behind a dangling link.
func TestBufferUntouched(t *testing.T) {
	dir := tree(t, "root/d/dangling->nothing", "root/d/loop->loop")
	g := configure(t, dir+"/root", "", 1000)
	for path, errno := range map[string]uintptr{"/d/dangling": nocgo.ENOENT, "/d/nothing": nocgo.ENOENT, "/nothing/d": nocgo.ENOENT} {
		b := buffer(128)
		for i := range b {
			b[i] = 0x77
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), addr(b), 0}})
		if why != Answered || r != nocgo.Fail(errno) || strings.Trim(string(b), "\x77") != "" {
			t.Errorf("%s: %d %v %x", path, int64(r), why, b)
		}
	}
	g.declines("/d/loop", Links)
}

// Long paths and names are declined where PRoot's limits come near, or answered right.
func TestLengths(t *testing.T) {
	dir := tree(t, "root/f")
	g := configure(t, dir+"/root", dir+"/root:/bound", 1000)
	for n := 240; n < 260; n++ {
		name := strings.Repeat("n", n)
		os.WriteFile(dir+"/root/"+name, nil, 0o644)
		if n < 255 {
			g.is("/"+name, dir+"/root/"+name)
			g.is("/bound/./"+name, dir+"/root/"+name)
			g.fails("/"+name[1:]+"x", nocgo.ENOENT)
		} else {
			g.declines("/"+name, TooLong)
			g.declines("/bound/../"+name, TooLong)
		}
	}
	for n := 600; n < 900; n++ {
		path := "/" + strings.Repeat("./", n/2-2) + "f"
		if ino, r, why := g.stat(path); why == Answered && (r != 0 || ino != inode(t, dir+"/root/f")) || why != Answered && n < 640 {
			t.Errorf("%d bytes: %d %v", n, int64(r), why)
		}
	}
	deep := strings.Repeat("/directory-with-a-name", 40)
	os.MkdirAll(dir+"/root"+deep, 0o755)
	for i := range len(deep) {
		if deep[i] == '/' && i > 0 {
			if ino, r, why := g.stat(deep[:i]); why == Answered && (r != 0 || ino != inode(t, dir+"/root"+deep[:i])) {
				t.Errorf("%d bytes: %d %v", i, int64(r), why)
			}
		}
	}
}

// As a user without rights, what cannot be looked at is declined or fails like the call itself.
func TestPermissions(t *testing.T) {
	dir := tree(t, "root/open/closed/inner/f", "root/open/f", "root/l->/open/closed/inner")
	for p := dir; p != "/tmp" && p != "/"; p = p[:strings.LastIndexByte(p, '/')] {
		os.Chmod(p, 0o755)
	}
	os.Chmod(dir+"/root/open/closed", 0)
	done := make(chan bool)
	withoutMain(func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its identity
		defer close(done)
		if os.Getuid() == 0 {
			if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, 12345, 12345, 12345); e != 0 {
				t.Error(e)
				return
			}
		}
		for _, ttl := range []uint64{0, 1000} {
			g := configure(t, dir+"/root", "", ttl)
			for range 2 {
				g.declines("/open/closed/x", Denied)
				b := buffer(128)
				if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/open/closed/x"), addr(b), nocgo.AtSymlinkNofollow}}); r != nocgo.Fail(nocgo.EACCES) || why != Answered {
					t.Errorf("lstat: %d %v", int64(r), why)
				}
				g.declines("/open/closed/inner/f", Denied)
				g.declines("/l/f", Denied)
				g.is("/open/f", dir+"/root/open/f")
			}
		}
	})
	<-done
	os.Chmod(dir+"/root/open/closed", 0o755)
}

// withoutMain runs f in a goroutine on a thread that is not the main one, which does not end before the process does.
func withoutMain(f func()) {
	go func() {
		runtime.LockOSThread()
		if syscall.Gettid() != syscall.Getpid() {
			f()
			return
		}
		other := make(chan bool)
		go func() {
			defer close(other)
			f()
		}()
		<-other
		runtime.UnlockOSThread()
	}()
}

// Descriptors that are no directory of the view are declined.
func TestDescriptors(t *testing.T) {
	dir := tree(t, "root/d/f", "root/gone/", "outside/f", "root/e/sub/f", "bound/f")
	g := configure(t, dir+"/root", dir+"/bound:/d/f", 1000)
	open := func(p string) uintptr {
		fd, err := syscall.Open(p, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(fd) })
		return uintptr(fd)
	}
	var pipe [2]int
	syscall.Pipe(pipe[:])
	gone := open(dir + "/root/gone")
	os.Remove(dir + "/root/gone")
	b := buffer(128)
	at := func(fd uintptr, name string) (uintptr, Reason) {
		return g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{fd, cstring(name), addr(b), 0}})
	}
	for _, c := range []struct {
		fd  uintptr
		why Reason
	}{{open(dir + "/outside"), Outside}, {gone, Descriptor}, {uintptr(pipe[0]), Descriptor}, {open(dir + "/root/e/sub/f"), Descriptor},
		{12345, Descriptor}, {^uintptr(0), Descriptor}, {open("/proc/self"), Proc}} {
		for range 2 {
			if r, why := at(c.fd, "f"); why != c.why {
				t.Errorf("descriptor %d: %d %v, want %v", int(c.fd), int64(r), why, c.why)
			}
			if _, why := at(c.fd, dir[:0]+"/d/nothing"); why != Answered {
				t.Errorf("descriptor %d with an absolute path: %v", int(c.fd), why)
			}
		}
	}
	d := open(dir + "/root/d")
	for _, fd := range []uintptr{d, d | 0xabcd<<32} { // the kernel looks at 32 bits
		if r, why := at(fd, "f"); r != 0 || why != Answered || nocgo.Load64(addr(b)+8) != inode(t, dir+"/bound") {
			t.Errorf("a binding in the descriptor's directory: %d %v", int64(r), why)
		}
		if r, why := at(fd, "../e/sub/f"); r != 0 || why != Answered {
			t.Errorf("up and down: %d %v", int64(r), why)
		}
	}
	// A name that now belongs to another directory.
	e := open(dir + "/root/e")
	if r, why := at(e, "sub"); r != 0 || why != Answered {
		t.Errorf("sub: %d %v", int64(r), why)
	}
	// AT_EMPTY_PATH is fstat, with any descriptor; an empty path alone is nothing.
	for _, fd := range []uintptr{e, uintptr(pipe[0]), gone, open(dir + "/outside/f")} {
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{fd, cstring(""), addr(b), nocgo.AtEmptyPath}})
		var st syscall.Stat_t
		syscall.Fstat(int(fd), &st)
		if r != 0 || why != Answered || nocgo.Load64(addr(b)+8) != st.Ino {
			t.Errorf("fstat of %d: %d %v", fd, int64(r), why)
		}
		if r, why := at(fd, ""); r != nocgo.Fail(nocgo.ENOENT) || why != Answered {
			t.Errorf("empty path at %d: %d %v", fd, int64(r), why)
		}
	}
	syscall.Close(pipe[0])
	syscall.Close(pipe[1])
}

// An open that waits for the other end of a pipe is interrupted once, like any other.
func TestInterruptedOpen(t *testing.T) {
	dir := tree(t, "root/d/")
	syscall.Mkfifo(dir+"/root/d/fifo", 0o600)
	for _, modern := range []bool{false, true} {
		g := configure(t, dir+"/root", "", 1000)
		if modern {
			g.v.AllowOpenat2()
		}
		opens := 0
		nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			if nr == nocgo.SysOpenat || nr == nocgo.SysOpenat2 {
				opens++
				return nocgo.Fail(nocgo.EINTR) // what a signal handler without SA_RESTART leads to
			}
			return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/d/fifo"), 1}})
		nocgo.HostRaw = nocgo.HostSyscall
		if r != nocgo.Fail(nocgo.EINTR) || why != Answered || opens != 1 {
			t.Errorf("openat2 %v: %d %v after %d opens", modern, int64(r), why, opens)
		}
	}
}

// The current directory is asked for once per process, and again after what may change it.
func TestCurrentDirectory(t *testing.T) {
	dir := tree(t, "root/d/f", "root/e/f", "root/proc/x")
	g := configure(t, dir+"/root", "", 1000)
	g.declines("f", Directory) // not tracked yet
	g.v.TrackDirectory()
	cwd, asked, inHandler := "/d", 0, false
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		switch nr {
		case nocgo.SysGetcwd:
			asked++
			if cwd == "" {
				return nocgo.Fail(nocgo.ENOENT)
			}
			copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), cwd+"\x00")
			return uintptr(len(cwd) + 1)
		case nocgo.SysChdir:
			cwd = "/e"
			if inHandler {
				handler := *g // a signal that was waiting is delivered now
				handler.s = new(Scratch)
				handler.is("f", dir+"/root/e/f")
			}
		case nocgo.SysFchdir:
			cwd = "/proc"
		}
		return 0
	}
	tid := uintptr(100)
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysGettid {
			return tid
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostPlain, nocgo.HostRaw = nocgo.HostSyscall, nocgo.HostSyscall }()
	step := func(want int, f func()) {
		t.Helper()
		f()
		f()
		if asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	}
	step(1, func() { g.is("f", dir+"/root/d/f") })
	step(1, func() { g.is("../e/f", dir+"/root/e/f") })
	g.v.Handle(g.s, &Call{Nr: nocgo.SysChdir})
	step(2, func() { g.is("f", dir+"/root/e/f") })
	tid = 101 // another thread, or a child of vfork: it has this memory, and maybe another directory
	cwd = "/d"
	step(3, func() { g.is("./f", dir+"/root/d/f") })
	cwd = "/e"
	tid = 100 // what is known of the first is not the child's
	step(3, func() { g.is("f", dir+"/root/e/f") })
	tid = 101
	step(3, func() { g.is("f", dir+"/root/d/f") })
	g.v.Handle(g.s, &Call{Nr: nocgo.SysFchdir})
	step(4, func() { g.declines("x", Proc) })
	tid = 100
	cwd = "/d"
	step(5, func() { g.is("f", dir+"/root/d/f") })
	cwd = ""
	g.v.Handle(g.s, &Call{Nr: nocgo.SysRenameat2})
	step(6, func() { g.declines("f", Directory) })
	g.is("/d/f", dir+"/root/d/f")
	cwd = "/d"
	g.v.Handle(g.s, &Call{Nr: nocgo.SysFchdir})
	cwd = "/d"
	g.is("f", dir+"/root/d/f")
	inHandler = true
	g.v.Handle(g.s, &Call{Nr: nocgo.SysChdir})
	g.is("f", dir+"/root/e/f")
	inHandler = false
	// A second C library may change the directory unseen.
	for _, c := range []struct {
		name         string
		flags        uintptr
		linker, ends bool
	}{
		{"/d/libc.so.6", 0, true, false}, {"/d/libc.so.60", nocgo.OCloexec, true, false}, {"/d/libm.so.6", nocgo.OCloexec, true, false},
		{"/d/libc.so.6", nocgo.OCloexec, false, false}, {"/d/libc.so.6", nocgo.OCloexec, true, true},
	} {
		g.s.Linker = c.linker
		g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(c.name), c.flags}})
		if c.ends {
			g.declines("f", Directory)
		} else {
			g.is("f", dir+"/root/e/f")
		}
	}
}

// Flags that the kernel would refuse after PRoot has looked at the path are PRoot's business.
func TestFlags(t *testing.T) {
	dir := tree(t, "root/f")
	g := configure(t, dir+"/root", "", 1000)
	b := addr(buffer(300))
	for _, c := range []Call{
		{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), b, 0x200}},
		{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), b, 0x80000000}},
		{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), 8}},
		{Nr: nocgo.SysStatx, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), 0x6000, 0, b}},
		{Nr: nocgo.SysStatx, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), 0, 0x80000000, b}},
		{Nr: nocgo.SysStatx, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), 1, 0, b}},
		{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), b, 0}},
		{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), b, 0x80000000}},
		{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/f"), b, 1<<32 | 5}},
	} {
		if r, why := g.v.Handle(g.s, &c); why != Flags {
			t.Errorf("%+v: %d %v", c, int64(r), why)
		}
	}
	// The upper halves of the registers do not count.
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{0xffffff9c, cstring("/f"), b, 1 << 40}}); r != 0 || why != Answered {
		t.Errorf("upper halves: %d %v", int64(r), why)
	}
	if _, why := g.v.Handle(g.s, &Call{Nr: 9999}); why != Number {
		t.Error(why)
	}
}

// The reasons have names.
func TestReasonNames(t *testing.T) {
	for r := Answered; r < reasons; r++ {
		if r.String() == "" {
			t.Errorf("reason %d has no name", r)
		}
	}
	if s := Reason(200).String(); s != "reason 200" {
		t.Error(s)
	}
}
