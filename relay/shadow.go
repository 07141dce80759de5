package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// The processor may keep a stack of return addresses of its own (GCS) and compare every return with it. Relays keep it in
// order, but exceptions thrown by signal handlers would not get past them: libgcc compares it, too, with the frames it
// unwinds. So a program that is watched in this way is left alone.
const (
	hwcapGCS        = 1 << 32
	getShadowStack  = 74 // PR_GET_SHADOW_STACK_STATUS
	shadowStackOn   = 1
	shadowStackSize = 8 // of the answer, in bytes
)

// shadowStack is where the kernel puts the state of the thread's second stack.
var shadowStack [shadowStackSize / 8]uint64

// shadowed says whether there is such a stack. The C library turns it on before constructors run, or not at all. Without
// a processor that has it, this asks nobody.
func shadowed(p *process) bool {
	if p.hwcap&hwcapGCS == 0 {
		return false
	}
	at := uintptr(unsafe.Pointer(&shadowStack))
	return nocgo.Plain(nocgo.SysPrctl, getShadowStack, at, 0, 0, 0, 0) == 0 && shadowStack[0]&shadowStackOn != 0
}
