package relay

import "svcrelay/nocgo"

// The trampoline page is where raw system calls are made from. Its address and its protocol size are known to the
// tracer's filter: an existing interface.
const (
	pageAddr = 0xffff00000
	pageSize = 4096

	// returnsAddr is where the unwind information of the library's own stubs looks for the addresses after their sites:
	// after the instructions of the page, whose address is known when that information is made.
	returnsAddr = pageAddr + 16
)

// mapTrampoline makes the page. It is false, with nothing mapped, where the address is taken or a step is refused.
func mapTrampoline() bool {
	const svc, ret = 0xd4000001, 0xd65f03c0
	a := nocgo.Plain(nocgo.SysMmap, pageAddr, pageSize, nocgo.ProtRead|nocgo.ProtWrite,
		nocgo.MapPrivate|nocgo.MapAnonymous|nocgo.MapFixedNoreplace, ^uintptr(0), 0)
	if nocgo.Failed(a) {
		return false
	}
	if a != pageAddr { // a kernel before 4.17 takes the address for a hint
		nocgo.Plain(nocgo.SysMunmap, a, pageSize, 0, 0, 0, 0)
		return false
	}
	nocgo.Store32(pageAddr, svc)
	nocgo.Store32(pageAddr+4, ret)
	nocgo.SyncInstructions(pageAddr, 8)
	if nocgo.Plain(nocgo.SysMprotect, pageAddr, pageSize, nocgo.ProtRead|nocgo.ProtExec, 0, 0, 0) != 0 {
		unmapTrampoline()
		return false
	}
	return true
}

func unmapTrampoline() { nocgo.Plain(nocgo.SysMunmap, pageAddr, pageSize, 0, 0, 0, 0) }
