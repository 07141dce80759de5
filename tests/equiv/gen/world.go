package gen

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svcrelay/tests/equiv/cases"
)

var (
	dirNames  = []string{"a", "b", "c", "d", "sub", "dir", "x", "covered", "with space", "...", ".hidden", "mounted"}
	fileNames = []string{"file", "f", "g", "h", "data", "bound-file", "new", "other", "a.txt", "odd\nname", "bytes\xff\xfe", "co:lon", "pi|pe"}
	linkNames = []string{"link", "ln", "l1", "l2", "l3", "l4", "up", "abs", "loop", "dang", "self", "far", "way"}
	longName  = strings.Repeat("n", 255)
)

// world makes the files: one tree in the guest's root, and one in each host directory that a binding shows.
func (g *generator) world(binds [][2]string) {
	g.taken = map[string]cases.Kind{}
	shown := func(dir string) (guests []string) {
		for _, b := range binds {
			if b[0] == dir {
				guests = append(guests, b[1])
			}
			if strings.HasPrefix(dir, b[0]+"/") {
				guests = append(guests, b[1]+strings.TrimPrefix(dir, b[0]))
			}
		}
		return guests
	}
	t := cases.Root + "/t"
	g.add(cases.Entry{Kind: cases.Dir, Path: t, Mode: 0o777}, nil)
	g.add(cases.Entry{Kind: cases.Dir, Path: t + "/a", Mode: 0o755, UID: g.c.UID, GID: g.c.UID}, append(shown(t), "/t"), "a")
	g.tree(t, append(shown(t), "/t"), 10+g.IntN(8), 16, 18)
	if g.chance(30) {
		g.deep(t, "/t")
	}
	for _, b := range binds {
		switch {
		case b[0] == "/proc/self/fd":
			g.learn(b[1], cases.Dir)
		case strings.HasPrefix(b[0], "/proc/self/fd/"):
			g.learn(b[1], cases.File)
			g.learn(cases.Streams+"/out", cases.File)
		case b[0] == cases.Top:
			g.add(cases.Entry{Kind: cases.Dir, Path: b[0], Mode: 0o755, UID: g.c.UID, GID: g.c.UID}, nil)
			g.learn(b[1], cases.Dir)
		case !strings.HasPrefix(b[0], host+"/"):
		case b[0] == host+"/dirlink":
			g.add(cases.Entry{Kind: cases.Link, Path: b[0], Text: "one/a"}, nil)
		case strings.HasSuffix(b[0], "/file") || strings.HasPrefix(b[0], host+"/fake"):
			g.add(cases.Entry{Kind: cases.Dir, Path: path.Dir(b[0]), Mode: 0o755, UID: g.c.UID, GID: g.c.UID}, nil)
			g.add(cases.Entry{Kind: cases.File, Path: b[0], Mode: 0o644, UID: g.c.UID, GID: g.c.UID, Text: "bound file"}, nil)
			g.learn(b[1], cases.File)
		default:
			g.add(cases.Entry{Kind: cases.Dir, Path: b[0], Mode: 0o755, UID: g.c.UID, GID: g.c.UID}, nil)
			g.learn(b[1], cases.Dir)
			if path.Base(b[0])[0] == 'm' {
				g.tree(b[0], shown(b[0]), 1, 1, 1)
			} else {
				g.tree(b[0], shown(b[0]), 4, 4, 6)
			}
		}
	}
	g.learn("/t", cases.Dir)
	for _, p := range []string{"/", "/etc", "/lib", "/usr/lib", "/tmp", "/dev", "/proc"} {
		g.learn(p, cases.Dir)
	}
	for _, p := range []string{"/etc/passwd", "/lib/libc.so.6", "/dev/null", "/dev/zero", "/equiv"} {
		g.learn(p, cases.File)
	}
}

func (g *generator) learn(p string, k cases.Kind) {
	g.known = append(g.known, name{p, k})
	if k == cases.Dir {
		g.dirs = append(g.dirs, p)
	}
}

// dirKnown says whether the guest certainly has a directory there.
func (g *generator) dirKnown(p string) bool { return slices.Contains(g.dirs, p) }

// add adds one file, by its host path, and learns the guest paths that rel has below guests.
func (g *generator) add(e cases.Entry, guests []string, rel ...string) bool {
	if _, ok := g.taken[e.Path]; ok {
		return false
	}
	g.taken[e.Path] = e.Kind
	g.c.World = append(g.c.World, e)
	for _, top := range guests {
		for _, r := range rel {
			g.learn(top+"/"+r, e.Kind)
		}
	}
	return true
}

func (g *generator) owner() (int, int) {
	if g.chance(70) {
		return g.c.UID, g.c.UID
	}
	return []int{0, 1000, 1234}[g.IntN(3)], []int{0, 1000, 1234}[g.IntN(3)]
}

var (
	dirModes  = []uint32{0o755, 0o700, 0o711, 0o1777, 0o2775, 0o555, 0o000, 0o300, 0o777}
	fileModes = []uint32{0o644, 0o600, 0o755, 0o444, 0o000, 0o4755, 0o666}
)

// tree fills the directory top, which guests see at the paths guests.
func (g *generator) tree(top string, guests []string, dirs, files, links int) {
	below := []string{""}
	for p, k := range g.taken {
		if k == cases.Dir && strings.HasPrefix(p, top+"/") {
			below = append(below, p[len(top)+1:])
		}
	}
	sortStrings(below)
	for range dirs {
		rel := path.Join(one(g, below), one(g, dirNames))
		uid, gid := g.owner()
		e := cases.Entry{Kind: cases.Dir, Path: top + "/" + rel, Mode: dirModes[g.pick(60, 5, 4, 5, 4, 3, 3, 2, 8)], UID: uid, GID: gid}
		if strings.Count(rel, "/") < 5 && g.add(e, guests, rel) {
			below = append(below, rel)
		}
	}
	for range files {
		rel := path.Join(one(g, below), one(g, fileNames))
		uid, gid := g.owner()
		e := cases.Entry{Kind: cases.File, Path: top + "/" + rel, Mode: fileModes[g.pick(60, 8, 8, 5, 5, 3, 8)], UID: uid, GID: gid}
		switch g.pick(80, 4, 4, 4, 6) {
		case 0:
			e.Text = "text of " + rel
		case 1:
			e.Kind = cases.FIFO
		case 2:
			e.Kind = cases.Socket
		case 3:
			e.Path, rel = path.Dir(e.Path)+"/"+longName, path.Join(path.Dir(rel), longName)
			e.Text = "long"
		case 4:
			if old := g.file(top); old != "" {
				e.Kind, e.Text = cases.Hard, old
			}
		}
		g.add(e, guests, rel)
	}
	for range links {
		dir := one(g, below)
		rel := path.Join(dir, one(g, linkNames))
		uid, gid := g.owner()
		g.add(cases.Entry{Kind: cases.Link, Path: top + "/" + rel, UID: uid, GID: gid, Text: g.linkText(one(g, guests0(guests)), dir)}, guests, rel)
	}
}

func guests0(guests []string) []string {
	if len(guests) == 0 {
		return []string{"/t"}
	}
	return guests
}

func (g *generator) file(top string) string {
	for _, e := range g.c.World {
		if e.Kind == cases.File && strings.HasPrefix(e.Path, top+"/") && g.chance(30) {
			return e.Path
		}
	}
	return ""
}

// linkText makes the text of a link that is in dir below the guest's top.
func (g *generator) linkText(top, dir string) string {
	var to string
	if len(g.known) > 0 {
		to = one(g, g.known).path
	} else {
		to = "/t"
	}
	from := path.Join(top, dir)
	switch g.pick(30, 22, 6, 5, 5, 4, 3, 4, 3, 3, 3, 3, 3, 3) {
	case 0:
		if r, err := filepath.Rel(from, to); err == nil {
			return r
		}
		return to
	case 1:
		return to
	case 2:
		return "nowhere"
	case 3:
		return to + "/.."
	case 4:
		return ".."
	case 5:
		return to + "/"
	case 6:
		return "./" + one(g, linkNames)
	case 7:
		return cases.Root + to
	case 8:
		return "/proc/self/" + one(g, []string{"cwd", "exe", "root", "fd/0", "fd", "status"})
	case 9:
		return "/"
	case 10:
		return strings.Repeat("../", 1+g.IntN(9)) + strings.TrimPrefix(to, "/")
	case 11:
		return host + "/" + one(g, []string{"one", "two", "one/a", "two/file"})
	case 12:
		return strings.Repeat("./", 100+g.IntN(1800)) + one(g, fileNames)
	}
	return one(g, dirNames) + "/./" + one(g, fileNames) + "/."
}

// deep makes a chain of directories as long as a path can be.
func (g *generator) deep(top, guest string) {
	rel := "deep"
	n := []int{150, 200, 255}[g.IntN(3)]
	for len(rel) < 3900 {
		g.add(cases.Entry{Kind: cases.Dir, Path: top + "/" + rel, Mode: 0o755, UID: g.c.UID, GID: g.c.UID}, nil)
		if len(rel)%3 == 0 || len(rel) > 3600 || len(rel) < 1100 {
			g.learn(guest+"/"+rel, cases.Dir)
		}
		rel += "/" + fmt.Sprintf("%0*d", n, len(rel))
	}
}
