package translate

import (
	"testing"

	"svcrelay/nocgo"
)

// What PRoot stops at with --kernel-release only to leave it as it is.
func TestPass(t *testing.T) {
	g := configure(t, tree(t, "root/f")+"/root", "", 1000)
	const getFlags, setLockWait = 1, 7 // F_GETFD, F_SETLKW
	flags := &Call{Nr: nocgo.SysFcntl, Arg: [6]uintptr{0, getFlags}}
	if _, why := g.v.Handle(g.s, flags); why != Number {
		t.Errorf("without the mode: %v", why)
	}
	for _, m := range []Modes{Release, Release | HardLinks, Release | Identity} {
		g.v.SetModes(m)
		if r, why := g.v.Handle(g.s, flags); nocgo.Failed(r) || why != Answered {
			t.Errorf("modes %#x: %d, %v", m, int64(r), why)
		}
		if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFcntl, Arg: [6]uintptr{^uintptr(0), getFlags}}); r != nocgo.Fail(nocgo.EBADF) || why != Answered {
			t.Errorf("modes %#x, no descriptor: %d, %v", m, int64(r), why)
		}
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFcntl, Arg: [6]uintptr{0, 0xffffffff<<32 | setLockWait}}); why != Flags {
			t.Errorf("waiting: %v", why)
		}
	}
	for m, want := range map[Modes]Reason{Release: Differs, Release | Termux: Differs, Termux: Differs, Release | Upstream: Answered} {
		g.v.SetModes(m)
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysSocket, Arg: [6]uintptr{999, 1}}); why != want {
			t.Errorf("socket, modes %#x: %v", m, why)
		}
	}
	for nr := range uintptr(512) {
		if Passes(nr) && !fits(nr, Identity|HardLinks|Release|Ports) {
			t.Errorf("call %d is not in the table", nr)
		}
	}
}
