package translate

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// clock replaces the counter by one that the test moves, in nanoseconds.
func clock(t *testing.T) *uint64 {
	now := new(uint64)
	*now = 1e9
	old := nocgo.HostCounter
	nocgo.HostCounter = func() uint64 { return *now }
	t.Cleanup(func() { nocgo.HostCounter = old })
	return now
}

// calls counts raw calls, except the question who has this memory.
func calls(t *testing.T) *int {
	n := new(int)
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr != nocgo.SysUnshare {
			*n++
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	t.Cleanup(func() { nocgo.HostRaw = nocgo.HostSyscall })
	return n
}

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n != 512 {
		t.Errorf("a slot has %d bytes", n)
	}
	if n := unsafe.Sizeof(Scratch{}); n > 3072 {
		t.Errorf("Scratch has %d bytes", n)
	}
}

// A remembered directory costs three raw calls: probe the path, look, probe the buffer.
func TestRemembered(t *testing.T) {
	now, n := clock(t), calls(t)
	dir := tree(t, "root/usr/lib/f", "root/lib->usr/lib")
	for _, ttl := range []uint64{2000, 0} {
		g := configure(t, dir+"/root", "", ttl)
		cost := func() int {
			*n = 0
			g.is("/lib/f", dir+"/root/usr/lib/f")
			return *n
		}
		first := cost()
		if first != 3+3 { // lib, usr, lib
			t.Errorf("lifetime %d: first call: %d raw calls", ttl, first)
		}
		want := 3
		if ttl == 0 {
			want = first
		}
		if c := cost(); c != want {
			t.Errorf("lifetime %d: second call: %d raw calls", ttl, c)
		}
		*now += 2e9
		if c := cost(); c != want {
			t.Errorf("lifetime %d: at the end of the lifetime: %d raw calls", ttl, c)
		}
		*now += 1
		if c := cost(); c != first {
			t.Errorf("lifetime %d: after the lifetime: %d raw calls", ttl, c)
		}
	}
}

// The directories on the way are remembered too, by their own names.
func TestPassed(t *testing.T) {
	n := calls(t)
	dir := tree(t, "root/usr/lib/arch/f", "root/lib->usr/lib", "root/usr/lib/locale/f", "root/usr/share/f", "m/x/y/f", "root/mnt/")
	g := configure(t, dir+"/root", dir+"/m:/mnt", 1000)
	for _, c := range []struct {
		path, host string
		raw        int
	}{
		{"/lib/arch/f", "/root/usr/lib/arch/f", 3 + 4},
		{"/usr/lib/locale/f", "/root/usr/lib/locale/f", 3 + 1},
		{"/usr/share/f", "/root/usr/share/f", 3 + 1},
		{"/usr/lib/arch/f", "/root/usr/lib/arch/f", 3 + 1},
		{"/mnt/x/y/f", "/m/x/y/f", 3 + 3},
		{"/mnt/x/y/../../x/y/f", "/m/x/y/f", 3 + 3},
	} {
		*n = 0
		g.is(c.path, dir+c.host)
		if *n > c.raw {
			t.Errorf("%s: %d raw calls, want %d", c.path, *n, c.raw)
		}
	}
}

// On the trusted part of the stack nothing is probed.
func TestTrustStack(t *testing.T) {
	n := calls(t)
	dir := tree(t, "root/d/f")
	g := configure(t, dir+"/root", "", 1000)
	g.is("/d/f", dir+"/root/d/f")
	b := buffer(2000)
	copy(b[500:], "/d/f\x00")
	g.v.TrustStack(addr(b), addr(b)+2000)
	for _, c := range []struct{ path, buf, raw int }{{500, 0, 1}, {1400, 100, 2}, {500, 1900, 2}} {
		copy(b[c.path:], "/d/f\x00")
		*n = 0
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, addr(b[c.path:]), addr(b[c.buf:]), 0}})
		if r != 0 || why != Answered || *n != c.raw {
			t.Errorf("%+v: %d %v, %d raw calls", c, int64(r), why, *n)
		}
	}
}

// A directory that was opened here is known by its descriptor, and by its name.
func TestAdopt(t *testing.T) {
	n := calls(t)
	dir := tree(t, "root/a/b/c/f", "root/l->a/b", "out/d/f")
	g := configure(t, dir+"/root", dir+"/out:/m", 1<<30)
	open := func(at uintptr, path string, flags uintptr) uintptr {
		t.Helper()
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{at, cstring(path), nocgo.ODirectory | nocgo.OCloexec | flags}})
		if why != Answered || nocgo.Failed(r) {
			t.Fatal(path, int64(r), why)
		}
		t.Cleanup(func() { syscall.Close(int(r)) })
		return r
	}
	stat := func(at uintptr, path, host string, most int) {
		t.Helper()
		b := buffer(128)
		*n = 0
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{at, cstring(path), addr(b), 0}})
		if r != 0 || why != Answered || nocgo.Load64(addr(b)+8) != inode(t, host) {
			t.Errorf("%s: %d %v", path, int64(r), why)
		}
		if *n > most {
			t.Errorf("%s: %d raw calls", path, *n)
		}
	}
	for _, modern := range []bool{false, true} {
		flags := uintptr(nocgo.ONofollow)
		if modern {
			g.v.AllowOpenat2()
			g.v.Forget()
			flags = 0
		}
		a := open(nocgo.AtFdcwd, "/a", flags)
		stat(a, "b", dir+"/root/a/b", 4)
		b := open(a, "b", flags)
		c := open(b, "c", flags)
		stat(c, "f", dir+"/root/a/b/c/f", 4)
		stat(nocgo.AtFdcwd, "/a/b/c/f", dir+"/root/a/b/c/f", 3)
		stat(c, "../../b/c/f", dir+"/root/a/b/c/f", 9)
		l := open(nocgo.AtFdcwd, "/l/", 0) // through a link: found by its descriptor
		stat(l, "c", dir+"/root/a/b/c", 9)
		m := open(nocgo.AtFdcwd, "/m", flags) // a binding is not adopted, what is below it is
		stat(m, "d", dir+"/out/d", 9)
		d := open(m, "d", flags)
		stat(d, "f", dir+"/out/d/f", 4)
	}
}

// What is derived from something remembered is as old as that.
func TestAge(t *testing.T) {
	now := clock(t)
	dir := tree(t, "root/a/b/c/f", "other/b/c/f", "other/f")
	g := configure(t, dir+"/root", "", 1000)
	g.fails("/a/b/nothing", nocgo.ENOENT) // learns /a/b
	*now += 900e6
	g.is("/a/b/c/f", dir+"/root/a/b/c/f") // learns /a/b/c through it
	os.Rename(dir+"/root/a", dir+"/root/old")
	os.Rename(dir+"/other", dir+"/root/a")
	*now += 200e6
	g.is("/a/b/c/f", dir+"/root/a/b/c/f")
}

// At lifetime 0 every change shows at once.
func TestLifetimeZero(t *testing.T) {
	dir := tree(t, "root/one/f", "root/two/f", "root/d->one")
	g := configure(t, dir+"/root", "", 0)
	fd, _ := syscall.Open(dir+"/root/one", syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	defer syscall.Close(fd)
	at := func(name string) (uintptr, Reason) {
		b := buffer(128)
		return g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{uintptr(fd), cstring(name), addr(b), 0}})
	}
	for range 20 {
		for _, to := range []string{"two", "one"} {
			os.Symlink(to, dir+"/root/new")
			os.Rename(dir+"/root/new", dir+"/root/d")
			g.is("/d/f", dir+"/root/"+to+"/f")
		}
		if r, why := at("f"); r != 0 || why != Answered {
			t.Fatal(int64(r), why)
		}
		os.Rename(dir+"/root/one", dir+"/root/moved")
		if r, why := at("f"); r != 0 || why != Answered { // the descriptor's path moved along
			t.Fatal(int64(r), why)
		}
		os.Rename(dir+"/root/moved", dir+"/root/one")
	}
}

// Our own changes are forgotten at once, at any lifetime.
func TestForget(t *testing.T) {
	dir := tree(t, "root/one/f", "root/two/f", "root/d->one")
	os.Chmod(dir+"/root", 0o700)
	os.Chmod(dir+"/root/one", 0o700)
	g := configure(t, dir+"/root", "", 1<<30)
	changing := map[uintptr]bool{nocgo.SysRenameat: true, nocgo.SysRenameat2: true, nocgo.SysUnlinkat: true, nocgo.SysFchmodat: true,
		nocgo.SysFchmod: true, nocgo.SysFchown: true, nocgo.SysFchownat: true}
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if !changing[nr] {
			return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		}
		os.Remove(dir + "/root/d")
		os.Symlink("two", dir+"/root/d")
		handler := *g // a signal that was waiting is delivered now
		handler.s = new(Scratch)
		handler.is("/d/f", dir+"/root/two/f")
		return 0
	}
	nocgo.HostRaw = nocgo.HostPlain
	defer func() { nocgo.HostPlain, nocgo.HostRaw = nocgo.HostSyscall, nocgo.HostSyscall }()
	fd, _ := syscall.Open(dir+"/root", syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	defer syscall.Close(fd)
	for _, nr := range []uintptr{nocgo.SysRenameat, nocgo.SysRenameat2, nocgo.SysUnlinkat, nocgo.SysFchmodat, nocgo.SysFchmod, nocgo.SysFchown, nocgo.SysFchownat} {
		os.Remove(dir + "/root/d")
		os.Symlink("one", dir+"/root/d")
		g.v.Forget()
		g.is("/d/f", dir+"/root/one/f")
		c := &Call{Nr: nr, Arg: [6]uintptr{uintptr(fd), cstring("/d")}}
		if nr == nocgo.SysFchmodat || nr == nocgo.SysFchownat {
			c.Arg[1] = cstring("/one")
		}
		if nr == nocgo.SysFchmod {
			c.Arg[1] = 0
		}
		if r, why := g.v.Handle(g.s, c); r != 0 || why != Answered {
			t.Fatal(nr, r, why)
		}
		g.is("/d/f", dir+"/root/two/f")
	}
	for _, nr := range []uintptr{nocgo.SysWait4, nocgo.SysWaitid} {
		os.Remove(dir + "/root/d")
		os.Symlink("one", dir+"/root/d")
		g.v.Forget()
		g.is("/d/f", dir+"/root/one/f")
		os.Remove(dir + "/root/d")
		os.Symlink("two", dir+"/root/d")
		if _, why := g.v.Handle(g.s, &Call{Nr: nr}); why != Effect {
			t.Fatal(nr, why)
		}
		g.is("/d/f", dir+"/root/two/f")
	}
}

// Calls about files leave what is remembered of directories alone.
func TestRememberedAcrossFiles(t *testing.T) {
	dir := tree(t, "root/one/f", "root/one/g")
	g := configure(t, dir+"/root", "", 1<<30)
	n := new(int)
	nothing := func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr { return 0 }
	nocgo.HostPlain = nothing
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		*n++
		switch nr {
		case nocgo.SysUnshare:
			*n-- // see calls
		case nocgo.SysUnlinkat, nocgo.SysFchmodat, nocgo.SysFchownat:
			return 0
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostPlain, nocgo.HostRaw = nocgo.HostSyscall, nocgo.HostSyscall }()
	fd, _ := syscall.Open(dir+"/root/one/f", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	defer syscall.Close(fd)
	g.is("/one/f", dir+"/root/one/f")
	for _, c := range []Call{
		{Nr: nocgo.SysRenameat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/one/f"), nocgo.AtFdcwd, cstring("/one/g")}},
		{Nr: nocgo.SysRenameat2, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/one/f"), nocgo.AtFdcwd, cstring("/one/g")}},
		{Nr: nocgo.SysUnlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/one/f")}},
		{Nr: nocgo.SysFchmodat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/one/f")}},
		{Nr: nocgo.SysFchownat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/one/f")}},
		{Nr: nocgo.SysFchmod, Arg: [6]uintptr{uintptr(fd)}},
		{Nr: nocgo.SysFchown, Arg: [6]uintptr{uintptr(fd)}},
	} {
		g.v.Handle(g.s, &c)
		*n = 0
		g.is("/one/f", dir+"/root/one/f")
		if *n != 3 {
			t.Errorf("after call %d: %d raw calls", c.Nr, *n)
		}
	}
}

// Threads that read, write and forget the same slots never see a mixture.
func TestConcurrent(t *testing.T) {
	dir := tree(t, "root/aa/x/f", "root/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/x/f", "root/c/x/f", "root/la->aa", "root/lb->bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "root/lc->c/.")
	g := configure(t, dir+"/root", "", 1<<30)
	paths := map[string]string{"/aa/x/f": "aa", "/la/x/f": "aa", "/lb/x/f": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "/lc/x/f": "c", "/c/x/../x/f": "c", "/lc/../la/x/f": "aa"}
	inodes := map[string]uint64{}
	for p, d := range paths {
		inodes[p] = inode(t, dir+"/root/"+d+"/x/f")
	}
	// All keys into two slots.
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := &guest{t, g.v, newScratchLocked()}
			bufs := map[string]*Call{}
			for p := range paths {
				keepLock.Lock()
				bufs[p] = &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(p), addr(buffer(128)), 0}}
				keepLock.Unlock()
			}
			for !stop.Load() {
				for p, c := range bufs {
					r, why := s.v.Handle(s.s, c)
					if r != 0 || why != Answered || nocgo.Load64(c.Arg[2]+8) != inodes[p] {
						t.Errorf("%s: %d %v", p, int64(r), why)
						return
					}
				}
			}
		}()
	}
	for i := range 300 {
		for j := range g.v.slots { // move everything to the first pair
			if i%3 == 0 && j > 1 && nocgo.LoadAcquire32(&g.v.slots[j].seq) != 0 {
				nocgo.CompareAndSwap32(&g.v.slots[j].seq, 2, 0)
			}
		}
		g.v.Forget()
		syscall.Nanosleep(&syscall.Timespec{Nsec: 1e6}, nil)
	}
	stop.Store(true)
	wg.Wait()
}

var keepLock sync.Mutex

func newScratchLocked() *Scratch {
	keepLock.Lock()
	defer keepLock.Unlock()
	return newScratch()
}

// While one thread swaps a link and sees each of its swaps at once, another always finds one of the two targets.
func TestSwap(t *testing.T) {
	for _, ttl := range []uint64{0, 1 << 30} {
		dir := tree(t, "root/one/f", "root/two/f", "root/d->one")
		g := configure(t, dir+"/root", "", ttl)
		to := [2]string{"one", "two"}
		inodes := [2]uint64{inode(t, dir+"/root/one/f"), inode(t, dir+"/root/two/f")}
		turn := 0
		nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			if os.Symlink(to[turn], dir+"/root/new") != nil || os.Rename(dir+"/root/new", dir+"/root/d") != nil {
				return nocgo.Fail(nocgo.EIO)
			}
			return 0
		}
		stat := Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/d/f"), addr(buffer(128)), 0}}
		mine := Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, stat.Arg[1], addr(buffer(128)), 0}}
		swap := Call{Nr: nocgo.SysRenameat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/new"), nocgo.AtFdcwd, cstring("/d")}}
		var stop atomic.Bool
		var wg sync.WaitGroup
		s := newScratch()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				r, why := g.v.Handle(s, &stat)
				if ino := nocgo.Load64(stat.Arg[2] + 8); why != Answered || r != 0 || ino != inodes[0] && ino != inodes[1] {
					t.Errorf("lifetime %d: %d %v, inode %d of %v", ttl, int64(r), why, ino, inodes)
					return
				}
			}
		}()
		for i := range 3000 {
			turn = i & 1
			g.v.Handle(g.s, &swap)
			r, why := g.v.Handle(g.s, &mine)
			if why != Answered || r != 0 || nocgo.Load64(mine.Arg[2]+8) != inodes[turn] {
				t.Fatalf("lifetime %d: after swap %d: %d %v", ttl, i, int64(r), why)
			}
		}
		stop.Store(true)
		wg.Wait()
		nocgo.HostPlain = nocgo.HostSyscall
	}
}

// A slot that a thread left while writing is lost, and nothing else.
func TestAbandonedSlot(t *testing.T) {
	dir := tree(t, "root/a/f")
	g := configure(t, dir+"/root", "", 1000)
	for i := range g.v.slots {
		g.v.slots[i].seq = 1
	}
	for i := range g.v.places {
		g.v.places[i].seq = 1
	}
	g.v.TrackDirectory()
	for range 3 {
		g.is("/a/f", dir+"/root/a/f")
	}
}
