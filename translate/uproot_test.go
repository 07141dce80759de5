package translate

import (
	"os"
	"sync"
	"syscall"
	"testing"

	"svcrelay/nocgo"
)

// known says whether asking for a path costs no more than a remembered directory does.
func (g *guest) known(n *int, path, host string) bool {
	g.t.Helper()
	*n = 0
	g.is(path, host)
	return *n == 3
}

// Removing or closing one directory leaves what is remembered of others, and nothing of its own, under no name.
func TestUproot(t *testing.T) {
	n := calls(t)
	dir := tree(t, "root/a/b/c/f", "root/a/bb/f", "root/a/other/f", "root/m/", "root/deep/m2/", "out/x/y/f", "out/z/f", "far/f")
	g := configure(t, dir+"/root", dir+"/out:/m|"+dir+"/out/x:/deep/m2|"+dir+"/far:/m/x/y/far", 1<<30)
	places := map[string]string{
		"/a/b/c/f": "/root/a/b/c/f", "/a/bb/f": "/root/a/bb/f", "/a/other/f": "/root/a/other/f", "/m/x/y/f": "/out/x/y/f",
		"/m/z/f": "/out/z/f", "/deep/m2/y/f": "/out/x/y/f",
	}
	for _, c := range []struct {
		nr   uintptr
		path string
		lost []string // nil: everything
	}{
		{nocgo.SysFchmodat, "/a/b", []string{"/a/b/c/f"}},
		{nocgo.SysFchmodat, "/a/b/c", []string{"/a/b/c/f"}},
		{nocgo.SysFchmodat, "/a/bb/../b", []string{"/a/b/c/f"}},
		{nocgo.SysFchmodat, "/m/z", []string{"/m/z/f"}},
		{nocgo.SysFchmodat, "/a/b/c/f", []string{}},
		{nocgo.SysUnlinkat, "/a/other", []string{"/a/other/f"}}, // not empty, but who knows that before
		{nocgo.SysFchmodat, "/m/x", nil},                        // the host's side of another binding
		{nocgo.SysFchmodat, "/deep/m2/y", nil},                  // another name of the directory in which a binding begins
		{nocgo.SysFchmodat, "/deep", nil},
		{nocgo.SysFchmodat, "/", nil},
		{nocgo.SysLsetxattr, "/a/b", []string{"/a/b/c/f"}},
	} {
		for p, host := range places {
			g.is(p, dir+host)
			g.is(p, dir+host)
		}
		call := &Call{Nr: c.nr, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(c.path), 0o700}}
		switch c.nr {
		case nocgo.SysUnlinkat:
			call.Arg[2] = nocgo.AtRemovedir
		case nocgo.SysLsetxattr:
			call.Arg = [6]uintptr{cstring(c.path), cstring("system.nothing"), cstring("v"), 1, 0}
		}
		if _, why := g.v.Handle(g.s, call); why != Answered || g.s.Asked() != Answered {
			t.Errorf("call %d %s: %v %v", c.nr, c.path, why, g.s.Asked())
		}
		lost := map[string]bool{}
		for _, p := range c.lost {
			lost[p] = true
		}
		for p, host := range places {
			if got := !g.known(n, p, dir+host); got != (c.lost == nil || lost[p]) {
				// Walking to one may have made another known again.
				if !(c.lost == nil && !got) {
					t.Errorf("after call %d %s: %s forgotten: %v", c.nr, c.path, p, got)
				}
			}
		}
	}
}

// A directory that is removed and made again with its number is not taken for the old one, and a link in its place is
// seen.
func TestRemovedDirectory(t *testing.T) {
	dir := tree(t, "root/a/d/", "root/b/f")
	g := configure(t, dir+"/root", "", 1<<30)
	do := func(nr uintptr, args ...uintptr) uintptr {
		t.Helper()
		c := &Call{Nr: nr}
		copy(c.Arg[:], args)
		r, why := g.v.Handle(g.s, c)
		if why != Answered || nocgo.Failed(r) {
			t.Fatal(nr, int64(r), why)
		}
		return r
	}
	for range 3 {
		fd := do(nocgo.SysOpenat, nocgo.AtFdcwd, cstring("/a/d"), nocgo.ODirectory|nocgo.ONofollow|nocgo.OCloexec)
		do(nocgo.SysMkdirat, fd, cstring("sub"), 0o755)
		do(nocgo.SysUnlinkat, fd, cstring("sub"), nocgo.AtRemovedir)
		do(nocgo.SysUnlinkat, nocgo.AtFdcwd, cstring("/a/d"), nocgo.AtRemovedir)
		syscall.Close(int(fd))
		do(nocgo.SysSymlinkat, cstring("/b"), nocgo.AtFdcwd, cstring("/a/d"))
		g.is("/a/d/f", dir+"/root/b/f")
		do(nocgo.SysUnlinkat, nocgo.AtFdcwd, cstring("/a/d"), 0)
		do(nocgo.SysMkdirat, nocgo.AtFdcwd, cstring("/a/d"), 0o755)
	}
}

// Threads that learn of a directory while another one removes it do not bring it back.
func TestUprootConcurrent(t *testing.T) {
	dir := tree(t, "root/a/d/", "root/b/f")
	g := configure(t, dir+"/root", "", 1<<30)
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 2 {
		s := newScratchLocked()
		keepLock.Lock()
		c := &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/a/d/f"), addr(buffer(128)), 0}}
		keepLock.Unlock()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					g.v.Handle(s, c)
				}
			}
		}()
	}
	want := inode(t, dir+"/root/b/f")
	remove := &Call{Nr: nocgo.SysUnlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/a/d"), nocgo.AtRemovedir}}
	b := buffer(128)
	stat := &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/a/d/f"), addr(b), 0}}
	for i := range 2000 {
		if r, why := g.v.Handle(g.s, remove); r != 0 || why != Answered {
			t.Fatal(i, int64(r), why)
		}
		os.Symlink("../b", dir+"/root/a/d")
		// A remembered directory /a/d would send the kernel through the link, to the same file; so it must be gone.
		os.Remove(dir + "/root/a/d")
		os.Symlink("/b", dir+"/root/a/d") // leads out of the guest for the kernel
		r, why := g.v.Handle(g.s, stat)
		if why == Answered && (r != 0 || nocgo.Load64(addr(b)+8) != want) {
			t.Fatalf("round %d: %d", i, int64(r))
		}
		g.v.Handle(g.s, &Call{Nr: nocgo.SysUnlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, stat.Arg[1], 1}}) // nothing
		os.Remove(dir + "/root/a/d")
		os.Mkdir(dir+"/root/a/d", 0o755)
		nocgo.Add32(&g.v.links, 1) // a test is no process that forgets its own changes
	}
	close(stop)
	wg.Wait()
}

// Where the directory in which a binding is becomes something else, PRoot does not get to the binding.
func TestWayToBindingIsGone(t *testing.T) {
	dir := tree(t, "root/b/two/", "out/x/f")
	g := configure(t, dir+"/root", dir+"/out:/b/two", 1000)
	g.is("/b/two/x/f", dir+"/out/x/f")
	g.is("/b/two", dir+"/out")
	if err := os.RemoveAll(dir + "/root/b"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/root/b", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	g.v.Forget()
	for _, path := range []string{"/b/two", "/b/two/x/f", "/b/two/none", "/b/two/x/none/y", "/b/two/."} {
		a := buffer(128)
		copy(a, path)
		st := buffer(144)
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, addr(a), addr(st), 0}})
		if why == Answered && r != nocgo.Fail(nocgo.ENOTDIR) {
			t.Errorf("%s: answered %d", path, int64(r))
		}
	}
}
