package main

import (
	"fmt"
	"slices"
	"strings"

	"svcrelay/tests/equiv/cases"
)

// With --link2symlink PRoot 5.4.0 answers some calls out of memory that it has not set. Which of its runs does so is chance,
// with and without svcrelay:
//
//   - After an fstat, or a stat with an empty path, it looks at the kind of file in a structure that a failed lstat did
//     not fill. Where that happens to look like a link it goes on to read the link "", and makes EPERM of a call that
//     the kernel has done: the buffer is full. Directories cannot be listed and programs do not start, since libc
//     does such a call for that.
//   - It makes a symlink call of linkat, which arm64 does not have. No call is made then, and the result is the address
//     that was left in the register.
//
// These results, and no others, are taken to be equal to what the other run has.

// linksByChance says whether a case is of that kind.
func linksByChance(c *cases.Case) bool {
	return slices.Contains(c.Options, "--link2symlink") || slices.Contains(c.Options, "-l")
}

// agree makes the lines of b that differ from those of a by such chance the same as those, and returns how many.
func agree(a, b *outcome) int {
	if !a.chance || len(a.log) != len(b.log) {
		return 0
	}
	n := 0
	for i := range a.log {
		if a.log[i] != b.log[i] && sameByChance(a.log[i], b.log[i]) {
			b.log[i] = a.log[i]
			n++
		}
	}
	return n
}

// sameByChance says whether two lines of the log differ only by chance.
func sameByChance(x, y string) bool {
	headX, resultX, okX := strings.Cut(x, " = ")
	headY, resultY, okY := strings.Cut(y, " = ")
	switch op := operation(x); {
	case op != operation(y):
		return false
	case op == "ls" || op == "lsat": // the list has no " = "
		headX, _, _ = strings.Cut(x, " "+op)
		headY, _, _ = strings.Cut(y, " "+op)
		return headX == headY && (okX && resultX == "-1 errno 1") != (okY && resultY == "-1 errno 1")
	case !okX || !okY || headX != headY:
		return false
	case op == "link" || op == "linkat" || op == "sys_linkat":
		return leftOver(resultX) && leftOver(resultY)
	case looksByDescriptor[op]:
		x, y := deniedAfterwards(resultX), deniedAfterwards(resultY) // both, where only the times in the buffer differ
		return x && (y || done(resultY)) || done(resultX) && y
	}
	return false
}

// looksByDescriptor are the operations that may be an fstat, or a stat with an empty path.
var looksByDescriptor = map[string]bool{"fstat": true, "sys_fstat": true, "fstatat": true, "sys_newfstatat": true, "statx": true, "sys_statx": true}

// operation is the name in a line of the log.
func operation(l string) string {
	f := strings.SplitN(l, " ", 3)
	if len(f) < 2 {
		return ""
	}
	return f[1]
}

// deniedAfterwards is EPERM for a call that has filled its buffer: what the kernel denies fills none.
func deniedAfterwards(result string) bool { return strings.HasPrefix(result, "-1 errno 1 touched ") }

func done(result string) bool { return result == "0" || strings.HasPrefix(result, "0 ") }

// leftOver is a result that linkat cannot have: neither success nor an error.
func leftOver(result string) bool {
	var n, errno int
	if k, _ := fmt.Sscanf(result, "%d errno %d", &n, &errno); k == 0 {
		return false
	}
	return n != 0 && (n != -1 || errno == 0)
}

// notStarted says whether the loader was denied what the kernel allowed: the program has not begun.
func (o *outcome) notStarted() bool {
	if !o.chance || strings.Join(o.log, "") != "" || len(o.errs) == 0 {
		return false
	}
	last := o.errs[len(o.errs)-1]
	return strings.Contains(last, "error while loading shared libraries") && strings.HasSuffix(last, ": Operation not permitted")
}
