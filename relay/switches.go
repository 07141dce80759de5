package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// nvcsw is the place of the number of voluntary context switches in struct rusage, in words.
const nvcsw = 16

// switches gives the number of voluntary context switches of this thread.
func switches() uint64 {
	nocgo.Raw(nocgo.SysGetrusage, nocgo.RusageThread, uintptr(unsafe.Pointer(&usage)), 0, 0, 0, 0)
	return usage[nvcsw]
}
