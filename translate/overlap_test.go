package translate

import (
	"os"
	"testing"

	"svcrelay/nocgo"
)

// What the kernel has written must not be read as a path, a name or a length if the call then is PRoot's.
func TestOverlap(t *testing.T) {
	dir := tree(t, "root/f", "root/dev/shm/")
	g := configure(t, dir+"/root", "", 1000)
	both := addr(buffer(4096))
	put := func(at uintptr, text string) {
		for i := range len(text) {
			nocgo.Store8(at+uintptr(i), text[i])
		}
		nocgo.Store8(at+uintptr(len(text)), 0)
	}
	written := false
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		r := nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		if nr == nocgo.SysStatfs && r == 0 {
			nocgo.Store64(a1, 0xef53)
			written = written || a1 == both
		}
		return r
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	put(both, "/dev/shm")
	if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysStatfs, Arg: [6]uintptr{both, both}}); why != Differs || written {
		t.Errorf("statfs: %v, written %v", why, written)
	}
	g.v.modes = Upstream
	g.answers(nocgo.SysStatfs, 0, both, both)
	nocgo.HostRaw = nocgo.HostSyscall

	fake(t, g)
	const list, none = "system.posix_acl_access", "user.a"
	for name, want := range map[string]Reason{list: Rights, none: Answered} {
		put(both, "/f")
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysGetxattr, Arg: [6]uintptr{both, cstring(name), both, 200}}); why != want {
			t.Errorf("%s over the path: %v", name, why)
		}
		put(both, name)
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysLgetxattr, Arg: [6]uintptr{cstring("/f"), both, both + 1, ^uintptr(0)}}); why != want {
			t.Errorf("%s over the name: %v", name, why)
		}
	}

	g = configure(t, dir+"/root", "", 1000)
	s := socket(t, 1, 1)
	a, n := sockaddr(dir + "/root/socket")
	if r := nocgo.HostSyscall(nocgo.SysBind, s, a, n, 0, 0, 0); r != 0 {
		t.Fatal(int64(r))
	}
	defer os.Remove(dir + "/root/socket")
	for _, off := range []uintptr{0, 1, 100, ^uintptr(2)} {
		nocgo.Store32(both+500+off, 110)
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysGetsockname, Arg: [6]uintptr{s, both + 500, both + 500 + off}}); why != Memory {
			t.Errorf("getsockname, length at %d: %v", int64(off), why)
		}
	}
}
