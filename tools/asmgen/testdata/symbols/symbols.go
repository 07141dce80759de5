// Package symbols refers to code that the compiler does not see.
package symbols

import "svcrelay/nocgo"

// Twice calls hand-laid code, and keeps what is in registers around the call.
func Twice(a, b uint64, n uint8) uint64 {
	f := nocgo.Symbol("twice")
	for range n {
		a, b = b, uint64(nocgo.Call1(f, uintptr(a)))+b
	}
	return a ^ b
}

// Absent is a symbol that nothing defines.
func Absent() uintptr { return nocgo.WeakSymbol("nowhere") }

// Present is one that is there, by both ways.
func Present() bool {
	return nocgo.WeakSymbol("twice") == nocgo.Symbol("twice") && nocgo.Symbol("twice") != 0
}
