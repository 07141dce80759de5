package gen

import (
	"fmt"
	"strings"

	"svcrelay/tests/corpus"
	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/rig/tree"
)

// bound is where corpus's bound directory lies in the world; corpus.BoundDir shows it.
const bound = cases.Top + "/bound"

// entries makes entries of a tree at a place in the VM.
func entries(t *tree.Tree, at string) []cases.Entry {
	var out []cases.Entry
	for _, p := range t.Paths() {
		n := t.Get(p)
		e := cases.Entry{Path: at + "/" + p, Mode: n.Mode}
		switch n.Kind {
		case tree.Dir:
			e.Kind = cases.Dir
		case tree.File:
			e.Kind, e.Text = cases.File, string(n.Data)
		case tree.Symlink:
			e.Kind, e.Text = cases.Link, n.Target
		}
		out = append(out, e)
	}
	return out
}

// awkward makes a case whose files and bindings are those of the package corpus.
func awkward(name string, uid int) (*cases.Case, error) {
	c := &cases.Case{Name: name, UID: uid, Mounts: []string{strings.TrimPrefix(bound, cases.Top) + ":" + corpus.BoundDir}}
	a, err := corpus.Awkward(cases.Root)
	if err != nil {
		return nil, err
	}
	b, err := corpus.Bound()
	if err != nil {
		return nil, err
	}
	c.World = append(c.World, cases.Entry{Kind: cases.Dir, Path: cases.Root + "/c", Mode: 0o755}, cases.Entry{Kind: cases.Dir, Path: bound, Mode: 0o755})
	c.World = append(append(c.World, entries(a, cases.Root+"/c")...), entries(b, bound)...)
	c.World = append(c.World, cases.Entry{Kind: cases.FIFO, Path: cases.Root + "/c/fifo", Mode: 0o644})
	args := corpus.Bindings()
	for i := 0; i+1 < len(args); i += 2 {
		// The case has /proc and a /dev of its own.
		if b := args[i+1]; b != "/proc" && b != "/dev" && b != "/sys" {
			c.Options = append(c.Options, args[i], b)
		}
	}
	return c, nil
}

// looks are the ways in which the corpus for reading asks about a path.
var looks = []string{
	"stat %s b128", "lstat %s b128", "open %s 0x800 0", "readlink %s b256 256", "fstatat cwd %s b128 0x100", "access %s 4",
	"statx cwd %s 0 0x7ff b256", "open %s 0x200000 0", "sys_newfstatat cwd %s b128 0", "readlinkat cwd %s b5 5", "statx cwd %s 0x100 0x7ff b256",
	"faccessat cwd %s 0 0", "open %s 0x8800 0", "statfs %s b120", "openat cwd %s 0x208000 0", "lgetxattr %s \"user.a\" b8 8", "open %s 0x4800 0",
	"sys_faccessat2 cwd %s 4 0x100", "getxattr %s \"user.a\" b8 8", "llistxattr %s b64 64", "realpath %s", "listxattr %s b64 64",
}

// Read returns the hand-written cases for what changes nothing: every path of the corpus in several of the ways. Of
// every nth path only.
func Read(nth int) ([]*cases.Case, error) {
	var out []*cases.Case
	for _, uid := range []int{0, 1000} {
		c, err := awkward(fmt.Sprintf("read-%d", uid), uid)
		if err != nil {
			return nil, err
		}
		turn := uid
		ask := func(base, p string, times int) {
			q := strings.ReplaceAll(p, `"`, `\x22`)
			for range times {
				op := fmt.Sprintf(looks[turn%len(looks)], `"`+q+`"`)
				if base != "" {
					op = strings.Replace(op, "cwd", base, 1)
				}
				c.Script = append(c.Script, "0 "+op)
				turn++
			}
		}
		var relatives []string
		for _, l := range strings.Split(strings.TrimSpace(string(corpus.List(nth))), "\n") {
			kind, p, _ := strings.Cut(l, " ")
			switch kind {
			case "P":
				ask("", p, 2)
				if turn%7 == 0 {
					c.Script = append(c.Script, fmt.Sprintf("0 chdir \"%s\"", p), "0 sys_getcwd b4096 4096", "0 stat \"file\" b128", "0 chdir \"/\"")
				}
			case "R":
				relatives = append(relatives, p)
			}
		}
		for _, l := range strings.Split(strings.TrimSpace(string(corpus.List(nth))), "\n") {
			kind, p, _ := strings.Cut(l, " ")
			if kind != "D" {
				continue
			}
			c.Script = append(c.Script, fmt.Sprintf("0 >1 open \"%s\" 0x4000 0", p), fmt.Sprintf("0 chdir \"%s\"", p))
			for i, r := range relatives {
				if i%2 == turn%2 {
					ask("@1", r, 1)
				} else {
					ask("", r, 1)
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// changes are the operations of the corpus for writing; %s is the awkward path, and every name like N1 is replaced
// by one that nothing has yet.
var changes = []string{
	"mkdir %s 0755", "mkdirat @1 %s 0700", "mknod %s 0100644 0", "mknod %s 010644 0", "unlink %s", "rmdir %s", "remove %s", "unlinkat @1 %s 0x200",
	"rename %s \"/t/N1\"", "rename \"/t/S1\" %s", "renameat2 cwd %s cwd \"/t/dir/file\" 2", "renameat2 cwd \"/t/S1\" cwd %s 1", "symlink \"text\" %s",
	"symlinkat %s @1 \"N1\"", "link %s \"/t/N1\"", "link \"/t/S1\" %s", "linkat cwd %s cwd \"/t/N1\" 0x400", "chmod %s 0640", "fchmodat @1 %s 0600 0", "chown %s 1000 1000",
	"lchown %s 1234 -1", "utimensat cwd %s t5,6,7,8 0", "utimensat cwd %s t5,6,7,8 0x100", "utimensat @1 %s 0 0", "truncate %s 2", "creat %s 0644",
	"openat cwd %s 0xc0 0644", "openat cwd %s 0x8c41 0600", "openat @1 %s 0x840 0600", "openat cwd %s 0x410002 0600", "setxattr %s \"user.a\" \"v\" 1 0",
	"lsetxattr %s \"user.b\" \"v\" 1 0", "removexattr %s \"user.a\"", "bind @2 s%s 30", "connect @2 s%s 30", "sys_fchmodat2 cwd %s 0604 0x100", "inotify_add_watch @3 %s 2",
	"sys_name_to_handle_at cwd %s H128 b4 0",
}

// ways are the awkward paths that they are tried with.
var ways = []string{
	"/t/file", "/t/file/", "/t/file/.", "/t/file/..", "/t/file/new", "/t/dir", "/t/dir/", "/t/dir/.", "/t/dir/..", "/t/empty", "/t/empty/", "/t/empty/.", "/t/lfile", "/t/lfile/", "/t/ldir",
	"/t/ldir/", "/t/ldir/.", "/t/ldir/file", "/t/ldir/new", "/t/dang", "/t/dang/", "/t/dang/new", "/t/dangdir", "/t/loop", "/t/loop/x", "/t/new", "/t/new/", "/t/new/.", "/t/new/..",
	"/t/missing/new", "/t/locked/new", "/t/locked/file", "/t/sticky/other", "/t/dir/../dir/new", "/t/dir/sub/../../new2", "/t//dir///new3", "/t/./dir/./new4", "", "/", ".", "..", "/..", "dir/new",
	"dir/../new5", "../t/new6", "/b/one", "/b/one/", "/b/one/new", "/b/one/file", "/b/one/..", "/b/missing", "/b/new", "/t/bound-file", "/t/covered", "/t/covered/file", "/t/covered/new", "/glue",
	"/glue/x", "/glue/x/y", "/glue/x/y/new", "/glue/x/new", "/glue/new", "/t/lbound", "/t/lbound/new", "/t/names-root", "/t/names-root/new", "/b/one/abs", "/b/one/abs/new", "/proc/self/cwd/new7",
	"/proc/self/fd/\x01f1;/new8", "/proc/self/fd/\x01f4;", "/proc/self/exe", "/proc/self/new", "/proc/new", "/dev/null", "/dev/new", "/t/" + longName, "/t/" + longName + "n", "/t/lproc", "/t/fifo", "/t/sock",
	"/t/hard", "/t/ldir/../file2",
}

// Write returns the hand-written cases for what changes files, one for each operation. Of every nth path only, and
// then several operations share a case, since starting one takes longer than a few operations do.
func Write(nth int) []*cases.Case {
	var out []*cases.Case
	share := 1
	if nth > 1 {
		share = 6
	}
	for i, change := range changes {
		if i%share == 0 {
			c := writeWorld(fmt.Sprintf("write-%d", i), i/share%2*1000)
			c.Script = []string{`0 >1 open "/t" 0x4000 0`, "0 >3 inotify_init1 0x800", `0 >4 open "/t/file" 0 0`, `0 chdir "/t"`}
			out = append(out, c)
		}
		c := out[len(out)-1]
		for j, w := range ways {
			if (i+j)%nth == 0 {
				c.Script = append(c.Script, tryChange(change, w, fmt.Sprintf("%d-%d", i, j), j%4 == 0)...)
			}
		}
		c.Script = append(c.Script, `0 ls "/t"`, `0 ls "/b/one"`)
	}
	return out
}

// tryChange returns the lines that try one change with one path. The id makes names that are used only here.
func tryChange(change, way, id string, look bool) []string {
	var lines []string
	s := fmt.Sprintf(change, quote("", way))
	if strings.Contains(s, "@2") {
		lines = append(lines, "0 >2 socket 1 0x801 0")
		s = strings.TrimSuffix(s, " 30") + fmt.Sprintf(" %d", 2+min(len(way), 107))
	}
	if strings.Contains(change, "S1") {
		lines = append(lines, fmt.Sprintf(`0 save "/t/s%s" "x"`, id))
	}
	lines = append(lines, "0 "+strings.NewReplacer("N1", "n"+id, "S1", "s"+id).Replace(s))
	if look {
		lines = append(lines, "0 lstat "+quote("", way)+" b128")
	}
	return lines
}

func writeWorld(name string, uid int) *cases.Case {
	c := &cases.Case{Name: name, UID: uid, Options: []string{
		"-b", host + "/one:/b/one", "-b", host + "/alone:/t/bound-file", "-b", host + "/two:/t/covered", "-b", host + "/two:/glue/x/y", "-b", "/nothing:/b/missing"}}
	t := cases.Root + "/t/"
	dir := func(mode uint32, owner int, paths ...string) {
		for _, p := range paths {
			c.World = append(c.World, cases.Entry{Kind: cases.Dir, Path: p, Mode: mode, UID: owner, GID: owner})
		}
	}
	file := func(k cases.Kind, paths ...string) {
		for _, p := range paths {
			c.World = append(c.World, cases.Entry{Kind: k, Path: p, Mode: 0o644, UID: uid, GID: uid, Text: map[cases.Kind]string{cases.File: "text"}[k]})
		}
	}
	link := func(text string, p string) {
		c.World = append(c.World, cases.Entry{Kind: cases.Link, Path: p, UID: uid, GID: uid, Text: text})
	}
	dir(0o755, uid, cases.Root+"/t", t+"dir", t+"dir/sub", t+"empty", t+"covered", cases.Root+"/b", host+"/one", host+"/one/sub", host+"/two")
	dir(0o700, 0, t+"locked")
	dir(0o1777, 0, t+"sticky")
	file(cases.File, t+"file", t+"dir/file", t+"dir/sub/file", t+"bound-file", t+"covered/under", t+"file2", host+"/one/file", host+"/two/file", host+"/alone")
	c.World = append(c.World, cases.Entry{Kind: cases.File, Path: t + "locked/file", Mode: 0o644}, cases.Entry{Kind: cases.File, Path: t + "sticky/other", Mode: 0o644, UID: 1234, GID: 1234})
	file(cases.FIFO, t+"fifo")
	file(cases.Socket, t+"sock")
	c.World = append(c.World, cases.Entry{Kind: cases.Hard, Path: t + "hard", Text: t + "dir/file"})
	for p, text := range map[string]string{"lfile": "file", "ldir": "dir", "dang": "nowhere", "dangdir": "missing/x", "lbound": "/b/one", "names-root": cases.Root + "/t/dir", "lproc": "/proc/self/cwd"} {
		link(text, t+p)
	}
	link("loop", t+"loop")
	link(host+"/one/sub", host+"/one/abs")
	sortEntries(c.World)
	return c
}
