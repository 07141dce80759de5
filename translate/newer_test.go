package translate

import (
	"testing"

	"svcrelay/nocgo"
)

// Where PRoot does not stop at a call it is left to the kernel, in every mode.
func TestNewerUnseen(t *testing.T) {
	dir := tree(t, "root/only/guest", "host/x")
	for _, m := range []Modes{0, Upstream, Identity, HardLinks, Release} {
		g := configure(t, dir+"/root", "", 1000)
		if m&Identity != 0 {
			fake(t, g)
		}
		g.v.modes = m
		how := buffer(24)
		nocgo.Store64(addr(how), nocgo.OPath|nocgo.OCloexec)
		open := func(path string) (uintptr, Reason) {
			r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat2, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), addr(how), 24}})
			if why == Answered && !nocgo.Failed(r) {
				nocgo.HostSyscall(nocgo.SysClose, r, 0, 0, 0, 0, 0)
				r = 0
			}
			return r, why
		}
		access := func(path string, flags uintptr) (uintptr, Reason) {
			return g.v.Handle(g.s, &Call{Nr: nocgo.SysFaccessat2, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), 0, flags}})
		}
		g.v.AllowOpenat2()
		g.v.stopsOpen, g.v.stopsAccess = stopsNot, stopsNot
		for _, path := range []string{dir + "/host/x", "/only/guest"} {
			if r, why := open(path); r != 0 || why != Unstopped {
				t.Errorf("modes %#x: open %s: %d, %v", m, path, int64(r), why)
			}
			if r, why := access(path, 0); r != 0 || why != Unstopped {
				t.Errorf("modes %#x: access to %s: %d, %v", m, path, int64(r), why)
			}
		}
		if g.v.lending != 0 {
			t.Errorf("modes %#x: the thread is noted, although PRoot has lent nothing", m)
		}
		g.v.stopsOpen, g.v.stopsAccess = stopsThere, stopsThere
		want := Answered
		if m&(Identity|HardLinks) != 0 {
			want = Number
		}
		if r, why := open("/only/guest"); r != 0 || why != want {
			t.Errorf("modes %#x: with a stop: %d, %v", m, int64(r), why)
		}
		if r, why := access("/only/guest", 0); r != 0 || why != want {
			t.Errorf("modes %#x: with a stop: access %d, %v", m, int64(r), why)
		}
	}
}
