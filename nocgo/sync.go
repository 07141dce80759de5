package nocgo

// SyncInstructions makes instructions just written to [addr, addr+n) visible to the instruction fetch of
// every core (Arm ARM B2.4.4): clean the data cache, then invalidate the instruction cache, line by line.
func SyncInstructions(addr, n uintptr) {
	ctr := CacheType()
	dline := uintptr(4) << (uint(ctr>>16) & 15)
	iline := uintptr(4) << (uint(ctr) & 15)
	end := addr + n
	for a := addr &^ (dline - 1); a < end; a += dline {
		CleanData(a)
	}
	SyncBarrier()
	for a := addr &^ (iline - 1); a < end; a += iline {
		InvalidateInstruction(a)
	}
	SyncBarrier()
	InstructionBarrier()
}
