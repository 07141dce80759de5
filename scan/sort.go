package scan

import (
	"slices"
	"strconv"
	"strings"

	"svcrelay/patcher"
)

// sort puts every site where it belongs in the report. word reads an instruction of the library's image.
func (r *Report) sort(all []patcher.Examined, where table, wanted *patcher.Numbers, word func(at uintptr) uint32) {
	bridges := map[uintptr]int{} // of each function that is called, by its address
	for _, e := range all {
		if e.Form == patcher.Bridge {
			bridges[e.Calls]++
		}
	}
	for i, e := range all {
		s := Site{Offset: uint64(e.Offset), Symbol: where.name(uint64(e.Offset))}
		matters := true
		switch e.Form {
		case patcher.Fixed, patcher.Async:
			s.Syscall = callName(e.Nr)
			if pathCalls[s.Syscall] {
				r.Path.count(e.Patched)
			}
			s.As, s.Why = "this call", r.reason(e, s.Syscall, wanted)
		case patcher.Any:
			s.Syscall = "any"
			s.As, s.Why = "any call", "it is never changed"
			r.dispatcher(s, e.Patched, r.nameAny(all, i, where, word))
		case patcher.Body:
			s.Syscall = "any"
			n := callsOf(bridges, e.Offset)
			s.Why = "whether a thread can be cancelled is decided by where it is in this function: its calls are redirected instead"
			r.dispatcher(Site{Offset: s.Offset, As: plural(n, "call", "calls") + " of its function redirected", Why: "nothing calls it that could be redirected"}, n > 0, nameBody(r.Version))
		case patcher.Bridge:
			s.Syscall = "any"
			s.As = "a call of the function that makes cancellable calls"
			matters = false // it is no svc
		default:
			s.Syscall, s.Why = "unknown", "its number was not found"
		}
		if matters {
			r.SVC++
			c := r.Calls[s.Syscall]
			c.count(e.Patched)
			r.Calls[s.Syscall] = c
		}
		if e.Patched {
			s.Why = ""
			r.Patched = append(r.Patched, s)
		} else {
			s.As = ""
			r.Unpatched = append(r.Unpatched, s)
		}
	}
}

// NoFile is why most sites stay as they are.
const NoFile = "it names no file: PRoot is not asked, or only about other things"

// reason says why a site with a number stays as it is.
func (r *Report) reason(e patcher.Examined, call string, wanted *patcher.Numbers) string {
	switch {
	case neverPatched[call] != "":
		return neverPatched[call]
	case e.Form == patcher.Async && wanted.Has(e.Nr):
		return "a thread can be cancelled in it at any moment"
	case wanted.Has(e.Nr):
		return "it is out of reach"
	case pathCalls[call]:
		return "no relay answers this call"
	}
	return NoFile
}

// dispatcher adds one to the list.
func (r *Report) dispatcher(s Site, handled bool, name string) {
	r.Dispatchers.count(handled)
	how := s.Why
	if handled {
		how = "redirected as " + s.As
		if strings.HasSuffix(s.As, "redirected") {
			how = s.As
		}
	}
	r.Dispatchers.List = append(r.Dispatchers.List, Dispatcher{Name: name, Offset: s.Offset, How: how})
}

// callsOf gives the number of redirected calls of the function whose svc is at an offset: it begins a few instructions
// before.
func callsOf(bridges map[uintptr]int, svc uintptr) int {
	n := 0
	for f, count := range bridges {
		if f < svc && svc-f <= 64 {
			n += count
		}
	}
	return n
}

// nameBody names the function through which all cancellable calls of several threads go.
func nameBody(version string) string {
	if strings.Contains(version, "musl") {
		return "__syscall_cp_asm"
	}
	return "__syscall_cancel_arch"
}

// nameAny names the function of the i-th site, which takes its number from a parameter or from memory. Where its name is
// gone, it is known by what it does: the one that chooses how to make a cancellable call has the call of the other right
// beside, and those that change the identity of all threads load the number (in glibc the signal handler comes first, as
// in its source).
func (r *Report) nameAny(all []patcher.Examined, i int, where table, word func(at uintptr) uint32) string {
	s, within := where.at(uint64(all[i].Offset))
	if within {
		return s.Name
	}
	musl := strings.Contains(r.Version, "musl")
	for _, k := range []int{i - 1, i + 1, i + 2} {
		if k >= 0 && k < len(all) && all[k].Form == patcher.Bridge {
			if musl {
				return "__syscall_cp_c"
			}
			return "__internal_syscall_cancel"
		}
	}
	if loadsNumber(all[i].Offset, word) {
		const handler, setter = "__nptl_setxid_sighandler", "__nptl_setxid"
		switch {
		case musl:
			return "do_setxid"
		case slices.ContainsFunc(r.Dispatchers.List, func(d Dispatcher) bool { return d.Name == handler }):
			return setter
		}
		return handler
	}
	return "a function without a name, after " + s.Name
}

// loadsNumber says whether x8 is loaded from memory shortly before an svc, directly or through another register.
func loadsNumber(svc uintptr, word func(at uintptr) uint32) bool {
	const window = 16
	reg := uint32(8)
	for at := svc - 4; at >= 4 && at >= svc-4*window; at -= 4 {
		w := word(at)
		switch {
		case w&0xbfc0001f == 0xb9400000|reg, w&0xffc0001f == 0xb9800000|reg, w&0xffc07c00 == 0x69400000|reg<<10: // ldr, ldrsw, ldpsw
			return true
		case w&0xffe0ffff == 0xaa0003e0|reg, w&0xffe0ffff == 0x2a0003e0|reg: // mov
			reg = w >> 16 & 31
		case w&0xfffffc1f == 0x93407c00|reg: // sxtw
			reg = w >> 5 & 31
		}
	}
	return false
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
