package translate

import (
	"os"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// newBoard gives a View a board of its own.
func newBoard(v *View) *Board {
	b := &Board{Magic: BoardMagic}
	keep = append(keep, b)
	v.UseBoard(addrOf(b))
	return b
}

// After calls that change what PRoot shows nothing is answered, unless they fail.
func TestWithdraw(t *testing.T) {
	dir := tree(t, "root/a")
	for _, nr := range []uintptr{nocgo.SysChroot, nocgo.SysMount, nocgo.SysUmount2, nocgo.SysPivotRoot, nocgo.SysUnshare, nocgo.SysSetns} {
		for _, shared := range []bool{false, true} {
			for _, errno := range []uintptr{nocgo.EPERM, 0} {
				g, other := configure(t, dir+"/root", "", 1000), configure(t, dir+"/root", "", 1000)
				var b *Board
				if shared {
					b = newBoard(g.v)
					other.v.UseBoard(addrOf(b))
				}
				nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
					if _, _, why := g.stat("/a"); why != Withdrawn {
						t.Errorf("call %d: a stat meanwhile: %v", nr, why)
					}
					return nocgo.Fail(errno)
				}
				t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
				g.is("/a", dir+"/root/a")
				mounts := nr == nocgo.SysMount || nr == nocgo.SysUmount2 || nr == nocgo.SysPivotRoot
				r, why := g.v.Handle(g.s, &Call{Nr: nr, Arg: [6]uintptr{0x20000}})
				if why == Answered && r != nocgo.Fail(errno) && errno != 0 || why != Answered && (shared || !mounts) {
					t.Errorf("call %d: %d %v", nr, int64(r), why)
				}
				if errno != 0 && (shared || !mounts) {
					g.is("/a", dir+"/root/a")
					other.is("/a", dir+"/root/a")
					continue
				}
				g.declines("/a", Withdrawn)
				if shared && mounts {
					other.declines("/a", Withdrawn)
					later := configure(t, dir+"/root", "", 1000)
					if later.v.UseBoard(addrOf(b)) {
						t.Errorf("call %d: a later program answers", nr)
					}
				} else {
					other.is("/a", dir+"/root/a")
				}
			}
		}
	}
	// What is shared by the processes of a name space stays as it is.
	g := configure(t, dir+"/root", "", 1000)
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr { return 0 }
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysUnshare, Arg: [6]uintptr{0x400}}); r != 0 || why != Answered {
		t.Errorf("unshare of files: %d %v", int64(r), why)
	}
	g.is("/a", dir+"/root/a")
}

// A debugger is noticed by the process that it watches, and by no other.
func TestWatched(t *testing.T) {
	dir := tree(t, "root/a")
	for _, c := range []struct {
		tid       int
		withdrawn bool
	}{{os.Getpid(), true}, {os.Getppid(), true}, {1 << 22, false}, {int(nocgo.HostSyscall(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)), true}} {
		g := configure(t, dir+"/root", "", 1000)
		b := newBoard(g.v)
		debugger := configure(t, dir+"/root", "", 1000)
		debugger.v.UseBoard(addrOf(b))
		g.is("/a", dir+"/root/a")
		debugger.v.Watch(uintptr(c.tid))
		if c.withdrawn {
			g.declines("/a", Withdrawn)
		} else {
			g.is("/a", dir+"/root/a")
			for range boardPids + 1 { // some must have been overwritten
				debugger.v.Watch(1 << 22)
			}
			g.declines("/a", Withdrawn)
		}
	}
	g := configure(t, dir+"/root", "", 1000)
	b := newBoard(g.v)
	if g.v.FiltersSeen() || g.v.SpacesSeen() {
		t.Error("filters or name spaces on an empty board")
	}
	g.v.Filter()
	if b.Filtered != 1 || !g.v.FiltersSeen() {
		t.Error("a filter is not on the board")
	}
	if configure(t, dir+"/root", "", 1000).v.UseBoard(addrOf(&Board{})) {
		t.Error("believed a board that is none")
	}
}

// Paths with the name of a socket that PRoot has bound elsewhere are PRoot's business, in all processes.
func TestRebound(t *testing.T) {
	dir := tree(t, "root/d/name/", "root/d/other", "root/l->/d/name", "root/d/name/x")
	g := configure(t, dir+"/root", "", 1000)
	b := newBoard(g.v)
	g.is("/d/name", dir+"/root/d/name")
	b.Names[0], b.Sockets = nocgo.HashWords(cstring("name"), 4), 1
	for _, p := range []string{"/d/name", "/d/name/x", "/l", "/d/name/."} {
		g.declines(p, Hidden)
	}
	g.is("/d/other", dir+"/root/d/other")
	b.Names[0] = 0 // it is being written
	g.declines("/d/other", Hidden)
	b.Sockets = boardNames
	for i := range b.Names {
		b.Names[i] = 1
	}
	g.v.rebind(2)
	g.declines("/d/other", Withdrawn)
}

// addrOf is where a board is.
func addrOf(b *Board) uintptr { return uintptr(unsafe.Pointer(b)) }
