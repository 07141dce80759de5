package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// counters are the figures of one process.
type counters struct {
	on       bool // figures are wanted
	logging  bool // a line per declined call is wanted
	fd, log  uintptr
	answered uint64
	errors   uint64 // failed checks in compiled code
	last     uint64 // the code of the last one
	declined [maxReasons]uint64
}

const maxReasons = 32

// A descriptor of the library's own is moved to highFd or above.
const (
	dupCloexec = 1030 // F_DUPFD_CLOEXEC
	highFd     = 200
)

// begin keeps a descriptor for the line at exit: programs close standard error before their destructors run.
func (c *counters) begin() {
	if conf.stats {
		c.fd = nocgo.Raw(nocgo.SysFcntl, 2, dupCloexec, highFd, 0, 0, 0)
		c.on = !nocgo.Failed(c.fd)
	}
	c.openLog()
}

// count adds one call.
func (c *counters) count(why translate.Reason) {
	if why == 0 {
		nocgo.Add64(&c.answered, 1)
		return
	}
	nocgo.Add64(&c.declined[uintptr(why)%maxReasons], 1)
}

// finish writes the line of figures. The hand-laid destructor calls it.
//
//asmgen:entry svcrelay_finish
func finish() {
	if live == 0 || !stats.on {
		return
	}
	n := line(0, "svcrelay: pid=", uint64(nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)))
	n = line(n, " answered=", stats.answered)
	n = line(n, " errors=", stats.errors)
	n = line(n, " last=", stats.last)
	n = line(n, " libc=", uint64(plan.Patched(patcher.Libc)))
	n = line(n, " ld.so=", uint64(plan.Patched(patcher.Loader)))
	n = line(n, " of=", uint64(plan.Seen))
	for i := range maxReasons {
		if stats.declined[i] != 0 {
			n = tag(n, " declined:")
			n = tag(n, reasonText(translate.Reason(i)))
			n = line(n, "=", stats.declined[i])
		}
	}
	buffer[n] = '\n'
	nocgo.Raw(nocgo.SysWrite, stats.fd, uintptr(unsafe.Pointer(&buffer)), uintptr(n+1), 0, 0, 0)
}

// line appends a label and a number to buffer at n.
func line(n int, label string, v uint64) int {
	n = tag(n, label)
	div := uint64(1)
	for v/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		buffer[n] = byte('0' + v/div%10)
		n++
	}
	return n
}

// tag appends a text to buffer at n.
func tag(n int, s string) int {
	for i := range len(s) {
		buffer[n] = s[i]
		n++
	}
	return n
}
