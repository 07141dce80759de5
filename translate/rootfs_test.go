package translate

import (
	"os"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// Who moves, removes or shuts off what the rootfs is in, or may do so by a call that only PRoot can answer, has it answer
// all that follows.
func TestRootInDanger(t *testing.T) {
	const file = "/m/x/f"
	at := nocgo.AtFdcwd
	for name, c := range map[string]struct {
		call []uintptr // its number and its arguments
		does func(dir string) error
		ends bool
	}{
		"mode of one above":          {call: []uintptr{nocgo.SysFchmodat, at, cstring("/m/up"), 0o600}, ends: true},
		"mode of the rootfs":         {call: []uintptr{nocgo.SysFchmodat, at, cstring("/"), 0o700}},
		"mode that shuts nobody off": {call: []uintptr{nocgo.SysFchmodat, at, cstring("/m/up"), 0o711}},
		"mode of another":            {call: []uintptr{nocgo.SysFchmodat, at, cstring("/m/x"), 0o700}},
		"removal":                    {call: []uintptr{nocgo.SysUnlinkat, at, cstring("/m/up/root"), nocgo.AtRemovedir}, ends: true},
		"removal of another":         {call: []uintptr{nocgo.SysUnlinkat, at, cstring("/m/empty"), nocgo.AtRemovedir}},
		"list of one above":          {call: []uintptr{nocgo.SysSetxattr, cstring("/m/up"), cstring("system.posix_acl_access"), cstring("x"), 1, 0}, ends: true},
		"moved by PRoot": {call: []uintptr{nocgo.SysRenameat2, at, cstring("/m/loop/"), at, cstring("/m/gone"), 0},
			does: func(dir string) error { return os.Rename(dir+"/up", dir+"/gone") }, ends: true},
		"replaced by PRoot": {call: []uintptr{nocgo.SysRenameat2, at, cstring("/m/loop/"), at, cstring("/m/gone"), 0},
			does: func(dir string) error {
				if err := os.Rename(dir+"/up/root", dir+"/gone"); err != nil {
					return err
				}
				return os.Mkdir(dir+"/up/root", 0o755)
			}, ends: true},
		"another moved by PRoot": {call: []uintptr{nocgo.SysRenameat2, at, cstring("/m/loop/"), at, cstring("/m/gone"), 0},
			does: func(dir string) error { return os.Rename(dir+"/empty", dir+"/gone") }},
		"shut off by PRoot": {call: []uintptr{nocgo.SysFchmodat, at, cstring("/m/loop/"), 0},
			does: func(dir string) error { return os.Rename(dir+"/up", dir+"/hidden") }, ends: true}, // as a test that is root sees it
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, "up/root/m/", "x/f", "empty/")
			if err := os.Symlink("loop", dir+"/loop"); err != nil {
				t.Fatal(err)
			}
			g := configure(t, dir+"/up/root", dir+":/m", 1000)
			g.v.TrackDirectory()
			g.v.AllowRenameat2()
			g.is(file, dir+"/x/f")
			nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
				if nr == nocgo.SysGetcwd {
					copy(unsafe.Slice((*byte)(nocgo.Ptr(a0)), a1), "/proc\x00")
					return 6
				}
				if c.does != nil {
					if err := c.does(dir); err != nil {
						t.Error(err)
					}
				}
				return 0
			}
			defer func() { nocgo.HostPlain = nocgo.HostSyscall }()
			call := Call{Nr: c.call[0]}
			copy(call.Arg[:], c.call[1:])
			g.v.Handle(g.s, &call)
			nocgo.HostPlain = nocgo.HostSyscall
			if c.ends {
				g.declines(file, Withdrawn)
			} else {
				g.is(file, dir+"/x/f")
			}
		})
	}
}
