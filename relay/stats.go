package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
	"svcrelay/translate"
)

// counters are what the statistics of one process need.
type counters struct {
	on      bool // figures are wanted
	logging bool // a line per declined call is wanted
	fd, log uintptr
	page    uintptr // the tallies
}

// tallies are the figures of one process, on memory that a forked child gets empty: it is no copy of its parent.
type tallies struct {
	busy    uint32 // a line is being written
	said    uint32 // a line has been written
	errors  uint64 // failed checks in compiled code
	last    uint64 // the code of the last one
	lost    uint64 // calls for which there was no room below
	numbers [maxTallies]tally
}

// tally counts the calls of one number with one outcome.
type tally struct {
	key uint32 // 0: free; else number<<8 + Reason + 1<<31
	n   uint64
}

const (
	maxTallies  = 600
	tallyTaken  = 1 << 31
	talliesSize = (unsafe.Sizeof(tallies{}) + 0xffff) &^ 0xffff
)

// A descriptor of the library's own is moved to highFd or above.
const (
	dupCloexec = 1030 // F_DUPFD_CLOEXEC
	highFd     = 200
)

// begin keeps a descriptor for the line at exit: programs close standard error before their destructors run.
func (c *counters) begin() {
	if conf.stats {
		const wipeOnFork = 18 // MADV_WIPEONFORK, since Linux 4.14; without it a child's figures begin with its parent's
		c.page = nocgo.Raw(nocgo.SysMmap, 0, talliesSize, nocgo.ProtRead|nocgo.ProtWrite, nocgo.MapPrivate|nocgo.MapAnonymous, ^uintptr(0), 0)
		if !nocgo.Failed(c.page) {
			nocgo.Raw(nocgo.SysMadvise, c.page, talliesSize, wipeOnFork, 0, 0, 0)
			c.fd = nocgo.Raw(nocgo.SysFcntl, 2, dupCloexec, highFd, 0, 0, 0)
			c.on = !nocgo.Failed(c.fd)
		}
	}
	c.openLog()
}

func (c *counters) tallies() *tallies { return (*tallies)(nocgo.Ptr(c.page)) }

// passed stands in the place of a Reason for a call that PRoot was stopped for, although it was not declined: it was
// made on the program's behalf.
const passed = 0xff

// waited gives the number of times that this thread has waited for anybody: PRoot, where nothing else can keep it
// waiting. s is not in use.
func waited(s *translate.Scratch) uint64 {
	const waits = 16 // ru_nvcsw in struct rusage, in words
	u := (*[18]uint64)(unsafe.Pointer(s))
	if nocgo.Raw(nocgo.SysGetrusage, nocgo.RusageThread, uintptr(unsafe.Pointer(u)), 0, 0, 0, 0) != 0 {
		return 0
	}
	return u[waits]
}

// count adds one call: answered, if there is no reason why not and there was no stop.
func (c *counters) count(nr uintptr, why translate.Reason, stopped bool) {
	if why == 0 && stopped {
		why = passed
	}
	t := c.tallies()
	key := tallyTaken | uint32(nr&0x7fffff)<<8 | uint32(why)
	at := (uint32(nr)*31 + uint32(why)*7) % maxTallies
	for range 16 {
		e := &t.numbers[at]
		if have := nocgo.LoadAcquire32(&e.key); have == key || have == 0 && (nocgo.CompareAndSwap32(&e.key, 0, key) || nocgo.LoadAcquire32(&e.key) == key) {
			nocgo.Add64(&e.n, 1)
			return
		}
		at = (at + 1) % maxTallies
	}
	nocgo.Add64(&t.lost, 1)
}

// failed notes a failed check.
func (c *counters) failed(code uintptr) {
	if !c.on {
		return
	}
	t := c.tallies()
	nocgo.Add64(&t.errors, 1)
	nocgo.StoreRelease64(&t.last, uint64(code))
}

// leaves says whether a call ends the program: then there is no destructor, or it has run already.
func leaves(nr uintptr) bool {
	return nr == nocgo.SysExitGroup || nr == nocgo.SysExecve || nr == nocgo.SysExecveat
}

// finish writes the line of figures. The hand-laid destructor calls it, and dispatch before a call that leaves. A second
// line of a process has only what was counted since, and is left out if that is nothing.
//
//asmgen:entry svcrelay_finish
func finish() {
	if live == 0 || !stats.on {
		return
	}
	t := stats.tallies()
	if !nocgo.CompareAndSwap32(&t.busy, 0, 1) {
		return
	}
	answered, some := t.sum()
	if some || t.said == 0 {
		t.said = 1
		n := line(0, "svcrelay: pid=", uint64(nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)))
		n = line(n, " answered=", answered)
		n = line(n, " errors=", take(&t.errors))
		n = line(n, " last=", t.last)
		n = line(n, " libc=", uint64(plan.Patched(patcher.Libc)))
		n = line(n, " ld.so=", uint64(plan.Patched(patcher.Loader)))
		n = line(n, " of=", uint64(plan.Seen))
		if plan.Unreachable != 0 {
			n = line(n, " unreachable=", uint64(plan.Unreachable))
		}
		n = line(n, " scanned=", uint64(plan.Scanned))
		n = line(n, "/", uint64(plan.Libraries))
		if lost := take(&t.lost); lost != 0 {
			n = line(n, " uncounted=", lost)
		}
		n = t.write(n)
		buffer[n] = '\n'
		nocgo.Raw(nocgo.SysWrite, stats.fd, uintptr(unsafe.Pointer(&buffer)), uintptr(n+1), 0, 0, 0)
	}
	nocgo.StoreRelease32(&t.busy, 0)
}

// sum gives the number of answered calls, and whether there is anything to tell.
func (t *tallies) sum() (answered uint64, some bool) {
	for i := range t.numbers {
		e := &t.numbers[i]
		if n := nocgo.LoadAcquire64(&e.n); n != 0 {
			some = true
			if e.key&0xff == 0 {
				answered += n
			}
		}
	}
	return answered, some || t.errors != 0
}

// write appends the figures of each system call to buffer, and begins to count from 0 again.
func (t *tallies) write(n int) int {
	for i := range t.numbers {
		e := &t.numbers[i]
		nr, why := uint64(e.key&^tallyTaken>>8), translate.Reason(e.key&0xff)
		v := take(&e.n)
		switch {
		case v == 0:
			continue
		case why == 0:
			n = line(n, " answered:", nr)
		case why == passed:
			n = line(n, " passed:", nr)
		default:
			n = line(n, " declined:", nr)
			n = tag(n, "/")
			from := n
			n = tag(n, reasonText(why))
			for ; from < n; from++ {
				if buffer[from] == ' ' {
					buffer[from] = '-' // words of the line have no spaces
				}
			}
		}
		n = line(n, "=", v)
	}
	return n
}

// take makes a counter 0 and returns what it was.
func take(p *uint64) uint64 {
	for {
		v := nocgo.LoadAcquire64(p)
		if nocgo.CompareAndSwap64(p, v, 0) {
			return v
		}
	}
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
