package translate

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// shape says where a call has its paths, and how PRoot treats what is at their ends.
type shape struct {
	paths  [2]int // indices of the arguments, -1 for none
	dirs   [2]int // of the descriptors, -1 for none
	follow [2]bool
	parent [2]bool // Termux's fork resolves the directory only
}

// shapeOf describes a call that changes something.
func shapeOf(c *Call) (s shape, ok bool) {
	one := func(dir, path int, follow, parent bool) (shape, bool) {
		return shape{paths: [2]int{path, -1}, dirs: [2]int{dir, -1}, follow: [2]bool{follow}, parent: [2]bool{parent}}, true
	}
	nofollow := func(i int) bool { return c.Arg[i]&nocgo.AtSymlinkNofollow != 0 }
	switch c.Nr {
	case nocgo.SysMkdirat:
		return one(0, 1, false, true)
	case nocgo.SysMknodat, nocgo.SysFchmodat:
		return one(0, 1, true, false)
	case nocgo.SysUnlinkat:
		return one(0, 1, false, false)
	case nocgo.SysSymlinkat:
		return one(1, 2, false, true)
	case nocgo.SysFchownat:
		return one(0, 1, !nofollow(4), false)
	case nocgo.SysUtimensat:
		return one(0, 1, !nofollow(3), false)
	case nocgo.SysTruncate, nocgo.SysStatfs, nocgo.SysSetxattr, nocgo.SysRemovexattr:
		return one(-1, 0, true, false)
	case nocgo.SysLsetxattr, nocgo.SysLremovexattr:
		return one(-1, 0, false, false)
	case nocgo.SysRenameat, nocgo.SysRenameat2:
		return shape{paths: [2]int{1, 3}, dirs: [2]int{0, 2}}, true
	case nocgo.SysLinkat:
		return shape{paths: [2]int{1, 3}, dirs: [2]int{0, 2}, follow: [2]bool{c.Arg[4]&nocgo.AtSymlinkFollow != 0}, parent: [2]bool{false, true}}, true
	}
	return s, false
}

// gostring reads a C string.
func gostring(addr uintptr) string {
	var b []byte
	for ; nocgo.Load8(addr) != 0; addr++ {
		b = append(b, nocgo.Load8(addr))
	}
	return string(b)
}

// translateParent is translate where Termux's fork leaves the last component alone.
func (m *model) translateParent(dir int, path string, deref bool) (string, syscall.Errno) {
	leaf := path[strings.LastIndexByte(path, '/')+1:]
	if !m.termux || leaf == "" || leaf == "." || leaf == ".." {
		return m.translate(dir, path, deref)
	}
	parent := strings.TrimSuffix(path, leaf)
	switch parent {
	case "":
		parent = "."
	case "/":
	default:
		parent = parent[:len(parent)-1]
	}
	host, e := m.translate(dir, parent, true)
	if e != 0 {
		return "", e
	}
	// A dot in the middle means nothing to the kernel.
	return join(strings.TrimSuffix(host, "."), leaf), 0
}

// hosts gives what a PRoot would give the kernel for the paths of a call, or its own error.
func (m *model) given(c *Call) (paths [2]string, errno syscall.Errno) {
	sh, _ := shapeOf(c)
	for i, p := range sh.paths {
		if p < 0 || c.Arg[p] == 0 {
			continue
		}
		path, dir := gostring(c.Arg[p]), -100
		if sh.dirs[i] >= 0 {
			dir = int(int32(c.Arg[sh.dirs[i]]))
		}
		if path == "" {
			continue
		}
		f := m.translate
		if sh.parent[i] {
			f = m.translateParent
		}
		host, e := f(dir, path, sh.follow[i])
		if e != 0 {
			return paths, e
		}
		paths[i] = host
	}
	return paths, 0
}

// given is what the kernel was given.
type given struct {
	called bool
	paths  [2]string
	ret    uintptr
}

// watch stands between the View and the kernel: it notes the paths of calls that change something, and lets none
// through that leads out of the world.
func (w *world) watch(g *given) func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	return func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		c := &Call{Nr: nr, Arg: [6]uintptr{a0, a1, a2, a3, a4, a5}}
		sh, ok := shapeOf(c)
		if !ok {
			return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		}
		outside := false
		*g = given{called: true}
		for i, p := range sh.paths {
			if p < 0 || c.Arg[p] == 0 {
				continue
			}
			path := gostring(c.Arg[p])
			if path != "" && path[0] != '/' {
				dir, _ := os.Readlink(procFd(int(int32(c.Arg[sh.dirs[i]]))))
				path = join(dir, path)
			}
			g.paths[i] = path
			outside = outside || path != "" && nr != nocgo.SysStatfs && !strings.HasPrefix(path, w.dir+"/")
		}
		g.ret = uintptr(nocgo.Fail(uintptr(syscall.EROFS)))
		if !outside {
			g.ret = nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
		}
		return g.ret
	}
}

// idle says whether a call that succeeds changes nothing.
func idle(c *Call) bool {
	omits := func(at uintptr) bool {
		return nocgo.Load64(at+8) == unix.UTIME_OMIT && nocgo.Load64(at+24) == unix.UTIME_OMIT
	}
	return c.Nr == nocgo.SysStatfs || c.Nr == nocgo.SysUtimensat && c.Arg[2] > 4096 && omits(c.Arg[2])
}

// change compares a call that changes something: what the kernel is given must be what both PRoots give it.
func (w *world) change(c *Call) {
	w.t.Helper()
	var g given
	nocgo.HostRaw = w.watch(&g)
	defer func() { nocgo.HostRaw = nocgo.HostSyscall }()
	up, e1 := w.up.given(c)
	tx, e2 := w.tx.given(c)
	describe := func() string {
		sh, _ := shapeOf(c)
		text := fmt.Sprintf("call %d %#x", c.Nr, c.Arg)
		for _, p := range sh.paths {
			if p >= 0 && c.Arg[p] != 0 {
				text += fmt.Sprintf(" %q", gostring(c.Arg[p]))
			}
		}
		return text
	}
	cwd := w.up.cwd
	r, why := w.v.Handle(w.s, c)
	if why == Answered && w.s.Asked() != Answered {
		why = w.s.Asked()
	}
	if w.v.state == stateWithdrawn { // the rootfs was to be renamed
		if !covers(chop(up[0]), w.root) && !covers(chop(up[1]), w.root) {
			w.fail("%s: withdrawn", describe())
		}
		w.start(1 << 30)
	}
	if !w.count(why) {
		if g.called && !nocgo.Failed(g.ret) && !idle(c) {
			w.fail("%s: declined (%v) after it was done", describe(), why)
		}
		return
	}
	if e1 != 0 && e2 == 0 && c.Nr == nocgo.SysMkdirat {
		// Termux's fork leaves the last directory to the kernel, which finds the same fault.
		var st syscall.Stat_t
		e2, _ = syscall.Lstat(tx[0], &st).(syscall.Errno)
	}
	if e1 != e2 && !(g.called && nocgo.Failed(g.ret) && (r == nocgo.Fail(uintptr(e1)) || e1 == 0) && (r == nocgo.Fail(uintptr(e2)) || e2 == 0)) {
		w.fail("%s = %d, but one PRoot says %d and the other %d", describe(), int64(r), e1, e2)
	}
	switch {
	case e1 != 0 && (r != nocgo.Fail(uintptr(e1)) || g.called && !nocgo.Failed(g.ret) && !idle(c)):
		w.fail("%s = %d, want error %d (the kernel was given %q and said %d)", describe(), int64(r), e1, g.paths, int64(g.ret))
	case e1 == 0 && e2 == 0 && (!g.called || g.ret != r):
		w.fail("%s = %d, but the kernel said %d (asked: %v)", describe(), int64(r), int64(g.ret), g.called)
	case e1 == 0 && g.paths != up, e2 == 0 && g.paths != tx:
		w.fail("%s: the kernel was given %q, want %q and %q", describe(), g.paths, up, tx)
	}
	if !nocgo.Failed(r) && (c.Nr == nocgo.SysRenameat || c.Nr == nocgo.SysRenameat2) {
		if old, ok := w.up.fromHost(up[0], "", false); !ok || covers(old, cwd) {
			w.fail("%s: PRoot would have changed the current directory %q (%q, %v)", describe(), cwd, old, ok)
		}
	}
	if !nocgo.Failed(r) && c.Nr == nocgo.SysStatfs {
		shm, e := w.tx.translate(-100, "/dev/shm", true)
		if e == 0 && covers(shm, tx[0]) && nocgo.Load64(c.Arg[1]) != 0x01021994 {
			w.fail("%s: Termux's fork says that it is in memory", describe())
		}
	}
}

// asked does what PRoot does with a call that the View passes on. The two PRoots must agree, or nothing is done.
func (w *world) asked(c *Call) uintptr {
	up, e1 := w.up.given(c)
	tx, e2 := w.tx.given(c)
	sh, _ := shapeOf(c)
	if e1 != e2 || up != tx {
		return nocgo.Fail(uintptr(syscall.EROFS))
	}
	if e1 != 0 {
		return nocgo.Fail(uintptr(e1))
	}
	rename := c.Nr == nocgo.SysRenameat || c.Nr == nocgo.SysRenameat2
	moved := false
	if rename {
		if covers(chop(up[0]), w.root) || covers(chop(up[1]), w.root) {
			return nocgo.Fail(uintptr(syscall.EROFS))
		}
		old, ok := w.up.fromHost(up[0], "", false)
		if !ok {
			return nocgo.Fail(uintptr(syscall.EROFS))
		}
		moved = covers(old, w.up.cwd)
	}
	if moved {
		return nocgo.Fail(uintptr(syscall.EROFS)) // Termux's fork forgets renameat2
	}
	d := *c
	for i, p := range sh.paths {
		if p < 0 || c.Arg[p] == 0 || up[i] == "" {
			continue
		}
		if c.Nr != nocgo.SysStatfs && !strings.HasPrefix(up[i], w.dir+"/") {
			return nocgo.Fail(uintptr(syscall.EROFS))
		}
		d.Arg[p] = cstring(up[i])
	}
	return nocgo.HostSyscall(d.Nr, d.Arg[0], d.Arg[1], d.Arg[2], d.Arg[3], d.Arg[4], d.Arg[5])
}

// shuffle makes a random changing call.
func (w *world) shuffle(at int, path string) {
	w.t.Helper()
	pick := func(v ...uintptr) uintptr { return v[w.r.Intn(len(v))] }
	dir, p := uintptr(at), cstring(path)
	other, from := w.guestPath(), nocgo.AtFdcwd
	if at >= 0 && w.r.Intn(2) == 0 {
		other, from = other[strings.LastIndexByte(other, '/')+1:], dir
	}
	q := cstring(other)
	var c Call
	set := func(nr uintptr, args ...uintptr) {
		c.Nr = nr
		copy(c.Arg[:], args)
	}
	switch w.r.Intn(13) {
	case 0, 1:
		set(nocgo.SysMkdirat, dir, p, pick(0o777, 0o700, 0))
	case 2:
		set(nocgo.SysMknodat, dir, p, pick(0o100644, 0o140600, 0, 0o40755, 0o170000), 0)
	case 3:
		set(nocgo.SysUnlinkat, dir, p, pick(0, 0, 0, 1))
	case 4:
		set(nocgo.SysUnlinkat, dir, p, nocgo.AtRemovedir)
	case 5:
		set(nocgo.SysSymlinkat, pick(cstring(w.text(w.root)), cstring(""), 0), dir, p)
	case 6:
		set(nocgo.SysLinkat, dir, p, from, q, pick(0, 0, nocgo.AtSymlinkFollow, nocgo.AtEmptyPath, 1))
	case 7:
		set(nocgo.SysRenameat, dir, p, from, q)
	case 8:
		set(nocgo.SysRenameat2, dir, p, from, q, pick(0, 1, 2, 2, 3, 8))
	case 9:
		set(nocgo.SysFchmodat, dir, p, pick(0o755, 0o644, 0o700))
	case 10:
		set(nocgo.SysFchownat, dir, p, ^uintptr(0), pick(0, ^uintptr(0)), pick(0, nocgo.AtSymlinkNofollow, 1))
	case 11:
		set(nocgo.SysUtimensat, dir, pick(p, p, p, 0), pick(0, addr(buffer(32)), omitted(), 8), pick(0, nocgo.AtSymlinkNofollow, 1))
	default:
		if at != -100 {
			return
		}
		name := pick(cstring("user.x"), cstring("trusted.x"), cstring("security.x"), 0)
		switch w.r.Intn(4) {
		case 0:
			set(nocgo.SysTruncate, p, pick(0, 10, ^uintptr(0)))
		case 1:
			set(nocgo.SysStatfs, p, pick(addr(buffer(128)), 8))
		case 2:
			set(pick(nocgo.SysSetxattr, nocgo.SysLsetxattr), p, name, cstring("value"), 5, pick(0, 1, 2, 4))
		default:
			set(pick(nocgo.SysRemovexattr, nocgo.SysLremovexattr), p, name)
		}
	}
	w.change(&c)
}

// Calls that change the trees give the kernel what both models of PRoot give it, and nothing that is remembered is
// wrong afterwards, at any lifetime.
func TestChanges(t *testing.T) {
	total, declined := 0, map[Reason]int{}
	for seed := int64(200); seed < 212; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		w.changes(30)
		total += w.answered
		for r, n := range w.declined {
			declined[r] += n
		}
	}
	t.Logf("%d answered, %v", total, declined)
	if total < 600 {
		t.Errorf("only %d answered", total)
	}
}

// changes makes n rounds of changing calls with questions in between.
func (w *world) changes(n int) {
	w.t.Helper()
	if w.r.Intn(3) == 0 {
		os.MkdirAll(w.root+"/dev/shm/a", 0o755)
	}
	w.start(1 << 30)
	if w.r.Intn(4) > 0 {
		w.v.AllowRenameat2()
	}
	for range n {
		dir := w.directory()
		for range 4 {
			at, path := w.place(dir)
			if w.r.Intn(2) == 0 {
				w.shuffle(at, path)
			} else {
				w.random(at, path)
			}
		}
		if dir >= 0 {
			syscall.Close(dir)
		}
	}
}

// omitted gives times that leave both of a file as they are: the kernel does not look at the path then.
func omitted() uintptr {
	times := buffer(32)
	for _, nsec := range []int{8, 24} {
		binary.NativeEndian.PutUint64(times[nsec:], unix.UTIME_OMIT)
	}
	return addr(times)
}

// TestTimesOmitted has PRoot's errors for paths that the kernel does not look at, and nothing is remembered of them.
func TestTimesOmitted(t *testing.T) {
	w := newWorld(t, 1, true)
	if err := os.WriteFile(w.root+"/plain", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]uintptr{
		"/plain/x": nocgo.Fail(nocgo.ENOTDIR), "/plain/x/y": nocgo.Fail(nocgo.ENOTDIR), "/nothing": 0, "/nothing/x": nocgo.Fail(nocgo.ENOENT), "/plain": 0,
	} {
		for range 2 {
			c := Call{Nr: nocgo.SysUtimensat}
			copy(c.Arg[:], []uintptr{nocgo.AtFdcwd, cstring(path), omitted(), 0})
			if r, why := w.v.Handle(w.s, &c); why != Answered || r != want {
				t.Errorf("%s: %d, %v, not %d", path, int64(r), why, int64(want))
			}
		}
	}
}
