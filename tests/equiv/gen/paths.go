package gen

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svcrelay/tests/equiv/cases"
)

func sortStrings(s []string) { slices.Sort(s) }

func sortEntries(e []cases.Entry) {
	slices.SortStableFunc(e, func(a, b cases.Entry) int {
		if hard := (a.Kind == cases.Hard) != (b.Kind == cases.Hard); hard {
			if a.Kind == cases.Hard {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Path, b.Path)
	})
}

// process is what the generator believes about one process of the script.
type process struct {
	leader int
	cwd    string
	fds    [24]descriptor
}

type descriptor struct {
	open bool
	dir  bool
	path string
}

// quote writes a string as an argument of the script.
func quote(prefix, s string) string {
	var b strings.Builder
	b.WriteString(prefix)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == 1: // the beginning of a place for a number, ended by a semicolon: see number
			b.WriteByte('\\')
		case c < ' ' || c == '"' || c == '\\' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fdNumber and pidNumber stand in a path for a number that only the run knows.
func fdNumber(slot int) string   { return fmt.Sprintf("\x01f%d;", slot) }
func pidNumber(actor int) string { return fmt.Sprintf("\x01p%d;", actor) }

// want is what a path should lead to.
type want int

const (
	anything  want = iota
	directory      // an existing directory
	fresh          // a name that is probably free, in a directory that is there
	victim         // something that may be removed or moved
)

// target chooses a guest path.
func (g *generator) target(w want) string {
	recent := func() name {
		if g.chance(35) {
			return g.known[len(g.known)-1-g.IntN(min(len(g.known), 12))]
		}
		return one(g, g.known)
	}
	switch w {
	case directory:
		if g.chance(85) {
			return one(g, g.dirs)
		}
	case fresh:
		if g.chance(80) {
			return path.Join(one(g, g.dirs), one(g, slices.Concat(fileNames, dirNames, linkNames)))
		}
	case victim:
		for range 20 {
			if n := recent(); strings.Count(n.path, "/") > 1 || g.chance(3) {
				return n.path
			}
		}
	}
	switch g.pick(80, 10, 5, 5) {
	case 1:
		return path.Join(one(g, g.dirs), one(g, slices.Concat(fileNames, dirNames, linkNames)))
	case 2:
		return recent().path + "/" + one(g, fileNames)
	case 3:
		return recent().path + "/" + one(g, linkNames) + "/" + one(g, fileNames)
	}
	return recent().path
}

// hostile are paths that are worth asking about whatever the world looks like.
func (g *generator) hostile(p *process) string {
	slot := g.IntN(len(p.fds))
	switch g.IntN(40) {
	case 0:
		return "/proc/self"
	case 1:
		return "/proc/self/exe"
	case 2:
		return "/proc/self/cwd"
	case 3:
		return "/proc/self/cwd/" + one(g, fileNames)
	case 4:
		return "/proc/self/root"
	case 5:
		return "/proc/self/root" + g.target(anything)
	case 6:
		return "/proc/self/fd/" + fdNumber(slot)
	case 7:
		return "/proc/self/fd/" + fdNumber(slot) + "/" + one(g, fileNames)
	case 8:
		return "/proc/self/fd/" + fdNumber(slot) + "/.."
	case 9:
		return "/proc/" + pidNumber(g.IntN(3)) + "/" + one(g, []string{"exe", "cwd", "root", "status", "fd", "maps", "comm", "task", "ns/mnt"})
	case 10:
		return "/proc/thread-self/" + one(g, []string{"", "cwd", "exe", "fd/0", "status"})
	case 11:
		return "/proc/self/task/" + pidNumber(0) + "/" + one(g, []string{"cwd", "exe", "fd/0", "comm"})
	case 12:
		return "/dev/fd/" + fdNumber(slot)
	case 13:
		return one(g, []string{"/proc/version", "/proc/stat", "/proc/missing", "/proc/self/missing", "/proc/../t", "/proc/self/../self/status", "/proc/sys/kernel/ostype", "/proc/mounts"})
	case 14:
		return strings.Repeat("/", 1+g.IntN(3)) + strings.TrimPrefix(g.target(anything), "/")
	case 15:
		return strings.Repeat("../", 1+g.IntN(12)) + strings.TrimPrefix(g.target(anything), "/")
	case 16:
		return longName + "n"
	case 17:
		return path.Join(one(g, g.dirs), longName) + one(g, []string{"", "n", "/", "/x"})
	case 18: // as long as a path can be, more or less
		return g.padded(one(g, []int{1000, 1023, 1024, 1025, 2048, 4080, 4094, 4095, 4096, 4097, 5000}))
	case 19:
		return one(g, []string{" ", "*", "~", "\n", "\x7f", "\xff", "\xc3\xa9", "%s", "a\x02b"})
	case 20:
		return one(g, []string{".", "..", "/", "//", "/.", "/..", "./", "../", "/../..", "./.", ".//..", "..."})
	case 21:
		return cases.Root + g.target(anything)
	case 22:
		return host + "/one/" + one(g, fileNames)
	case 23:
		return "/dev/null" + one(g, []string{"", "/", "/x", "/..", "/."})
	case 24:
		return one(g, []string{"/glue", "/glue/", "/glue/x", "/glue/x/y", "/glue/x/..", "/glue/x/y/..", "/glue/new", "/b", "/b/one/..", "/b/missing", "/m", "/m/3/..", "/data", "/alias/..", "/b/one/nested/..", "/b/link/.."})
	}
	return ""
}

// padded makes a path of a length, which leads to something known after many detours.
func (g *generator) padded(n int) string {
	to := g.target(anything)
	if len(to) > n {
		return to
	}
	fill := one(g, []string{"/", "/.", "/t/..", "/t/a/../..", "/nothere"})
	var b strings.Builder
	for b.Len()+len(fill)+len(to) <= n {
		b.WriteString(fill)
	}
	for b.Len()+len(to) < n {
		b.WriteByte('/')
	}
	return b.String() + to
}

// decorate writes a path in another way.
func (g *generator) decorate(s string) string {
	switch g.pick(70, 5, 4, 3, 3, 2, 3, 3, 2, 2, 2) {
	case 1:
		return s + "/"
	case 2:
		return s + "/."
	case 3:
		return s + "/.."
	case 4:
		return strings.ReplaceAll(s, "/", one(g, []string{"//", "/./"}))
	case 5:
		return s + "//"
	case 6: // through a name and back
		if i := strings.LastIndexByte(s, '/'); i > 0 {
			return s[:i] + "/" + one(g, slices.Concat(dirNames, linkNames)) + "/.." + s[i:]
		}
	case 7: // the directory through itself
		dir, base := path.Split(s)
		if base != "" && len(dir) > 1 {
			return dir + "../" + path.Base(dir) + "/" + base
		}
	case 8:
		return s + "/" + one(g, fileNames)
	case 9:
		return s + "/../" + path.Base(s)
	case 10:
		if !strings.HasPrefix(s, "/") {
			return "./" + s
		}
		return "/.." + s
	}
	return s
}

// relative writes a path as seen from a directory.
func relative(from, to string) string {
	if r, err := filepath.Rel(from, to); err == nil {
		return r
	}
	return to
}

// pointer makes a path argument: mostly a string, sometimes one at the edge of memory, sometimes none.
func (g *generator) pointer(s string) string {
	switch g.pick(860, 90, 8, 10, 6, 12) {
	case 1:
		return quote("e", s)
	case 2:
		return quote("u", s)
	case 3:
		return "0"
	case 4:
		return one(g, []string{"1", "4096", "0xffffffffffffff00", "0x8000000000000000", "0xfff000000000"})
	case 5:
		return quote("", "")
	}
	return quote("", s)
}

// text chooses a path as a call without a directory descriptor takes it.
func (g *generator) text(p *process, w want) string {
	if g.chance(12) {
		if s := g.hostile(p); s != "" {
			return s
		}
	}
	to := g.target(w)
	if g.chance(45) {
		to = relative(p.cwd, to)
	}
	return g.decorate(to)
}

func (g *generator) path(p *process, w want) string { return g.pointer(g.text(p, w)) }

// at chooses a directory descriptor and a path.
func (g *generator) at(p *process, w want) string {
	switch g.pick(40, 45, 6, 9) {
	case 0:
		return "cwd " + g.path(p, w)
	case 1:
		slot := g.slot(p, true)
		if slot < 0 {
			break
		}
		to := g.target(w)
		if d := p.fds[slot].path; g.chance(60) {
			// Something in it, if something is known.
			for range 8 {
				if n := one(g, g.known); strings.HasPrefix(n.path, d+"/") {
					to = n.path
					break
				}
			}
			if w == fresh {
				to = d + "/" + one(g, slices.Concat(fileNames, dirNames, linkNames))
			}
		}
		return fmt.Sprintf("@%d %s", slot, g.pointer(g.decorate(relative(p.fds[slot].path, to))))
	case 2:
		return one(g, []string{"-1", "-2", "999", "0", "-101", "0x7fffffff", "@23"}) + " " + g.path(p, w)
	}
	return fmt.Sprintf("@%d %s", g.IntN(len(p.fds)), g.path(p, w))
}

// slot chooses a descriptor that is open.
func (g *generator) slot(p *process, dir bool) int {
	var open []int
	for i, d := range p.fds {
		if d.open && (!dir || d.dir) {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return -1
	}
	return one(g, open)
}
