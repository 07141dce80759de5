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
	for seed := int64(1); seed <= 24; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		if seed%5 == 0 {
			w.start(0)
		}
		for range 150 {
			dir := w.directory()
			for range 4 {
				path := w.guestPath()
				at := -100
				if dir >= 0 && w.r.Intn(2) == 0 {
					at, path = dir, strings.TrimLeft(path, "/")
					if w.r.Intn(3) > 0 {
						path = path[strings.LastIndexByte(path, '/')+1:]
					}
				}
				w.random(at, path)
			}
			syscall.Close(dir)
		}
		total += w.answered
		for r, n := range w.declined {
			declined[r] += n
		}
	}
	t.Logf("%d answered, %v", total, declined)
	if total < 8000 {
		t.Errorf("only %d answered", total)
	}
}

// random asks for a path in one of the ways there are.
func (w *world) random(at int, path string) {
	w.t.Helper()
	flags := []uintptr{0, nocgo.AtSymlinkNofollow, nocgo.AtNoAutomount, nocgo.AtSymlinkNofollow | nocgo.AtEmptyPath, nocgo.AtEmptyPath}
	opens := []uintptr{0, nocgo.ONofollow, nocgo.ODirectory, nocgo.OCreat | 1, nocgo.OCreat | nocgo.OExcl | 1, nocgo.OPath,
		nocgo.OPath | nocgo.ONofollow, nocgo.ODirectory | nocgo.ONofollow, nocgo.OCreat | nocgo.ONofollow | 1, nocgo.OTmpfile | nocgo.ODirectory | 1,
		nocgo.OTmpfile, nocgo.OCreat | nocgo.ODirectory, 1}
	switch w.r.Intn(2) {
	case 0:
		w.stat(at, path, flags[w.r.Intn(len(flags))])
	default:
		w.open(at, path, opens[w.r.Intn(len(opens))]|nocgo.OCloexec)
	}
}
