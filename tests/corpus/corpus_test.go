package corpus

import (
	"bytes"
	"testing"

	"svcrelay/tests/rig/tree"
)

func archive(t *testing.T, make func() (*tree.Tree, error)) (*tree.Tree, []byte) {
	t.Helper()
	tr, err := make()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tr.WriteCPIO(&b, "/x"); err != nil {
		t.Fatal(err)
	}
	return tr, b.Bytes()
}

func TestTreesAreTheSameEveryTime(t *testing.T) {
	for name, f := range map[string]func() (*tree.Tree, error){
		"demo": Demo, "bound": Bound, "awkward": func() (*tree.Tree, error) { return Awkward("/guests/bookworm") },
	} {
		_, a := archive(t, f)
		_, b := archive(t, f)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: two archives differ", name)
		}
	}
}

func TestDemoHasAsManyFilesAsItSays(t *testing.T) {
	tr, _ := archive(t, Demo)
	files, links, dirs := 0, 0, 0
	for _, p := range tr.Paths() {
		switch tr.Get(p).Kind {
		case tree.File:
			files++
		case tree.Symlink:
			links++
		case tree.Dir:
			dirs++
		}
	}
	if n := files + links; n < 2300 || n > 2900 {
		t.Errorf("%d files and %d links in %d directories", files, links, dirs)
	}
	t.Logf("%d files and %d links in %d directories", files, links, dirs)
}

func TestListHasNoRawControlCharacters(t *testing.T) {
	for _, nth := range []int{1, 6, 61} {
		l := List(nth)
		t.Logf("%d items", bytes.Count(l, []byte("\n")))
		for _, c := range l {
			if c != '\n' && (c < ' ' || c > '~') {
				t.Fatalf("byte %#x", c)
			}
		}
	}
}
