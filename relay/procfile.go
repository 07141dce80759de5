package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// procPath puts "/proc/PID/name" and a NUL in path; pid 0 stands for self.
func procPath(pid uint64, name string) {
	n := put(0, "/proc/")
	if pid == 0 {
		n = put(n, "self")
	} else {
		n = putNumber(n, pid)
	}
	n = put(n, "/")
	n = put(n, name)
	if n < len(path) {
		path[n] = 0
	}
}

// put appends s to path at n and returns the end.
func put(n int, s string) int {
	for i := range len(s) {
		if n < len(path)-1 {
			path[n] = s[i]
			n++
		}
	}
	return n
}

// putNumber is put for a number.
func putNumber(n int, v uint64) int {
	div := uint64(1)
	for v/div >= 10 {
		div *= 10
	}
	for ; div > 0; div /= 10 {
		if n < len(path)-1 {
			path[n] = byte('0' + v/div%10)
			n++
		}
	}
	return n
}

// slurp reads the file that path names into buffer, with raw system calls. ok is false where it cannot be read or
// does not fit.
func slurp() (n int, ok bool) {
	fd := nocgo.Raw(nocgo.SysOpenat, nocgo.AtFdcwd, uintptr(unsafe.Pointer(&path)), nocgo.OCloexec, 0, 0, 0)
	if nocgo.Failed(fd) {
		return 0, false
	}
	for n < len(buffer) {
		got := nocgo.Raw(nocgo.SysRead, fd, uintptr(unsafe.Pointer(&buffer))+uintptr(n), uintptr(len(buffer)-n), 0, 0, 0)
		if nocgo.Failed(got) {
			break
		}
		if got == 0 {
			ok = true
			break
		}
		n += int(got)
	}
	nocgo.Raw(nocgo.SysClose, fd, 0, 0, 0, 0, 0)
	return n, ok
}

// status finds the number after "name:" at the start of a line in the first n bytes of buffer.
func status(n int, name string) (v uint64, ok bool) {
	for i := 0; i < n; i++ {
		if i+len(name) < n && buffer[i+len(name)] == ':' && matches(i, name) {
			return decimal(i+len(name)+1, n)
		}
		for i < n && buffer[i] != '\n' {
			i++
		}
	}
	return 0, false
}

// matches says whether buffer continues with name at i. The caller has checked that it is long enough.
func matches(i int, name string) bool {
	for k := range len(name) {
		if buffer[i+k] != name[k] {
			return false
		}
	}
	return true
}

// decimal reads the number at i, after blanks.
func decimal(i, n int) (v uint64, ok bool) {
	for i < n && (buffer[i] == ' ' || buffer[i] == '\t') {
		i++
	}
	for ; i < n && buffer[i] >= '0' && buffer[i] <= '9' && v < 1<<32; i++ {
		v, ok = v*10+uint64(buffer[i]-'0'), true
	}
	return v, ok
}
