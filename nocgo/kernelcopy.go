package nocgo

import "unsafe"

// Copies that the kernel makes. Where memory is not there, or goes away meanwhile, they say so instead of faulting, which
// loads and stores cannot: these are for memory that somebody else may take away at any moment, be it after a probe.
//
// The memory is named by a process that has it, the caller or one that shares it: that needs no right. The kernel does
// not compare memory tags then, so pointers with something in their top byte are refused here.

// VectorSize is the size of the descriptions that the kernel gets, which are laid out where vec says, aligned to 8 bytes.
const VectorSize = 3 * 16

// KernelRead copies n bytes, at most 4,096, from src in process pid, which may be any address at all, to dst. It returns
// how many it copied, from the first on, or a negated errno where it copied none.
func KernelRead(vec, pid, dst, src, n uintptr) uintptr {
	return kernelCopy(SysProcessVMReadv, vec, pid, dst, src, n)
}

// KernelWrite copies n bytes, at most 4,096, from src to dst in process pid, which may be any address at all. It returns
// what KernelRead does.
func KernelWrite(vec, pid, dst, src, n uintptr) uintptr {
	return kernelCopy(SysProcessVMWritev, vec, pid, src, dst, n)
}

// kernelCopy describes the far side in two parts if it lies in two granules, so that all of the first is copied where the
// second cannot be.
func kernelCopy(nr, vec, pid, near, far, n uintptr) uintptr {
	if tagged(far) {
		return Fail(EFAULT)
	}
	const local, first, second, length = 0, 16, 32, 8
	part := min(n, probeGranule-far&(probeGranule-1))
	Store64(vec+local, uint64(near))
	Store64(vec+local+length, uint64(n))
	Store64(vec+first, uint64(far))
	Store64(vec+first+length, uint64(part))
	Store64(vec+second, uint64(far+part))
	Store64(vec+second+length, uint64(n-part))
	return Raw(nr, pid, vec+local, 1, vec+first, 2, 0)
}

// KernelString is CString by way of KernelRead, for the process pid. Another errno than CString's means that the kernel
// makes no such copies.
func KernelString(vec, pid uintptr, dst []byte, addr uintptr) uintptr {
	out, size := uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(len(dst))
	if size == 0 {
		return Fail(ENAMETOOLONG)
	}
	got := KernelRead(vec, pid, out, addr, size)
	if Failed(got) {
		return got
	}
	n := uintptr(0)
	for ; n+8 <= got; n += 8 {
		w := Load64(out + n)
		if (w-zeroLow)&^w&zeroHigh != 0 {
			return n + firstZero(w)
		}
	}
	for ; n < got; n++ {
		if Load8(out+n) == 0 {
			return n
		}
	}
	if got < size {
		return Fail(EFAULT)
	}
	return Fail(ENAMETOOLONG)
}
