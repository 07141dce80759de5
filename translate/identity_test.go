package translate

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// fake tells a guest that PRoot shows what this process owns as user 1234's and group 77's.
func fake(t *testing.T, g *guest) {
	t.Helper()
	old := nocgo.HostPlain
	t.Cleanup(func() { nocgo.HostPlain = old })
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysFaccessat && a1 == 0 { // see takeBack
			return nocgo.Fail(nocgo.EFAULT)
		}
		if nr != nocgo.SysFstat {
			t.Errorf("call %d went to PRoot", nr)
		}
		r := nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		nocgo.Store32(a1+24, 1234)
		nocgo.Store32(a1+28, 77)
		return r
	}
	g.v.SetModes(Identity)
	if g.v.AskOwners(g.s); !g.v.owners {
		t.Fatal("no identity", g.v.uid, g.v.gid, g.s.stat)
	}
}

// asked has PRoot's own answers come from a function, and counts them.
func asked(t *testing.T, answer func(nr, a0, a1 uintptr) uintptr) *int {
	t.Helper()
	n := new(int)
	old := nocgo.HostPlain
	t.Cleanup(func() { nocgo.HostPlain = old })
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		*n++
		return answer(nr, a0, a1)
	}
	return n
}

// owner asks with one call who owns a path.
func (g *guest) owner(nr uintptr, path string, flags uintptr) (uid, gid uint32, r uintptr, why Reason) {
	b := buffer(256)
	c := &Call{Nr: nr, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), addr(b), flags}}
	at := uintptr(24)
	if nr == nocgo.SysStatx {
		c.Arg = [6]uintptr{nocgo.AtFdcwd, cstring(path), flags, 0xfff, addr(b)}
		at = 20
	}
	r, why = g.v.Handle(g.s, c)
	return nocgo.Load32(addr(b) + at), nocgo.Load32(addr(b) + at + 4), r, why
}

// Files of the user and the group that PRoot has change owners, others keep theirs.
func TestFakedOwners(t *testing.T) {
	dir := tree(t, "root/d/mine", "root/d/theirs", "root/d/l->mine")
	g := configure(t, dir+"/root", "", 1000)
	fake(t, g)
	check := func(path string, uid, gid uint32) {
		t.Helper()
		for _, nr := range []uintptr{nocgo.SysNewfstatat, nocgo.SysStatx} {
			for _, flags := range []uintptr{0, nocgo.AtSymlinkNofollow} {
				if u, g, r, why := g.owner(nr, path, flags); u != uid || g != gid || r != 0 || why != Answered {
					t.Errorf("call %d, flags %#x: %s belongs to %d:%d, want %d:%d (%d, %v)", nr, flags, path, u, g, uid, gid, int64(r), why)
				}
			}
		}
		f, err := os.Open(dir + "/root" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := buffer(128)
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFstat, Arg: [6]uintptr{f.Fd(), addr(b)}})
		if u, g := nocgo.Load32(addr(b)+24), nocgo.Load32(addr(b)+28); u != uid || g != gid || r != 0 || why != Answered {
			t.Errorf("fstat: %s belongs to %d:%d (%d, %v)", path, u, g, int64(r), why)
		}
	}
	check("/d/mine", 1234, 77)
	check("/d/l", 1234, 77)
	check("/d", 1234, 77)
	if os.Getuid() == 0 {
		os.Chown(dir+"/root/d/theirs", 33, 34)
		check("/d/theirs", 33, 34)
	}
	r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFstat, Arg: [6]uintptr{^uintptr(0), addr(buffer(128))}})
	if r != nocgo.Fail(nocgo.EBADF) || why != Answered {
		t.Errorf("fstat(-1) = %d, %v", int64(r), why)
	}
}

// What could show that PRoot lends rights, or depends on it, is left to PRoot.
func TestLentRights(t *testing.T) {
	dir := tree(t, "root/d/f", "root/d/ro", "root/d/l->ro", "root/shut/f", "root/group/f")
	root := dir + "/root"
	g := configure(t, root, "", 1000)
	fake(t, g)
	for name, mode := range map[string]uint32{"/d/ro": 0o444, "/shut": 0o555, "/group": 0o2555} {
		if err := syscall.Chmod(root+name, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(root+name, 0o755)
	}
	for _, c := range []struct {
		nr    uintptr
		path  string
		flags uintptr
		want  Reason
	}{
		{nocgo.SysNewfstatat, "/d/ro", 0, Answered},
		{nocgo.SysNewfstatat, "/d/l", 0, Rights},
		{nocgo.SysNewfstatat, "/d/l", nocgo.AtSymlinkNofollow, Answered},
		{nocgo.SysNewfstatat, "/shut", 0, Rights},
		{nocgo.SysNewfstatat, "/shut/f", 0, Answered},
		{nocgo.SysStatx, "/d/f", 0, Answered},
		{nocgo.SysStatx, "/d/ro", 0, Rights},
		{nocgo.SysStatx, "/d/l", nocgo.AtSymlinkNofollow, Answered},
		{nocgo.SysStatx, "/shut", 0, Rights},
	} {
		if _, _, r, why := g.owner(c.nr, c.path, c.flags); why != c.want || r != 0 {
			t.Errorf("call %d of %s, flags %#x: %d, %v, want %v", c.nr, c.path, c.flags, int64(r), why, c.want)
		}
	}
	// A descriptor's own file: nobody walks, nothing is lent.
	shut, err := os.Open(root + "/shut")
	if err != nil {
		t.Fatal(err)
	}
	defer shut.Close()
	b := buffer(128)
	r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{shut.Fd(), cstring(""), addr(b), nocgo.AtEmptyPath}})
	if r != 0 || why != Answered || nocgo.Load32(addr(b)+16)&0o777 != 0o555 {
		t.Errorf("fstat of a directory that lacks rights: %d, %v", int64(r), why)
	}
	for path, want := range map[string]Reason{"/d/new": Answered, "/d/f": Answered, "/group/f": Rights, "/group/new": Rights} {
		const create = nocgo.OCreat | 1
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), create, 0o600}})
		if why != want {
			t.Errorf("open of %s: %d, %v, want %v", path, int64(r), why, want)
		}
		if why == Answered && !nocgo.Failed(r) {
			syscall.Close(int(r))
		}
	}
	if unix.Access(root+"/group/new", 0) == nil {
		t.Error("a declined open has created a file")
	}
}

// A denial proves nothing where root is faked.
func TestFakedDenial(t *testing.T) {
	dir := tree(t, "root/d/f")
	g := configure(t, dir+"/root", "", 1000)
	fake(t, g)
	old := nocgo.HostRaw
	defer func() { nocgo.HostRaw = old }()
	for _, errno := range []uintptr{nocgo.EACCES, nocgo.EPERM} {
		nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			if nr == nocgo.SysFaccessat {
				return nocgo.Fail(errno)
			}
			return old(nr, a0, a1, a2, a3, a4, a5)
		}
		if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/d/f"), 4}}); why != Rights {
			t.Errorf("errno %d: %d, %v", errno, int64(r), why)
		}
	}
}

// After a change of the identity nothing is said that depends on it; without a faked one these calls mean nothing.
func TestIdentityChanges(t *testing.T) {
	dir := tree(t, "root/d/f")
	if os.Getuid() == 0 {
		os.Chown(dir+"/root/d", 4321, 4321)
	}
	for _, nr := range []uintptr{nocgo.SysSetuid, nocgo.SysSetgid, nocgo.SysSetreuid, nocgo.SysSetregid, nocgo.SysSetresuid, nocgo.SysSetresgid} {
		g := configure(t, dir+"/root", "", 1000)
		if _, why := g.v.Handle(g.s, &Call{Nr: nr}); why != Number {
			t.Errorf("plain: call %d: %v", nr, why)
		}
		g.is("/d/f", dir+"/root/d/f")
		fake(t, g)
		if _, why := g.v.Handle(g.s, &Call{Nr: nr}); why != Owner {
			t.Errorf("call %d: %v", nr, why)
		}
		g.declines("/d/f", Owner)
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysGetuid}); why != Owner {
			t.Errorf("getuid after call %d: %v", nr, why)
		}
		if os.Getuid() == 0 {
			g.is("/d", dir+"/root/d") // somebody else's
		}
	}
}

// PRoot is asked once for each id.
func TestFakedIDs(t *testing.T) {
	g := configure(t, tree(t, "root/f")+"/root", "", 1000)
	for nr := uintptr(nocgo.SysGetuid); nr <= nocgo.SysGetegid; nr++ {
		if _, why := g.v.Handle(g.s, &Call{Nr: nr}); why != Number {
			t.Errorf("plain: call %d: %v", nr, why)
		}
	}
	fake(t, g)
	n := asked(t, func(nr, _, _ uintptr) uintptr { return 0xfffffff0 + nr - nocgo.SysGetuid })
	for range 3 {
		for nr := uintptr(nocgo.SysGetuid); nr <= nocgo.SysGetegid; nr++ {
			if r, why := g.v.Handle(g.s, &Call{Nr: nr}); r != 0xfffffff0+nr-nocgo.SysGetuid || why != Answered {
				t.Errorf("call %d: %#x, %v", nr, r, why)
			}
		}
	}
	if *n != 4 {
		t.Errorf("PRoot was asked %d times", *n)
	}
	b := buffer(16)
	three := &Call{Nr: nocgo.SysGetresuid, Arg: [6]uintptr{addr(b), addr(b) + 4, addr(b) + 8}}
	if _, why := g.v.Handle(g.s, three); why != Owner {
		t.Errorf("getresuid of large ids: %v", why)
	}
	g.v.modes |= Upstream
	r, why := g.v.Handle(g.s, three)
	if got := [3]uint32{nocgo.Load32(addr(b)), nocgo.Load32(addr(b) + 4), nocgo.Load32(addr(b) + 8)}; r != 0 || why != Answered || got != [3]uint32{0xfffffff0, 0xfffffff1, 1234} {
		t.Errorf("getresuid: %v, %d, %v", got, r, why)
	}
	three.Nr = nocgo.SysGetresgid
	r, why = g.v.Handle(g.s, three)
	if got := [3]uint32{nocgo.Load32(addr(b)), nocgo.Load32(addr(b) + 4), nocgo.Load32(addr(b) + 8)}; r != 0 || why != Answered || got != [3]uint32{0xfffffff2, 0xfffffff3, 77} {
		t.Errorf("getresgid: %v, %d, %v", got, r, why)
	}
	three.Arg[1] = 8
	if _, why := g.v.Handle(g.s, three); why != Memory {
		t.Errorf("getresgid with a bad address: %v", why)
	}
}

// Rights that may still be lent to the thread are given back before something is answered that would show them.
func TestTakeBack(t *testing.T) {
	dir := tree(t, "root/d/f", "root/d/l->f")
	g := configure(t, dir+"/root", "", 1000)
	fake(t, g)
	if os.Getuid() == 0 {
		os.Chown(dir+"/root/d/f", 33, 33)
	}
	n := asked(t, func(nr, a0, a1 uintptr) uintptr {
		if nr != nocgo.SysFaccessat && nr != nocgo.SysMkdirat || nr == nocgo.SysFaccessat && a1 != 0 {
			t.Errorf("call %d went to PRoot", nr)
		}
		return nocgo.Fail(nocgo.EFAULT)
	})
	path := cstring("/d/f")
	stat := func(want int) {
		t.Helper()
		*n = 0
		if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, path, addr(buffer(128))}}); r != 0 || why != Answered {
			t.Errorf("stat: %d, %v", int64(r), why)
		}
		if *n != want {
			t.Errorf("%d stops before a stat, want %d", *n, want)
		}
	}
	stat(0)
	for _, c := range []*Call{
		{Nr: nocgo.SysInotifyAdd}, {Nr: nocgo.SysBind}, {Nr: nocgo.SysLinkat},
		{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/" + strings.Repeat("n", 255))}},
		{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{nocgo.AtFdcwd, path, 8}},
	} {
		for range 2 { // a thread is noted once
			if _, why := g.v.Handle(g.s, c); why == Answered {
				t.Errorf("call %d was answered", c.Nr)
			}
		}
		stat(1)
		stat(0)
	}
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{nocgo.AtFdcwd, path, 0}}); r != 0 || why != Answered {
		t.Errorf("access: %d, %v", int64(r), why)
	}
	stat(0)
	g.v.lent[0], g.v.lending = anyThread, 1 // as two threads may leave it
	for i := range g.v.lent {
		g.v.lent[i] = anyThread
	}
	stat(1)
	stat(1)

	for i := range g.v.lent {
		g.v.lent[i] = 0
	}
	// Where opens may pass unseen.
	g.v.lending = 0
	stat(0)
	g.v.MissLent()
	stat(1)
	stat(1)
}

// PRoot walks to the current directory after a getcwd, and leaves what it lends on the way: the thread must stop before
// anything shows it.
func TestAskingForTheDirectoryLends(t *testing.T) {
	dir := tree(t, "root/d/f")
	g := configure(t, dir+"/root", "", 1000)
	fake(t, g)
	nocgo.StoreRelease32(&g.v.track, 1)
	var made []uintptr
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		made = append(made, nr)
		if nr == nocgo.SysGetcwd {
			nocgo.Store32(a0, '/'|'d'<<8)
			return 3
		}
		return nocgo.Fail(nocgo.EFAULT)
	}
	g.is("f", dir+"/root/d/f")
	if len(made) != 2 || made[0] != nocgo.SysGetcwd || made[1] != nocgo.SysFaccessat {
		t.Errorf("asked PRoot for %d", made)
	}
	if !EndsUnseen(nocgo.SysGetcwd) {
		t.Error("a getcwd of the program is not noted")
	}
}
