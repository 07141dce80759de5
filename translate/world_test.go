package translate

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

func realpath(p string) (string, error) {
	p, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(p)
}

// keep holds what compiled code knows by address only, so that it is neither moved nor freed.
var keep []any

func newScratch() *Scratch {
	s := new(Scratch)
	for i := range s.path {
		s.path[i], s.rest[i], s.guest[i], s.host[i] = 0xaa, 0xbb, 0xcc, 0xdd
	}
	keep = append(keep, s)
	return s
}

func newView() *View {
	v := new(View)
	keep = append(keep, v)
	return v
}

// cstring returns the address of a C string.
func cstring(p string) uintptr {
	b := append([]byte(p), 0, 0, 0, 0, 0, 0, 0, 0)
	keep = append(keep, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

func buffer(n int) []byte {
	b := make([]byte, n)
	keep = append(keep, b)
	return b
}

func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// world is a generated host with a guest in it.
type world struct {
	t        testing.TB
	r        *rand.Rand
	dir      string // everything
	root     string // the tree that stands for the rootfs
	whole    bool   // the rootfs is the host's "/" instead
	binds    []string
	up, tx   *model
	v        *View
	s        *Scratch
	lists    map[string][]string
	answered int
	declined map[Reason]int
	plain    int // calls that reached PRoot
	watches  int // an inotify descriptor, if not 0
}

var words = []string{"a", "b", "lib", "etc", "x.so", "long-name-with-many-letters", "usr", "d", "..data", ".h"}

// newWorld makes trees for the rootfs and two more directories, full of links to each other.
func newWorld(t testing.TB, seed int64, binds bool) *world {
	dir, err := realpath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, r: rand.New(rand.NewSource(seed)), dir: dir, root: dir + "/root", declined: map[Reason]int{}}
	w.whole = seed%6 == 5
	for _, top := range []string{w.root, dir + "/out", dir + "/two"} {
		w.grow(top, 3)
	}
	for _, top := range []string{w.root, dir + "/out", dir + "/two"} {
		w.tie(top)
	}
	if binds {
		w.choose()
	}
	w.start(1000)
	nocgo.HostPlain = w.tracer
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	return w
}

func (w *world) word() string { return words[w.r.Intn(len(words))] }

func (w *world) grow(dir string, depth int) {
	os.Mkdir(dir, 0o755)
	for range 2 + w.r.Intn(4) {
		p := dir + "/" + w.word()
		if depth > 0 && w.r.Intn(3) > 0 {
			w.grow(p, depth-1)
		} else {
			os.WriteFile(p, []byte(p), 0o644)
			if w.r.Intn(2) == 0 {
				syscall.Setxattr(p, "user.test", []byte(p[len(p)-8:]), 0)
			}
		}
	}
}

// list returns all files and directories below top.
func list(top string) (all []string) {
	filepath.Walk(top, func(p string, _ os.FileInfo, _ error) error {
		all = append(all, p)
		return nil
	})
	return all
}

// list is list of a tree that does not change any more.
func (w *world) list(top string) []string {
	if w.lists == nil {
		w.lists = map[string][]string{}
	}
	if w.lists[top] == nil {
		w.lists[top] = list(top)
	}
	return w.lists[top]
}

// text is the text of a new link in host directory dir.
func (w *world) text(dir string) string {
	pick := func(top string) string { all := list(top); return all[w.r.Intn(len(all))] }
	var p string
	switch w.r.Intn(8) {
	case 0, 1, 2: // absolute in the guest
		p = strings.TrimPrefix(pick(w.root), w.prefix()) + "/"
		p = "/" + strings.Trim(p, "/")
	case 3: // absolute on the host
		p = pick(w.dir)
	case 4: // missing
		p = "/" + w.word() + "/" + w.word() + "/nothing"
	case 5:
		p = w.word()
	case 6:
		p = "../" + w.word() + "/" + w.word()
	default:
		p, _ = filepath.Rel(dir, pick(w.dir))
	}
	switch w.r.Intn(10) {
	case 0:
		p += "/"
	case 1:
		p += "/."
	case 2:
		p += "/.."
	case 3:
		p = strings.Replace(p, "/", "//", 1)
	}
	return p
}

func (w *world) tie(top string) {
	for _, p := range list(top) {
		if st, err := os.Lstat(p); err == nil && st.IsDir() && w.r.Intn(2) == 0 {
			os.Symlink(w.text(p), p+"/"+"l"+w.word())
		}
	}
}

// choose makes bindings that PRoot can install without doubt: from directories to directories, from files to
// files, to a missing name in a directory that is there.
func (w *world) choose() {
	for range 1 + w.r.Intn(5) {
		all := list([]string{w.dir + "/out", w.dir + "/two", w.root, w.dir + "/out"}[w.r.Intn(4)])
		host := all[w.r.Intn(len(all))]
		if w.r.Intn(12) == 0 {
			host = w.dir
		}
		targets := list(w.root)
		guest := strings.TrimPrefix(targets[w.r.Intn(len(targets))], w.prefix())
		st, _ := os.Lstat(w.prefix() + guest)
		hst, err := os.Stat(host)
		if guest == "" || err != nil || st == nil || st.Mode()&os.ModeSymlink != 0 || w.throughLink(guest) {
			continue
		}
		switch {
		case st.IsDir() && w.r.Intn(2) == 0:
			guest += "/new" + w.word()
		case st.IsDir() != hst.IsDir():
			continue
		}
		w.binds = append(w.binds, host+":"+guest)
	}
	if w.r.Intn(3) == 0 {
		w.binds = append(w.binds, w.dir+"/out")
	}
}

// throughLink says whether a guest path leads through a link or, with the bindings so far, elsewhere.
func (w *world) throughLink(guest string) bool {
	for _, b := range w.binds {
		_, g, _ := strings.Cut(b, ":")
		if covers(g, guest) || covers(guest, g) {
			return w.r.Intn(3) > 0
		}
	}
	return false
}

// prefix is what the rootfs adds to a guest path.
func (w *world) prefix() string {
	if w.whole {
		return ""
	}
	return w.root
}

// start starts both models and a View with a lifetime.
func (w *world) start(ttl uint64) {
	w.t.Helper()
	defer func() {
		if e := recover(); e != nil {
			w.binds = nil
			w.start(ttl)
		}
	}()
	root := w.root
	if w.whole {
		root = "/"
	}
	w.up = newModel(false, root, w.binds)
	w.tx = newModel(true, root, w.binds)
	w.v, w.s = newView(), newScratch()
	if !w.v.Configure(w.s, root, strings.Join(w.binds, "|"), ttl) {
		w.t.Fatalf("not configured: %q %q", w.root, w.binds)
	}
	w.v.TrackDirectory()
	if w.r.Intn(2) == 0 {
		w.v.AllowOpenat2()
	}
}

// guestPath makes a path to ask for.
func (w *world) guestPath() string {
	all := w.list(w.dir)
	p := all[w.r.Intn(len(all))]
	switch {
	case strings.HasPrefix(p, w.root) && p != w.root:
		p = p[len(w.prefix()):]
	case len(w.up.guests) > 1 && w.r.Intn(4) > 0:
		b := w.up.guests[w.r.Intn(len(w.up.guests))]
		below := w.list(b.host)
		p = replace(below[w.r.Intn(len(below))], b.host, b.guest)
	}
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for range w.r.Intn(3) {
		i := w.r.Intn(len(parts) + 1)
		extra := []string{".", "..", "", "nothing", w.word(), "l" + w.word(), "l" + w.word()}[w.r.Intn(7)]
		parts = append(parts[:i], append([]string{extra}, parts[i:]...)...)
	}
	p = "/" + strings.Join(parts, "/")
	switch w.r.Intn(12) {
	case 0:
		p += "/"
	case 1:
		p += "/."
	case 2:
		p += "/.."
	case 3:
		p += "//"
	case 4:
		p = p[:w.r.Intn(len(p))+1]
	}
	return p
}

// both asks the two models. ok is false where they differ, so that nobody may answer.
func (w *world) both(dir int, path string, deref bool) (host string, errno syscall.Errno, ok bool) {
	if path == "" {
		return "", 0, true
	}
	a, e1 := w.up.translate(dir, path, deref)
	b, e2 := w.tx.translate(dir, path, deref)
	return a, e1, e1 == e2 && a == b
}

func (w *world) count(why Reason) bool {
	w.declined[why]++
	if why == Answered {
		w.answered++
	}
	return why == Answered
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("root %s\nbinds %q\n%s", w.root, w.binds, fmt.Sprintf(format, args...))
}

// from is the descriptor that PRoot leaves to the kernel: only an empty path makes it matter.
func from(dir int, path string) uintptr {
	if path == "" {
		return uintptr(dir)
	}
	return nocgo.AtFdcwd
}

// stat compares newfstatat.
func (w *world) stat(dir int, path string, flags uintptr) {
	w.t.Helper()
	got := buffer(160)
	for i := range got {
		got[i] = 0x5a
	}
	want := buffer(160)
	copy(want, got)
	c := &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{uintptr(dir), cstring(path), addr(got), flags}}
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, flags&nocgo.AtSymlinkNofollow == 0)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysNewfstatat, from(dir, path), cstring(host), addr(want), flags, 0, 0)
	}
	if !ok || r != wr || string(got) != string(want) {
		w.fail("stat(%d, %q, %#x) = %d, want %d (agreed %v, host %q)\n% x\n% x", dir, path, flags, int64(r), int64(wr), ok, host, got, want)
	}
}

// open compares openat, by the identity of what is opened.
func (w *world) open(dir int, path string, flags uintptr) {
	w.t.Helper()
	host, e, ok := w.both(dir, path, flags&nocgo.ONofollow == 0 && flags&(nocgo.OCreat|nocgo.OExcl) != nocgo.OCreat|nocgo.OExcl)
	var before syscall.Stat_t
	missing := e == 0 && syscall.Lstat(host, &before) != nil
	c := &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{uintptr(dir), cstring(path), flags, 0o640}}
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		return
	}
	var st syscall.Stat_t
	if !nocgo.Failed(r) {
		syscall.Fstat(int(r), &st)
		syscall.Close(int(r))
		if missing {
			var now syscall.Stat_t
			if syscall.Lstat(host, &now) != nil || now.Ino != st.Ino {
				w.fail("open(%d, %q, %#x) did not create %q", dir, path, flags, host)
			}
			syscall.Unlink(host)
		}
	}
	wr := nocgo.Fail(uintptr(e))
	var wst syscall.Stat_t
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysOpenat, from(dir, path), cstring(host), flags, 0o640, 0, 0)
		if !nocgo.Failed(wr) {
			syscall.Fstat(int(wr), &wst)
			syscall.Close(int(wr))
			if missing {
				syscall.Unlink(host)
			}
		}
	}
	fresh := missing || flags&nocgo.OTmpfile != 0 // a new file each time
	if !ok || nocgo.Failed(r) != nocgo.Failed(wr) || nocgo.Failed(r) && r != wr || st.Mode != wst.Mode || !fresh && (st.Ino != wst.Ino || st.Dev != wst.Dev) {
		w.fail("open(%d, %q, %#x) = %d, want %d (agreed %v, host %q)", dir, path, flags, int64(r), int64(wr), ok, host)
	}
}

// access compares faccessat.
func (w *world) access(dir int, path string, mode uintptr) {
	w.t.Helper()
	c := &Call{Nr: nocgo.SysFaccessat, Arg: [6]uintptr{uintptr(dir), cstring(path), mode}}
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, true)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysFaccessat, from(dir, path), cstring(host), mode, 0, 0, 0)
	}
	if !ok || r != wr {
		w.fail("access(%d, %q, %#x) = %d, want %d (agreed %v, host %q)", dir, path, mode, int64(r), int64(wr), ok, host)
	}
}

// statx compares statx.
func (w *world) statx(dir int, path string, flags, mask uintptr) {
	w.t.Helper()
	got, want := buffer(300), buffer(300)
	for i := range got {
		got[i], want[i] = 0x5a, 0x5a
	}
	c := &Call{Nr: nocgo.SysStatx, Arg: [6]uintptr{uintptr(dir), cstring(path), flags, mask, addr(got)}}
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(dir, path, flags&nocgo.AtSymlinkNofollow == 0)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		wr = nocgo.HostSyscall(nocgo.SysStatx, from(dir, path), cstring(host), flags, mask, addr(want), 0)
	}
	if !ok || r != wr || string(got) != string(want) {
		w.fail("statx(%d, %q, %#x, %#x) = %d, want %d (agreed %v, host %q)", dir, path, flags, mask, int64(r), int64(wr), ok, host)
	}
}

// readlink compares readlinkat, with the buffer. It returns the length of the text, if it was answered.
func (w *world) readlink(dir int, path string, size int) int {
	w.t.Helper()
	got := buffer(6000)
	for i := range got {
		got[i] = 0x5a
	}
	c := &Call{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{uintptr(dir), cstring(path), addr(got), uintptr(size)}}
	r, why := w.v.Handle(w.s, c)
	if !w.count(why) {
		return -1
	}
	host, e, ok := w.both(dir, path, false)
	if !ok || path == "" {
		w.fail("readlink(%d, %q) answered %d", dir, path, int64(r))
	}
	for _, m := range []*model{w.up, w.tx} {
		want := make([]byte, 6000)
		for i := range want {
			want[i] = 0x5a
		}
		wr := nocgo.Fail(uintptr(e))
		if e == 0 {
			wr = m.readlink(host, want, size)
		}
		if r != wr || string(got) != string(want) {
			w.fail("readlink(%d, %q, %d) = %d, want %d (host %q)\n%q\n%q", dir, path, size, int64(r), int64(wr), host, got[:200], want[:200])
		}
	}
	if nocgo.Failed(r) {
		return -1
	}
	return int(r)
}

// xattr compares the four calls that read extended attributes.
func (w *world) xattr(path string, nr uintptr) {
	w.t.Helper()
	got, want := buffer(64), buffer(64)
	size := uintptr(w.r.Intn(3) * 16)
	args := func(path string, b []byte) [6]uintptr {
		if nr == nocgo.SysListxattr || nr == nocgo.SysLlistxattr {
			return [6]uintptr{cstring(path), addr(b), size}
		}
		return [6]uintptr{cstring(path), cstring("user.test"), addr(b), size}
	}
	r, why := w.v.Handle(w.s, &Call{Nr: nr, Arg: args(path, got)})
	if !w.count(why) {
		return
	}
	host, e, ok := w.both(-100, path, nr == nocgo.SysGetxattr || nr == nocgo.SysListxattr)
	wr := nocgo.Fail(uintptr(e))
	if e == 0 {
		a := args(host, want)
		wr = nocgo.HostSyscall(nr, a[0], a[1], a[2], a[3], 0, 0)
	}
	if !ok || r != wr || string(got) != string(want) {
		w.fail("xattr call %d (%q) = %d, want %d (agreed %v, host %q)", nr, path, int64(r), int64(wr), ok, host)
	}
}

// chdir has the guest change its directory, if it can.
func (w *world) chdir(path string) {
	w.t.Helper()
	c := &Call{Nr: nocgo.SysChdir, Arg: [6]uintptr{cstring(path)}}
	if _, why := w.v.Handle(w.s, c); why != Answered {
		w.fail("chdir declined: %v", why)
	}
}

// tracer answers the plain calls of a test, as PRoot would.
func (w *world) tracer(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	w.plain++
	switch nr {
	case nocgo.SysFchdir:
		p, err := os.Readlink(procFd(int(int32(a0))))
		if err != nil {
			return nocgo.Fail(nocgo.EBADF)
		}
		text, ok := w.up.fromHost(p, "", false)
		if !ok {
			return nocgo.Fail(nocgo.EPERM)
		}
		name := []byte(text + "\x00")
		return w.tracer(nocgo.SysChdir, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0, 0, 0)
	case nocgo.SysGetcwd:
		text := append([]byte(w.up.cwd), 0)
		if a1 < uintptr(len(text)) {
			return nocgo.Fail(nocgo.ERANGE)
		}
		copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), text)
		return uintptr(len(text))
	case nocgo.SysChdir:
		var path []byte
		for ; nocgo.Load8(a0) != 0; a0++ {
			path = append(path, nocgo.Load8(a0))
		}
		host, e, ok := w.both(-100, join(string(path), "."), true)
		if !ok || e != 0 {
			return nocgo.Fail(nocgo.ENOENT)
		}
		if st, err := os.Lstat(host); err != nil || !st.IsDir() {
			return nocgo.Fail(nocgo.ENOENT)
		}
		text, ok := w.up.fromHost(host, "", false)
		if !ok {
			return nocgo.Fail(nocgo.EPERM)
		}
		w.up.cwd, w.tx.cwd = chop(text), chop(text)
		return 0
	}
	if _, ok := shapeOf(&Call{Nr: nr}); ok {
		return w.asked(&Call{Nr: nr, Arg: [6]uintptr{a0, a1, a2, a3, a4, a5}})
	}
	return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
}

// directory opens a random directory of the view and returns its descriptor, -1 if there is none.
func (w *world) directory() int {
	for range 20 {
		host, e, ok := w.both(-100, w.guestPath(), true)
		if e != 0 || !ok {
			continue
		}
		if fd, err := syscall.Open(host, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err == nil {
			return fd
		}
	}
	return -1
}
