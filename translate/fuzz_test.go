package translate

import (
	"strings"
	"testing"

	"svcrelay/nocgo"
)

// FuzzPath asks one world for arbitrary paths, in every way there is.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/", "", ".", "..", "/a/../b", "/lib/x.so/", "//usr//./d", "/lusr/..", "etc/.h", "/proc/self/fd/0", "/\xff\x01",
		"/llib/../lb/a", "/..data/.", strings.Repeat("/a", 300), "/" + strings.Repeat("n", 255)} {
		f.Add(p, byte(0), byte(0))
		f.Add(p, byte(3), byte(1))
	}
	w := newWorld(f, 7, true)
	dir := w.directory()
	f.Fuzz(func(t *testing.T, path string, kind, at byte) {
		w.t = t
		if strings.IndexByte(path, 0) >= 0 || len(path) > 2000 {
			return
		}
		keep = keep[:0] // the fuzzer runs for long
		keep = append(keep, w.v, w.s)
		from := -100
		if at&1 != 0 {
			from = dir
		}
		switch kind % 5 {
		case 0:
			w.stat(from, path, uintptr(at>>1)&1*nocgo.AtSymlinkNofollow)
		case 1:
			w.open(from, path, nocgo.OCloexec|uintptr(at>>1)&1*nocgo.ONofollow|uintptr(at>>2)&1*nocgo.ODirectory|uintptr(at>>3)&1*nocgo.OPath)
		case 2:
			w.access(from, path, uintptr(at>>1)&7)
		case 3:
			w.readlink(from, path, int(at)+1)
		case 4:
			w.statx(from, path, uintptr(at>>1)&1*nocgo.AtSymlinkNofollow, 0x7ff)
		}
	})
}

// FuzzChange has one world changed along arbitrary paths.
func FuzzChange(f *testing.F) {
	for _, p := range []string{"/", "", ".", "..", "/a/../b", "/lib/x.so/", "//usr//./d", "/lusr/..", "etc/.h", "/llib/../lb/a", "/a/.", "/b//"} {
		for kind := range byte(12) {
			f.Add(p, "/a/new", kind, kind)
			f.Add("/d/x", p, kind, byte(0))
		}
	}
	w := newWorld(f, 9, true)
	w.start(1 << 30)
	w.v.AllowRenameat2()
	dir := w.directory()
	f.Fuzz(func(t *testing.T, path, other string, kind, at byte) {
		w.t = t
		if strings.IndexByte(path, 0) >= 0 || strings.IndexByte(other, 0) >= 0 || len(path)+len(other) > 2000 {
			return
		}
		keep = keep[:0]
		keep = append(keep, w.v, w.s)
		from, p, q := nocgo.AtFdcwd, cstring(path), cstring(other)
		if at&1 != 0 && dir >= 0 {
			from = uintptr(dir)
		}
		flag := uintptr(at >> 1)
		c := &Call{}
		set := func(nr uintptr, args ...uintptr) {
			c.Nr = nr
			copy(c.Arg[:], args)
		}
		switch kind % 12 {
		case 0:
			set(nocgo.SysMkdirat, from, p, 0o755)
		case 1:
			set(nocgo.SysUnlinkat, from, p, flag&1*nocgo.AtRemovedir|flag&2)
		case 2:
			set(nocgo.SysSymlinkat, q, from, p)
		case 3:
			set(nocgo.SysLinkat, from, p, nocgo.AtFdcwd, q, flag&1*nocgo.AtSymlinkFollow|flag&2)
		case 4:
			set(nocgo.SysRenameat, from, p, nocgo.AtFdcwd, q)
		case 5:
			set(nocgo.SysRenameat2, nocgo.AtFdcwd, p, from, q, flag&15)
		case 6:
			set(nocgo.SysFchmodat, from, p, 0o700|flag&0o77)
		case 7:
			set(nocgo.SysFchownat, from, p, ^uintptr(0), ^uintptr(0), flag&1*nocgo.AtSymlinkNofollow|flag&2)
		case 8:
			set(nocgo.SysUtimensat, from, p, [2]uintptr{0, omitted()}[flag>>2&1], flag&1*nocgo.AtSymlinkNofollow|flag&2)
		case 9:
			set(nocgo.SysTruncate, p, flag)
		case 10:
			set(nocgo.SysMknodat, from, p, 0o100600|flag&0o77, 0)
		default:
			set(nocgo.SysLsetxattr, p, cstring("user.x"), cstring("v"), 1, flag&3)
		}
		w.change(c)
		w.stat(int(int32(from)), path, uintptr(at>>7)*nocgo.AtSymlinkNofollow)
	})
}
