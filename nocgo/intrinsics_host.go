//go:build !freestanding

package nocgo

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Raw issues a system call; on the host there is no tracer and no trampoline page.
func Raw(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	return HostRaw(nr, a0, a1, a2, a3, a4, a5)
}

// Plain issues a system call.
func Plain(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
	return HostPlain(nr, a0, a1, a2, a3, a4, a5)
}

// Ptr turns an address into a pointer.
func Ptr(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// Load8 reads the byte at addr.
func Load8(addr uintptr) uint8 { return *(*uint8)(Ptr(addr)) }

// Load16 reads two bytes at addr, little-endian, at any alignment.
func Load16(addr uintptr) uint16 { return *(*uint16)(Ptr(addr)) }

// Load32 reads four bytes at addr, little-endian, at any alignment.
func Load32(addr uintptr) uint32 { return *(*uint32)(Ptr(addr)) }

// Load64 reads eight bytes at addr, little-endian, at any alignment.
func Load64(addr uintptr) uint64 { return *(*uint64)(Ptr(addr)) }

// Store8 writes a byte at addr.
func Store8(addr uintptr, v uint8) { *(*uint8)(Ptr(addr)) = v }

// Store16 writes two bytes at addr.
func Store16(addr uintptr, v uint16) { *(*uint16)(Ptr(addr)) = v }

// Store32 writes four bytes at addr.
func Store32(addr uintptr, v uint32) { *(*uint32)(Ptr(addr)) = v }

// Store64 writes eight bytes at addr.
func Store64(addr uintptr, v uint64) { *(*uint64)(Ptr(addr)) = v }

// LoadAcquire32 reads *p with acquire ordering.
func LoadAcquire32(p *uint32) uint32 { return atomic.LoadUint32(p) }

// LoadAcquire64 reads *p with acquire ordering.
func LoadAcquire64(p *uint64) uint64 { return atomic.LoadUint64(p) }

// StoreRelease32 writes *p with release ordering.
func StoreRelease32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }

// StoreRelease64 writes *p with release ordering.
func StoreRelease64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// CompareAndSwap32 sets *p to new if it is old and says whether it did.
func CompareAndSwap32(p *uint32, old, new uint32) bool {
	return atomic.CompareAndSwapUint32(p, old, new)
}

// CompareAndSwap64 sets *p to new if it is old and says whether it did.
func CompareAndSwap64(p *uint64, old, new uint64) bool {
	return atomic.CompareAndSwapUint64(p, old, new)
}

// Add32 adds d to *p and returns the sum.
func Add32(p *uint32, d uint32) uint32 { return atomic.AddUint32(p, d) }

// Add64 adds d to *p and returns the sum.
func Add64(p *uint64, d uint64) uint64 { return atomic.AddUint64(p, d) }

var hostFence uint32

// Fence orders all earlier memory accesses before all later ones.
func Fence() { atomic.AddUint32(&hostFence, 1) }

// CleanData does nothing on the host.
func CleanData(addr uintptr) {}

// InvalidateInstruction does nothing on the host.
func InvalidateInstruction(addr uintptr) {}

// SyncBarrier does nothing on the host.
func SyncBarrier() {}

// InstructionBarrier does nothing on the host.
func InstructionBarrier() {}

// CacheType returns a CTR_EL0 with 64-byte lines.
func CacheType() uint64 { return 4<<16 | 4 }

// HostCounter is what Counter returns on the host; a test may replace it to move time.
var HostCounter = func() uint64 { return uint64(time.Since(hostStart)) }

var hostStart = time.Now()

// Counter returns the time since the program began, in nanoseconds.
func Counter() uint64 { return HostCounter() }

// CounterHz returns the frequency of Counter, in ticks per second.
func CounterHz() uint64 { return 1e9 }

// Symbol returns 0: nothing is linked on the host.
func Symbol(name string) uintptr { return 0 }

// WeakSymbol returns 0: nothing is linked on the host.
func WeakSymbol(name string) uintptr { return 0 }

// Call1 returns 0 without a call: there are no C functions on the host.
func Call1(fn, a0 uintptr) uintptr { return 0 }
