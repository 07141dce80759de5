package translate

import (
	"testing"

	"svcrelay/nocgo"
)

// What is left to PRoot in modes has a reason that the statistics show, also where the library itself has PRoot do it.
func TestReasonsInModes(t *testing.T) {
	dir := tree(t, "root/f")
	path, name, buf := cstring("/f"), cstring("system.posix_acl_access"), cstring("                ")
	xattr := [6]uintptr{path, name, buf, 4}
	for _, c := range []struct {
		what  string
		modes Modes
		call  Call
		want  Reason
	}{
		{"setxattr", Identity, Call{Nr: nocgo.SysSetxattr, Arg: xattr}, Effect},
		{"lsetxattr", Identity | HardLinks, Call{Nr: nocgo.SysLsetxattr, Arg: xattr}, Effect},
		{"removexattr", Identity, Call{Nr: nocgo.SysRemovexattr, Arg: xattr}, Effect},
		{"lremovexattr", HardLinks, Call{Nr: nocgo.SysLremovexattr, Arg: xattr}, Effect},
		{"setuid", Identity, Call{Nr: nocgo.SysSetuid}, Owner},
		{"setresgid", Identity, Call{Nr: nocgo.SysSetresgid}, Owner},
		{"statx of a descriptor", HardLinks, Call{Nr: nocgo.SysStatx, Arg: [6]uintptr{0, cstring(""), nocgo.AtEmptyPath, 0x7ff, buf}}, Twin},
		{"linkat", HardLinks, Call{Nr: nocgo.SysLinkat, Arg: [6]uintptr{nocgo.AtFdcwd, path, nocgo.AtFdcwd, cstring("/g")}}, Number},
		{"fchmodat2", Identity, Call{Nr: nocgo.SysFchmodat2, Arg: [6]uintptr{nocgo.AtFdcwd, path, 0o644}}, Effect},
	} {
		g := configure(t, dir+"/root", "", 1000)
		g.v.SetModes(c.modes | Upstream)
		_, why := g.v.Handle(g.s, &c.call)
		if why == Answered {
			why = g.s.Asked()
		}
		if why != c.want {
			t.Errorf("%s: %v, want %v", c.what, why, c.want)
		}
	}
	g := configure(t, dir+"/root", "", 1000)
	g.v.SetModes(Identity | Upstream)
	for _, nr := range []uintptr{nocgo.SysGetuid, nocgo.SysGetegid, nocgo.SysGetresuid} {
		g.v.Handle(g.s, &Call{Nr: nocgo.SysSetuid})
		if _, why := g.v.Handle(g.s, &Call{Nr: nr}); why != Owner {
			t.Errorf("call %d after setuid: %v", nr, why)
		}
	}
}
