package translate

import (
	"os"
	"testing"

	"svcrelay/nocgo"
)

// twins makes a tree as --link2symlink does: a and b are names of one file, with the content in d.
func twins(t *testing.T) (*guest, string) {
	dir := tree(t, "root/d/plain", "root/d/.l2s.odd", "root/d/.l2s.dir/f", "root/d/l->plain", "root/d/.l2s.a0001.0002")
	root := dir + "/root"
	for link, text := range map[string]string{
		"/d/.l2s.a0001": root + "/d/.l2s.a0001.0002", "/d/a": root + "/d/.l2s.a0001", "/b": root + "/d/.l2s.a0001",
		"/to": "d/a", "/d/short": ".l2s.odd", "/d/near": "x.l2s.y", "/d/inside": ".l2s.dir/f",
	} {
		if err := os.Symlink(text, root+link); err != nil {
			t.Fatal(err)
		}
	}
	g := configure(t, root, "", 1000)
	g.v.SetModes(HardLinks)
	return g, root
}

func (g *guest) ask(nr uintptr, path string, a2, a3 uintptr) (uintptr, Reason) {
	c := &Call{Nr: nr, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), a2, a3}}
	switch nr {
	case nocgo.SysNewfstatat, nocgo.SysReadlinkat:
		c.Arg[2] = addr(buffer(256))
	case nocgo.SysStatx:
		c.Arg = [6]uintptr{nocgo.AtFdcwd, cstring(path), a3, 0xfff, addr(buffer(256))}
	case nocgo.SysLgetxattr, nocgo.SysGetxattr:
		c.Arg = [6]uintptr{cstring(path), cstring("user.x"), addr(buffer(64)), 64}
	}
	return g.v.Handle(g.s, c)
}

func TestTwins(t *testing.T) {
	g, root := twins(t)
	const nofollow = nocgo.AtSymlinkNofollow
	for _, c := range []struct {
		path            string
		follow, lstat   Reason
		readlink, lopen Reason
	}{
		{"/d/plain", Answered, Answered, Answered, Answered},
		{"/d/l", Answered, Answered, Answered, Answered},
		{"/d/near", Answered, Answered, Answered, Answered},
		{"/d/inside", Answered, Answered, Answered, Answered},
		{"/d", Answered, Answered, Answered, Answered},
		{"/none", Answered, Answered, Answered, Answered},
		{"/d/a", Twin, Twin, Twin, Twin},
		{"/b", Twin, Twin, Twin, Twin},
		{"/to", Twin, Answered, Answered, Answered},
		{"/d/short", Twin, Twin, Twin, Twin},
		{"/d/.l2s.a0001", Twin, Twin, Twin, Twin},
		{"/d/.l2s.a0001.0002", Twin, Twin, Answered, Answered},
		{"/d/.l2s.dir", Twin, Twin, Answered, Answered},
	} {
		check := func(call string, r uintptr, why, want Reason) {
			t.Helper()
			if why != want {
				t.Errorf("%s of %s: %d, %v, want %v", call, c.path, int64(r), why, want)
			}
		}
		r, why := g.ask(nocgo.SysNewfstatat, c.path, 0, 0)
		check("stat", r, why, c.follow)
		r, why = g.ask(nocgo.SysStatx, c.path, 0, 0)
		check("statx", r, why, c.follow)
		r, why = g.ask(nocgo.SysNewfstatat, c.path, 0, nofollow)
		check("lstat", r, why, c.lstat)
		r, why = g.ask(nocgo.SysStatx, c.path, 0, nofollow)
		check("lstatx", r, why, c.lstat)
		r, why = g.ask(nocgo.SysReadlinkat, c.path, 0, 256)
		check("readlink", r, why, c.readlink)
		r, why = g.ask(nocgo.SysOpenat, c.path, nocgo.ONofollow|nocgo.OPath, 0)
		check("open", r, why, c.lopen)
		r, why = g.ask(nocgo.SysLgetxattr, c.path, 0, 0)
		check("lgetxattr", r, why, c.lopen)
		r, why = g.ask(nocgo.SysFaccessat, c.path, 0, 0)
		check("access", r, why, Answered)
		r, why = g.ask(nocgo.SysOpenat, c.path, nocgo.OPath, 0)
		check("open through links", r, why, Answered)
	}
	// Opening for the content leads to the content.
	f, err := os.Open(root + "/b")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, nr := range []uintptr{nocgo.SysUnlinkat, nocgo.SysLinkat, nocgo.SysMkdirat, nocgo.SysSymlinkat} {
		if fits(nr, HardLinks) || fits(nr, Identity) || !fits(nr, Release|Ports|Termux) {
			t.Errorf("call %d", nr)
		}
	}
}

// What a descriptor is of.
func TestOpenTwins(t *testing.T) {
	g, root := twins(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	gone, err := os.Create(root + "/d/gone")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(root + "/d/gone")
	open := func(name string) *os.File {
		f, err := os.Open(root + name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, c := range []struct {
		name string
		file *os.File
		want Reason
	}{
		{"plain", open("/d/plain"), Answered},
		{"twin", open("/b"), Twin},
		{"directory", open("/d"), Answered},
		{"odd directory", open("/d/.l2s.dir"), Twin},
		{"pipe", r, Answered},
		{"gone", gone, Twin},
	} {
		b := buffer(128)
		if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFstat, Arg: [6]uintptr{c.file.Fd(), addr(b)}}); r != 0 || why != c.want {
			t.Errorf("%s: %d, %v, want %v", c.name, int64(r), why, c.want)
		}
		stat := &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{c.file.Fd(), cstring(""), addr(b), nocgo.AtEmptyPath}}
		if r, why := g.v.Handle(g.s, stat); r != 0 || why != Answered {
			t.Errorf("%s, empty path: %d, %v", c.name, int64(r), why)
		}
	}
}

// Names in a directory given by its descriptor, the way that saves a look at the path.
func TestTwinsByName(t *testing.T) {
	g, root := twins(t)
	d, err := os.Open(root + "/d")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		for name, want := range map[string]Reason{"plain": Answered, "a": Twin, ".l2s.a0001.0002": Twin, ".l2s.odd": Twin, "l": Answered} {
			for _, flags := range []uintptr{0, nocgo.AtSymlinkNofollow} {
				c := &Call{Nr: nocgo.SysNewfstatat, Arg: [6]uintptr{d.Fd(), cstring(name), addr(buffer(128)), flags}}
				if r, why := g.v.Handle(g.s, c); why != want || r != 0 {
					t.Errorf("%s, flags %#x: %d, %v, want %v", name, flags, int64(r), why, want)
				}
			}
		}
	}
}
