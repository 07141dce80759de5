package translate

import (
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// pretend has a tracer that makes a Unix socket of one that asks for network interfaces, if it is to.
func pretend(t *testing.T, makesUp *bool) {
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysSocket && *makesUp {
			a0, a1, a2 = unix.AF_UNIX, unix.SOCK_DGRAM, 0
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
}

// The number of a socket that PRoot has made up is left to it when it is closed, whatever it names by then, and once.
func TestMadeUp(t *testing.T) {
	dir := tree(t, "root/f")
	file := filepath.Join(dir, "root/f")
	makesUp := true
	pretend(t, &makesUp)
	start := func(b *Board) *guest {
		g := configure(t, dir+"/root", "", 1000)
		if b != nil {
			g.v.UseBoard(addrOf(b))
		}
		g.v.SetModes(Termux)
		return g
	}
	open := func(over int) {
		fd, err := unix.Open(file, unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if over >= 0 && fd != over {
			unix.Dup3(fd, over, 0)
			unix.Close(fd)
		}
	}
	socket := func(g *guest) int {
		t.Helper()
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysSocket, Arg: [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW | unix.SOCK_CLOEXEC, 0}})
		if why != Answered || nocgo.Failed(r) || g.s.Asked() != Differs {
			t.Fatalf("socket: %d, %v, %v", int64(r), why, g.s.Asked())
		}
		return int(r)
	}
	closing := func(g *guest, fd int, want Reason) {
		t.Helper()
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysClose, Arg: [6]uintptr{uintptr(fd)}}); why != want {
			t.Errorf("close of %d: %v, want %v", fd, why, want)
		}
		if want != Answered {
			unix.Close(fd)
		}
	}
	newer := func() *Board {
		b := &Board{Magic: BoardMagic}
		keep = append(keep, b)
		return b
	}

	g := start(newer())
	fd := socket(g)
	open(fd)
	closing(g, fd, Address)
	open(fd)
	closing(g, fd, Answered)

	makesUp = false // the host has nothing against it
	fd = socket(g)
	open(fd)
	closing(g, fd, Answered)
	makesUp = true

	// A program that is executed in the same process knows of it from the board, if this was its first thread's.
	b := newer()
	g = start(b)
	fd = socket(g)
	first := unix.Gettid() == unix.Getpid()
	open(fd)
	next := start(b)
	if first {
		closing(next, fd, Address)
	} else {
		b.Heirs[unix.Getpid()%boardHeirs] = uint32(unix.Getpid())
		closing(next, fd, Address)
	}
	g = start(newer())
	g.v.board = addrOf(newer())
	var fds [madeUpNumbers + 1]int
	for i := range fds {
		fds[i] = socket(g)
	}
	for _, fd := range fds {
		open(fd)
		closing(g, fd, Address)
	}
	open(fds[0])
	closing(g, fds[0], Address) // there were too many
	b = newer()
	b.Heirless = 1
	for what, g := range map[string]*guest{"no board": start(nil), "no place on the board": start(b)} {
		open(fds[0])
		closing(g, fds[0], Address)
		_ = what
	}
	g = start(newer())
	open(fds[0])
	closing(g, fds[0], Answered)
	g = start(newer())
	g.v.MissSockets()
	open(fds[0])
	closing(g, fds[0], Address)
}

// A thread that has opened auxv is stopped at what follows: nothing is answered any more. Other paths are not taken for it.
func TestAuxv(t *testing.T) {
	dir := tree(t, "root/proc/self/auxv", "root/f")
	for _, c := range []struct {
		modes Modes
		path  string
		ends  bool
	}{
		{Termux, "/proc/self/auxv", true}, {0, "/proc/self/auxv", true}, {Termux | Identity | HardLinks, "/proc/self/auxv", true},
		{Upstream, "/proc/self/auxv", false}, {Termux, "/proc/self/auxv/", false}, {Termux, "/proc/self/auxw", false}, {Termux, "/f", false},
	} {
		for _, nr := range []uintptr{nocgo.SysOpenat, nocgo.SysOpenat2} {
			g := configure(t, dir+"/root", "", 1000)
			newBoard(g.v)
			g.v.SetModes(c.modes)
			g.v.stopsOpen = stopsThere
			how := new([3]uint64)
			call := &Call{Nr: nr, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(c.path)}}
			if nr == nocgo.SysOpenat2 {
				call.Arg[2], call.Arg[3] = uintptr(unsafe.Pointer(how)), 24
			}
			r, why := g.v.Handle(g.s, call)
			if why == Answered && !nocgo.Failed(r) {
				unix.Close(int(r))
			}
			if c.ends && why != Proc {
				t.Errorf("call %d of %s, modes %#x: %v", nr, c.path, c.modes, why)
			}
			if _, _, why := g.stat("/f"); (why == Withdrawn) != c.ends {
				t.Errorf("after call %d of %s, modes %#x: %v", nr, c.path, c.modes, why)
			}
		}
	}
}
