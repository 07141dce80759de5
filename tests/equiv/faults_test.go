package main

import (
	"flag"
	"fmt"
	"testing"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/relay"
	"svcrelay/tests/equiv/broken"
	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/equiv/session"
	"svcrelay/tests/rig"
	"svcrelay/translate"
)

var otherPRoot = flag.String("proot", "", "an arm64 PRoot to look for faults with instead of the rig's, such as one of the Termux line")

// faults are the handlers, and a script that goes through each.
var faults = []struct {
	name   string
	number int
	lines  string
}{
	{"openat", broken.Result(56), `0 openat cwd "/t/file" 0x800 0`},
	{"openat of nothing", broken.Result(56), `0 openat cwd "/t/none" 0x800 0`},
	{"openat that creates", broken.Result(56), `0 openat cwd "/t/new" 0x841 0644`},
	{"newfstatat", broken.Result(79), `0 stat "/t/file" b128`},
	{"newfstatat, buffer", broken.Buffer(79), `0 stat "/t/file" b128`},
	{"statx", broken.Result(291), `0 statx cwd "/t/file" 0 0x7ff b256`},
	{"statx, buffer", broken.Buffer(291), `0 statx cwd "/t/file" 0 0x7ff b256`},
	{"faccessat", broken.Result(48), `0 access "/t/file" 4`},
	{"faccessat2", broken.Result(439), `0 sys_faccessat2 cwd "/t/file" 4 0x100`},
	{"readlinkat", broken.Result(78), `0 readlink "/t/link" b64 64`},
	{"readlinkat, buffer", broken.Buffer(78), `0 readlink "/t/link" b64 64`},
	{"mkdirat", broken.Result(34), `0 mkdir "/t/new" 0755`},
	{"mknodat", broken.Result(33), `0 mknod "/t/new" 0100644 0`},
	{"unlinkat", broken.Result(35), `0 unlink "/t/file"`},
	{"symlinkat", broken.Result(36), `0 symlink "x" "/t/new"`},
	{"linkat", broken.Result(37), `0 link "/t/file" "/t/new"`},
	{"renameat", broken.Result(38), `0 rename "/t/file" "/t/new"`},
	{"renameat2", broken.Result(276), `0 renameat2 cwd "/t/file" cwd "/t/new" 1`},
	{"fchmodat", broken.Result(53), `0 chmod "/t/file" 0600`},
	{"fchmodat2", broken.Result(452), `0 sys_fchmodat2 cwd "/t/file" 0600 0`},
	{"fchownat", broken.Result(54), `0 chown "/t/file" 1 1`},
	{"utimensat", broken.Result(88), `0 utimensat cwd "/t/file" t1,2,3,4 0`},
	{"truncate", broken.Result(45), `0 truncate "/t/file" 1`},
	{"statfs", broken.Result(43), `0 statfs "/t/file" b120`},
	{"setxattr", broken.Result(5), `0 setxattr "/t/file" "user.a" "v" 1 0`},
	{"lsetxattr", broken.Result(6), `0 lsetxattr "/t/file" "user.a" "v" 1 0`},
	{"fsetxattr", broken.Result(7), "0 >1 open \"/t/file\" 0x802 0\n0 fsetxattr @1 \"user.a\" \"v\" 1 0"},
	{"fremovexattr", broken.Result(16), "0 >1 open \"/t/file\" 0x802 0\n0 fremovexattr @1 \"user.a\""},
	{"getxattr", broken.Result(8), `0 getxattr "/t/file" "user.a" b8 8`},
	{"lgetxattr", broken.Result(9), `0 lgetxattr "/t/file" "user.a" b8 8`},
	{"listxattr", broken.Result(11), `0 listxattr "/t/file" b64 64`},
	{"llistxattr", broken.Result(12), `0 llistxattr "/t/file" b64 64`},
	{"removexattr", broken.Result(14), `0 removexattr "/t/file" "user.a"`},
	{"lremovexattr", broken.Result(15), `0 lremovexattr "/t/file" "user.a"`},
	{"name_to_handle_at", broken.Result(264), `0 sys_name_to_handle_at cwd "/t/file" H128 b4 0`},
	{"inotify_add_watch", broken.Result(27), "0 >1 inotify_init1 0x800\n0 inotify_add_watch @1 \"/t/file\" 2"},
	{"getcwd", broken.Result(17), `0 sys_getcwd b64 64`},
	{"getcwd, buffer", broken.Buffer(17), `0 sys_getcwd b64 64`},
	{"chdir", broken.Result(49), `0 chdir "/t/dir"`},
	{"fchdir", broken.Result(50), "0 >1 open \"/t/dir\" 0 0\n0 fchdir @1"},
	{"bind", broken.Result(200), "0 >1 socket 1 0x801 0\n0 bind @1 s\"/t/new\" 8"},
	{"connect", broken.Result(203), "0 >1 socket 1 0x801 0\n0 connect @1 s\"/t/sock\" 9"},
	{"accept4", broken.Result(242), "0 >1 socket 1 0x801 0\n0 accept4 @1 b110 l110 0x800"},
	{"getsockname", broken.Result(204), "0 >1 socket 1 0x801 0\n0 getsockname @1 b110 l110"},
	{"getpeername", broken.Result(205), "0 >1 socketpair\n0 getpeername @1 b110 l110"},
	{"fchmod", broken.Result(52), "0 >1 open \"/t/file\" 0x802 0\n0 fchmod @1 0600"},
	{"fchown", broken.Result(55), "0 >1 open \"/t/file\" 0x802 0\n0 fchown @1 -1 -1"},
	{"accept", broken.Result(202), "0 >1 socket 1 0x801 0\n0 accept @1 b110 l110"},
	{"uname", broken.Result(160), "0 uname b390"},
	{"openat2", broken.Result(437), `0 sys_openat2 cwd "/t/file" o0x800,0,0 24`},
	{"forgetting after rename", broken.NeverForget, "0 stat \"/t/dir/file\" b128\n0 rename \"/t/dir\" \"/t/gone\"\n0 symlink \"/t/other\" \"/t/dir\"\n0 stat \"/t/dir/file\" b128\n0 stat \"/t/dir/only\" b128"},
	{"following chdir", broken.NeverMove, "0 stat \"file\" b128\n0 chdir \"/t/other\"\n0 stat \"file\" b128\n0 stat \"only\" b128\n0 stat \"sub/../only\" b128"},
	{"forgetting after unlink", broken.NeverForget, "0 stat \"/t/ldir/file\" b128\n0 unlink \"/t/ldir\"\n0 symlink \"other\" \"/t/ldir\"\n0 stat \"/t/ldir/file\" b128\n0 stat \"/t/ldir/only\" b128"},
}

// modeFaults are those that show only, or differently, with one of PRoot's options.
var modeFaults = []struct {
	option, name string
	number       int
	lines        string
}{
	{"-0", "fstat", broken.Result(80), "0 >1 open \"/t/file\" 0x800 0\n0 sys_fstat @1 b128"},
	{"-0", "newfstatat", broken.Result(79), `0 stat "/t/file" b128`},
	{"-0", "statx", broken.Result(291), `0 statx cwd "/t/file" 0 0x7ff b256`},
	{"-0", "openat", broken.Result(56), `0 openat cwd "/t/file" 0x800 0`},
	{"-0", "getuid", broken.Result(174), "0 getuid"},
	{"-0", "geteuid", broken.Result(175), "0 geteuid"},
	{"-0", "getgid", broken.Result(176), "0 getgid"},
	{"-0", "getegid", broken.Result(177), "0 getegid"},
	{"-0", "getresuid", broken.Result(148), "0 getresuid b4 b4 b4"},
	{"-0", "getresgid", broken.Result(150), "0 getresgid b4 b4 b4"},
	{"--link2symlink", "newfstatat", broken.Result(79), `0 stat "/t/file" b128`},
	{"--link2symlink", "readlinkat", broken.Result(78), `0 readlink "/t/link" b64 64`},
	{"--link2symlink", "openat", broken.Result(56), `0 openat cwd "/t/file" 0x800 0`},
	{"--kernel-release=6.6.6", "uname", broken.Result(160), "0 uname b390"},
	{"--kernel-release=6.6.6", "newfstatat", broken.Result(79), `0 stat "/t/file" b128`},
}

const faultWorld = `uid %d
%soption "-w"
option "/t/dir"
env "%s=%d"
d 0755 1000 1000 "/world/root/t"
d 0755 1000 1000 "/world/root/t/dir"
d 0755 1000 1000 "/world/root/t/other"
d 0755 1000 1000 "/world/root/t/other/sub"
f 0644 1000 1000 "/world/root/t/file" "text"
f 0644 1000 1000 "/world/root/t/dir/file" "text"
f 0644 1000 1000 "/world/root/t/other/only" "other text"
s 0644 1000 1000 "/world/root/t/sock"
l 0777 1000 1000 "/world/root/t/link" "/a/text/that/is/long/enough"
l 0777 1000 1000 "/world/root/t/ldir" "dir"
script
`

// TestFaultsAreSeen breaks the library on purpose, one handler after the other, and wants every fault that has a
// chance to show to be seen.
func TestFaultsAreSeen(t *testing.T) {
	rig.NeedVM(t)
	rig.NeedTime(t)
	lib, err := broken.Library(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	req := cases.Request{Seconds: 300, PerCase: 1}
	add := func(name, option string, number int, lines string) {
		if option != "" {
			option = fmt.Sprintf("option %q\n", option)
		}
		text := fmt.Sprintf(faultWorld, 1000, option, broken.Variable, number) + lines + "\n"
		req.Kept = append(req.Kept, cases.Kept{Name: name, Config: name, Text: text})
	}
	scripts := map[string]string{}
	for _, f := range faults {
		add(f.name, "", f.number, f.lines)
		scripts[""] += f.lines + "\n"
	}
	for _, f := range modeFaults {
		add(f.option+" "+f.name, f.option, f.number, f.lines)
		scripts[f.option] += f.lines + "\n"
	}
	for option, lines := range scripts {
		add("sound "+option, option, 0, lines)
	}
	reply := compare(t, session.Tools{Library: lib, PRoot: *otherPRoot}, req)
	for _, p := range reply.Problems {
		t.Error(p)
	}
	for option := range scripts {
		f := reply.Configs["sound "+option]
		if f == nil || f.Mismatches != 0 || f.Stats["answered"] == 0 {
			t.Fatalf("without a fault, %q: %+v", option, f)
		}
	}
	check := func(name, option string, number int) {
		faulty, sound, nr := reply.Configs[name], reply.Configs["sound "+option], number%500
		if number >= 900 {
			nr = 0
		}
		rule, left := leftToPRoot[call{option, nr}]
		left = left && rule.always()
		switch {
		case faulty == nil:
			t.Errorf("%s: not run", name)
		case left && sound.Stats[fmt.Sprintf("declined:%d/%s", nr, rule.reason)] == 0:
			t.Errorf("%s: by rule it is declined because of %q, and is not: %s", name, rule.reason, rule.why)
		case left && (handled(sound, nr) || faulty.Mismatches != 0):
			t.Errorf("%s: by rule it is PRoot's, but the library answers: %s", name, rule.why)
		case left:
			t.Logf("%s: PRoot's: %s", name, rule.why)
		case faulty.Mismatches == 0 && nr != 0 && !handled(sound, nr):
			t.Errorf("%s: the script does not reach the handler, and no rule says why", name)
		case faulty.Mismatches == 0:
			t.Errorf("%s: the fault is not seen", name)
		}
	}
	for _, f := range faults {
		check(f.name, "", f.number)
	}
	for _, f := range modeFaults {
		check(f.option+" "+f.name, f.option, f.number)
	}
	for nr := range uintptr(patcher.MaxNumber) {
		rule, left := leftToPRoot[call{"", int(nr)}]
		if relay.Wanted().Has(nr) && !watched[nr] && !handled(reply.Configs["sound "], int(nr)) && !(left && rule.always()) {
			t.Errorf("system call %d: the library wants it and its script does not reach it", nr)
		}
	}
}

// handled says whether the library answered a system call, or made it in the program's place. That it makes calls which
// change what paths mean, so that PRoot answers them, counts as a reason in its statistics (translate/change.go).
func handled(f *cases.Figures, nr int) bool {
	n := 0
	for _, outcome := range []string{"answered:%d", "passed:%d", "declined:%d/" + translate.Effect.String()} {
		n += f.Stats[fmt.Sprintf(outcome, nr)]
	}
	return n > 0
}

type call struct {
	option string
	nr     int
}

// leftToPRoot are the calls that the translator always declines, with the reason that it must give. Each is checked: one that
// is answered after all, or declined for another reason, fails.
var leftToPRoot = map[call]struct {
	reason translate.Reason
	why    string
	always func() bool
}{
	{"", nocgo.SysOpenat2}:                     {translate.Unstopped, "PRoot 5.4.0 does not stop at it, the kernel answers: open2 in translate/newer.go", isUpstream},
	{"", nocgo.SysFaccessat2}:                  {translate.Unstopped, "PRoot 5.4.0 does not stop at it, the kernel answers: access2 in translate/newer.go", isUpstream},
	{"--kernel-release=6.6.6", nocgo.SysUname}: {translate.Number, "PRoot makes up the answer: uname in translate/newer.go", func() bool { return true }},
}

// isUpstream says whether the tests run with the rig's PRoot, of the upstream line.
func isUpstream() bool { return *otherPRoot == "" }

// watched are the calls that the library only looks at: they are always declined.
var watched = map[uintptr]bool{
	nocgo.SysWait4: true, nocgo.SysWaitid: true, nocgo.SysChroot: true, nocgo.SysMount: true, nocgo.SysUmount2: true, nocgo.SysPivotRoot: true,
	nocgo.SysAcct: true, nocgo.SysSwapon: true, nocgo.SysSwapoff: true, nocgo.SysQuotactl: true, nocgo.SysFanotifyMark: true, nocgo.SysUnshare: true, nocgo.SysSetns: true, nocgo.SysSigaltstack: true, nocgo.SysPrctl: true, nocgo.SysPtrace: true, nocgo.SysSeccomp: true,
	nocgo.SysSetuid: true, nocgo.SysSetgid: true, nocgo.SysSetreuid: true, nocgo.SysSetregid: true, nocgo.SysSetresuid: true, nocgo.SysSetresgid: true,
	nocgo.SysSetfsuid: true, nocgo.SysSetfsgid: true, nocgo.SysSetgroups: true, nocgo.SysCapset: true,
}

// TestEveryHandlerHasAFault makes sure that what the library answers is broken on purpose, too.
func TestEveryHandlerHasAFault(t *testing.T) {
	have := map[int]bool{}
	for _, f := range faults {
		have[f.number] = true
	}
	for nr := range uintptr(patcher.MaxNumber) {
		if relay.Wanted().Has(nr) && !watched[nr] && !have[broken.Result(int(nr))] {
			t.Errorf("no fault for system call %d, whose sites the library wants: add a script that reaches it to faults, or name it in watched", nr)
		}
	}
}
