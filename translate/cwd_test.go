package translate

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"svcrelay/nocgo"

	"golang.org/x/sys/unix"
)

// newer asks for a path in one of the calls that came later, or about the current directory.
func (w *world) newer(at int, path string) {
	w.t.Helper()
	switch w.r.Intn(6) {
	case 0:
		w.moved(at, path)
	case 1:
		w.getcwd([]int{0, 1, 2, len(w.up.cwd), len(w.up.cwd) + 1, len(w.up.cwd) + 2, 4096}[w.r.Intn(7)])
	case 2:
		w.access2(at, path, uintptr(w.r.Intn(9)), []uintptr{0, nocgo.AtSymlinkNofollow, 0x200, nocgo.AtEmptyPath, 0x4000}[w.r.Intn(5)])
	case 3:
		w.addWatch(path, []uintptr{unix.IN_MODIFY, unix.IN_MODIFY | 0x02000000, unix.IN_MODIFY | unix.IN_ONLYDIR, 0}[w.r.Intn(4)])
	case 4:
		w.fileHandle(at, path, []uintptr{0, nocgo.AtSymlinkFollow, nocgo.AtEmptyPath, nocgo.AtSymlinkNofollow}[w.r.Intn(4)])
	default:
		w.open2(at, path, []uintptr{0, nocgo.ONofollow, nocgo.ODirectory, nocgo.OPath}[w.r.Intn(4)]|nocgo.OCloexec)
	}
}

// moved compares chdir and fchdir, and then the text of the current directory without another question to PRoot.
func (w *world) moved(dir int, path string) {
	w.t.Helper()
	c := &Call{Nr: nocgo.SysChdir, Arg: [6]uintptr{cstring(path)}}
	want, was := syscall.Errno(0), w.up.cwd
	if dir >= 0 && w.r.Intn(2) == 0 {
		c = &Call{Nr: nocgo.SysFchdir, Arg: [6]uintptr{uintptr(dir)}}
	} else if path != "" {
		host, e, ok := w.both(-100, join(path, "."), true)
		var st syscall.Stat_t
		if want = e; ok && e == 0 {
			if err := syscall.Lstat(host, &st); err != nil {
				want = err.(syscall.Errno)
			}
		}
		if !ok {
			want = 1 << 30
		}
	}
	plain := w.plain
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		w.fail("%d (%d, %q) declined: %v", c.Nr, dir, path, why)
	}
	if c.Nr == nocgo.SysChdir && path != "" && r != nocgo.Fail(uintptr(want)) && w.plain == plain {
		w.fail("chdir(%q) = %d, want %d", path, int64(r), -int64(want))
	}
	if r != 0 && w.up.cwd != was {
		w.fail("%d (%d, %q) = %d and moved", c.Nr, dir, path, int64(r))
	}
	w.getcwd(4096)
}

// getcwd compares getcwd with what PRoot remembers.
func (w *world) getcwd(size int) {
	w.t.Helper()
	got, want := buffer(600), buffer(600)
	for i := range got {
		got[i], want[i] = 0x5a, 0x5a
	}
	r, why := w.v.Handle(w.s, &Call{Nr: nocgo.SysGetcwd, Arg: [6]uintptr{addr(got), uintptr(size)}})
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(-100, ".", false)
	wr := nocgo.Fail(uintptr(e))
	switch {
	case size == 0:
		wr, ok = nocgo.Fail(nocgo.EINVAL), true
	case e == 0 && size <= len(w.up.cwd):
		wr = nocgo.Fail(nocgo.ERANGE)
	case e == 0:
		wr = uintptr(copy(want, w.up.cwd+"\x00"))
	}
	if !ok || r != wr || string(got) != string(want) {
		w.fail("getcwd(%d) = %d %.100q, want %d %q (host %q)", size, int64(r), got, int64(wr), w.up.cwd, host)
	}
}

// access2 compares faccessat2 where PRoot stops at it.
func (w *world) access2(dir int, path string, mode, flags uintptr) {
	w.t.Helper()
	w.v.stopsAccess = stopsThere
	r, why := w.v.Handle(w.s, &Call{Nr: nocgo.SysFaccessat2, Arg: [6]uintptr{uintptr(dir), cstring(path), mode, flags}})
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, true)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysFaccessat2, from(dir, path), cstring(host), mode, flags, 0, 0)
	}
	if !ok || r != wr {
		w.fail("faccessat2(%d, %q, %#x, %#x) = %d, want %d (host %q)", dir, path, mode, flags, int64(r), int64(wr), host)
	}
}

// addWatch compares inotify_add_watch: two watches of one file have one number.
func (w *world) addWatch(path string, mask uintptr) {
	w.t.Helper()
	if w.watches == 0 { // closing one takes the kernel long
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			w.t.Fatal(err)
		}
		w.watches = fd
		w.t.Cleanup(func() { unix.Close(fd) })
	}
	fd := w.watches
	r, why := w.v.Handle(w.s, &Call{Nr: nocgo.SysInotifyAdd, Arg: [6]uintptr{uintptr(fd), cstring(path), mask}})
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(-100, path, mask&0x02000000 == 0)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysInotifyAdd, uintptr(fd), cstring(host), mask, 0, 0, 0)
	}
	if !ok || r != wr {
		w.fail("inotify_add_watch(%q, %#x) = %d, want %d (host %q)", path, mask, int64(r), int64(wr), host)
	}
}

// fileHandle compares name_to_handle_at.
func (w *world) fileHandle(dir int, path string, flags uintptr) {
	w.t.Helper()
	ask := func(raw func(handle, mount uintptr) uintptr) string {
		b := buffer(160)
		nocgo.Store32(addr(b), 128)
		r := raw(addr(b), addr(b)+152)
		return fmt.Sprintf("%d %x", int64(r), b)
	}
	why := Answered
	got := ask(func(handle, mount uintptr) (r uintptr) {
		r, why = w.v.Handle(w.s, &Call{Nr: nocgo.SysNameToHandle, Arg: [6]uintptr{uintptr(dir), cstring(path), handle, mount, flags}})
		return r
	})
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, true)
	want := ask(func(handle, mount uintptr) uintptr {
		if e != 0 {
			return nocgo.Fail(uintptr(e))
		}
		return nocgo.HostSyscall(nocgo.SysNameToHandle, from(dir, path), cstring(host), handle, mount, flags, 0)
	})
	if !ok || got != want {
		w.fail("name_to_handle_at(%d, %q, %#x)\n%s, want\n%s (host %q)", dir, path, flags, got, want, host)
	}
}

// open2 compares openat2, which PRoot makes an openat of.
func (w *world) open2(dir int, path string, flags uintptr) {
	w.t.Helper()
	w.v.stopsOpen = stopsThere
	how := buffer(24)
	nocgo.Store64(addr(how), uint64(flags))
	nocgo.Store64(addr(how)+16, 8) // RESOLVE_BENEATH, which is dropped
	c := &Call{Nr: nocgo.SysOpenat2, Arg: [6]uintptr{uintptr(dir), cstring(path), addr(how), 24}}
	before := *c
	r, why := w.v.Handle(w.s, c)
	if *c != before {
		w.fail("openat2 left its call changed: %x", c)
	}
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, flags&nocgo.ONofollow == 0)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysOpenat, from(dir, path), cstring(host), flags, 0, 0, 0)
	}
	var a, b syscall.Stat_t
	for fd, st := range map[uintptr]*syscall.Stat_t{r: &a, wr: &b} {
		if !nocgo.Failed(fd) {
			syscall.Fstat(int(fd), st)
			syscall.Close(int(fd))
		}
	}
	if !ok || nocgo.Failed(r) != nocgo.Failed(wr) || nocgo.Failed(r) && r != wr || a.Ino != b.Ino || a.Dev != b.Dev {
		w.fail("openat2(%d, %q, %#x) = %d, want %d (host %q)", dir, path, flags, int64(r), int64(wr), host)
	}
}

// The answers of the later calls are what both models of PRoot say.
func TestNewerModel(t *testing.T) {
	answered, declined := 0, map[Reason]int{}
	for seed := int64(1); seed <= 6; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		if seed%5 == 0 {
			w.start(0)
		}
		for range 12 {
			dir := w.directory()
			for range 6 {
				path, at := w.guestPath(), -100
				if w.r.Intn(2) == 0 {
					if dir >= 0 && w.r.Intn(3) > 0 {
						at = dir
					}
					path = strings.TrimLeft(path, "/")
				}
				w.newer(at, path)
			}
			syscall.Close(dir)
		}
		answered += w.answered
		for r, n := range w.declined {
			declined[r] += n
		}
	}
	t.Logf("%d answered, %v", answered, declined)
	if answered < 300 {
		t.Errorf("only %d answered", answered)
	}
}

// After a chdir that PRoot answered the text is known without a question, unless somebody else moved meanwhile.
func TestMoveIsKept(t *testing.T) {
	dir := tree(t, "root/a/b/", "root/l->/a/b", "root/f", "root/none->/a/nothing", "out/d/")
	g := configure(t, dir+"/root", dir+"/out:/bound", 1000)
	g.v.TrackDirectory()
	cwd, asked, interfere := "/", 0, false
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		switch nr {
		case nocgo.SysGetcwd:
			asked++
			return uintptr(copy((*[4096]byte)(nocgo.Ptr(a0))[:a1], cwd+"\x00"))
		case nocgo.SysChdir:
			if interfere {
				nocgo.Add32(g.v.moves(), 1)
			}
			return 0
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	b := buffer(4096)
	for _, step := range []struct {
		path, cwd string
		errno     uintptr
		other     bool
		asks      int
	}{
		{"/a", "/a", 0, false, 0}, {"/l/.", "/a/b", 0, false, 0}, {"..", "/a", 0, false, 0}, {"b/../../bound/d/", "/bound/d", 0, false, 0},
		{"/", "/", 0, false, 0}, {"f", "/", nocgo.ENOTDIR, false, 0}, {"/none", "/", nocgo.ENOENT, false, 0}, {"/f/x", "/", nocgo.ENOTDIR, false, 0},
		{"/a/b", "/elsewhere", 0, true, 1},
	} {
		asked, interfere = 0, step.other
		if step.errno == 0 {
			cwd = step.cwd
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysChdir, Arg: [6]uintptr{cstring(step.path)}})
		if why != Answered || r != nocgo.Fail(step.errno) && step.errno != 0 || step.errno == 0 && r != 0 {
			t.Errorf("chdir(%q) = %d, %v", step.path, int64(r), why)
		}
		r, why = g.v.Handle(g.s, &Call{Nr: nocgo.SysGetcwd, Arg: [6]uintptr{addr(b), 4096}})
		if step.other {
			if why == Answered || asked != step.asks {
				t.Errorf("after a move of somebody else: %d %v %q, asked %d times", int64(r), why, b[:20], asked)
			}
			continue
		}
		if why != Answered || r != uintptr(len(step.cwd)+1) || string(b[:r-1]) != step.cwd || asked != step.asks {
			t.Errorf("after chdir(%q): %d %v %q, asked %d times; want %q", step.path, int64(r), why, b[:20], asked, step.cwd)
		}
	}
}

// A buffer of less than eight bytes keeps what is behind the text.
func TestShortCwd(t *testing.T) {
	dir := tree(t, "root/a/")
	g := configure(t, dir+"/root", "", 1000)
	g.v.TrackDirectory()
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysGetcwd {
			return uintptr(copy((*[4096]byte)(nocgo.Ptr(a0))[:a1], "/a\x00"))
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	p := pages(t)
	for at := 4096 - 3; at < 8192+3; at++ {
		if at > 4096+20 && at < 8192-20 {
			continue
		}
		for i := range p[4096:8192] {
			p[4096+i] = 0x77
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysGetcwd, Arg: [6]uintptr{addr(p[4096:8192]) + uintptr(at-4096), 4096}})
		if at < 4096 || at+3 > 8192 {
			if why != Memory {
				t.Errorf("at %d: %d %v", at, int64(r), why)
			}
			continue
		}
		if r != 3 || why != Answered || string(p[at:at+3]) != "/a\x00" || strings.Count(string(p[4096:8192]), "\x77") != 4096-3 {
			t.Errorf("at %d: %d %v", at, int64(r), why)
		}
	}
}

// uname is the kernel's, unless PRoot was given a release.
func TestUname(t *testing.T) {
	dir := tree(t, "root/a")
	g := configure(t, dir+"/root", "", 1000)
	got, want := buffer(400), buffer(400)
	r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysUname, Arg: [6]uintptr{addr(got)}})
	nocgo.HostSyscall(nocgo.SysUname, addr(want), 0, 0, 0, 0, 0)
	if r != 0 || why != Answered || string(got) != string(want) {
		t.Errorf("%d %v %q", int64(r), why, got)
	}
	if r, why = g.v.Handle(g.s, &Call{Nr: nocgo.SysUname, Arg: [6]uintptr{8}}); why != Answered || r != nocgo.Fail(nocgo.EFAULT) {
		t.Errorf("to nowhere: %d %v", int64(r), why)
	}
	g.v.SetModes(Release)
	if r, why = g.v.Handle(g.s, &Call{Nr: nocgo.SysUname, Arg: [6]uintptr{addr(got)}}); why != Number {
		t.Errorf("with a release: %d %v", int64(r), why)
	}
}
