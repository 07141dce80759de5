//go:build !freestanding

package nocgo

func hostNumber(nr uintptr) (uintptr, bool) { return nr, true }
func hostOpenFlags(flags uintptr) uintptr   { return flags }

func hostStat(buf uintptr, call func(buf uintptr) uintptr) uintptr { return call(buf) }
