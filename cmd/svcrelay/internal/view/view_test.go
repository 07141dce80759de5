package view

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svcrelay/cmd/svcrelay/internal/prootargs"
)

// tree makes directories ("a/"), links ("a -> text") and files ("a") below a new directory and returns it.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, text, link := strings.Cut(e, " -> ")
		path := filepath.Join(top, name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(text, path)
		case !strings.HasSuffix(name, "/"):
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// parse turns "host:guest" texts into requests; "=" in front makes the first the rootfs.
func parse(texts ...string) []prootargs.Binding {
	var out []prootargs.Binding
	for _, text := range texts {
		host, guest, has := strings.Cut(text, ":")
		out = append(out, prootargs.Binding{Host: host, Guest: guest, HasGuest: has})
	}
	return out
}

func TestResolve(t *testing.T) {
	top := tree(t, "root/etc/", "root/real/", "root/link -> real", "root/abs -> /real", "root/up/ln -> ../real", "root/file", "root/shm -> /run/shm",
		"root/loop -> loop", "host/dir/", "host/file", "host/ln -> dir", "odd:name/", "bar|name/", "root2/")
	t.Chdir(top)
	rootfs := top + "/root:/"
	for _, c := range []struct {
		name  string
		binds []string
		line  prootargs.Line
		root  string
		want  []Pair // with TOP for the directory
		drop  int
	}{
		{"nothing", nil, prootargs.Upstream, "/", nil, 0},
		{"root only", []string{rootfs}, prootargs.Upstream, "TOP/root", nil, 0},
		{"relative root", []string{"./root/:/"}, prootargs.Upstream, "TOP/root", nil, 0},
		{"the last root wins", []string{"root:/", "root2:/"}, prootargs.Upstream, "TOP/root2", nil, 0},
		{"plain", []string{rootfs, "host/dir:/mnt"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/mnt"}}, 0},
		{"host link", []string{rootfs, "host/ln:/mnt"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/mnt"}}, 0},
		{"same path, by its text", []string{rootfs, top + "/host/ln"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "TOP/host/ln"}}, 0},
		{"relative guest", []string{rootfs, "host/dir:x"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "TOP/x"}}, 0},
		{"empty guest", []string{rootfs, "host/dir:"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "TOP"}}, 0},
		{"missing", []string{rootfs, "nowhere:/mnt", "host/file/:/f", "host/dir:/mnt"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/mnt"}}, 2},
		{"replaced", []string{rootfs, "host/dir:/mnt", "host/file:/x", "host/file:/mnt/"}, prootargs.Upstream, "TOP/root",
			[]Pair{{"TOP/host/file", "/mnt"}, {"TOP/host/file", "/x"}}, 0},
		{"guest link, upstream", []string{rootfs, "host/dir:/link"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/real"}}, 0},
		{"guest link, Termux, directory", []string{rootfs, "host/dir:/link"}, prootargs.Termux, "TOP/root", []Pair{{"TOP/host/dir", "/link"}}, 0},
		{"guest link, Termux, file", []string{rootfs, "host/file:/link"}, prootargs.Termux, "TOP/root", []Pair{{"TOP/host/file", "/real"}}, 0},
		{"as written", []string{rootfs, "host/dir:/link!"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/link"}}, 0},
		{"as written, with a slash", []string{rootfs, "host/dir:/link/!"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/real"}}, 0},
		{"link on the way", []string{rootfs, "host/dir:/abs/sub"}, prootargs.Termux, "TOP/root", []Pair{{"TOP/host/dir", "/real/sub"}}, 0},
		{"link upwards", []string{rootfs, "host/dir:/up/ln/sub/../x/."}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/real/x"}}, 0},
		{"dots above the root", []string{rootfs, "host/dir:/../../mnt"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/dir", "/mnt"}}, 0},
		{"dangling link", []string{rootfs, "host/file:/shm"}, prootargs.Upstream, "TOP/root", []Pair{{"TOP/host/file", "/run/shm"}}, 0},
		{"through a file", []string{rootfs, "host/dir:/file/x"}, prootargs.Upstream, "TOP/root", nil, 1},
		{"through another binding", []string{rootfs, "host:/h", "host/file:/h/ln/deep"}, prootargs.Upstream, "TOP/root",
			[]Pair{{"TOP/host", "/h"}, {"TOP/host/file", "/h/dir/deep"}}, 0},
		{"deeper first", []string{rootfs, "host/file:/h/ln/deep", "host:/h"}, prootargs.Upstream, "TOP/root",
			[]Pair{{"TOP/host/file", "/h/dir/deep"}, {"TOP/host", "/h"}}, 0},
		{"one host path twice", []string{rootfs, "host/dir:/a", "host/dir:/b"}, prootargs.Upstream, "TOP/root",
			[]Pair{{"TOP/host/dir", "/a"}, {"TOP/host/dir", "/b"}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Resolve(parse(c.binds...), c.line)
			if err != nil {
				t.Fatal(err)
			}
			here := func(s string) string { return strings.ReplaceAll(s, "TOP", top) }
			var want []Pair
			for _, p := range c.want {
				want = append(want, Pair{here(p.Host), here(p.Guest)})
			}
			if v.Root != here(c.root) || !reflect.DeepEqual(v.Binds, want) || len(v.Dropped) != c.drop {
				t.Errorf("got  %q %q, dropped %q\nwant %q %q, %d dropped", v.Root, v.Binds, v.Dropped, here(c.root), want, c.drop)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	top := tree(t, "root/real/", "root/link -> real", "root/loop -> loop", "root/proc/self -> 1", "host/dir/", "odd:name/", "bar|name/")
	t.Chdir(top)
	if err := os.Symlink(top+"/root/real", top+"/root/outside"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		binds []string
		line  prootargs.Line
		err   string
	}{
		{"no rootfs", []string{"nowhere:/"}, prootargs.Upstream, "rootfs nowhere"},
		{"two names of one place", []string{"root:/", "host/dir:/real", "host/dir:/link"}, prootargs.Upstream, "both shown"},
		{"two names of the root", []string{"root:/", "host/dir:/real/.."}, prootargs.Upstream, "both shown"},
		{"unknown line", []string{"root:/", "host/dir:/link"}, prootargs.Unknown, "differently"},
		{"loop", []string{"root:/", "host/dir:/loop/x"}, prootargs.Upstream, "too many links"},
		{"proc", []string{"root:/", "host/dir:/proc/self/x"}, prootargs.Upstream, "/proc"},
		{"a link that names the rootfs", []string{"root:/", "host/dir:/outside/x"}, prootargs.Upstream, "path of the host"},
		{"a root with a slash more", []string{"root:/", "host/dir://"}, prootargs.Upstream, "both shown"},
		{"a bar", []string{"root:/", "bar|name:/x"}, prootargs.Upstream, "separator"},
		{"a long name", []string{"root:/", "host/dir:/" + strings.Repeat("x", 255)}, prootargs.Upstream, "too long"},
	} {
		v, err := Resolve(parse(c.binds...), c.line)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v, want an error with %q", c.name, v, err, c.err)
		}
	}
	odd := []prootargs.Binding{{Host: "root", Guest: "/", HasGuest: true}, {Host: "odd:name"}}
	if v, err := Resolve(odd, prootargs.Upstream); err == nil {
		t.Errorf("a colon in a host path: %+v", v)
	}
}

// TestDescriptors checks that what the Termux line leaves to the kernel is left alone.
func TestDescriptors(t *testing.T) {
	top := tree(t, "root/dev/")
	requests := parse(top+"/root:/", "/proc/self/fd:/dev/fd", "/proc/self/fd/987:/dev/x")
	v, err := Resolve(requests, prootargs.Termux)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/987", "/dev/x"}}; !slices.Equal(v.Binds, want) {
		t.Errorf("%q", v.Binds)
	}
	if v, err = Resolve(requests, prootargs.Upstream); err != nil {
		t.Fatal(err)
	}
	if len(v.Binds) != 1 || !strings.HasPrefix(v.Binds[0].Host, "/proc/") || strings.Contains(v.Binds[0].Host, "self") {
		t.Errorf("%q", v.Binds)
	}
}

// TestLinksIntoProc binds the standard streams where they are links into /proc already, as proot-distro does on Android.
// PRoot finds them under its own number there, which is this process's.
func TestLinksIntoProc(t *testing.T) {
	top := tree(t, "root/dev/fd -> /proc/self/fd", "root/dev/stdin -> /proc/self/fd/0", "root/dev/in -> stdin", "root/d/", "root/dev/maps -> /proc/self/map_files", "root/exe -> /proc/self/exe", "root/deep -> /proc/self/fd/0/x", "out/", "file")
	stream := top + "/file:/dev/stdin"
	requests := parse(top+"/root:/", "/proc", "/proc/self/fd:/dev/fd", stream, top+"/out:/d")
	fds := fmt.Sprintf("/proc/%d/fd", os.Getpid())
	v, err := Resolve(requests, prootargs.Upstream)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{"/proc", "/proc"}, {fds, fds}, {top + "/file", fds + "/0"}, {top + "/out", "/d"}}; !slices.Equal(v.Binds, want) {
		t.Errorf("%q", v.Binds)
	}
	if v, err = Resolve(requests, prootargs.Termux); err != nil {
		t.Fatal(err)
	}
	if want := []Pair{{"/proc", "/proc"}, {"/proc/self/fd", "/dev/fd"}, {top + "/file", fds + "/0"}, {top + "/out", "/d"}}; !slices.Equal(v.Binds, want) {
		t.Errorf("%q", v.Binds)
	}
	for _, c := range []struct {
		name  string
		binds []string
		line  prootargs.Line
	}{
		{"/proc comes later", []string{stream, "/proc"}, prootargs.Upstream},
		{"/proc is another", []string{top + "/out:/proc", stream}, prootargs.Upstream},
		{"unknown line", []string{"/proc", stream}, prootargs.Unknown},
		{"a slash behind", []string{"/proc", stream + "/"}, prootargs.Upstream},
		{"beyond a stream", []string{"/proc", top + "/file:/deep"}, prootargs.Upstream},
		{"another directory of the process", []string{"/proc", top + "/out:/dev/maps"}, prootargs.Upstream},
		{"the program", []string{"/proc", top + "/file:/exe"}, prootargs.Upstream},
	} {
		if v, err := Resolve(parse(append([]string{top + "/root:/"}, c.binds...)...), c.line); err == nil {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestBindsValue(t *testing.T) {
	v := View{Binds: []Pair{{"/a", "/b"}, {"/c", "/c"}}}
	if got := v.BindsValue(); got != "/a:/b|/c:/c" {
		t.Error(got)
	}
}

func TestInsort(t *testing.T) {
	add := func(s side, guests ...string) string {
		var list []request
		for i, g := range guests {
			list = insort(list, request{Pair{g, g}, i}, s)
		}
		var out []string
		for _, r := range list {
			out = append(out, r.Guest)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ in, guest, host string }{
		{"/ /a /a/b", "/a/b /a /", "/a/b /a /"},
		{"/a/b /a /", "/a/b /a /", "/a/b /a /"},
		{"/a /ab /a/b /", "/a/b /ab /a /", "/a/b /ab /a /"},
		{"/a /b /a", "/b /a", "/b /a /a"},
	} {
		in := strings.Fields(c.in)
		if got := add(guestSide, in...); got != c.guest {
			t.Errorf("%s: %s, want %s", c.in, got, c.guest)
		}
		if got := add(hostSide, in...); got != c.host {
			t.Errorf("%s on the host side: %s, want %s", c.in, got, c.host)
		}
	}
}
