package patcher

import (
	"os"
	"strconv"
	"testing"

	"svcrelay/nocgo"
)

// TestRefusals makes calls fail, one kind after the other: all that may follow is a search in the next start too.
func TestRefusals(t *testing.T) {
	for _, nr := range []uintptr{nocgo.SysOpenat, nocgo.SysFstat, nocgo.SysRead, nocgo.SysWrite, nocgo.SysMkdirat, nocgo.SysLinkat,
		nocgo.SysRenameat, nocgo.SysUnlinkat, nocgo.SysPrlimit64} {
		for _, errno := range []uintptr{nocgo.EACCES, nocgo.EPERM, nocgo.ENOSYS, enospc, erofs, emfile, nocgo.EINTR} {
			w := newCached(t)
			t.Run("", func(t *testing.T) {
				lie(t, func(n uintptr, a [6]uintptr) (uintptr, bool) { return nocgo.Fail(errno), n == nr })
				if w.warm(t) {
					t.Errorf("call %d failed with %d, and there was a cache", nr, errno)
				}
				w.warm(t)
			})
			w.warm(t)
			if left := names(t, w.tmp); !w.warm(t) || len(left) > 3 {
				t.Errorf("call %d failed with %d: left are %q", nr, errno, left)
			}
		}
	}
}

const enospc, erofs, emfile = 28, 30, 24

// TestWritesPartly lets the disk be full in the middle of the file.
func TestWritesPartly(t *testing.T) {
	for _, limit := range []uintptr{0, 1, 8, 100} {
		w := newCached(t)
		t.Run("", func(t *testing.T) {
			lie(t, func(nr uintptr, a [6]uintptr) (uintptr, bool) {
				if nr != nocgo.SysWrite {
					return 0, false
				}
				return nocgo.HostSyscall(nr, a[0], a[1], min(a[2], limit), 0, 0, 0), true
			})
			w.start(t)
		})
		if left := names(t, w.dir()); len(left) != 1 {
			t.Errorf("left: %q", left)
		}
	}
}

// TestFileSizeLimit: a write beyond the limit would be a signal.
func TestFileSizeLimit(t *testing.T) {
	w := newCached(t)
	lie(t, func(nr uintptr, a [6]uintptr) (uintptr, bool) {
		switch nr {
		case nocgo.SysPrlimit64:
			nocgo.Store64(a[3], headSize)
			return 0, true
		case nocgo.SysWrite:
			t.Error("written")
		}
		return 0, false
	})
	w.start(t)
}

// TestWithoutUnnamedFiles is for file systems and policies that have none, or do not give them names.
func TestWithoutUnnamedFiles(t *testing.T) {
	for _, what := range []uintptr{nocgo.SysOpenat, nocgo.SysLinkat} {
		w := newCached(t)
		refuse := func(nr uintptr, a [6]uintptr) (uintptr, bool) {
			return nocgo.Fail(nocgo.EOPNOTSUPP), nr == what && (nr == nocgo.SysLinkat || a[2]&nocgo.OTmpfile != 0)
		}
		lie(t, refuse)
		if w.warm(t) || !w.warm(t) {
			t.Fatal("no cache was made")
		}
		// What a killed process of the same number has left is removed, and the file made the next time.
		name := w.file(t)
		if err := os.Rename(name, name+"."+strconv.Itoa(os.Getpid())); err != nil {
			t.Fatal(err)
		}
		if w.warm(t) || w.warm(t) || !w.warm(t) || w.file(t) != name {
			t.Error("what was left stays in the way")
		}
	}
}
