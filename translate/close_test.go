package translate

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// What Termux's fork looks at when a descriptor is closed is left to it: pipes, sockets, what might be /proc/self/auxv.
func TestClosing(t *testing.T) {
	dir := tree(t, "root/f")
	g := configure(t, dir+"/root", "", 1000)
	newBoard(g.v)
	open := func(path string, flags int) uintptr {
		fd, err := unix.Open(path, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		return uintptr(fd)
	}
	isOpen := func(fd uintptr) bool {
		_, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
		return err == nil
	}
	handle := func(fd uintptr) (uintptr, Reason) {
		return g.v.Handle(g.s, &Call{Nr: nocgo.SysClose, Arg: [6]uintptr{fd}})
	}
	file := filepath.Join(dir, "root/f")
	fd := open(file, unix.O_RDONLY)
	for _, m := range []Modes{0, Upstream, Upstream | Release | Identity | HardLinks} {
		g.v.SetModes(m)
		if _, why := handle(fd); why != Number || !isOpen(fd) {
			t.Errorf("modes %#x, where PRoot does not stop: %v, open: %v", m, why, isOpen(fd))
		}
	}
	unix.Close(int(fd))
	for _, m := range []Modes{Termux, Termux | Release | Identity | HardLinks} {
		g.v.SetModes(m)
		for _, fd := range []uintptr{open(file, unix.O_RDONLY), open(file, unix.O_RDWR), open(file, unix.O_PATH), open(dir, unix.O_DIRECTORY)} {
			if r, why := handle(fd); r != 0 || why != Answered || isOpen(fd) {
				t.Errorf("modes %#x: %d, %v, open: %v", m, int64(r), why, isOpen(fd))
			}
		}
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			t.Fatal(err)
		}
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		path := open("/proc/self/fd/"+itoa(pipe[0]), unix.O_PATH)
		for _, fd := range []uintptr{uintptr(pipe[0]), uintptr(pipe[1]), path, uintptr(pair[0]), uintptr(pair[1]), open("/dev/null", unix.O_RDONLY)} {
			if _, why := handle(fd); why != Waits || !isOpen(fd) {
				t.Errorf("modes %#x, descriptor %d: %v, open: %v", m, fd, why, isOpen(fd))
			}
			unix.Close(int(fd))
		}
		auxv := open("/proc/self/auxv", unix.O_RDONLY)
		if _, why := handle(auxv); why != Descriptor || !isOpen(auxv) {
			t.Errorf("auxv: %v, open: %v", why, isOpen(auxv))
		}
		unix.Close(int(auxv))
		if _, why := handle(^uintptr(0)); why != Descriptor {
			t.Errorf("no descriptor: %v", why)
		}
	}
	// A thread to which PRoot has lent rights stops, so that it takes them back.
	fd = open(file, unix.O_RDONLY)
	defer unix.Close(int(fd))
	g.v.noteLent()
	if _, why := handle(fd); why != Rights || !isOpen(fd) {
		t.Errorf("with lent rights: %v, open: %v", why, isOpen(fd))
	}
	g.v.takeBack()
	other, err := unix.Dup(int(fd))
	if err != nil {
		t.Fatal(err)
	}
	if r, why := handle(uintptr(other)); r != 0 || why != Answered {
		t.Errorf("after they were taken back: %d, %v", int64(r), why)
	}
}
