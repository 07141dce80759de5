package relay

import (
	"svcrelay/patcher"
	"svcrelay/translate"
)

// All state of the library. The constructor writes it while the process has one thread; afterwards only the
// counters and what translate keeps change, atomically.
var (
	plan   patcher.Plan
	view   translate.View
	wanted patcher.Numbers
	conf   config
	theirs config // what the tracer's environment says
	proc   process
	stats  counters

	// live is 1 from the moment sites may be answered.
	live uint32
	// trampoline says whether the page is mapped.
	trampoline bool
	// family is the page that shareCount has mapped.
	family uintptr
	// board is where the translate.Board is mapped, or 0.
	board uintptr
	// buffer holds files of /proc while the constructor reads them; its pages are never touched in a process
	// that stays as it is.
	buffer [maxFile]byte
	// usage is a struct rusage.
	usage [18]uint64
	path  [64]byte
)

// maxFile is the size of the largest file of /proc that is understood.
const maxFile = 128 << 10
