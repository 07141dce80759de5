package translate

import (
	"strings"
	"syscall"
	"testing"

	"svcrelay/nocgo"
)

// The answers of generated calls over generated trees are what both models of PRoot say.
func TestModel(t *testing.T) {
	total, declined := 0, map[Reason]int{}
	for seed := int64(1); seed <= 12; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		if seed%5 == 0 {
			w.start(0)
		}
		for range 150 {
			dir := w.directory()
			for range 4 {
				w.random(w.place(dir))
			}
			syscall.Close(dir)
		}
		total += w.answered
		for r, n := range w.declined {
			declined[r] += n
		}
	}
	t.Logf("%d answered, %v", total, declined)
	if total < 6000 {
		t.Errorf("only %d answered", total)
	}
}

// place makes up a path and what it begins at: the current directory, which it sometimes changes, or dir if that is open.
func (w *world) place(dir int) (at int, path string) {
	path, at = w.guestPath(), -100
	if w.r.Intn(40) == 0 {
		w.chdir(w.guestPath())
	}
	if w.r.Intn(2) == 0 {
		if dir >= 0 && w.r.Intn(3) > 0 {
			at = dir
		}
		path = strings.TrimLeft(path, "/")
		if w.r.Intn(3) > 0 {
			path = path[strings.LastIndexByte(path, '/')+1:]
		}
	}
	return at, path
}

// random asks for a path in one of the ways there are.
func (w *world) random(at int, path string) {
	w.t.Helper()
	flags := []uintptr{0, nocgo.AtSymlinkNofollow, nocgo.AtNoAutomount, nocgo.AtSymlinkNofollow | nocgo.AtEmptyPath, nocgo.AtEmptyPath}
	opens := []uintptr{0, nocgo.ONofollow, nocgo.ODirectory, nocgo.OCreat | 1, nocgo.OCreat | nocgo.OExcl | 1, nocgo.OPath,
		nocgo.OPath | nocgo.ONofollow, nocgo.ODirectory | nocgo.ONofollow, nocgo.OCreat | nocgo.ONofollow | 1, nocgo.OTmpfile | nocgo.ODirectory | 1,
		nocgo.OTmpfile, nocgo.OCreat | nocgo.ODirectory, 1}
	switch w.r.Intn(8) {
	case 7:
		if at == -100 {
			w.xattr(path, []uintptr{nocgo.SysGetxattr, nocgo.SysLgetxattr, nocgo.SysListxattr, nocgo.SysLlistxattr}[w.r.Intn(4)])
		}
	case 0, 1:
		w.stat(at, path, flags[w.r.Intn(len(flags))])
	case 2:
		w.access(at, path, uintptr(w.r.Intn(8)))
	case 3:
		w.statx(at, path, flags[w.r.Intn(len(flags))], []uintptr{0, 1, 0x7ff, 0x200, 0xfff}[w.r.Intn(5)])
	case 4:
		n := w.readlink(at, path, []int{1, 3, 7, 8, 20, 64, 4096, 5000, w.r.Intn(100) + 1}[w.r.Intn(9)])
		for size := n - 1; size <= n+2; size++ {
			w.readlink(at, path, max(size, 0))
		}
	default:
		w.open(at, path, opens[w.r.Intn(len(opens))]|nocgo.OCloexec)
	}
}
