package relay

import (
	"svcrelay/nocgo"
	"svcrelay/patcher"
)

// android15 is the first release whose policy for apps lets clone3 pass.
const android15 = 35

// absent says whether a system call does not exist for apps of an Android release (an SDK number, 0 if not known):
// the policy turns it into a signal, which PRoot turns into ENOSYS. Libraries that get this answer use an older call.
func absent(api uint64, nr uintptr) bool {
	switch nr {
	case nocgo.SysFaccessat2:
		return api != 0
	case nocgo.SysClone3:
		return api != 0 && api < android15
	}
	return false
}

// addAbsent adds the calls that absent is about to those that are looked at. Where they exist they are none of the
// relay's business, and clone3 must not come near it.
func addAbsent(n *patcher.Numbers, api uint64) {
	for _, nr := range [...]uintptr{nocgo.SysFaccessat2, nocgo.SysClone3} {
		if absent(api, nr) {
			n.Add(nr)
		}
	}
}

// absentEffects does for these what leaveEffects does: they have none.
func absentEffects(n *patcher.Numbers, api uint64) {
	for _, nr := range [...]uintptr{nocgo.SysFaccessat2, nocgo.SysClone3} {
		if absent(api, nr) {
			n.Remove(nr)
		}
	}
}
