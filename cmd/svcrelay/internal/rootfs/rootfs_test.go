package rootfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a rootfs of files, "dir/" and "link -> text", and opens it.
func tree(t *testing.T, entries ...string) (string, *Tree) {
	t.Helper()
	top := filepath.Join(t.TempDir(), "rootfs")
	for _, e := range append([]string{"/"}, entries...) {
		name, text, link := strings.Cut(e, " -> ")
		file := filepath.Join(top, name)
		dir := filepath.Dir(file)
		if strings.HasSuffix(name, "/") {
			dir = file
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case link:
			err = os.Symlink(text, file)
		case !strings.HasSuffix(name, "/"):
			err = os.WriteFile(file, []byte("old\n"), 0o640)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return top, r
}

func content(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInstallAndRemove(t *testing.T) {
	top, r := tree(t, "lib -> usr/lib", "usr/lib/ld-linux-aarch64.so.1")
	if glibc, err := r.Glibc(); err != nil || !glibc {
		t.Fatalf("%v, %v", glibc, err)
	}
	for range 2 {
		if err := r.Put(strings.NewReader("library")); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, top+Library); got != "library" {
		t.Errorf("%q", got)
	}
	if st, _ := os.Stat(top + Library); st.Mode() != 0o755 {
		t.Errorf("mode %v", st.Mode())
	}
	for i, want := range []bool{true, false} {
		if changed, err := r.SetPreload(true); err != nil || changed != want {
			t.Errorf("time %d: %v, %v", i, changed, err)
		}
	}
	if got := content(t, top+preload); got != Library+"\n" {
		t.Errorf("%q", got)
	}
	for i, want := range []bool{true, false} {
		changed, err := r.SetPreload(false)
		if err != nil || changed != want {
			t.Errorf("time %d: %v, %v", i, changed, err)
		}
		removed, err := r.Remove()
		if err != nil || removed != want {
			t.Errorf("time %d: %v, %v", i, removed, err)
		}
	}
	for _, gone := range []string{preload, Library, filepath.Dir(Library)} {
		if _, err := os.Lstat(top + gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if strings.Contains(p, "svcrelay") {
			t.Errorf("left behind: %s", p)
		}
		return nil
	})
}

// TestLinksStayInside has links that would lead out of the rootfs if they were followed on the host.
func TestLinksStayInside(t *testing.T) {
	top, r := tree(t, "usr/local -> /var/usrlocal", "var/usrlocal/", "etc -> ../../../../../../../../outside", "outside/", "outside/ld.so.preload -> /data/list", "data/list")
	outside := filepath.Dir(top) + "/outside"
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.Put(strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetPreload(true); err != nil {
		t.Fatal(err)
	}
	if got := content(t, top+"/var/usrlocal/lib/svcrelay/libsvcrelay.so"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := content(t, top+"/data/list"); got != "old\n"+Library+"\n" {
		t.Errorf("%q", got)
	}
	if st, _ := os.Stat(top + "/data/list"); st.Mode() != 0o640 {
		t.Errorf("mode %v", st.Mode())
	}
	if e, _ := os.ReadDir(outside); len(e) != 0 {
		t.Errorf("outside the rootfs: %v", e)
	}
}

func TestRefuses(t *testing.T) {
	_, r := tree(t, "etc/ld.so.preload/", "usr/local/lib -> lib")
	if _, err := r.SetPreload(true); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
	if err := r.Put(strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "too many links") {
		t.Error(err)
	}
	if _, err := r.Glibc(); err == nil || !strings.Contains(err.Error(), "is it an arm64 rootfs?") {
		t.Error(err)
	}
	if _, err := Open("/nowhere"); err == nil || !strings.Contains(err.Error(), "rootfs") {
		t.Error(err)
	}
	_, musl := tree(t, "lib/ld-musl-aarch64.so.1")
	if glibc, err := musl.Glibc(); err != nil || glibc {
		t.Errorf("musl: %v, %v", glibc, err)
	}
}

func TestEdit(t *testing.T) {
	for _, c := range []struct{ name, before, added, removed string }{
		{"empty", "", Library + "\n", ""},
		{"another", "/a.so\n", "/a.so\n" + Library + "\n", "/a.so\n"},
		{"no line end", "/a.so", "/a.so\n" + Library + "\n", "/a.so"},
		{"present", Library + "\n", Library + "\n", ""},
		{"present without line end", "/a.so " + Library, "/a.so " + Library, "/a.so"},
		{"in the middle", "/a.so:" + Library + ":/b.so\n", "/a.so:" + Library + ":/b.so\n", "/a.so:/b.so\n"},
		{"first", Library + " /b.so\n/c.so\n", Library + " /b.so\n/c.so\n", "/b.so\n/c.so\n"},
		{"twice", Library + "\n/a.so\t" + Library + "\n", Library + "\n/a.so\t" + Library + "\n", "/a.so\n"},
		{"commented out", "# " + Library + "\n", "# " + Library + "\n" + Library + "\n", "# " + Library + "\n"},
		{"with a comment", Library + " # ours\n/b.so\n", Library + " # ours\n/b.so\n", "# ours\n/b.so\n"},
		{"a longer name", Library + ".1\n", Library + ".1\n" + Library + "\n", Library + ".1\n"},
		{"odd but not ours", " : /a.so\t\n\n", " : /a.so\t\n\n" + Library + "\n", " : /a.so\t\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := edit(c.before, true); got != c.added {
				t.Errorf("added: %q, want %q", got, c.added)
			}
			if got := edit(c.before, false); got != c.removed {
				t.Errorf("removed: %q, want %q", got, c.removed)
			}
			if got := edit(edit(c.before, true), true); got != c.added {
				t.Errorf("added twice: %q", got)
			}
		})
	}
}
