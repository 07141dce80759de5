package translate

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// edits counts what is asked of PRoot, which does nothing but say so.
func edits(t *testing.T, m Modes, names ...string) (g *guest, root string, n *int) {
	t.Helper()
	root = tree(t, names...) + "/root"
	g = configure(t, root, "", 1000)
	g.v.TrackDirectory()
	g.v.AllowRenameat2()
	if m&Identity != 0 {
		fake(t, g)
	}
	g.v.SetModes(m)
	n = asked(t, func(nr, a0, a1 uintptr) uintptr {
		switch nr {
		case nocgo.SysFaccessat: // see takeBack
			*n--
			return nocgo.Fail(nocgo.EFAULT)
		case nocgo.SysGetuid:
			return 1234
		case nocgo.SysGetgid:
			return 77
		case nocgo.SysGetcwd:
			return nocgo.Fail(nocgo.ENOENT)
		}
		return nocgo.Fail(nocgo.ENOSYS)
	})
	return g, root, n
}

func (g *guest) edit(nr uintptr, arg ...uintptr) (uintptr, Reason) {
	c := &Call{Nr: nr}
	copy(c.Arg[:], arg)
	before := *c
	r, why := g.v.Handle(g.s, c)
	if *c != before {
		g.t.Errorf("call %d: the arguments were changed", nr)
	}
	return r, why
}

// What PRoot lends a file must be given back to it, so files that it would lend to are left to it.
func TestEditsUnderFakedRoot(t *testing.T) {
	g, root, n := edits(t, Identity, "root/d/f", "root/d/g", "root/d/ro", "root/d/l->ro", "root/d/k->f", "root/shut/x", "root/e/",
		"root/none/", "root/d/none", "root/d/ro2", "root/d/l2->ro2", "root/d/setuid")
	for name, mode := range map[string]uint32{"/d/ro": 0o444, "/shut": 0o2555, "/none": 0, "/d/none": 0, "/d/ro2": 0o444, "/d/setuid": 0o4555} {
		if err := syscall.Chmod(root+name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(root+"/shut", 0o755)
	g.v.knowIDs() // PRoot is asked for them once
	here := uintptr(nocgo.AtFdcwd)
	for _, c := range []struct {
		name string
		nr   uintptr
		arg  []uintptr
		raw  bool
	}{
		{"unlink", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/g"), 0}, true},
		{"unlink a link", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/k"), 0}, true},
		{"unlink what lacks rights", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/ro"), 0}, false},
		{"unlink a link to it", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/l"), 0}, false},
		{"rmdir", nocgo.SysUnlinkat, []uintptr{here, cstring("/e"), nocgo.AtRemovedir}, true},
		{"rmdir of what lacks rights", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/none"), nocgo.AtRemovedir}, false},
		{"mkdir", nocgo.SysMkdirat, []uintptr{here, cstring("/new"), 0o755}, true},
		{"mkdir where the group counts", nocgo.SysMkdirat, []uintptr{here, cstring("/shut/new"), 0o755}, false},
		{"symlink", nocgo.SysSymlinkat, []uintptr{cstring("x"), here, cstring("/d/s")}, true},
		{"symlink where the group counts", nocgo.SysSymlinkat, []uintptr{cstring("x"), here, cstring("/shut/s")}, false},
		{"chmod", nocgo.SysFchmodat, []uintptr{here, cstring("/d/f"), 0o640}, true},
		{"chmod of a new directory without rights", nocgo.SysFchmodat, []uintptr{here, cstring("/none"), 0o755}, true},
		{"chown of what has no rights", nocgo.SysFchownat, []uintptr{here, cstring("/d/none"), 1234, 77, 0}, true},
		{"chmod of what has no rights", nocgo.SysFchmodat, []uintptr{here, cstring("/d/none"), 0o600}, true},
		{"chmod through a link to what lacks rights", nocgo.SysFchmodat, []uintptr{here, cstring("/d/l2"), 0o600}, false},
		{"chown of a link to what lacks rights", nocgo.SysFchownat, []uintptr{here, cstring("/d/l2"), 1234, 77, nocgo.AtSymlinkNofollow}, false},
		{"chmod of a program with set-user-ID that lacks rights", nocgo.SysFchmodat, []uintptr{here, cstring("/d/setuid"), 0o600}, false},
		{"utimens", nocgo.SysUtimensat, []uintptr{here, cstring("/d/f"), 0, 0}, true},
		{"truncate", nocgo.SysTruncate, []uintptr{cstring("/d/f"), 1}, true},
		{"setxattr", nocgo.SysSetxattr, []uintptr{cstring("/d/f"), cstring("user.x"), cstring("v"), 1, 0}, false},
	} {
		*n = 0
		r, why := g.edit(c.nr, c.arg...)
		if raw := why == Answered && r == 0; raw != c.raw || raw && *n != 0 {
			t.Errorf("%s: %d, %v, %d of PRoot", c.name, int64(r), why, *n)
		}
	}
	for name, mode := range map[string]os.FileMode{"/none": 0o755, "/d/none": 0o600, "/d/ro2": 0o444} {
		if st, err := os.Lstat(root + name); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, st.Mode(), err)
		}
	}
	for name, there := range map[string]bool{"/d/g": false, "/d/k": false, "/d/ro": true, "/d/l": true, "/e": false, "/new": true, "/shut/new": false, "/d/s": true} {
		if _, err := os.Lstat(root + name); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The faked ids of a chown stand for PRoot's.
func TestFakedChown(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to give files away")
	}
	g, root, n := edits(t, Identity, "root/f")
	f, err := os.Open(root + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	here := uintptr(nocgo.AtFdcwd)
	const none = ^uintptr(0)
	for _, c := range []struct{ uid, gid, wantUID, wantGID uintptr }{
		{5, 6, 5, 6}, {1234, 6, 0, 6}, {5, 77, 5, 0}, {1234, 77, 0, 0}, {none, 77, 9, 0}, {77, 1234, 77, 1234},
	} {
		for _, byPath := range []bool{true, false} {
			if err := os.Chown(root+"/f", 9, 9); err != nil {
				t.Fatal(err)
			}
			nr, arg := uintptr(nocgo.SysFchown), []uintptr{f.Fd(), c.uid, c.gid}
			if byPath {
				nr, arg = nocgo.SysFchownat, []uintptr{here, cstring("/f"), c.uid, c.gid, 0}
			}
			if r, why := g.edit(nr, arg...); r != 0 || why != Answered {
				t.Errorf("%d:%d: %d, %v", c.uid, c.gid, int64(r), why)
			}
			var st unix.Stat_t
			if unix.Stat(root+"/f", &st); uintptr(st.Uid) != c.wantUID || uintptr(st.Gid) != c.wantGID {
				t.Errorf("%d:%d: %d:%d", c.uid, c.gid, st.Uid, st.Gid)
			}
		}
	}
	if *n != 2 {
		t.Errorf("PRoot was asked %d times", *n)
	}
	// What the kernel denies PRoot may pretend.
	old := nocgo.HostRaw
	defer func() { nocgo.HostRaw = old }()
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysFchownat || nr == nocgo.SysFchown {
			return nocgo.Fail(nocgo.EPERM)
		}
		return old(nr, a0, a1, a2, a3, a4, a5)
	}
	for _, c := range []struct {
		nr  uintptr
		arg []uintptr
	}{{nocgo.SysFchownat, []uintptr{here, cstring("/f"), 1, 1, 0}}, {nocgo.SysFchown, []uintptr{f.Fd(), 1, 1}}} {
		if r, why := g.edit(c.nr, c.arg...); r != nocgo.Fail(nocgo.ENOSYS) || why != Answered {
			t.Errorf("call %d: %d, %v", c.nr, int64(r), why)
		}
	}
}

// Names of made-up hard links are PRoot's.
func TestEditsOfTwins(t *testing.T) {
	g, root, n := edits(t, HardLinks, "root/d/f", "root/d/g", "root/d/.l2s.a0001.0002", "root/e/")
	for link, text := range map[string]string{"/d/.l2s.a0001": root + "/d/.l2s.a0001.0002", "/d/a": root + "/d/.l2s.a0001", "/d/k": "f"} {
		if err := os.Symlink(text, root+link); err != nil {
			t.Fatal(err)
		}
	}
	here := uintptr(nocgo.AtFdcwd)
	const nofollow = nocgo.AtSymlinkNofollow
	for _, c := range []struct {
		name string
		nr   uintptr
		arg  []uintptr
		raw  bool
	}{
		{"unlink", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/a"), 0}, false},
		{"rmdir of one", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/a"), nocgo.AtRemovedir}, false},
		{"rename over one", nocgo.SysRenameat, []uintptr{here, cstring("/d/g"), here, cstring("/d/a")}, false},
		{"rename of one", nocgo.SysRenameat, []uintptr{here, cstring("/d/a"), here, cstring("/d/b")}, false},
		{"times of one", nocgo.SysUtimensat, []uintptr{here, cstring("/d/a"), 0, nofollow}, false},
		{"link", nocgo.SysLinkat, []uintptr{here, cstring("/d/f"), here, cstring("/d/h"), 0}, false},
		{"mkdir at one", nocgo.SysMkdirat, []uintptr{here, cstring("/d/a"), 0o755}, false},
		{"times through one", nocgo.SysUtimensat, []uintptr{here, cstring("/d/a"), 0, 0}, true},
		{"unlink of a link", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/k"), 0}, true},
		{"unlink of a file", nocgo.SysUnlinkat, []uintptr{here, cstring("/d/g"), 0}, true},
		{"rmdir", nocgo.SysUnlinkat, []uintptr{here, cstring("/e"), nocgo.AtRemovedir}, true},
		{"mkdir", nocgo.SysMkdirat, []uintptr{here, cstring("/d/n"), 0o755}, true},
	} {
		*n = 0
		r, why := g.edit(c.nr, c.arg...)
		if raw := why == Answered && r == 0; raw != c.raw || raw && *n != 0 {
			t.Errorf("%s: %d, %v, %d of PRoot", c.name, int64(r), why, *n)
		}
	}
	// PRoot takes the text of a path that leads nowhere for one of the host.
	for name, arg := range map[string][]uintptr{
		"unlink":      {nocgo.SysUnlinkat, here, cstring(root + "/d/a"), 0},
		"rmdir":       {nocgo.SysUnlinkat, here, cstring("/d/f/../a"), nocgo.AtRemovedir},
		"rename":      {nocgo.SysRenameat, here, cstring("/d/f"), here, cstring(root + "/d/a")},
		"rename from": {nocgo.SysRenameat2, here, cstring("/none/f"), here, cstring(root + "/d/a"), 0},
	} {
		*n = 0
		if g.edit(arg[0], arg[1:]...); *n != 1 {
			t.Errorf("%s on a way that leads nowhere: PRoot was asked %d times", name, *n)
		}
	}
}

// Where the way of a path leads through what is moved, PRoot cannot give back what it lends there.
func TestTurningBackUnderFakedRoot(t *testing.T) {
	g, _, _ := edits(t, Identity, "root/d/ro/x", "root/d/f", "root/e/ro/x", "root/back->e/ro/..", "root/g/", "root/h/")
	here := uintptr(nocgo.AtFdcwd)
	g.s.room = textMax
	g.s.bare = false
	for _, c := range []struct {
		old, new string
		why      Reason
	}{
		{"/d/ro/..", "/moved", Rights},
		{"/d", "/h/../moved", Rights},
		{"/back/", "/moved", Rights},
		{"/back/", "/moved", Rights}, // the way is remembered by now
		{"/d/ro/../f", "/d/f2", Answered},
		{"/g", "/h/g", Answered},
	} {
		if why := g.v.look(g.s, &Call{Nr: nocgo.SysRenameat, Arg: [6]uintptr{here, cstring(c.old), here, cstring(c.new)}}); why != c.why {
			t.Errorf("%s to %s: %v, want %v", c.old, c.new, why, c.why)
		}
	}
}
