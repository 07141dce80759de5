package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/translate"
)

// logMax is the length of the longest line of the log.
const logMax = 128

// openLog opens the file that PROOT_FP_LOG names in the guest. It stays open, out of the way of the program's own
// descriptors.
func (c *counters) openLog() {
	const flags = 1 | nocgo.OCreat | 0x400 | nocgo.OCloexec // O_WRONLY, O_APPEND
	if conf.log == "" || !lay(askHost, conf.log) {
		return
	}
	fd := nocgo.Plain(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(&buffer)), flags, 0o666, 0, 0)
	if nocgo.Failed(fd) {
		return
	}
	c.log = nocgo.Raw(nocgo.SysFcntl, fd, dupCloexec, highFd, 0, 0, 0)
	c.logging = !nocgo.Failed(c.log)
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
}

// note writes one line about a declined call: process, number, reason. s is the dead scratch area of the call.
func (c *counters) note(s *translate.Scratch, nr uintptr, why translate.Reason) {
	b := (*[logMax]byte)(unsafe.Pointer(s))
	n := logText(b, 0, "pid ")
	n = logNumber(b, n, uint64(nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)))
	n = logText(b, n, " syscall ")
	n = logNumber(b, n, uint64(nr))
	n = logText(b, n, " declined: ")
	n = logText(b, n, reasonText(why))
	n = logText(b, n, "\n")
	nocgo.Raw(nocgo.SysWrite, c.log, uintptr(unsafe.Pointer(b)), uintptr(n), 0, 0, 0)
}

func logText(b *[logMax]byte, n int, s string) int {
	for i := range len(s) {
		if n < logMax {
			b[n] = s[i]
			n++
		}
	}
	return n
}

func logNumber(b *[logMax]byte, n int, v uint64) int {
	div := uint64(1)
	for v/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		if n < logMax {
			b[n] = byte('0' + v/div%10)
			n++
		}
	}
	return n
}

// reasonText is translate's Reason.String without a table, whose addresses the dynamic linker would have to relocate.
func reasonText(why translate.Reason) string {
	switch why {
	case translate.Number:
		return "number"
	case translate.Withdrawn:
		return "withdrawn"
	case translate.Flags:
		return "flags"
	case translate.Memory:
		return "memory"
	case translate.TooLong:
		return "too long"
	case translate.Links:
		return "links"
	case translate.Proc:
		return "proc"
	case translate.Hidden:
		return "hidden"
	case translate.Denied:
		return "denied"
	case translate.Descriptor:
		return "descriptor"
	case translate.Directory:
		return "directory"
	case translate.Outside:
		return "outside"
	case translate.Empty:
		return "empty"
	case translate.Changed:
		return "changed"
	case translate.Effect:
		return "effect"
	case translate.Waits:
		return "waits"
	case translate.Rights:
		return "rights"
	case translate.Owner:
		return "owner"
	case translate.Twin:
		return "twin"
	case translate.Differs:
		return "differs"
	case translate.Address:
		return "address"
	case translate.Unstopped:
		return "unstopped"
	}
	return "other"
}
