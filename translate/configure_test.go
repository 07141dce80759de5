package translate

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"svcrelay/nocgo"
)

// tree makes files and, for names with "->", links below a new directory. A trailing slash makes a directory.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := realpath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		name, text, link := strings.Cut(n, "->")
		p := dir + "/" + name
		os.MkdirAll(p[:strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')], 0o755)
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(text, "$", dir), p)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		default:
			err = os.WriteFile(p, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// guest is a configured View.
type guest struct {
	t testing.TB
	v *View
	s *Scratch
}

func configure(t testing.TB, root, binds string, ttl uint64) *guest {
	t.Helper()
	g := &guest{t, newView(), newScratch()}
	if !g.v.Configure(g.s, root, binds, ttl) {
		t.Fatalf("Configure(%q, %q) refused", root, binds)
	}
	return g
}

// stat returns the inode of a guest path.
func (g *guest) stat(path string) (ino uint64, r uintptr, why Reason) {
	b := buffer(128)
	r, why = g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), addr(b), 0}})
	return nocgo.Load64(addr(b) + 8), r, why
}

func inode(t testing.TB, path string) uint64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}

func (g *guest) is(path, host string) {
	g.t.Helper()
	ino, r, why := g.stat(path)
	if why != Answered || r != 0 || ino != inode(g.t, host) {
		g.t.Errorf("stat(%q) = %d, %v, inode %d, want that of %s", path, int64(r), why, ino, host)
	}
}

func (g *guest) fails(path string, errno uintptr) {
	g.t.Helper()
	if _, r, why := g.stat(path); why != Answered || r != nocgo.Fail(errno) {
		g.t.Errorf("stat(%q) = %d, %v, want errno %d", path, int64(r), why, errno)
	}
}

func (g *guest) declines(path string, want Reason) {
	g.t.Helper()
	if _, r, why := g.stat(path); why != want {
		g.t.Errorf("stat(%q) = %d, %v, want %v", path, int64(r), why, want)
	}
}

func TestConfigureGarbage(t *testing.T) {
	dir := tree(t, "root/a", "out/b")
	root := dir + "/root"
	many := ""
	for i := range 10000 {
		many += fmt.Sprintf("|%s/out:/b%d", dir, i)
	}
	for _, c := range []struct{ root, binds string }{
		{"", ""}, {"root", ""}, {"./root", ""}, {root + "/a", ""}, {dir + "/nothing", ""}, {"/proc/self/root", ""}, {"/proc", ""},
		{root, "out"}, {root, ":"}, {root, ":/x"}, {root, dir + "/out:"}, {root, dir + "/out:x"}, {root, dir + "/out:/"},
		{root, dir + "/out:/x/../y"}, {root, dir + "/out:/x/./y"}, {root, dir + "/out:/x//y"}, {root, dir + "/out:/x/."},
		{root, dir + "/out:/x!"}, {root, many}, {root, dir + "/out:/a/below-a-file"},
		{root, dir + "/out:/" + strings.Repeat("n", 300)}, {root, dir + "/out:/proc/self/x"}, {root, dir + "/out:/proc/1/x"},
		{root, "/" + strings.Repeat("x/", 600)}, {root, "\xff\x00:\x01"},
	} {
		v, s := newView(), newScratch()
		if v.Configure(s, c.root, c.binds, 1000) {
			t.Errorf("Configure(%.100q, %.100q) accepted", c.root, c.binds)
		}
		if _, why := v.Handle(s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/a")}}); why != Withdrawn {
			t.Errorf("Configure(%.100q, %.100q): a call is declined with %v", c.root, c.binds, why)
		}
	}
	if v := newView(); v.Configure(newScratch(), root, "", 1<<40) {
		t.Error("a lifetime of 35 years was accepted")
	}
}

func TestConfigureNormal(t *testing.T) {
	dir := tree(t, "root/a", "root/mnt/", "out/b", "two/c", "out/deep/d", "link->root", "alias->out/deep")
	os.MkdirAll(dir+"/root"+dir, 0o755)
	g := configure(t, dir+"/./link/", "|"+dir+"/alias/:/mnt/||"+dir+"/two:/gone/x|"+dir+"/two:/mnt|"+dir+"/out|", 1000)
	g.is("/a", dir+"/root/a")
	g.is("/mnt/c", dir+"/two/c") // of two for one place the last counts
	g.fails("/mnt/d", nocgo.ENOENT)
	g.is(dir+"/out/b", dir+"/out/b")
}

// A directory that PRoot had to make up above a binding is PRoot's own.
func TestGlue(t *testing.T) {
	dir := tree(t, "root/a", "out/b")
	g := configure(t, dir+"/root", dir+"/out:/made/up/place|"+dir+"/out:/other", 1000)
	g.declines("/made", Hidden)
	g.declines("/made/up", Hidden)
	g.declines("/made/up/place", Hidden)
	g.declines("/made/up/place/b", Hidden)
	g.is("/other", dir+"/out") // the last component alone needs no directory of its own
	g.is("/other/b", dir+"/out/b")
	g.is("/a", dir+"/root/a")
}

func TestUncertainBindings(t *testing.T) {
	dir := tree(t, "root/l->real", "root/real/x", "root/fl->f", "root/f", "out/b", "file", "root/proc/version", "root/dev/fd/")
	g := configure(t, dir+"/root", strings.Join([]string{
		dir + "/out:/l",             // one PRoot binds /real, another /l
		dir + "/file:/fl",           // both bind /f
		dir + "/nothing:/gone",      // dropped, unless it was there
		"/proc/self/fd:/dev/fd",     // of whoever asks
		dir + "/file:/proc/version", // a file that Termux distributions put there
		"/proc",
	}, "|"), 1000)
	g.declines("/l/b", Hidden)
	g.declines("/l", Hidden)
	g.declines("/real/x", Hidden)
	g.is("/f", dir+"/file")
	g.is("/fl", dir+"/file")
	g.declines("/gone", Hidden)
	g.declines("/gone/x", Hidden)
	g.declines("/dev/fd/0", Hidden)
	g.declines("/proc/version", Proc)
	g.is("/proc", "/proc")
}

// Where a binding's place is a link into /proc, that and all of /proc are PRoot's, and nothing else is.
func TestBindingsOfDescriptors(t *testing.T) {
	dir := tree(t, "root/dev/fd->/proc/self/fd", "root/dev/stdin->/proc/self/fd/0", "root/dev/null->/proc/self/fd/1", "root/f", "file")
	g := configure(t, dir+"/root", strings.Join([]string{
		"/proc", "/proc/self/fd:/dev/fd", "/proc/self/fd/0:/dev/stdin", dir + "/file:/dev/null",
	}, "|"), 1000)
	g.is("/f", dir+"/root/f")
	g.is("/dev", dir+"/root/dev")
	g.declines("/dev/fd", Hidden)
	g.declines("/dev/fd/0", Hidden)
	g.declines("/dev/stdin", Hidden)
	g.declines("/dev/null", Proc)
	g.declines("/proc/self/fd/1", Proc)
	g.declines("/proc/meminfo", Proc)
	g.is("/proc", "/proc")
}

// PRoot's own descriptors are bound below its number in /proc: nothing else there is touched.
func TestBindingsOfTracersDescriptors(t *testing.T) {
	dir := tree(t, "root/dev/fd->/proc/self/fd", "root/dev/stdin->/proc/self/fd/0", "root/f", "out/file", "out/d/x", "out/link->$/out/file", "out/other->$/out/d")
	g := &guest{t, newView(), newScratch()}
	pid := os.Getppid()
	g.v.Know(uintptr(pid), Upstream)
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	binds := strings.Join([]string{"/proc", dir + "/out:/o", fds, dir + "/out/file:" + fds + "/0"}, "|")
	if !g.v.Configure(g.s, dir+"/root", binds, 1000) {
		t.Fatal("refused")
	}
	g.is("/f", dir+"/root/f")
	g.is("/o/file", dir+"/out/file")
	g.is("/o/other/x", dir+"/out/d/x")
	g.is("/proc/meminfo", "/proc/meminfo")
	g.is("/proc/self/status", fmt.Sprintf("/proc/%d/status", nocgo.HostSyscall(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)))
	g.declines("/dev/stdin", Proc)
	g.declines("/dev/fd", Proc)
	g.declines("/dev/fd/0", Proc)
	g.declines(fds+"/0", Proc)
	g.declines("/o/link", Outside) // its text names what has another name now
	fd, err := os.Open(dir + "/out/d")
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	b := buffer(128)
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{fd.Fd(), cstring("x"), addr(b), 0}}); r != 0 || why != Answered {
		t.Errorf("by descriptor: %d, %v", int64(r), why)
	}
	for _, wrong := range []string{fmt.Sprintf("/proc/%d/fd/0", os.Getpid()), fmt.Sprintf("/proc/%dx/fd/0", pid), "/proc/self/fd/0"} {
		v := newView()
		v.Know(uintptr(pid), Upstream)
		if v.Configure(newScratch(), dir+"/root", "/proc|"+dir+"/out/file:"+wrong, 1000) {
			t.Errorf("a binding at %s is accepted", wrong)
		}
	}
}

// Termux's fork shows the directory of descriptors where it was told, even over a link.
func TestLiteralDescriptors(t *testing.T) {
	dir := tree(t, "root/dev/fd->/proc/self/fd", "root/d/x", "out/link->$/out/file", "out/file")
	for line, want := range map[Modes]bool{Termux: true, Upstream: false} {
		g := &guest{t, newView(), newScratch()}
		g.v.Know(uintptr(os.Getppid()), line)
		binds := fmt.Sprintf("/proc|%s/out:/o|/proc/self/fd:/dev/fd|/proc/self/fd/0:/proc/%d/fd/0", dir, os.Getppid())
		if !g.v.Configure(g.s, dir+"/root", binds, 1000) {
			t.Fatal("refused")
		}
		g.is("/d/x", dir+"/root/d/x")
		g.declines("/dev/fd", Hidden)
		g.declines("/dev/fd/0", Hidden)
		if !want {
			g.declines("/proc/meminfo", Proc)
			continue
		}
		g.is("/o/link", dir+"/out/file")
		g.is("/proc/meminfo", "/proc/meminfo")
	}
}

// Whatever leads into /proc is declined, but not /proc itself.
func TestProc(t *testing.T) {
	dir := tree(t, "root/stdin->/proc/self/fd/0", "root/mtab->../proc/self/mounts", "root/p->/proc", "root/proc/x", "root/q/self->1234/y", "root/q/1234/y")
	for _, binds := range []string{"", "/proc", "/proc:/elsewhere"} {
		g := configure(t, dir+"/root", binds, 1000)
		for _, p := range []string{"/proc/self", "/proc/self/exe", "/proc/1", "/proc/", "/proc/.", "/proc/..", "/stdin", "/mtab", "/p/self", "/proc/self/../x"} {
			if p == "/proc/" {
				continue // stays in /
			}
			g.declines(p, Proc)
		}
		g.declines("/q/self", Proc)
		if strings.Contains(binds, "else") {
			g.declines("/elsewhere/self", Proc)
			g.declines("/elsewhere/meminfo", Proc)
			g.is("/elsewhere", "/proc")
		}
	}
}
