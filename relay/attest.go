package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// attest proves that this process is traced by the PRoot that the configuration describes, and that raw system
// calls do not reach it. The trampoline page must be mapped.
func attest() bool {
	before := switches()
	procPath(0, "status")
	n, ok := slurp()
	if !ok {
		return false
	}
	tracer, ok := status(n, "TracerPid")
	if !ok || tracer == 0 {
		return false
	}
	proc.tracer = tracer
	if threads, ok := status(n, "Threads"); !ok || threads != 1 {
		return false
	}
	filters, counted := status(n, "Seccomp_filters") // since Linux 5.9
	proc.counted, proc.alone = counted, counted && filters == 1
	if counted && filters != 1 { // with one, the tracer has none: filters are inherited
		procPath(tracer, "status")
		n, ok := slurp()
		if !ok {
			return false
		}
		theirs, ok := status(n, "Seccomp_filters")
		if !ok || filters != theirs+1 {
			return false // a filter besides PRoot's
		}
	}
	procPath(tracer, "environ")
	n, ok = slurp()
	if !ok || !sameView(n, tracer) || !quiet(before) && !quiet(switches()) && !quiet(switches()) {
		return false
	}
	// What launcher and guest agree on is still not what PRoot was told; and a count of waits that this one does not change
	// has proved nothing.
	before = switches()
	return alike(conf.root, "/") && switches() != before
}

// sameView compares the tracer's environment, the first n bytes of buffer, with the configuration. The tracer's
// must contain the key, and everything it says of its view of the file system must be as it is here. Unless it comes
// from svcrelay run, PRoot is asked as well. If it says that nothing is to be answered, a guest cannot undo that by
// unsetting variables.
func sameView(n int, tracer uint64) bool {
	key := false
	theirs = config{}
	for i := 0; i < n; i++ {
		start := i
		for i < n && buffer[i] != 0 {
			i++
		}
		if i == start || buffer[start] != 'P' {
			continue
		}
		s := unsafe.String(&buffer[start], i-start)
		if v, ok := valueOf(s, "PROOT_FASTPATH="); ok {
			key = v == conf.key
		}
		if v, ok := valueOf(s, "PROOT_NO_SECCOMP="); ok && v != "" {
			return false
		}
		theirs.variable(s)
	}
	if !key || theirs.off || theirs.unknown {
		return false
	}
	if theirs.root != "" || theirs.binds != "" || theirs.modes != "" {
		if theirs.root != conf.root || theirs.binds != conf.binds || theirs.modes != conf.modes {
			return false
		}
		if theirs.api != conf.api {
			conf.api = 0 // the launcher knows what it runs on
		}
		if hasPrefix(conf.key, RunKey) {
			conf.exact = true
			return true
		}
	}
	return ask(tracer)
}

func valueOf(s, name string) (value string, ok bool) {
	if !hasPrefix(s, name) {
		return "", false
	}
	return s[len(name):], true
}

// quiet proves that raw calls are not traced. A traced call stops the caller and wakes the tracer: a voluntary switch
// each. Without any since before, neither a filter without our rule nor a tracer that stops at every call is there. A
// switch for another reason (a file system that had to wait) is not held against the tracer: ask again.
func quiet(before uint64) bool {
	root := "/\x00"
	name := uintptr(unsafe.Pointer(unsafe.StringData(root)))
	fd := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, name, nocgo.OPath|nocgo.OCloexec, 0, 0, 0)
	if nocgo.Failed(fd) {
		return false
	}
	nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, name, uintptr(unsafe.Pointer(&buffer)), 0, 0, 0)
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
	return switches() == before
}
