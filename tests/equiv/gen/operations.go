package gen

import (
	"fmt"
	"path"

	"svcrelay/tests/equiv/cases"
)

func clean(p string) string { return path.Clean(p) }

// operation makes one operation of a process. A quiet one changes no files.
func (g *generator) operation(p *process, quiet bool, me int) string {
	if quiet || g.chance(62) {
		return g.look(p)
	}
	if g.chance(3) && me != 0 && p.leader == me && g.c.UID == 0 {
		return one(g, []string{"sys_setresuid -1 1000 -1", "sys_setresuid -1 0 -1", "sys_setresgid -1 1000 -1", "sys_setfsuid 1000", "sys_setfsuid 0", "sys_setfsgid 1000"})
	}
	if g.chance(8) {
		return g.socket(p)
	}
	return g.change(p)
}

// look makes an operation that changes nothing but the process itself.
func (g *generator) look(p *process) string {
	prefix := ""
	if g.chance(15) {
		prefix = "sys_"
	}
	switch g.pick(14, 9, 14, 6, 4, 12, 9, 4, 9, 5, 7, 5, 4, 3, 6, 3, 3, 3, 2, 4, 1, 1, 1) {
	case 0:
		if prefix != "" {
			return fmt.Sprintf("sys_newfstatat %s %s %s", g.at(p, anything), g.buffer(128), g.atFlags())
		}
		return fmt.Sprintf("stat %s %s", g.path(p, anything), g.buffer(128))
	case 1:
		return fmt.Sprintf("lstat %s %s", g.path(p, anything), g.buffer(128))
	case 2:
		return fmt.Sprintf("fstatat %s %s %s", g.at(p, anything), g.buffer(128), g.atFlags())
	case 3:
		return fmt.Sprintf("%sstatx %s %s %s %s", prefix, g.at(p, anything), g.atFlags()+one(g, []string{"", "", "", "000"}),
			one(g, []string{"0x7ff", "0xfff", "1", "0", "0x1fff", "0x80000000", "-1"}), g.buffer(256))
	case 4:
		return fmt.Sprintf("%sfstat %s %s", prefix, g.fd(p), g.buffer(128))
	case 5: // open something to keep
		slot, to := g.IntN(len(p.fds)-8), g.target(directory)
		p.fds[slot] = descriptor{true, true, to}
		if g.chance(60) {
			return fmt.Sprintf(">%d open %s %#x 0", slot, quote("", g.way(p, to)), one(g, []int{oNonblock, oDirectory, oPath, oCloexec | oDirectory}))
		}
		if g.chance(50) {
			to = g.target(anything)
			p.fds[slot] = descriptor{true, false, to}
			return fmt.Sprintf(">%d open %s %#x 0", slot, quote("", g.way(p, to)), one(g, []int{oNonblock, oPath | oNofollow, oPath}))
		}
		return fmt.Sprintf(">%d %sopenat %s %#x 0", slot, prefix, g.at(p, directory), g.flags(false))
	case 6:
		if g.chance(15) {
			return fmt.Sprintf("sys_openat2 %s o%#x,%s,%s %s", g.at(p, anything), g.flags(false), one(g, []string{"0", "0", "0", "0", "0644", "-1"}),
				one(g, []string{"0", "0", "0", "0x8", "0x4", "0x10", "1", "2", "0x20", "0x40", "-1"}), one(g, []string{"24", "24", "24", "24", "8", "32", "0", "5000"}))
		}
		return fmt.Sprintf("%sopenat %s %#x 0", prefix, g.at(p, anything), g.flags(false))
	case 7:
		return fmt.Sprintf("access %s %d", g.path(p, anything), one(g, []int{0, 4, 2, 1, 6, 7, 8, -1}))
	case 8:
		size := g.size()
		return fmt.Sprintf("%sreadlinkat %s %s %d", prefix, g.at(p, anything), g.buffer(size), size+one(g, []int{0, 0, 0, 0, 1, -1, -size - 1}))
	case 9:
		size := g.size()
		return fmt.Sprintf("readlink %s %s %d", g.path(p, anything), g.buffer(size), size)
	case 10:
		switch g.IntN(3) {
		case 0:
			return fmt.Sprintf("sys_faccessat %s %d", g.at(p, anything), one(g, []int{0, 4, 2, 1, 7, 8}))
		case 1:
			return fmt.Sprintf("sys_faccessat2 %s %d %s", g.at(p, anything), one(g, []int{0, 4, 2, 1, 7, 8}), g.atFlags())
		}
		return fmt.Sprintf("faccessat %s %d %s", g.at(p, anything), one(g, []int{0, 4, 2, 1, 7}), one(g, []string{"0", "0x200", "0x100", "0x300", "0x1000"}))
	case 11:
		s := g.text(p, directory)
		if g.chance(80) {
			s = g.target(directory)
			p.cwd = s
			s = g.way(p, s)
		}
		return fmt.Sprintf("%schdir %s", prefix, g.pointer(s))
	case 12:
		slot := g.slot(p, true)
		if slot < 0 {
			return "fchdir -1"
		}
		if g.chance(10) {
			return fmt.Sprintf("fchdir %s", g.fd(p))
		}
		p.cwd = p.fds[slot].path
		return fmt.Sprintf("%sfchdir @%d", prefix, slot)
	case 13:
		return fmt.Sprintf("%sstatfs %s %s", prefix, g.path(p, anything), g.buffer(120))
	case 14:
		size := one(g, []int{4096, 4096, 4096, 1024, 64, 16, 10, 5, 3, 2, 1, 0, 1 + g.IntN(300), 1 + len(p.cwd), len(p.cwd), 2 + len(p.cwd)})
		if g.chance(20) {
			return fmt.Sprintf("getcwd %s %d", g.buffer(size), size)
		}
		return fmt.Sprintf("sys_getcwd %s %d", g.buffer(size), size)
	case 15:
		return fmt.Sprintf("ls %s", quote("", g.text(p, directory)))
	case 16:
		return fmt.Sprintf("lsat %s", g.atText(p))
	case 17:
		return fmt.Sprintf("realpath %s", quote("", g.text(p, anything)))
	case 18:
		return fmt.Sprintf("cat %s", quote("", g.text(p, anything)))
	case 19:
		return g.attribute(p, true)
	case 20:
		return fmt.Sprintf(one(g, []string{"sys_", ""})+"name_to_handle_at %s H%d b4 %s", g.at(p, anything), one(g, []int{128, 128, 0, 4, 64}), one(g, []string{"0", "0x400", "0x1000", "1"}))
	case 21:
		return one(g, []string{"uname " + g.buffer(390), "getuid", "geteuid", "getgid", "getegid", "getresuid b4 b4 b4", "getresgid b4 b4 b4",
			"sys_getresuid b4 0 b4", "sys_getresgid 0 b4 b4", "sys_getresuid b4 b4 b4", "sys_getuid", "sys_geteuid", "sys_getgid", "sys_getegid", "getgroups 0 0", "sys_uname " + g.buffer(390)})
	}
	switch g.IntN(5) {
	case 0:
		p.fds[18] = descriptor{true, false, ""}
		return ">18 inotify_init1 0x800"
	case 1:
		return fmt.Sprintf("%sinotify_add_watch @18 %s %s", prefix, g.path(p, anything), one(g, []string{"2", "0x2000002", "0x1000002", "0", "0xfff"}))
	case 2:
		slot := g.IntN(len(p.fds) - 8)
		p.fds[slot].open = false
		return fmt.Sprintf("close %d", slot)
	case 3:
		return fmt.Sprintf(">%d pipe", 19)
	}
	from := g.slot(p, false)
	if from < 0 {
		return "dup -1"
	}
	to := g.IntN(len(p.fds) - 8)
	p.fds[to] = p.fds[from]
	return fmt.Sprintf(">%d dup @%d", to, from)
}

// atText is at with a string that can be read by anyone.
func (g *generator) atText(p *process) string {
	if slot := g.slot(p, true); slot >= 0 && g.chance(60) {
		return fmt.Sprintf("@%d %s", slot, quote("", g.decorate(relative(p.fds[slot].path, g.target(directory)))))
	}
	return "cwd " + quote("", g.text(p, directory))
}

// way writes a guest path in one of the ways that should lead to it.
func (g *generator) way(p *process, to string) string {
	if g.chance(40) {
		return relative(p.cwd, to)
	}
	if g.chance(15) {
		return g.decorate(to)
	}
	return to
}

func (g *generator) fd(p *process) string {
	if slot := g.slot(p, false); slot >= 0 && g.chance(85) {
		return fmt.Sprintf("@%d", slot)
	}
	return one(g, []string{"-1", "0", "cwd", "999", "@5", "@12"})
}

// change makes an operation that changes files.
func (g *generator) change(p *process) string {
	sys := g.chance(20)
	choose := func(call, wrapper string) string {
		if sys {
			return "sys_" + call
		}
		return wrapper
	}
	switch g.pick(12, 9, 3, 12, 10, 10, 6, 7, 5, 5, 4, 8, 4, 3, 2) {
	case 0:
		slot := ""
		if g.chance(15) {
			slot = ">10 "
			p.fds[10] = descriptor{true, false, ""}
		}
		return fmt.Sprintf("%s%s %s %#x %s", slot, choose("openat", "openat"), g.at(p, fresh), g.flags(true), g.mode())
	case 1:
		to := g.target(fresh)
		g.learn(to, cases.Dir)
		if g.chance(50) {
			return fmt.Sprintf("mkdir %s %s", g.pointer(g.decorate(g.way(p, to))), g.mode())
		}
		return fmt.Sprintf("%s %s %s", choose("mkdirat", "mkdirat"), g.at(p, fresh), g.mode())
	case 2:
		kind := one(g, []string{"0100644", "010644", "010600", "0140755", "0644", "020666", "040755", "0120777", "060600"})
		return fmt.Sprintf("%s %s %s %s", choose("mknodat", "mknodat"), g.at(p, fresh), kind, one(g, []string{"0", "0x103", "-1"}))
	case 3:
		if g.chance(50) {
			return fmt.Sprintf("%s %s", one(g, []string{"unlink", "unlink", "rmdir", "remove"}), g.path(p, victim))
		}
		return fmt.Sprintf("%s %s %s", choose("unlinkat", "unlinkat"), g.at(p, victim), one(g, []string{"0", "0", "0", "0x200", "0x200", "0x100", "-1"}))
	case 4:
		from, to := g.target(victim), g.target(fresh)
		g.learn(to, cases.Dir)
		if g.chance(40) {
			return fmt.Sprintf("rename %s %s", g.pointer(g.decorate(g.way(p, from))), g.pointer(g.decorate(g.way(p, to))))
		}
		if g.chance(50) {
			return fmt.Sprintf("%s %s %s", choose("renameat", "renameat"), g.at(p, victim), g.at(p, fresh))
		}
		return fmt.Sprintf("%s %s %s %s", choose("renameat2", "renameat2"), g.at(p, victim), g.at(p, anything), one(g, []string{"0", "1", "2", "2", "3", "4", "8"}))
	case 5:
		to := g.target(fresh)
		g.learn(to, cases.Link)
		text := g.linkText("/t", "")
		if g.chance(5) {
			text = g.text(p, anything)
		}
		if g.chance(60) {
			return fmt.Sprintf("symlink %s %s", g.pointer(text), g.pointer(g.way(p, to)))
		}
		return fmt.Sprintf("%s %s %s", choose("symlinkat", "symlinkat"), g.pointer(text), g.at(p, fresh))
	case 6:
		to := g.target(fresh)
		g.learn(to, cases.File)
		if g.chance(40) {
			return fmt.Sprintf("link %s %s", g.path(p, anything), g.pointer(g.decorate(g.way(p, to))))
		}
		return fmt.Sprintf("%s %s %s %s", choose("linkat", "linkat"), g.at(p, anything), g.at(p, fresh), one(g, []string{"0", "0", "0x400", "0x1000", "0x100"}))
	case 7:
		switch g.IntN(5) {
		case 0:
			return fmt.Sprintf("chmod %s %s", g.path(p, victim), g.mode())
		case 1:
			return fmt.Sprintf("fchmod %s %s", g.fd(p), g.mode())
		case 2:
			return fmt.Sprintf("sys_fchmodat %s %s", g.at(p, victim), g.mode())
		case 3:
			return fmt.Sprintf("sys_fchmodat2 %s %s %s", g.at(p, victim), g.mode(), g.atFlags())
		}
		return fmt.Sprintf("fchmodat %s %s %s", g.at(p, victim), g.mode(), one(g, []string{"0", "0", "0x100", "0x1000"}))
	case 8:
		switch g.IntN(4) {
		case 0:
			return fmt.Sprintf("%s %s %s %s", one(g, []string{"chown", "lchown"}), g.path(p, victim), g.uid(), g.uid())
		case 1:
			return fmt.Sprintf("fchown %s %s %s", g.fd(p), g.uid(), g.uid())
		}
		return fmt.Sprintf("%s %s %s %s %s", choose("fchownat", "fchownat"), g.at(p, victim), g.uid(), g.uid(), g.atFlags())
	case 9:
		if g.chance(15) {
			return fmt.Sprintf("futimens %s %s", g.fd(p), g.times())
		}
		return fmt.Sprintf("%s %s %s %s", choose("utimensat", "utimensat"), g.at(p, victim), g.times(), g.atFlags())
	case 10:
		return fmt.Sprintf("%s %s %s", choose("truncate", "truncate"), g.path(p, victim), one(g, []string{"0", "3", "5000", "-1", "100000"}))
	case 11:
		to := g.target(fresh)
		g.learn(to, cases.File)
		return fmt.Sprintf("save %s %s", quote("", g.way(p, to)), quote("", "saved "+to))
	case 12:
		return g.attribute(p, false)
	case 13:
		to := g.target(fresh)
		g.learn(to, cases.File)
		return fmt.Sprintf("creat %s %s", g.pointer(g.decorate(g.way(p, to))), g.mode())
	}
	return "umask " + one(g, []string{"022", "0", "077", "022"})
}

// attribute makes an operation about extended attributes.
func (g *generator) attribute(p *process, look bool) string {
	prefix := one(g, []string{"", "", "sys_"})
	name := quote("", one(g, []string{"user.a", "user.a", "user.b", "trusted.c", "security.d", "system.posix_acl_access", "none", ""}))
	l := one(g, []string{"", "l"})
	if look {
		size := g.size()
		if g.chance(40) {
			return fmt.Sprintf("%s%slistxattr %s %s %d", prefix, l, g.path(p, anything), g.buffer(size), size)
		}
		return fmt.Sprintf("%s%sgetxattr %s %s %s %d", prefix, l, g.path(p, anything), name, g.buffer(size), size)
	}
	if g.chance(12) {
		return one(g, []string{fmt.Sprintf("fsetxattr %s %s %s 5 0", g.fd(p), name, quote("", "value")), fmt.Sprintf("fremovexattr %s %s", g.fd(p), name)})
	}
	if g.chance(30) {
		return fmt.Sprintf("%s%sremovexattr %s %s", prefix, l, g.path(p, victim), name)
	}
	return fmt.Sprintf("%s%ssetxattr %s %s %s %d %d", prefix, l, g.path(p, victim), name, quote("", "value"), g.IntN(6), g.IntN(4))
}

// socket makes an operation about Unix sockets.
func (g *generator) socket(p *process) string {
	a, b := 12+g.IntN(3), 12+g.IntN(3)
	address := func(w want) string {
		s := g.text(p, w)
		switch g.pick(70, 10, 6, 4, 4) {
		case 1:
			s += "\x00"
		case 2:
			s = "\x00abstract"
		case 3:
			s = ""
		case 4:
			s = one(g, g.dirs) + "/" + longName[:60+g.IntN(60)]
		}
		if len(s) > 112 {
			s = s[:112]
		}
		return fmt.Sprintf("%s %d", quote("s", s), 2+len(s)+one(g, []int{0, 0, 0, 0, 0, 0, 0, 1, -1}))
	}
	switch g.pick(25, 25, 10, 20, 5, 10, 8) {
	case 0:
		p.fds[a] = descriptor{true, false, ""}
		return fmt.Sprintf(">%d socket 1 %#x 0", a, one(g, []int{0x801, 0x801, 0x802, 0x805}))
	case 1:
		return fmt.Sprintf("%sbind @%d %s", one(g, []string{"", "", "sys_"}), a, address(fresh))
	case 2:
		return fmt.Sprintf("listen @%d 4", a)
	case 3:
		return fmt.Sprintf("connect @%d %s", a, address(anything))
	case 4:
		return fmt.Sprintf(">%d accept4 @%d %s %s 0x800", b, a, g.buffer(110), one(g, []string{"l110", "L110", "l2", "L0", "l-1", "0"}))
	case 5:
		return fmt.Sprintf("%s @%d %s %s", one(g, []string{"getsockname", "getpeername", "sys_getsockname"}), a, g.buffer(110), one(g, []string{"l110", "l110", "L110", "l20", "l2", "L0", "l-1", "0"}))
	}
	return ">15 socketpair"
}
