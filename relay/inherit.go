package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// RunKey is how the keys begin that svcrelay run makes. What the tracer's environment says besides such a key was
// derived from PRoot's own command line; a guest cannot change the environment of its tracer.
const RunKey = "run-"

// A login often begins with an empty environment (env -i, su -l), and with it the configuration is gone. The tracer's
// environment still has it, which is the one that counts: what a program's own says is only believed where it is the
// same. So a program whose environment says nothing at all takes it from there.

// words is where the strings of an inherited configuration are kept.
var (
	words [48 << 10]byte
	used  int
)

// silent says whether the environment says nothing of PRoot's view.
func (c *config) silent() bool {
	return !c.off && !c.unknown && c.root == "" && c.binds == "" && c.modes == "" && c.key == ""
}

// stops says whether a call of a kind that PRoot looks at makes this process wait for somebody. It is how a program
// that is not traced finds out for the price of three calls.
func stops() bool {
	before := waits()
	nocgo.Plain(nocgo.SysFaccessat, nocgo.AtFdcwd, 0, 0, 0, 0, 0) // no path: EFAULT
	return waits() != before
}

// waits is switches before there is a trampoline page.
func waits() uint64 {
	notCounted()
	nocgo.Plain(nocgo.SysGetrusage, nocgo.RusageThread, uintptr(unsafe.Pointer(&usage)), 0, 0, 0, 0)
	return usage[nvcsw]
}

// inherit takes the configuration from the tracer's environment, if svcrelay run made it. The trampoline page must be
// mapped. Whether it is to be believed is for attest to find out.
func inherit() bool {
	before := switches()
	nocgo.Raw(nocgo.SysFaccessat, nocgo.AtFdcwd, 0, 0, 0, 0, 0)
	if switches() != before {
		return false // no filter of ours: PRoot alone
	}
	procPath(0, "status")
	n, ok := slurp()
	if !ok {
		return false
	}
	tracer, ok := status(n, "TracerPid")
	if !ok || tracer == 0 {
		return false
	}
	procPath(tracer, "environ")
	n, ok = slurp()
	if !ok {
		return false
	}
	theirs = config{ttl: defaultTTL}
	theirs.read(n)
	if theirs.off || theirs.unknown || !hasPrefix(theirs.key, RunKey) {
		return false
	}
	used = 0
	conf.root, conf.binds, conf.modes, conf.key = keep(theirs.root), keep(theirs.binds), keep(theirs.modes), keep(theirs.key)
	conf.mode, conf.ttl, conf.api = theirs.mode, theirs.ttl, theirs.api
	conf.stats, conf.nocache = conf.stats || theirs.stats, conf.nocache || theirs.nocache
	if conf.log == "" {
		conf.log = keep(theirs.log)
	}
	return used >= 0 && conf.wanted()
}

// read takes the variables of an environment in the first n bytes of buffer.
func (c *config) read(n int) {
	for i := 0; i < n; i++ {
		start := i
		for i < n && buffer[i] != 0 {
			i++
		}
		if i > start && buffer[start] == 'P' {
			c.variable(unsafe.String(&buffer[start], i-start))
		}
	}
}

// keep copies a string of buffer, which is read into again. Where there is no room used is negative afterwards.
func keep(s string) string {
	if used < 0 || len(s) > len(words)-used {
		used = -1
		return ""
	}
	if len(s) == 0 {
		return ""
	}
	at := used
	for i := range len(s) {
		words[at+i] = s[i]
	}
	used += len(s)
	return unsafe.String(&words[at], len(s))
}
