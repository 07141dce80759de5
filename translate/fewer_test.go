package translate

import (
	"syscall"
	"testing"

	"svcrelay/nocgo"
)

// Once a thread may have lost rights, a name in a directory is looked up by the whole path: so PRoot does it.
func TestFewerRights(t *testing.T) {
	dir := tree(t, "root/d/f")
	g := configure(t, dir+"/root", "", 1000)
	fd, err := syscall.Open(dir+"/root/d", syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	d, relative := uintptr(fd), 0
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysNewfstatat && a0 == d {
			relative++
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	b := addr(buffer(128))
	look := func() {
		t.Helper()
		for range 3 {
			g.answers(nocgo.SysNewfstatat, 0, d, cstring("f"), b, 0)
		}
	}
	look()
	if relative == 0 {
		t.Fatal("the descriptor is not used at all")
	}
	for nr := range uintptr(300) {
		if !ChangesRights(nr) {
			continue
		}
		g.v.fewer, relative = 0, 0
		if _, why := g.v.Handle(g.s, &Call{Nr: nr, Arg: [6]uintptr{5, 5, 5}}); why != Number {
			t.Errorf("system call %d: %v", nr, why)
		}
		look()
		if relative != 0 {
			t.Errorf("after system call %d the kernel is asked by the descriptor", nr)
		}
	}
}
