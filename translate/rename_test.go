package translate

import (
	"os"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// answers makes a call and wants it answered here, without PRoot.
func (g *guest) answers(nr uintptr, want uintptr, args ...uintptr) {
	g.t.Helper()
	c := &Call{Nr: nr}
	copy(c.Arg[:], args)
	r, why := g.v.Handle(g.s, c)
	if r != want || why != Answered || g.s.Asked() != Answered {
		g.t.Errorf("call %d: %d %v %v, want %d", nr, int64(r), why, g.s.Asked(), int64(want))
	}
}

// asks makes a call and wants PRoot to be asked.
func (g *guest) asks(nr uintptr, want Reason, args ...uintptr) {
	g.t.Helper()
	c := &Call{Nr: nr}
	copy(c.Arg[:], args)
	if r, why := g.v.Handle(g.s, c); r != 0 || why != Answered || g.s.Asked() != want {
		g.t.Errorf("call %d: %d %v %v, want %v", nr, int64(r), why, g.s.Asked(), want)
	}
}

// A rename is answered where PRoot's record of the current directory stays as it is, and what is remembered is right
// afterwards. Faults of the second path come before the kernel's.
func TestRename(t *testing.T) {
	dir := tree(t, "root/d/sub/f", "root/a/b/f", "root/e/f", "root/e/g", "root/l->/a", "out/x/f", "root/m/")
	g := configure(t, dir+"/root", dir+"/out:/m", 1<<30)
	cwd := "/d/sub"
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysGetcwd {
			copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), cwd+"\x00")
			return uintptr(len(cwd) + 1)
		}
		return 0
	}
	defer func() { nocgo.HostPlain = nocgo.HostSyscall }()
	at := nocgo.AtFdcwd
	path := func(p string) uintptr { return cstring(p) }
	rename := func(want uintptr, from, to string) {
		t.Helper()
		g.answers(nocgo.SysRenameat, want, at, path(from), at, path(to))
	}
	g.asks(nocgo.SysRenameat, Directory, at, path("/e"), at, path("/e2")) // not tracked
	g.v.TrackDirectory()
	g.asks(nocgo.SysRenameat, Directory, at, path("/d"), at, path("/d2"))
	g.asks(nocgo.SysRenameat, Directory, at, path("/d/sub"), at, path("/d2"))
	g.asks(nocgo.SysRenameat, Directory, at, path("/d/sub/"), at, path("/d2"))
	rename(0, "f", "../g")
	rename(0, "/d/g", "f")
	g.is("/l/b/f", dir+"/root/a/b/f")
	g.is("/a/b/f", dir+"/root/a/b/f")
	rename(0, "/a", "/a2")
	g.is("/a2/b/f", dir+"/root/a2/b/f")
	g.answers(nocgo.SysNewfstatat, nocgo.Fail(nocgo.ENOENT), at, path("/a/b/f"), addr(buffer(128)))
	os.Symlink("/e", dir+"/root/a")
	g.is("/l/f", dir+"/root/e/f")
	rename(0, "/l", "/e/g") // a link over a file
	g.is("/e/g/f", dir+"/root/e/f")
	rename(0, "/m/x", "/m/y")
	g.is("/m/y/f", dir+"/out/y/f")
}

// Who moves the rootfs itself is left to PRoot from then on.
func TestRenameRoot(t *testing.T) {
	for _, c := range [][2]string{{"/", "/m/x"}, {"/m/root", "/m/x"}, {"/m/x", "/m/root"}, {"/m/x", "/"}} {
		dir := tree(t, "root/d/f", "x/", "root/m/")
		g := configure(t, dir+"/root", dir+":/m", 1000)
		g.v.TrackDirectory()
		g.v.AllowRenameat2()
		nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			if nr == nocgo.SysGetcwd {
				copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), "/proc\x00")
				return 6
			}
			return 0
		}
		g.asks(nocgo.SysRenameat2, Withdrawn, nocgo.AtFdcwd, cstring(c[0]), nocgo.AtFdcwd, cstring(c[1]), 2)
		nocgo.HostPlain = nocgo.HostSyscall
		g.declines("/d/f", Withdrawn)
	}
}

// The order of faults: PRoot reads both paths, resolves the first, then the second; then the kernel begins.
func TestRenameFaults(t *testing.T) {
	for _, ttl := range []uint64{0, 1 << 30} {
		dir := tree(t, "root/d/f", "root/file")
		g := configure(t, dir+"/root", "", ttl)
		g.v.TrackDirectory()
		g.v.AllowRenameat2()
		nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			if nr == nocgo.SysGetcwd {
				copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), "/d\x00")
				return 3
			}
			return 0
		}
		defer func() { nocgo.HostPlain = nocgo.HostSyscall }()
		at := nocgo.AtFdcwd
		for range 2 {
			for _, c := range []struct {
				from, to string
				flags    uintptr
				want     uintptr
			}{
				{"/missing", "/file/x", 0, nocgo.ENOTDIR},
				{"/missing", "/missing/x", 0, nocgo.ENOENT},
				{"/d/f", "/file/x", 99, nocgo.ENOTDIR},
				{"/d/f", "/d/g", 99, nocgo.EINVAL},
				{"/d/f", "/file/x", 1, nocgo.ENOTDIR},
				{"/d/f", "/file", 1, nocgo.EEXIST},
				{"/missing", "/x", 0, nocgo.ENOENT},
			} {
				g.answers(nocgo.SysRenameat2, nocgo.Fail(c.want), at, cstring(c.from), at, cstring(c.to), c.flags)
			}
			g.asks(nocgo.SysRenameat2, Differs, at, cstring("/missing/f"), at, cstring("/x"), 0)
			g.asks(nocgo.SysRenameat2, Denied, at, cstring("/file/f"), at, cstring("/x"), 0)
			// Where one line of PRoot leaves the second path to the kernel, its faults are nobody's to answer.
			for _, args := range [][]uintptr{{at, cstring("/missing"), at, cstring("/file/x"), 0}, {at, cstring("/d/f"), at, cstring("/file/x"), 0x8000}} {
				c := &Call{Nr: nocgo.SysLinkat}
				copy(c.Arg[:], args)
				if _, why := g.v.Handle(g.s, c); why != Differs {
					t.Errorf("linkat %x: %v", args, why)
				}
			}
			g.answers(nocgo.SysLinkat, nocgo.Fail(nocgo.ENOTDIR), at, cstring("/d/f"), at, cstring("/file/x"), 0)
			g.answers(nocgo.SysLinkat, nocgo.Fail(nocgo.EEXIST), at, cstring("/d/f"), at, cstring("/file"), 0)
			c := &Call{Nr: nocgo.SysSymlinkat, Arg: [6]uintptr{cstring(""), at, cstring("/file/x")}}
			if _, why := g.v.Handle(g.s, c); why != Differs {
				t.Errorf("symlinkat: %v", why)
			}
		}
	}
}

// What lies at or below /dev/shm is in memory for one line of PRoot; elsewhere the kernel says what it is.
func TestStatfs(t *testing.T) {
	dir := tree(t, "root/dev/", "root/tmp/f", "root/etc/f", "root/dev/shm->../tmp")
	g := configure(t, dir+"/root", "", 1000)
	kind := uint64(0xef53)
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		r := nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		if nr == nocgo.SysStatfs && r == 0 {
			nocgo.Store64(a1, kind)
		}
		return r
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	b := addr(buffer(128))
	ask := func(path string, want Reason) {
		t.Helper()
		if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysStatfs, Arg: [6]uintptr{cstring(path), b}}); r != 0 || why != want {
			t.Errorf("%s: %d %v", path, int64(r), why)
		}
	}
	ask("/etc/f", Answered)
	ask("/tmp/f", Differs)
	ask("/dev/shm", Differs)
	ask("/tmp", Differs)
	ask("/", Answered)
	kind = 0x01021994
	ask("/tmp/f", Answered)
	os.Remove(dir + "/root/dev/shm")
	kind = 0xef53
	g.v.Forget()
	ask("/tmp/f", Answered)
	g.answers(nocgo.SysStatfs, nocgo.Fail(nocgo.EFAULT), cstring("/etc/f"), 8)
}

// A directory by its descriptor, whose guest path is that of a binding, and leads through what is no directory any more.
func TestWayToBindingTaken(t *testing.T) {
	for _, ttl := range []uint64{0, 1 << 30} {
		for _, instead := range []string{"root/file", "root/link", "none"} {
			dir := tree(t, "root/glue/x/", "root/t/a", "two/f", "root/file", "root/link->/two")
			g := configure(t, dir+"/root", dir+"/two:/glue/x/y", ttl)
			fd, err := os.Open(dir + "/two")
			if err != nil {
				t.Fatal(err)
			}
			defer fd.Close()
			stat := func(path string) (uintptr, Reason) {
				return g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{fd.Fd(), cstring(path), addr(buffer(128)), 0}})
			}
			names := []string{"f", "./f", "../y/f", "../../../t/a"}
			for _, name := range names {
				if r, why := stat(name); r != 0 || why != Answered {
					t.Errorf("%s: %d, %v", name, int64(r), why)
				}
			}
			if err := os.Rename(dir+"/root/glue/x", dir+"/root/old"); err != nil {
				t.Fatal(err)
			}
			os.Rename(dir+"/"+instead, dir+"/root/glue/x")
			g.v.Forget()
			for _, name := range names {
				if r, why := stat(name); why == Answered && r != nocgo.Fail(nocgo.ENOTDIR) {
					t.Errorf("with %s on the way, %s: %d", instead, name, int64(r))
				}
			}
		}
	}
}
