package gen

import (
	"fmt"
	"path"

	"svcrelay/tests/equiv/cases"
)

// sequence makes several operations that only mean something one after the other: single ones rarely meet each other.
func (g *generator) sequence(p *process) []string {
	return one(g, sequences)(g, p)
}

var sequences = []func(*generator, *process) []string{deletedDirectory, renamedDirectory, deletedFile, swappedLink, connection, strangeDescriptors,
	closedDirectory, closedTop, attributes, chainOfLinks, hardLinks}

// scratch gives a path for something new in a directory that can be written, mostly.
func (g *generator) scratch() string {
	dir := one(g, []string{"/t", "/t/a", "/tmp", "/b/one", "/alias/a", one(g, g.dirs)})
	return path.Join(dir, fmt.Sprintf("%s%d", one(g, []string{"q", "seq", "new dir", "Z"}), g.IntN(1000)))
}

// around are operations about a directory by a descriptor, and by the current directory, that may be gone.
func (g *generator) around(slot int, name string) []string {
	all := []string{
		`stat "." b128`, `stat ".." b128`, `stat "" b128`, "sys_getcwd b4096 4096", "getcwd b4096 4096", `lstat "../` + name + `" b128`, fmt.Sprintf(`stat "%s" b128`, name),
		fmt.Sprintf(`fstatat @%d "" b128 0x1000`, slot), fmt.Sprintf(`fstatat @%d "." b128 0`, slot), fmt.Sprintf(`fstatat @%d "%s" b128 0x100`, slot, name),
		fmt.Sprintf(`openat @%d "made" 0x841 0644`, slot), fmt.Sprintf(`mkdirat @%d "dir" 0755`, slot), fmt.Sprintf(`readlinkat @%d "" b64 64`, slot),
		fmt.Sprintf(`statx @%d "%s" 0 0x7ff b256`, slot, name), fmt.Sprintf(`faccessat @%d ".." 0 0`, slot), fmt.Sprintf(`fstatat @%d ".." b128 0`, slot),
		fmt.Sprintf(`readlink "/proc/self/fd/\f%d;" b200 200`, slot), `readlink "/proc/self/cwd" b200 200`, fmt.Sprintf(`open "/proc/self/fd/\f%d;/." 0x800 0`, slot),
		fmt.Sprintf("fchdir @%d", slot), `chdir "."`, `chdir ".."`, `ls "."`, fmt.Sprintf(`lsat @%d "."`, slot), `symlink "x" "link"`, `open "made2" 0x841 0600`, `statfs "." b120`,
		`access "." 4`, fmt.Sprintf("sys_fstat @%d b128", slot), fmt.Sprintf(`sys_openat2 @%d "%s" o0x800,0,0 24`, slot, name), `utimensat cwd "." t5,6,7,8 0`,
		fmt.Sprintf(`sys_faccessat2 @%d "" 0 0x1000`, slot), `truncate "` + name + `" 3`, `realpath "."`,
	}
	var out []string
	for range 5 + g.IntN(6) {
		out = append(out, one(g, all))
	}
	return out
}

// settle leaves the sequence's directory.
func (g *generator) settle(p *process, ops []string) []string {
	p.cwd = one(g, []string{"/", "/t", "/t/a"})
	return append(ops, "chdir "+quote("", p.cwd))
}

func deletedDirectory(g *generator, p *process) []string {
	d, slot := g.scratch(), g.IntN(10)
	p.fds[slot] = descriptor{true, true, d}
	ops := []string{"mkdir " + quote("", d) + " 0755", fmt.Sprintf(">%d open %s %#x 0", slot, quote("", d), one(g, []int{oDirectory, oPath}))}
	if g.chance(70) {
		ops = append(ops, "chdir "+quote("", d))
	}
	if g.chance(30) {
		ops = append(ops, g.around(slot, "x")...)
	}
	ops = append(ops, one(g, []string{"rmdir " + quote("", d), "unlinkat cwd " + quote("", d) + " 0x200", "sys_unlinkat cwd " + quote("", d) + " 0x200", `rmdir "../` + path.Base(d) + `"`}))
	ops = append(ops, g.around(slot, "x")...)
	if g.chance(50) { // another one in its place
		ops = append(ops, "mkdir "+quote("", d)+" 0755", "save "+quote("", d+"/x")+` "again"`)
		ops = append(ops, g.around(slot, "x")...)
	}
	return g.settle(p, ops)
}

func renamedDirectory(g *generator, p *process) []string {
	d, to, slot := g.scratch(), g.scratch(), g.IntN(10)
	p.fds[slot] = descriptor{true, true, d + "/sub"}
	g.learn(to, cases.Dir)
	ops := []string{"mkdir " + quote("", d) + " 0755", "mkdir " + quote("", d+"/sub") + " 0755", "save " + quote("", d+"/sub/file") + ` "text"`,
		fmt.Sprintf(">%d open %s %#x 0", slot, quote("", d+"/sub"), one(g, []int{oDirectory, oPath})), "stat " + quote("", d+"/sub/file") + " b128"}
	if g.chance(70) {
		ops = append(ops, "chdir "+quote("", d+"/sub"), `stat "file" b128`)
	}
	ops = append(ops, one(g, []string{"rename %s %s", "renameat cwd %s cwd %s", "sys_renameat2 cwd %s cwd %s 0", "renameat2 cwd %s cwd %s 1"}))
	ops[len(ops)-1] = fmt.Sprintf(ops[len(ops)-1], quote("", d), quote("", to))
	ops = append(ops, g.around(slot, "file")...)
	ops = append(ops, "stat "+quote("", d+"/sub/file")+" b128", "stat "+quote("", to+"/sub/file")+" b128", "lstat "+quote("", to)+" b128")
	if g.chance(40) {
		ops = append(ops, "rename "+quote("", to)+" "+quote("", d))
		ops = append(ops, g.around(slot, "file")...)
		ops = append(ops, "stat "+quote("", d+"/sub/file")+" b128")
	}
	return g.settle(p, ops)
}

func deletedFile(g *generator, p *process) []string {
	f, slot := g.scratch(), g.IntN(10)
	p.fds[slot] = descriptor{true, false, f}
	ops := []string{"save " + quote("", f) + ` "text"`, fmt.Sprintf(">%d open %s %#x 0", slot, quote("", f), one(g, []int{oNonblock, oPath, 2 | oNonblock})), "unlink " + quote("", f)}
	for range 6 {
		ops = append(ops, fmt.Sprintf(one(g, []string{`fstat @%d b128`, `fstatat @%d "" b128 0x1000`, `readlink "/proc/self/fd/\f%d;" b200 200`, `stat "/proc/self/fd/\f%d;" b128`,
			`linkat @%d "" cwd "/t/linked" 0x1000`, `statx @%d "" 0x1000 0x7ff b256`, `fstatat @%d "x" b128 0`, `open "/proc/self/fd/\f%d;" 0x800 0`, `fchdir @%d`, `sys_faccessat2 @%d "" 4 0x1000`,
			`linkat cwd "/proc/self/fd/\f%d;" cwd "/t/linked2" 0x400`, `fchownat @%d "" -1 -1 0x1000`, `utimensat @%d 0 0 0`, `truncate "/proc/self/fd/\f%d;" 2`, `getxattr "/proc/self/fd/\f%d;" "user.a" b8 8`}), slot))
	}
	return ops
}

func swappedLink(g *generator, p *process) []string {
	d := g.scratch()
	in := func(s string) string { return quote("", d+s) }
	see := func() string {
		return one(g, []string{"stat " + in("/link/file") + " b128", "open " + in("/link/file") + " 0x800 0", "readlink " + in("/link") + " b64 64", "lstat " + in("/link/file") + " b128",
			"access " + in("/link/only") + " 0", "stat " + in("/link/../b/file") + " b128", "realpath " + in("/link/file"), "statx cwd " + in("/link/only") + " 0 0x7ff b256"})
	}
	ops := []string{"mkdir " + in("") + " 0755", "mkdir " + in("/a") + " 0755", "mkdir " + in("/b") + " 0755", "save " + in("/a/file") + ` "a"`, "save " + in("/b/file") + ` "other"`,
		"save " + in("/b/only") + ` "only"`, `symlink "a" ` + in("/link"), see(), see()}
	switch g.IntN(4) {
	case 0:
		ops = append(ops, "unlink "+in("/link"), see(), `symlink "b" `+in("/link"))
	case 1:
		ops = append(ops, `symlink "b" `+in("/next"), see(), "rename "+in("/next")+" "+in("/link"))
	case 2:
		ops = append(ops, `symlink "b" `+in("/next"), see(), "renameat2 cwd "+in("/next")+" cwd "+in("/link")+" 2")
	case 3:
		ops = append(ops, "rename "+in("/a")+" "+in("/c"), see(), "rename "+in("/b")+" "+in("/a"))
	}
	return append(ops, see(), see(), see())
}

func connection(g *generator, p *process) []string {
	s := g.scratch()
	if g.chance(20) {
		s = one(g, g.dirs) + "/" + longName[:70+g.IntN(40)]
	}
	if g.chance(30) {
		s = relative(p.cwd, s)
	}
	s = s[:min(len(s), 108)]
	n := 2 + len(s) + one(g, []int{0, 0, 1})
	kind := one(g, []int{0x801, 0x805, 0x802})
	for i := 12; i < 15; i++ {
		p.fds[i] = descriptor{true, false, ""}
	}
	sys := one(g, []string{"", "", "sys_"})
	ops := []string{fmt.Sprintf(">12 socket 1 %#x 0", kind), fmt.Sprintf("%sbind @12 %s %d", sys, quote("s", s), n), "getsockname @12 b110 l110", "listen @12 4",
		fmt.Sprintf(">13 socket 1 %#x 0", kind), fmt.Sprintf("%sconnect @13 %s %d", sys, quote("s", s), n)}
	accept := fmt.Sprintf(">14 %saccept4 @12 %s %s 0x800", sys, g.buffer(110), one(g, []string{"l110", "l110", "L110", "l3", "L0"}))
	if g.chance(40) {
		accept = fmt.Sprintf(">14 accept @12 %s l110", g.buffer(110))
	}
	ops = append(ops, accept)
	for range 4 {
		ops = append(ops, fmt.Sprintf("%s%s @%d %s %s", one(g, []string{"", "", "sys_"}), one(g, []string{"getsockname", "getpeername"}), 12+g.IntN(3), one(g, []string{"b110", "b110", "m110", "b8", "b2"}),
			one(g, []string{"l110", "l110", "l110", "L110", "l16", "l3", "l1"})))
	}
	return append(ops, "lstat "+quote("", s)+" b128", "unlink "+quote("", s), fmt.Sprintf("connect @13 %s %d", quote("s", s), n))
}

func strangeDescriptors(g *generator, p *process) []string {
	ops := []string{one(g, []string{">16 pipe", ">16 socketpair", ">16 inotify_init1 0x800", ">16 open \"/dev/null\" 0 0", ">16 open \"/proc\" 0x4000 0", ">16 open \"/proc/self\" 0x204000 0", ">16 open \"/dev\" 0x4000 0"})}
	p.fds[16] = descriptor{true, false, ""}
	for range 7 {
		ops = append(ops, one(g, []string{`fstatat @16 "" b128 0x1000`, `fstatat @16 "x" b128 0`, `fstatat @16 "." b128 0`, `fstatat @16 "/t" b128 0`, `openat @16 "null" 0x800 0`, `openat @16 "../t" 0x4000 0`,
			`readlinkat @16 "" b64 64`, `readlinkat @16 "exe" b64 64`, `faccessat @16 "self" 0 0`, `statx @16 "" 0x1000 0x7ff b256`, `mkdirat @16 "x" 0755`, `unlinkat @16 "x" 0`, `fchdir @16`,
			`readlink "/proc/self/fd/\f16;" b100 100`, `stat "/proc/self/fd/\f16;" b128`, `sys_fstat @16 b128`, `fstatfs @16 b120`, `renameat @16 "x" cwd "/t/y"`, `linkat @16 "" cwd "/t/z" 0x1000`,
			`utimensat @16 "x" 0 0`, `fchmodat @16 "x" 0600 0`, `sys_faccessat2 @16 "" 4 0x1000`, `sys_name_to_handle_at @16 "" H128 b4 0x1000`}))
	}
	return g.settle(p, ops)
}

// closedDirectory takes away rights and gives them back.
func closedDirectory(g *generator, p *process) []string {
	d := g.scratch()
	in := func(s string) string { return quote("", d+s) }
	see := func() string {
		return one(g, []string{"stat " + in("/sub/file") + " b128", "open " + in("/sub/file") + " 0x800 0", "access " + in("/sub") + " 1", "ls " + in("/sub"), "stat " + in("/sub/../sub/file") + " b128",
			"readlink " + in("/sub/file") + " b8 8", "chdir " + in("/sub"), "open " + in("/sub/new") + " 0x841 0644", "unlink " + in("/sub/gone"), `stat "file" b128`})
	}
	ops := []string{"mkdir " + in("") + " 0755", "mkdir " + in("/sub") + " 0755", "save " + in("/sub/file") + ` "text"`, see(), see(), see()}
	change := one(g, []string{"chmod %s ", "sys_fchmodat cwd %s ", "fchmodat cwd %s 0%s 0"})
	for _, mode := range []string{one(g, []string{"0", "0600", "0300", "0444"}), "0755"} {
		if change[0] == 'f' {
			ops = append(ops, fmt.Sprintf(change, in(one(g, []string{"", "/sub"})), mode))
		} else {
			ops = append(ops, fmt.Sprintf(change, in(one(g, []string{"", "/sub"})))+mode)
		}
		ops = append(ops, see(), see(), see())
	}
	return g.settle(p, ops)
}

// closedTop takes away the rights to what the rootfs is in, where a binding shows it, or its name, and gives them back. After
// that nothing is answered any more, so it is rare.
func closedTop(g *generator, p *process) []string {
	if !g.dirKnown(cases.Top) || !g.chance(4) {
		return closedDirectory(g, p)
	}
	see := func() string {
		return one(g, []string{`stat "/dev/null" b128`, `stat "/t" b128`, `open "/sdcard" 0x4000 0`, `access "` + cases.Top + `/h" 0`, `ls "/data/one"`, `lstat "/" b128`, `stat "." b128`})
	}
	change, back := "chmod "+quote("", cases.Top)+" "+one(g, []string{"0", "0600", "0644"}), "chmod "+quote("", cases.Top)+" 0755"
	if g.chance(40) {
		change = "rename " + quote("", cases.Root) + " " + quote("", cases.Top+"/elsewhere")
		back = "rename " + quote("", cases.Top+"/elsewhere") + " " + quote("", cases.Root)
	}
	return []string{see(), see(), change, see(), see(), see(), back, see(), see()}
}

func attributes(g *generator, p *process) []string {
	f := g.scratch()
	q := quote("", f)
	l := func() string { return one(g, []string{"", "l", "sys_", "sys_l"}) }
	ops := []string{"save " + q + ` "text"`}
	for range 9 {
		size := one(g, []int{0, 1, 4, 5, 6, 32})
		ops = append(ops, l()+one(g, []string{fmt.Sprintf(`setxattr %s "user.%s" "value" %d %d`, q, one(g, []string{"a", "b"}), g.IntN(6), g.IntN(3)),
			fmt.Sprintf(`getxattr %s "user.%s" %s %d`, q, one(g, []string{"a", "b"}), g.buffer(size), size), fmt.Sprintf(`listxattr %s %s %d`, q, g.buffer(size*3), size*3),
			fmt.Sprintf(`removexattr %s "user.%s"`, q, one(g, []string{"a", "b"}))}))
	}
	return ops
}

// chainOfLinks asks about links to links to links, around the number at which the kernel and PRoot stop.
func chainOfLinks(g *generator, p *process) []string {
	d := g.scratch()
	in := func(s string) string { return quote("", d+s) }
	ops := []string{"mkdir " + in("") + " 0755", "save " + in("/end") + ` "end"`}
	n, last := one(g, []int{6, 38, 41, 43}), "end"
	for i := range n {
		ops = append(ops, fmt.Sprintf("symlink %s %s", quote("", one(g, []string{last, last, d + "/" + last, "./" + last})), in(fmt.Sprintf("/c%d", i))))
		last = fmt.Sprintf("c%d", i)
	}
	for range 6 {
		at := in(fmt.Sprintf("/c%d", max(0, n-1-g.IntN(6))))
		ops = append(ops, one(g, []string{"stat " + at + " b128", "open " + at + " 0x800 0", "lstat " + at + " b128", "readlink " + at + " b64 64", "access " + at + " 4", "statx cwd " + at + " 0 0x7ff b256",
			"chmod " + at + " 0600", "truncate " + at + " 1", "open " + at + " 0x841 0644", "realpath " + at}))
	}
	return ops
}

// hardLinks makes names of one file and takes them away again: with --link2symlink they are links.
func hardLinks(g *generator, p *process) []string {
	d := g.scratch()
	in := func(s string) string { return quote("", d+s) }
	ops := []string{"mkdir " + in("") + " 0755", "save " + in("/one") + ` "text"`, "link " + in("/one") + " " + in("/two"), "link " + in("/two") + " " + in("/three")}
	for range 8 {
		n := in("/" + one(g, []string{"one", "two", "three", "four"}))
		ops = append(ops, one(g, []string{"stat " + n + " b128", "lstat " + n + " b128", "unlink " + n, "rename " + n + " " + in("/four"), "readlink " + n + " b100 100", "chmod " + n + " 0600", "cat " + n,
			"statx cwd " + n + " 0x100 0x7ff b256", "open " + n + " 0x8800 0", "sys_newfstatat cwd " + n + " b128 0x100", "link " + n + " " + in("/four"), "ls " + in(""), "save " + n + ` "new"`,
			"utimensat cwd " + n + " t1,2,3,4 0x100", "lchown " + n + " -1 -1"}))
	}
	return ops
}
