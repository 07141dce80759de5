package tree

import (
	"archive/tar"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
)

func TestAddGoesThroughSymlinks(t *testing.T) {
	tr := New()
	for _, step := range []error{
		tr.Mkdir("usr/lib", 0o755), tr.Symlink("lib", "usr/lib"), tr.Symlink("usr/lib64", "/lib"),
		tr.WriteFile("lib/a", []byte("a"), 0o644), tr.WriteFile("usr/lib64/deep/b", []byte("b"), 0o644),
		tr.Mkdir("lib", 0o700), tr.Mkdir("usr/lib", 0o700),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	want := []string{"lib", "usr", "usr/lib", "usr/lib/a", "usr/lib/deep", "usr/lib/deep/b", "usr/lib64"}
	if got := tr.Paths(); !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	if mode := tr.Get("/usr/lib").Mode; mode != 0o755 {
		t.Errorf("an existing directory's mode became %o", mode)
	}
	if n, err := tr.Lookup("/lib/deep/b"); err != nil || string(n.Data) != "b" {
		t.Errorf("lookup through a symlink: %v, %v", n, err)
	}
	if _, err := tr.Lookup("lib/none"); err == nil {
		t.Error("a missing file was found")
	}
}

func TestSymlinkLoop(t *testing.T) {
	tr := New()
	tr.Symlink("a", "b")
	tr.Symlink("b", "a")
	if err := tr.WriteFile("a/x", nil, 0o644); err == nil {
		t.Error("a file was added below a symlink loop")
	}
}

func TestRemove(t *testing.T) {
	tr := New()
	tr.WriteFile("a/b/c", nil, 0o644)
	tr.WriteFile("a/bc", nil, 0o644)
	tr.Remove("/a/b")
	if got, want := tr.Paths(), []string{"a", "a/bc"}; !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
}

func TestAddTar(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "./bin/", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "./bin/su", Mode: 0o4755, Uid: 1, Gid: 2, Size: 2},
		{Typeflag: tar.TypeLink, Name: "./bin/su2", Linkname: "./bin/su"},
		{Typeflag: tar.TypeSymlink, Name: "./bin/sh", Linkname: "dash"},
		{Typeflag: tar.TypeChar, Name: "./dev/null"},
		{Typeflag: tar.TypeReg, Name: "./doc/x", Mode: 0o644},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte("su"))
		}
	}
	w.Close()
	tr := New()
	if err := tr.AddTar(&archive, func(name string) bool { return !strings.HasPrefix(name, "doc") }); err != nil {
		t.Fatal(err)
	}
	if got, want := tr.Paths(), []string{"bin", "bin/sh", "bin/su", "bin/su2"}; !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	for _, name := range []string{"bin/su", "bin/su2"} {
		if n := tr.Get(name); n.Mode != 0o4755 || n.UID != 1 || n.GID != 2 || string(n.Data) != "su" {
			t.Errorf("%s is %+v", name, n)
		}
	}
}

func TestCPIO(t *testing.T) {
	tr := New()
	tr.WriteFile("d/f", []byte("hello"), 0o640)
	tr.Symlink("d/l", "f")
	var out bytes.Buffer
	if err := tr.WriteCPIO(&out, "/guests/g"); err != nil {
		t.Fatal(err)
	}
	if out.Len()%512 != 0 {
		t.Errorf("the archive has %d bytes: nothing can be put behind it", out.Len())
	}
	want := []string{"guests 40755", "guests/g 40755", "guests/g/d 40755", "guests/g/d/f 100640 hello", "guests/g/d/l 120777 -> f"}
	if got := list(t, &out); !slices.Equal(got, want) {
		t.Errorf("archive holds %q, want %q", got, want)
	}
}

func TestAddBelow(t *testing.T) {
	base := New()
	base.Mkdir("tmp", 0o1777)
	base.Mkdir("usr/lib", 0o755)
	base.Symlink("lib", "usr/lib")
	base.Symlink("abs", "/usr")
	outline, err := base.Outline("/guests/g")
	if err != nil {
		t.Fatal(err)
	}
	over := New()
	if err := over.AddBelow(outline); err != nil {
		t.Fatal(err)
	}
	over.WriteFile("/guests/g/lib/x", nil, 0o644)
	over.WriteFile("/guests/g/abs/share/y", nil, 0o644)
	over.WriteFile("/guests/g/tmp/z", nil, 0o644)
	var out bytes.Buffer
	if err := over.WriteCPIO(&out, "/"); err != nil {
		t.Fatal(err)
	}
	want := []string{"guests/g/tmp/z 100644", "guests/g/usr/lib/x 100644", "guests/g/usr/share 40755", "guests/g/usr/share/y 100644"}
	if got := list(t, &out); !slices.Equal(got, want) {
		t.Errorf("archive holds %q, want %q", got, want)
	}
}

// list reads an archive back, a line for each entry.
func list(t *testing.T, r io.Reader) (out []string) {
	t.Helper()
	for in := cpio.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		line := h.Name + " " + strings.TrimPrefix(h.Mode.String(), "0")
		if h.Linkname != "" {
			line += " -> " + h.Linkname
		}
		if len(data) > 0 {
			line += " " + string(data)
		}
		out = append(out, line)
	}
}
