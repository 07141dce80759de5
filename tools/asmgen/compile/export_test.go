package compile

// RestrictRegisters lets the allocator use few registers, until the result is called.
func RestrictRegisters(mask uint32) (restore func()) {
	old := allRegs
	allRegs &= mask
	return func() { allRegs = old }
}
