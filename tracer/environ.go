package tracer

import "svcrelay/nocgo"

// The variables that change hands, and the name by which the shim knows itself in a list of libraries.
const (
	preloadVar  = "LD_PRELOAD="
	guestPrefix = "SVCRELAY_GUEST_"
	guestVar    = guestPrefix + preloadVar // SVCRELAY_GUEST_LD_PRELOAD
	libraryName = "libsvcrelay-tracer.so"
)

const wordBytes = 8

// CleanEnviron edits the environment block envp (an array of addresses of NUL-terminated strings, ended by 0)
// that PRoot hands to its guest. The shim's own entries are taken out of LD_PRELOAD, the others stay; an empty
// LD_PRELOAD goes away. If SVCRELAY_GUEST_LD_PRELOAD is set, it becomes the guest's LD_PRELOAD instead of
// whatever PRoot was started with.
func CleanEnviron(envp uintptr) {
	forGuest := false
	for p := envp; nocgo.Load64(p) != 0; p += wordBytes {
		s := uintptr(nocgo.Load64(p))
		if hasPrefix(s, guestVar) && nocgo.Load8(s+uintptr(len(guestVar))) != 0 {
			forGuest = true
		}
	}
	out := envp
	for p := envp; ; p += wordBytes {
		s := uintptr(nocgo.Load64(p))
		if s == 0 {
			break
		}
		if hasPrefix(s, preloadVar) {
			value := s + uintptr(len(preloadVar))
			if forGuest || dropSelf(value) == 0 {
				continue
			}
		}
		if forGuest && hasPrefix(s, guestVar) {
			s += uintptr(len(guestPrefix))
		}
		nocgo.Store64(out, uint64(s))
		out += wordBytes
	}
	nocgo.Store64(out, 0)
}

// dropSelf removes the shim from the list of libraries at s, in place, and returns the length of what is left.
// What becomes free is filled with zeros. A list without the shim loses nothing but separators in front.
func dropSelf(s uintptr) uintptr {
	out, in := s, s
	for {
		start, end := entry(in)
		if !isSelf(start, end) {
			// Keep the separator in front, unless nothing is in front any more.
			if out == s {
				in = start
			}
			for ; in < end; in++ {
				if c := nocgo.Load8(in); in != out {
					nocgo.Store8(out, c)
				}
				out++
			}
		}
		in = end
		if nocgo.Load8(end) == 0 {
			break
		}
	}
	for z := out; z < in; z++ {
		nocgo.Store8(z, 0)
	}
	return out - s
}

// entry returns where the list entry at in begins, behind its separators, and where it ends.
func entry(in uintptr) (start, end uintptr) {
	start = in
	for isSeparator(nocgo.Load8(start)) {
		start++
	}
	end = start
	for c := nocgo.Load8(end); c != 0 && !isSeparator(c); c = nocgo.Load8(end) {
		end++
	}
	return start, end
}

// isSelf says whether the file name at [start, end) is the shim's, in whatever directory.
func isSelf(start, end uintptr) bool {
	if end-start < uintptr(len(libraryName)) {
		return false
	}
	name := end - uintptr(len(libraryName))
	return hasPrefix(name, libraryName) && (name == start || nocgo.Load8(name-1) == '/')
}

func isSeparator(c uint8) bool { return c == ':' || c == ' ' }

// hasPrefix says whether the string at s begins with prefix. It does not read behind the end of s.
func hasPrefix(s uintptr, prefix string) bool {
	for i := 0; i < len(prefix); i++ {
		if nocgo.Load8(s+uintptr(i)) != prefix[i] {
			return false
		}
	}
	return true
}
