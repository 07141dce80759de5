package translate

import "svcrelay/nocgo"

// Calls that some PRoots do not know. Where PRoot does not stop at one, the kernel answers it with the guest's own
// path, and nothing is to be gained here. Where PRoot stops at it, its rules are those of the older call.
const (
	stopsUnknown = iota
	stopsNot
	stopsThere
)

// access2 answers faccessat2 where PRoot stops at it (otherwise Unstopped). PRoot follows links whatever the flags say.
//
// It proves that the final component is no link. Declined are modes and flags that the kernel refuses (Flags), an empty path
// without a descriptor (Empty), and everything where Android's policy may forbid the call, or PRoot fakes an identity or makes hard
// links of symbolic ones (Number).
func (v *View) access2(s *Scratch, c *Call) (uintptr, Reason) {
	const eaccess = 0x200 // AT_EACCESS
	mode, flags := uintptr(uint32(c.Arg[2])), uintptr(uint32(c.Arg[3]))
	// A policy like Android's forbids the call, and what PRoot makes of that is its own business.
	if nocgo.LoadAcquire32(&v.how) == 0 {
		return 0, Number
	}
	if !v.stopsAt(s, nocgo.SysFaccessat2, &v.stopsAccess) {
		return 0, Unstopped
	}
	if v.modes&(Identity|HardLinks) != 0 {
		return 0, Number
	}
	if mode&^7 != 0 || flags&^(nocgo.AtSymlinkNofollow|nocgo.AtEmptyPath|eaccess) != 0 {
		return 0, Flags
	}
	errno, why := v.begin(s, c.Arg[0], c.Arg[1])
	if errno != 0 || why != Answered {
		return outcome(errno, why)
	}
	if s.empty {
		if flags&nocgo.AtEmptyPath != 0 && int32(c.Arg[0]) < 0 {
			return 0, Empty
		}
	} else {
		if errno, why = v.chase(s); errno != 0 || why != Answered {
			return outcome(errno, why)
		}
		v.seal(s)
	}
	return v.priority(s, nocgo.Raw(nocgo.SysFaccessat2, s.fd, s.call, mode, flags, 0, 0))
}

// open2 answers openat2 where PRoot stops at it: it makes an openat of it, with the flags and the mode of as much of the
// structure as it knows, and what says how to resolve the path is dropped.
//
// It proves and declines what open does. Declined are besides: structures that are too short (Flags) or cannot be read (Memory),
// everything where PRoot fakes an identity or makes hard links of symbolic ones (Number). Where PRoot does not stop: Unstopped.
func (v *View) open2(s *Scratch, c *Call) (uintptr, Reason) {
	const size = 24 // of struct open_how, as PRoot knows it
	if !v.stopsAt(s, nocgo.SysOpenat2, &v.stopsOpen) {
		return 0, Unstopped
	}
	n, at := c.Arg[3], s.statAddr()
	known := n >= size && v.fetch(s, s.hostAddr(), at, c.Arg[2], size, false)
	flags, mode := uintptr(nocgo.Load64(at)), uintptr(nocgo.Load64(at+8))
	errno, why := v.begin(s, c.Arg[0], c.Arg[1]) // once: another thread may write another path there
	if v.leavesAuxv(s) {
		return 0, Proc
	}
	if v.modes&(Identity|HardLinks) != 0 {
		return 0, Number
	}
	if n < size {
		return 0, Flags
	}
	if !known {
		return 0, Memory
	}
	return v.openBegun(s, flags, mode, errno, why)
}

// stopsAt finds out, once, whether PRoot stops at a call: one that must fail at once, and has nothing to wait for, is
// made twice. A stop is a voluntary switch to the tracer.
func (v *View) stopsAt(s *Scratch, nr uintptr, state *uint32) bool {
	known := nocgo.LoadAcquire32(state)
	if known == stopsUnknown {
		known = stopsThere
		for range 2 {
			before := v.switches(s)
			path, how := s.statAddr(), s.statAddr()+8
			for i := uintptr(0); i < 32; i += 8 {
				nocgo.Store64(path+i, 0)
			}
			size := uintptr(0)
			switch nr {
			case nocgo.SysOpenat2:
				size = 24
			case nocgo.SysFaccessat2:
				how = 0
			}
			nocgo.Plain(nr, ^uintptr(0), path, how, size, 0, 0) // for socket no family
			if v.switches(s) == before {
				known = stopsNot
			}
		}
		nocgo.StoreRelease32(state, known)
	}
	return known == stopsThere
}

// switches gives the number of voluntary context switches of the thread.
func (v *View) switches(s *Scratch) uint64 {
	const voluntary = 16 * 8 // ru_nvcsw in struct rusage
	if nocgo.Failed(nocgo.Raw(nocgo.SysGetrusage, nocgo.RusageThread, s.restAddr(), 0, 0, 0, 0)) {
		return 0
	}
	return nocgo.Load64(s.restAddr() + voluntary)
}

// uname answers uname: without --kernel-release no PRoot for arm64 changes what the kernel says. With it all is declined (Number).
func (v *View) uname(c *Call) (uintptr, Reason) {
	if v.modes&Release != 0 {
		return 0, Number
	}
	return v.straight(c), Answered
}
