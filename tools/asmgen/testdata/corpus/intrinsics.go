package corpus

import (
	"math/bits"
	"unsafe"

	"svcrelay/nocgo"
)

// LoadStore reads and writes memory by address, at any alignment.
func LoadStore(p *[32]uint8, i uint8, v uint64) (a uint8, b uint16, c uint32, d uint64) {
	if p == nil {
		return
	}
	at := uintptr(unsafe.Pointer(p)) + uintptr(i&15)
	nocgo.Store64(at+8, v)
	nocgo.Store32(at+3, uint32(v>>7))
	nocgo.Store16(at+5, uint16(i)*3)
	nocgo.Store8(at, i)
	return nocgo.Load8(at + 3), nocgo.Load16(at + 2), nocgo.Load32(at + 1), nocgo.Load64(at)
}

// LoadSigned converts what it reads.
func LoadSigned(p *[16]uint8, i uint8) (int64, int64, int64) {
	if p == nil {
		return 0, 0, 0
	}
	at := uintptr(unsafe.Pointer(p)) + uintptr(i&7)
	return int64(int8(nocgo.Load8(at))), int64(int16(nocgo.Load16(at + 1))), int64(int32(nocgo.Load32(at + 2)))
}

// LoadIndexed has addresses that are sums.
func LoadIndexed(p *[64]uint8, i, j uint8) (s uint64) {
	if p == nil {
		return 0
	}
	base := uintptr(unsafe.Pointer(p))
	for k := uintptr(0); k < uintptr(i&3)+1; k++ {
		s = s*3 + nocgo.Load64(base+k*8) + uint64(nocgo.Load16(base+k<<1)) + uint64(nocgo.Load8(base+uintptr(j&31)+k))
		nocgo.Store32(base+uintptr(j&7)*4, uint32(s))
	}
	return s
}

// Pointers turns an address into a pointer.
func Pointers(p *pair) uint32 {
	if p == nil {
		return 1
	}
	q := (*pair)(nocgo.Ptr(uintptr(unsafe.Pointer(p))))
	q.x++
	return p.x + q.y
}

// Atomics32 uses every 32-bit atomic.
func Atomics32(p *uint32, old, v uint32) (uint32, uint32, bool, bool, uint32) {
	if p == nil {
		return 0, 0, false, false, 0
	}
	a := nocgo.LoadAcquire32(p)
	x := nocgo.CompareAndSwap32(p, old, v)
	y := nocgo.CompareAndSwap32(p, a, v+1)
	b := nocgo.Add32(p, v)
	nocgo.Fence()
	nocgo.StoreRelease32(p, b^5)
	return a, b, x, y, *p
}

// Atomics64 uses every 64-bit atomic.
func Atomics64(p *uint64, old, v uint64) (uint64, uint64, bool, bool, uint64) {
	if p == nil {
		return 0, 0, false, false, 0
	}
	a := nocgo.LoadAcquire64(p)
	x := nocgo.CompareAndSwap64(p, old, v)
	y := nocgo.CompareAndSwap64(p, a, v+1)
	b := nocgo.Add64(p, v)
	nocgo.Fence()
	nocgo.StoreRelease64(p, b^5)
	return a, b, x, y, *p
}

// AtomicNil finds nil before it does anything.
func AtomicNil(p *uint32, q *uint64) uint64 {
	nocgo.Add32(p, 1)
	return nocgo.Add64(q, 1)
}

// AtomicLoop is a loop around a compare-and-swap.
func AtomicLoop(p *uint32, v uint32) uint32 {
	if p == nil {
		return 0
	}
	for {
		old := nocgo.LoadAcquire32(p)
		if old&1 == 1 || nocgo.CompareAndSwap32(p, old, old^v|1) {
			return old
		}
	}
}

// CacheMaintenance has no result to see.
func CacheMaintenance(p *[64]uint64) uint64 {
	if p == nil {
		return 0
	}
	nocgo.SyncInstructions(uintptr(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	return p[0]
}

// Clock does not run backwards.
func Clock() (bool, bool) {
	a := nocgo.Counter()
	b := nocgo.Counter()
	return a <= b, nocgo.CounterHz() > 0
}

// Syscalls fail in the same way everywhere.
func Syscalls(fd int32, p *[64]uint8) (a, b, c, d uintptr, e bool) {
	if p == nil {
		return
	}
	fd |= -1 << 20
	at := uintptr(unsafe.Pointer(p))
	a = nocgo.Plain(nocgo.SysPread64, uintptr(fd), at, 8, 0, 0, 0)
	b = nocgo.Plain(9999, 1, 2, 3, 4, 5, 6)
	c = nocgo.Raw(nocgo.SysGetcwd, at, 0, 0, 0, 0, 0)
	d = nocgo.Raw(nocgo.SysFcntl, uintptr(fd), 3, 1, 2, 3, 4)
	e = nocgo.Raw(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0) == nocgo.Plain(nocgo.SysGetpid, 0, 0, 0, 0, 0, 0)
	return a, b, c, d, e && nocgo.Failed(c) && nocgo.Errno(d) == nocgo.EBADF
}

// SyscallsKeep keeps values in registers around calls of the kernel.
func SyscallsKeep(a, b, c, d uint64, n uint8) uint64 {
	for i := range uintptr(n & 3) {
		r := uint64(nocgo.Raw(9000+i, uintptr(a), uintptr(b), uintptr(c), uintptr(d), 0, 0))
		a, b = b+r, a
		r = uint64(nocgo.Plain(9000+i, uintptr(d), uintptr(c), uintptr(b), uintptr(a), 0, 0))
		c, d = d^r, c+1
	}
	return a + b*3 + c*5 + d*7
}

// CountBits uses the functions of math/bits that are instructions.
func CountBits(a uint32, b uint64) (r [8]int) {
	r[0], r[1] = bits.LeadingZeros32(a), bits.LeadingZeros64(b)
	r[2], r[3] = bits.TrailingZeros32(a), bits.TrailingZeros64(b)
	r[4], r[5] = bits.Len32(a), bits.Len64(b)
	r[6], r[7] = bits.Len(uint(b)), bits.TrailingZeros(uint(a))
	return r
}

// MoveBits rotates and reverses.
func MoveBits(a uint32, b uint64, n int8) (uint32, uint64, uint32, uint64, uint32) {
	return bits.RotateLeft32(a, int(n)), bits.RotateLeft64(b, int(n)), bits.ReverseBytes32(a), bits.ReverseBytes64(b), bits.RotateLeft32(a, 7)
}

// WideBits computes with two words.
func WideBits(a, b, c uint64) (uint64, uint64, uint64, uint64) {
	hi, lo := bits.Mul64(a, b)
	s, carry := bits.Add64(lo, c, 0)
	d, borrow := bits.Sub64(s, b, carry&1)
	return hi, s, d, borrow
}

// SlowBits uses functions of math/bits that are ordinary Go.
func SlowBits(a uint64, b uint16) (int, uint64, uint16, int) {
	return bits.OnesCount64(a), bits.Reverse64(a), bits.ReverseBytes16(b), bits.Len16(b)
}
