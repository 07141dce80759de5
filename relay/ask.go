package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/translate"
)

// Where buffer holds what ask compares.
const (
	askHost  = 0
	askGuest = 8 << 10
	askStat  = 16 << 10
	askOther = askStat + 1<<10
	askEnd   = askOther + 1<<10
	askMax   = 4096 // longest path, with its NUL
)

// ask verifies a configuration that somebody made who may not know how PRoot was started: the rootfs and every binding
// must be, to PRoot, the very directory or file that they are on the host. The tracer's command line must not name a
// mode that changes answers, and no more bindings than are configured.
func ask(tracer uint64) bool {
	procPath(tracer, "cmdline")
	n, ok := slurp()
	if !ok {
		return false
	}
	binds, modes, ok := options(n)
	if !ok || modes != conf.mode&^(translate.Upstream|translate.Termux) {
		return false
	}
	conf.mode = modes // the line of descent is hearsay
	if !alike(conf.root, "/") {
		return false
	}
	list := conf.binds
	for len(list) > 0 {
		end := index(list, '|')
		if end < 0 {
			end = len(list)
		}
		item := list[:end]
		list = list[min(end+1, len(list)):]
		if item == "" {
			continue
		}
		binds--
		host, guest := item, item
		if colon := index(item, ':'); colon >= 0 {
			host, guest = item[:colon], item[colon+1:]
		}
		if !alike(host, guest) {
			return false
		}
	}
	return binds == 0
}

// options reads a command line of n bytes in buffer: how many bindings there are, and which modes. It is false where
// there is an option that is not known.
func options(n int) (binds int, modes translate.Modes, ok bool) {
	i := next(0, n) // the command itself
	for i < n {
		end := next(i, n)
		s := unsafe.String(&buffer[i], end-i-1)
		i = end
		if len(s) < 2 || s[0] != '-' {
			break // the guest's command
		}
		attached := index(s, '=') >= 0
		if eq := index(s, '='); eq >= 0 {
			s = s[:eq]
		}
		value := false
		switch s {
		case "-b", "--bind", "-m", "--mount":
			value = true
			binds++
		default:
			m, wants, known := optionMode(s)
			if !known {
				return 0, 0, false
			}
			modes |= m
			value = wants
		}
		if value && !attached {
			i = next(i, n)
		}
	}
	return binds, modes, true
}

// next gives the start of the argument after the one at i.
func next(i, n int) int {
	for i < n && buffer[i] != 0 {
		i++
	}
	return min(i+1, n)
}

// alike says whether the guest path is, to PRoot, what the host path is to the kernel. PRoot drops a binding whose
// host path does not exist.
func alike(host, guest string) bool {
	if !lay(askHost, host) || !lay(askGuest, guest) {
		return false
	}
	base := uintptr(unsafe.Pointer(&buffer))
	r := nocgo.Raw(nocgo.SysNewfstatat, nocgo.AtFdcwd, base+askHost, base+askStat, 0, 0, 0)
	if nocgo.Failed(r) {
		return nocgo.Errno(r) == nocgo.ENOENT
	}
	if nocgo.Plain(nocgo.SysNewfstatat, nocgo.AtFdcwd, base+askGuest, base+askOther, 0, 0, 0) != 0 {
		return false
	}
	return nocgo.Load64(base+askStat) == nocgo.Load64(base+askOther) &&
		nocgo.Load64(base+askStat+8) == nocgo.Load64(base+askOther+8)
}

// lay puts s and a NUL at a place in buffer.
func lay(at int, s string) bool {
	if len(s) == 0 || s[0] != '/' || len(s) >= askMax {
		return false
	}
	for i := range len(s) {
		buffer[at+i] = s[i]
	}
	buffer[at+len(s)] = 0
	return true
}
