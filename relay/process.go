package relay

import "svcrelay/nocgo"

// Entries of the auxiliary vector (include/uapi/linux/auxvec.h).
const (
	atPhdr   = 3
	atPhnum  = 5
	atPagesz = 6
	atHwcap  = 16
	atSecure = 23
)

const (
	granule = 4096 // smallest page size of the architecture
	maxArgs = 1 << 20
	maxAuxv = 64
	maxKey  = 1 << 12   // the kernel's keys are below 64
	maxVar  = 128 << 10 // longest environment string; the kernel's limit is the same
)

// process is what the kernel told the program at its start.
type process struct {
	envp        uintptr
	stack       uintptr // sp at the start of the program
	phdr, phnum uintptr
	page        uintptr
	secure      bool
	hwcap       uint64  // what the processor has
	tracer      uint64  // PRoot's process number
	counted     bool    // the kernel counts the filters of a process
	alone       bool    // no filter but PRoot's looks at system calls
	known       uintptr // the granule that was last seen to be readable
}

// readable says whether [addr, addr+n) can be read. It asks the kernel without the trampoline page, which is not
// there yet, through a call that no PRoot traces (see nocgo.Readable).
func (p *process) readable(addr, n uintptr) bool {
	if addr < granule || addr+n < addr {
		return false
	}
	last := (addr + n - 1) &^ (granule - 1)
	for g := addr &^ (granule - 1); ; g += granule {
		if g != p.known {
			if nocgo.Plain(nocgo.SysRtSigprocmask, ^uintptr(0), g, 0, 8, 0, 0) != nocgo.Fail(nocgo.EINVAL) {
				return false
			}
			p.known = g
		}
		if g == last {
			return true
		}
	}
}

// start checks that the arguments of the constructor are those of main: glibc passes them, musl passes nothing, so
// that the registers hold anything. They are only believed if they fit each other and lead to an auxiliary vector.
func (p *process) start(argc, argv, envp uintptr) bool {
	argc &= 0xffffffff // a C int
	if argc > maxArgs || argv&7 != 0 || envp != argv+8*(argc+1) || !p.readable(argv-8, 8) || !p.readable(envp-8, 16) ||
		uintptr(nocgo.Load64(argv-8)) != argc || nocgo.Load64(envp-8) != 0 {
		return false
	}
	p.envp, p.stack = envp, argv-8
	at := envp
	for n := 0; ; n++ {
		if n > maxArgs || !p.readable(at, 8) {
			return false
		}
		v := nocgo.Load64(at)
		at += 8
		if v == 0 {
			break
		}
	}
	for range maxAuxv {
		if !p.readable(at, 16) {
			return false
		}
		key, v := nocgo.Load64(at), uintptr(nocgo.Load64(at+8))
		if key > maxKey {
			return false
		}
		switch key {
		case 0:
			return p.phdr != 0 && p.phdr&7 == 0 && p.phnum < 1<<16 && p.page >= granule && p.page <= 1<<20 && p.page&(p.page-1) == 0
		case atPhdr:
			p.phdr = v
		case atPhnum:
			p.phnum = v
		case atPagesz:
			p.page = v
		case atHwcap:
			p.hwcap = uint64(v)
		case atSecure:
			p.secure = v != 0
		}
		at += 16
	}
	return false
}

// searched is how far above the constructor's sp the start of the stack is looked for: what a dynamic linker's own
// frames may take.
const searched = 64 << 10

// search finds the arguments where the constructor gets none: the kernel put them at the start of the stack, above sp,
// and start knows them when it sees them.
func (p *process) search(sp uintptr) bool {
	const near = 4 << 20 // the strings lie above the vectors, and the kernel limits their size
	for at := (sp + 15) &^ 15; at < sp+searched; at += 16 {
		if !p.readable(at, 16) {
			return false
		}
		argc, first := uintptr(nocgo.Load64(at)), uintptr(nocgo.Load64(at+8))
		if argc == 0 || argc > maxArgs || first <= at || first-at > near {
			continue
		}
		if p.start(argc, at+8, at+16+8*argc) {
			return true
		}
	}
	return false
}

// length gives the length of the string at addr; ok is false where there is none of a length that makes sense.
func (p *process) length(addr uintptr) (n uintptr, ok bool) {
	for n < maxVar {
		if n == 0 || (addr+n)&(granule-1) == 0 {
			if !p.readable(addr+n, 1) {
				return 0, false
			}
		}
		if nocgo.Load8(addr+n) == 0 {
			return n, true
		}
		n++
	}
	return 0, false
}
