package translate

import "svcrelay/nocgo"

// Words of the file name libc.so.6.
const (
	libcName = 'l' | 'i'<<8 | 'b'<<16 | 'c'<<24 | '.'<<32 | 's'<<40 | 'o'<<48 | '.'<<56
	libcLast = '6'
)

// another watches for the dynamic linker opening a C library while the program has one already: dlmopen loads one more
// for another namespace, which has no relays. What it changes, the current directory above all, is not seen, so from
// then on nothing is answered that depends on it.
func (v *View) another(s *Scratch, flags uintptr) {
	if s.Linker && flags == nocgo.OCloexec && s.nameLen == 9 && nocgo.Load64(s.name) == libcName && nocgo.Load8(s.name+8) == libcLast {
		v.Blind()
	}
}
