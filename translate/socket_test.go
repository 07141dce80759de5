package translate

import (
	"os"
	"strings"
	"testing"
	"unsafe"

	"svcrelay/nocgo"

	"golang.org/x/sys/unix"
)

// sockaddr makes a struct sockaddr_un for path, and says how long it is with the NUL.
func sockaddr(path string) (addr uintptr, size uintptr) {
	b := buffer(256)
	b[0] = afUnix
	copy(b[2:], path)
	return uintptr(unsafe.Pointer(&b[0])), uintptr(2 + len(path) + 1)
}

func socket(t testing.TB, family, kind int) uintptr {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return uintptr(fd)
}

// afterPRoot is what PRoot does to an address that the kernel has put into a buffer of which the guest said that it has
// room for given bytes.
func (m *model) afterPRoot(b []byte, length *uint32, given int) uintptr {
	room := min(given, 110)
	size := int(*length)
	if size <= 2 || size > room || b[0] != afUnix || b[2] == 0 {
		return 0
	}
	path, _, _ := strings.Cut(string(b[2:size]), "\x00")
	text, ok := m.fromHost(path, "", false)
	if !ok {
		return nocgo.Fail(nocgo.EPERM)
	}
	size = 2 + len(text) + 1
	n := min(size, room)
	copy(b[2:n], text+strings.Repeat("\x00", 108))
	if *length = uint32(size); size > room {
		*length = uint32(room + 1)
	}
	return 0
}

// sockets binds a socket where a path leads, connects to it and asks for the names, in all sizes.
func (w *world) sockets(path string) {
	w.t.Helper()
	fd := socket(w.t, unix.AF_UNIX, unix.SOCK_STREAM)
	a, size := sockaddr(path)
	host, e, ok := w.both(-100, path, true)
	r, why := w.v.Handle(w.s, &Call{Nr: nocgo.SysBind, Arg: [6]uintptr{fd, a, size}})
	if len(host) > 108 && e == 0 && size <= 110 && why == Answered {
		w.fail("bind(%q) answered %d, host path %q", path, int64(r), host)
	}
	if !w.count(why) || size > 110 {
		return
	}
	if !ok || e != 0 && r != nocgo.Fail(uintptr(e)) {
		w.fail("bind(%q) = %d, want %d (agreed %v)", path, int64(r), -int64(e), ok)
	}
	if e != 0 {
		return
	}
	other := socket(w.t, unix.AF_UNIX, unix.SOCK_STREAM)
	err := unix.Bind(int(other), &unix.SockaddrUnix{Name: host})
	if r == 0 {
		defer os.Remove(host)
		if err != unix.EADDRINUSE {
			w.fail("bind(%q) did not make %q: %v", path, host, err)
		}
	} else if err == nil || r != nocgo.Fail(uintptr(err.(unix.Errno))) {
		os.Remove(host)
		w.fail("bind(%q) = %d, want %v (host %q)", path, int64(r), err, host)
	}
	if r != 0 {
		return
	}
	unix.Listen(int(fd), 5)
	peer := socket(w.t, unix.AF_UNIX, unix.SOCK_STREAM)
	r, why = w.v.Handle(w.s, &Call{Nr: nocgo.SysConnect, Arg: [6]uintptr{peer, a, size}})
	if !w.count(why) {
		return
	}
	if r != 0 {
		w.fail("connect(%q) = %d (host %q)", path, int64(r), host)
	}
	for given := w.r.Intn(3); given < 2+len(host)+len(path)+8; given += 1 + w.r.Intn(3) {
		w.socketName(nocgo.SysGetsockname, fd, given)
		w.socketName(nocgo.SysGetpeername, peer, given)
	}
	w.socketName(nocgo.SysGetpeername, peer, -1)
	w.socketName(nocgo.SysGetsockname, peer, 40)
	w.socketName(nocgo.SysGetpeername, fd, 40)
}

// socketName compares getsockname and getpeername.
func (w *world) socketName(nr, fd uintptr, given int) {
	w.t.Helper()
	got, want := buffer(160), buffer(160)
	for i := range got {
		got[i], want[i] = 0x5a, 0x5a
	}
	lengths := buffer(32)
	nocgo.Store32(addr(lengths), uint32(given))
	nocgo.Store32(addr(lengths)+16, uint32(given))
	r, why := w.v.Handle(w.s, &Call{Nr: nr, Arg: [6]uintptr{fd, addr(got), addr(lengths)}})
	if !w.count(why) {
		if nocgo.Load32(addr(lengths)) != uint32(given) {
			w.fail("declined, but changed the length")
		}
		return
	}
	for _, m := range []*model{w.up, w.tx} {
		b := append([]byte(nil), want...)
		nocgo.Store32(addr(lengths)+16, uint32(given))
		keep = append(keep, b)
		wr := nocgo.HostSyscall(nr, fd, addr(b), addr(lengths)+16, 0, 0, 0)
		length := nocgo.Load32(addr(lengths) + 16)
		if !nocgo.Failed(wr) {
			wr = m.afterPRoot(b, &length, given)
		}
		if l := nocgo.Load32(addr(lengths)); r != wr || l != length || string(got) != string(b) {
			w.fail("%d with %d bytes = %d, length %d, want %d, %d\n%q\n%q", nr, given, int64(r), l, int64(wr), length, got, b)
		}
	}
}

// Unix sockets are where the models of PRoot put them, and have the names that PRoot shows.
func TestSocketModel(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	answered := 0
	for seed := int64(1); seed <= 6; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		nocgo.StoreRelease32(&w.v.stopsSocket, stopsNot)
		newBoard(w.v) // for names that are too long in a directory with a long name
		for range 6 {
			w.sockets(w.guestPath() + []string{"", "/sock", "new"}[w.r.Intn(3)])
			w.sockets(strings.TrimPrefix(w.guestPath()+"/s", "/"))
			w.chdir(w.guestPath())
		}
		answered += w.answered
	}
	t.Logf("%d answered", answered)
	if answered < 300 {
		t.Errorf("only %d answered", answered)
	}
}

// What is no Unix path goes to the kernel as it is; what PRoot may answer itself is declined.
func TestOtherAddresses(t *testing.T) {
	dir := tree(t, "root/d/")
	g := configure(t, dir+"/root", "", 1000)
	plain := 0
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		plain++
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	call := func(nr, fd, addr, size uintptr) (uintptr, Reason) {
		return g.v.Handle(g.s, &Call{Nr: nr, Arg: [6]uintptr{fd, addr, size}})
	}
	// An Internet address of the loopback, port 0, and one that nobody listens at.
	in := buffer(16)
	in[0], in[4], in[7] = unix.AF_INET, 127, 1
	fd := socket(t, unix.AF_INET, unix.SOCK_STREAM)
	if r, why := call(nocgo.SysBind, fd, addr(in), 16); r != 0 || why != Answered {
		t.Errorf("bind: %d %v", int64(r), why)
	}
	unix.Listen(int(fd), 1)
	name, length := buffer(64), buffer(8)
	nocgo.Store32(addr(length), 64)
	if r, why := call(nocgo.SysGetsockname, fd, addr(name), addr(length)); r != 0 || why != Answered || nocgo.Load32(addr(length)) != 16 || name[0] != unix.AF_INET {
		t.Errorf("getsockname: %d %v %x", int64(r), why, name)
	}
	peer := socket(t, unix.AF_INET, unix.SOCK_STREAM)
	if r, why := call(nocgo.SysConnect, peer, addr(name), 16); r != 0 || why != Answered {
		t.Errorf("connect: %d %v", int64(r), why)
	}
	nocgo.Store32(addr(length), 64)
	r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysAccept4, Arg: [6]uintptr{fd, addr(name), addr(length), unix.SOCK_CLOEXEC}})
	if nocgo.Failed(r) || why != Answered || name[0] != unix.AF_INET || nocgo.Load32(addr(length)) != 16 {
		t.Errorf("accept4: %d %v %x", int64(r), why, name)
	}
	unix.Close(int(r))
	if plain != 0 {
		t.Errorf("%d calls reached PRoot", plain)
	}
	// Unix sockets that are bound to no path, or whose peer is.
	s := socket(t, unix.AF_UNIX, unix.SOCK_STREAM)
	a, _ := sockaddr("\x00svcrelay-test-" + dir)
	if r, why := call(nocgo.SysBind, s, a, 30); r != 0 || why != Answered {
		t.Errorf("abstract bind: %d %v", int64(r), why)
	}
	unix.Listen(int(s), 1)
	client := socket(t, unix.AF_UNIX, unix.SOCK_STREAM)
	here, _ := os.Getwd()
	os.Chdir(dir + "/root/d")
	bound := unix.Bind(int(client), &unix.SockaddrUnix{Name: "client"})
	os.Chdir(here)
	if bound != nil {
		t.Fatal(bound)
	}
	if r, why := call(nocgo.SysConnect, client, a, 30); r != 0 || why != Answered {
		t.Errorf("abstract connect: %d %v", int64(r), why)
	}
	nocgo.Store32(addr(length), 64)
	plain = 0
	if r, why := call(nocgo.SysAccept, s, addr(name), addr(length)); nocgo.Failed(r) || why != Answered || plain != 1 || string(name[2:8]) != "client" {
		t.Errorf("accept from a bound client: %d %v %q, asked %d times", int64(r), why, name, plain)
	} else {
		unix.Close(int(r))
	}
	nocgo.Store32(addr(length), 64)
	if _, why := call(nocgo.SysGetpeername, client, addr(name), addr(length)); why != Answered {
		t.Errorf("name of an abstract peer: %v", why)
	}
	nocgo.Store32(addr(length), 64)
	if _, why := call(nocgo.SysGetsockname, client, addr(name), addr(length)); why != Address {
		t.Errorf("a relative path on the host: %v", why)
	}
	board := newBoard(g.v)
	long, size := sockaddr("/d/" + strings.Repeat("n", 104))
	netlink := buffer(12)
	netlink[0] = afNetlink
	for _, c := range []struct {
		what           string
		nr, addr, size uintptr
		want           Reason
	}{
		{"too long on the host", nocgo.SysBind, long, size, TooLong},
		{"longer than the structure", nocgo.SysConnect, long, 111, Answered},
		{"netlink bind", nocgo.SysBind, addr(netlink), 12, Address},
		{"netlink connect", nocgo.SysConnect, addr(netlink), 12, Answered},
		{"nothing to bind", nocgo.SysBind, 0, 12, Address},
		{"nothing to connect", nocgo.SysConnect, 0, 12, Answered},
		{"too short", nocgo.SysConnect, addr(netlink), 2, Answered},
		{"negative", nocgo.SysConnect, addr(netlink), ^uintptr(0), Answered},
		{"nowhere", nocgo.SysConnect, 8, 12, Memory},
		{"no length", nocgo.SysGetsockname, addr(name), 0, Memory},
		{"no length to accept", nocgo.SysAccept, addr(name), 0, Memory},
	} {
		if r, why := call(c.nr, s, c.addr, c.size); why != c.want {
			t.Errorf("%s: %d %v, want %v", c.what, int64(r), why, c.want)
		}
	}
	if board.Sockets != 1 || !g.v.rebound(long+5, size-6) || g.v.rebound(long+5, 4) {
		t.Errorf("the long name is not on the board: %d", board.Sockets)
	}
	g.v.stopsSocket = stopsThere
	pair := socket(t, unix.AF_UNIX, unix.SOCK_DGRAM)
	nocgo.Store32(addr(length), 64)
	if r, why := call(nocgo.SysGetsockname, pair, addr(name), addr(length)); why != Address {
		t.Errorf("no name, under Termux's fork: %d %v", int64(r), why)
	}
}

// A connect in the modes: lent rights only add, what is missing is missing, and hard links are left to PRoot.
func TestConnectInModes(t *testing.T) {
	dir := tree(t, "root/d/file", "root/shut/x")
	root := dir + "/root"
	server := socket(t, unix.AF_UNIX, unix.SOCK_STREAM)
	if err := unix.Bind(int(server), &unix.SockaddrUnix{Name: root + "/d/sock"}); err != nil {
		t.Fatal(err)
	}
	unix.Listen(int(server), 50)
	if err := os.Rename(root+"/d/sock", root+"/d/.l2s.sock0001.0001"); err != nil {
		t.Fatal(err)
	}
	os.Link(root+"/d/.l2s.sock0001.0001", root+"/d/sock")
	os.Symlink("sock", root+"/d/link")
	for _, m := range []Modes{Identity, HardLinks, Identity | HardLinks} {
		g := configure(t, root, "", 1000)
		if m&Identity != 0 {
			fake(t, g)
		}
		g.v.modes = m
		connect := func(path string) (uintptr, Reason) {
			a, size := sockaddr(path)
			return g.v.Handle(g.s, &Call{Nr: nocgo.SysConnect, Arg: [6]uintptr{socket(t, unix.AF_UNIX, unix.SOCK_STREAM), a, size}})
		}
		for path, want := range map[string]uintptr{"/d/sock": 0, "/d/link": 0, "/d/nothing": nocgo.Fail(nocgo.ENOENT), "/no/sock": nocgo.Fail(nocgo.ENOENT),
			"/d/file/x": nocgo.Fail(nocgo.ENOTDIR), "/d/file": nocgo.Fail(uintptr(unix.ECONNREFUSED))} {
			if r, why := connect(path); r != want || why != Answered {
				t.Errorf("modes %#x: %s: %d, %v; want %d", m, path, int64(r), why, int64(want))
			}
		}
		if _, why := connect("/d/.l2s.sock0001.0001"); (why == Twin) != (m&HardLinks != 0) {
			t.Errorf("modes %#x: a hard link: %v", m, why)
		}
		a, size := sockaddr("/d/new")
		if _, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysBind, Arg: [6]uintptr{socket(t, unix.AF_UNIX, unix.SOCK_STREAM), a, size}}); why != Rights {
			t.Errorf("modes %#x: bind: %v", m, why)
		}
		if os.Getuid() == 0 || m&Identity == 0 {
			continue
		}
		os.Chmod(root+"/d/.l2s.sock0001.0001", 0)
		if _, why := connect("/d/sock"); why != Rights {
			t.Errorf("without rights: %v", why)
		}
		os.Chmod(root+"/d/.l2s.sock0001.0001", 0o700)
	}
}

// An address that runs into memory that the program must not read is what PRoot reads of it, which a debugger may.
func TestAddressAtTheEdge(t *testing.T) {
	dir := tree(t, "root/d/")
	g := configure(t, dir+"/root", "", 1000)
	newBoard(g.v)
	page := unix.Getpagesize()
	m, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mprotect(m[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	bind := func(path string, more int) (uintptr, Reason) {
		at := m[page-2-len(path):]
		at[0], at[1] = afUnix, 0
		copy(at[2:page], path)
		return g.v.Handle(g.s, &Call{Nr: nocgo.SysBind, Arg: [6]uintptr{socket(t, unix.AF_UNIX, unix.SOCK_STREAM), addr(at), uintptr(2 + len(path) + more)}})
	}
	for _, path := range []string{"/d/s", "\x00s", "/nowhere/s"} {
		if r, why := bind(path, 1); why != Memory {
			t.Errorf("bind to %q: %d %v", path, int64(r), why)
		}
	}
	long := strings.Repeat("n", 91)
	name := buffer(128)
	copy(name, long)
	if g.v.rebound(addr(name), 91) {
		t.Fatal("known before")
	}
	if _, why := bind("/d/"+long, 1); why != TooLong {
		t.Errorf("a long name: %v", why)
	}
	if !g.v.rebound(addr(name), 91) {
		t.Error("PRoot's binding for a long name is not expected")
	}
	if err := unix.Munmap(m[page:]); err == nil {
		if _, why := bind("/d/t", 1); why != Memory {
			t.Errorf("at memory that is not there: %v", why)
		}
	}
	g.is("/d", dir+"/root/d")
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysOpenat && gostring(a1) == "/proc/self/mem" { // as after a change of ids
			return nocgo.Fail(nocgo.EACCES)
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	if _, why := bind("/d/s", 1); why != Memory {
		t.Errorf("where it cannot be read as PRoot does: %v", why)
	}
	g.declines("/d", Withdrawn)
}

// A path that is left to PRoot has its last component for a name, unless that is a link of the kernel's or none.
func TestOwnName(t *testing.T) {
	v := new(View)
	for name, want := range map[string]bool{"": false, ".": false, "..": false, "7": false, "12": false, "cwd": false, "exe": false, "root": false,
		"s": true, ".s": true, "...": true, "cwd1": true, "exec": true, "roots": true, "rood": true, "sock": true} {
		at := buffer(16)
		copy(at, name)
		if got := v.ownName(addr(at), uintptr(len(name))); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
