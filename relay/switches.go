package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// nvcsw is the place of the number of voluntary context switches in struct rusage, in words.
const nvcsw = 16

// uncounted is what the count seems to be where the kernel, or a filter in its place, has not said it: another number each
// time, so that it never seems to have stayed. No count is so large.
var uncounted uint64

// notCounted prepares usage for a question that may not be answered.
func notCounted() {
	uncounted--
	usage[nvcsw] = uncounted
}

// switches gives the number of voluntary context switches of this thread.
func switches() uint64 {
	notCounted()
	nocgo.Raw(nocgo.SysGetrusage, nocgo.RusageThread, uintptr(unsafe.Pointer(&usage)), 0, 0, 0, 0)
	return usage[nvcsw]
}
