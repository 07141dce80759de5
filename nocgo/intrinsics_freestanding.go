//go:build freestanding

package nocgo

import "unsafe"

// The functions below are intrinsics: asmgen lowers each call to the instructions named in its comment.

// Raw issues a system call from the trampoline page, where the tracer's filter lets it through. It returns
// what the kernel left in x0: a result, or a negated errno (see Failed).
//
//asmgen:intrinsic
func Raw(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr

// Plain issues a system call from here, so that the tracer sees it like any call of the guest. It returns
// what is left in x0.
//
//asmgen:intrinsic
func Plain(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr

// Ptr turns an address into a pointer. The compiled pointer is not checked for nil.
//
//asmgen:intrinsic
func Ptr(addr uintptr) unsafe.Pointer

// Load8 reads the byte at addr (LDRB).
//
//asmgen:intrinsic
func Load8(addr uintptr) uint8

// Load16 reads two bytes at addr, little-endian, at any alignment (LDRH).
//
//asmgen:intrinsic
func Load16(addr uintptr) uint16

// Load32 reads four bytes at addr, little-endian, at any alignment (LDR).
//
//asmgen:intrinsic
func Load32(addr uintptr) uint32

// Load64 reads eight bytes at addr, little-endian, at any alignment (LDR).
//
//asmgen:intrinsic
func Load64(addr uintptr) uint64

// Store8 writes a byte at addr (STRB).
//
//asmgen:intrinsic
func Store8(addr uintptr, v uint8)

// Store16 writes two bytes at addr (STRH).
//
//asmgen:intrinsic
func Store16(addr uintptr, v uint16)

// Store32 writes four bytes at addr (STR).
//
//asmgen:intrinsic
func Store32(addr uintptr, v uint32)

// Store64 writes eight bytes at addr (STR).
//
//asmgen:intrinsic
func Store64(addr uintptr, v uint64)

// LoadAcquire32 reads *p with acquire ordering (LDAR).
//
//asmgen:intrinsic
func LoadAcquire32(p *uint32) uint32

// LoadAcquire64 reads *p with acquire ordering (LDAR).
//
//asmgen:intrinsic
func LoadAcquire64(p *uint64) uint64

// StoreRelease32 writes *p with release ordering (STLR).
//
//asmgen:intrinsic
func StoreRelease32(p *uint32, v uint32)

// StoreRelease64 writes *p with release ordering (STLR).
//
//asmgen:intrinsic
func StoreRelease64(p *uint64, v uint64)

// CompareAndSwap32 sets *p to new if it is old and says whether it did (LDAXR, STLXR).
//
//asmgen:intrinsic
func CompareAndSwap32(p *uint32, old, new uint32) bool

// CompareAndSwap64 sets *p to new if it is old and says whether it did (LDAXR, STLXR).
//
//asmgen:intrinsic
func CompareAndSwap64(p *uint64, old, new uint64) bool

// Add32 adds d to *p and returns the sum (LDAXR, STLXR).
//
//asmgen:intrinsic
func Add32(p *uint32, d uint32) uint32

// Add64 adds d to *p and returns the sum (LDAXR, STLXR).
//
//asmgen:intrinsic
func Add64(p *uint64, d uint64) uint64

// Fence orders all earlier memory accesses before all later ones (DMB ISH).
//
//asmgen:intrinsic
func Fence()

// CleanData cleans the data cache line of addr to the point of unification (DC CVAU).
//
//asmgen:intrinsic
func CleanData(addr uintptr)

// InvalidateInstruction invalidates the instruction cache line of addr (IC IVAU).
//
//asmgen:intrinsic
func InvalidateInstruction(addr uintptr)

// SyncBarrier waits for all earlier memory accesses and cache maintenance (DSB ISH).
//
//asmgen:intrinsic
func SyncBarrier()

// InstructionBarrier refetches what follows (ISB).
//
//asmgen:intrinsic
func InstructionBarrier()

// CacheType returns CTR_EL0 (Arm ARM D24.2.35): the line sizes that SyncInstructions steps by.
//
//asmgen:intrinsic
func CacheType() uint64

// Counter returns the virtual counter CNTVCT_EL0, in ticks of CounterHz.
//
//asmgen:intrinsic
func Counter() uint64

// CounterHz returns the frequency CNTFRQ_EL0 of the virtual counter, in ticks per second.
//
//asmgen:intrinsic
func CounterHz() uint64

// Symbol returns the run-time address of a symbol of the library itself, such as hand-laid code or a name
// from the linker script. The name must be a constant.
//
//asmgen:intrinsic
func Symbol(name string) uintptr

// WeakSymbol returns the address of a symbol of another library, or 0 where none defines it. The name must
// be a constant.
//
//asmgen:intrinsic
func WeakSymbol(name string) uintptr

// Call1 calls a C function with one integer argument and returns its integer result (AAPCS64).
//
//asmgen:intrinsic
func Call1(fn, a0 uintptr) uintptr
