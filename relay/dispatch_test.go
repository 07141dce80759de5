package relay

import (
	"testing"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

func TestConfines(t *testing.T) {
	for _, c := range []struct {
		call translate.Call
		want bool
	}{
		{translate.Call{Nr: nocgo.SysPrctl, Arg: [6]uintptr{22, 2}}, true},
		{translate.Call{Nr: nocgo.SysPrctl, Arg: [6]uintptr{38, 1}}, true},
		{translate.Call{Nr: nocgo.SysPrctl, Arg: [6]uintptr{59, 1}}, true},
		{translate.Call{Nr: nocgo.SysPrctl, Arg: [6]uintptr{5<<32 | 22, 2}}, true}, // an int
		{translate.Call{Nr: nocgo.SysSeccomp, Arg: [6]uintptr{1}}, true},
		{translate.Call{Nr: nocgo.SysPtrace, Arg: [6]uintptr{0}}, true},
		{translate.Call{Nr: nocgo.SysPtrace, Arg: [6]uintptr{16, 1}}, false}, // PTRACE_ATTACH
		{translate.Call{Nr: nocgo.SysPrctl, Arg: [6]uintptr{15}}, false},     // PR_SET_NAME
		{translate.Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{22}}, false},
	} {
		if got := confines(&c.call); got != c.want {
			t.Errorf("%+v: %v", c.call, got)
		}
	}
}

// TestChooseSites checks what must never become a relay.
func TestChooseSites(t *testing.T) {
	const clone, execve, sigreturn, clone3, execveat, exit, exitGroup = 220, 221, 139, 435, 281, 93, 94
	chooseSites(&wanted)
	for _, nr := range []uintptr{clone, execve, sigreturn, clone3, execveat, exit, exitGroup} {
		if wanted.Has(nr) {
			t.Errorf("number %d is relayed", nr)
		}
	}
	conf.stats = true // then some are watched, which PRoot answers
	defer func() { conf.stats = false }()
	var watched patcher.Numbers
	chooseSites(&watched)
	for _, nr := range []uintptr{execve, execveat, exitGroup} {
		if !watched.Has(nr) || !leaves(nr) {
			t.Errorf("number %d is not watched", nr)
		}
	}
	leaveEffects(&watched)
	if watched.Has(execve) || watched.Has(exitGroup) || !watched.Has(nocgo.SysChdir) {
		t.Error("what leaves is no effect")
	}
	for _, nr := range []uintptr{nocgo.SysOpenat, nocgo.SysNewfstatat, nocgo.SysChdir, nocgo.SysWait4} {
		if !wanted.Has(nr) {
			t.Errorf("number %d is not relayed", nr)
		}
	}
}
