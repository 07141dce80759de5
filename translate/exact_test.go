package translate

import (
	"os"
	"testing"
)

// exact is configure with paths that PRoot had made canonical before the tree became what it is.
func exact(t *testing.T, root, binds string) (g *guest, ok bool) {
	g = &guest{t, newView(), newScratch()}
	g.v.Exact()
	return g, g.v.Configure(g.s, root, binds, 1000)
}

// PRoot has resolved the paths of its bindings when it started, and does not do it again.
func TestExactPaths(t *testing.T) {
	dir := tree(t, "root/t/target", "root/t/link->target", "root/d/e/f", "bound", "one/f", "two/f", "x/one/f", "h->one", "y->x")
	g, ok := exact(t, dir+"/root", dir+"/bound:/t/link|"+dir+"/one:/d/e")
	if !ok {
		t.Fatal("refused")
	}
	g.is("/t/link", dir+"/bound") // as "-b bound:/t/link!" asks for
	g.is("/t/target", dir+"/root/t/target")
	g.is("/d/e/f", dir+"/one/f")

	g, ok = exact(t, dir+"/root", dir+"/h:/t|"+dir+"/y/one:/d/e")
	if !ok {
		t.Fatal("refused with host paths that lead through links")
	}
	g.declines("/t/f", Hidden) // PRoot goes on where the link leads to in the guest
	g.declines("/d/e/f", Hidden)

	if err := os.Symlink("d", dir+"/root/l"); err != nil {
		t.Fatal(err)
	}
	if _, ok = exact(t, dir+"/root", dir+"/one:/l/e"); ok {
		t.Error("a guest path that leads through a link now is believed")
	}
	if err := os.Symlink("root", dir+"/r"); err != nil {
		t.Fatal(err)
	}
	if _, ok = exact(t, dir+"/r", ""); ok {
		t.Error("a rootfs that is a link now is believed")
	}
}
