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
