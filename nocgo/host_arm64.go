//go:build !freestanding

package nocgo

func hostNumber(nr uintptr) (uintptr, bool) { return nr, true }
func hostOpenFlags(flags uintptr) uintptr   { return flags }
func hostFixStat(buf uintptr)               {}
