package asm

// CFIKind is the kind of a call frame instruction.
type CFIKind uint8

// The call frame instructions. Register numbers are DWARF's: 0-30 for X0-X30, 31 for SP.
const (
	CFIDefCfa CFIKind = iota
	CFIDefCfaRegister
	CFIDefCfaOffset
	CFIOffset
	CFIRestore
	CFISameValue
	CFIUndefined
	CFIRegister
	CFIRememberState
	CFIRestoreState
	CFIExpression
	CFIValExpression
	CFIDefCfaExpression
	CFIEscape
)

// CFIOp is one call frame instruction in effect from the instruction at Off on.
type CFIOp struct {
	Off    uint32
	Kind   CFIKind
	Reg    uint8
	Reg2   uint8
	Offset int64
	Bytes  []byte
}

// Frame is the call frame information of one function.
type Frame struct {
	// None: the function has no entry in .eh_frame.
	None bool
	// Signal marks a frame from which the saved pc is itself the interrupted
	// instruction (augmentation "S").
	Signal bool
	// ReturnColumn is the DWARF register that holds the return address (30 unless changed).
	ReturnColumn uint8
	Ops          []CFIOp
}

func (b *Builder) cfiOp(op CFIOp) { b.cfi = append(b.cfi, cfiAt{len(b.items), op}) }

// dw is the DWARF number of a register.
func dw(r Reg) uint8 { return uint8(r.num()) }

// NoFrameInfo leaves the function out of .eh_frame.
func (b *Builder) NoFrameInfo() { b.frame.None = true }

// SignalFrame marks the function as a signal frame.
func (b *Builder) SignalFrame() { b.frame.Signal = true }

// ReturnColumn sets the DWARF register number that stands for the return address.
func (b *Builder) ReturnColumn(col uint8) { b.frame.ReturnColumn = col }

// DefCfa says that the canonical frame address is reg + off from here on.
func (b *Builder) DefCfa(reg Reg, off int64) {
	b.cfiOp(CFIOp{Kind: CFIDefCfa, Reg: dw(reg), Offset: off})
}

// DefCfaRegister changes the register of the frame address and keeps the offset.
func (b *Builder) DefCfaRegister(reg Reg) { b.cfiOp(CFIOp{Kind: CFIDefCfaRegister, Reg: dw(reg)}) }

// DefCfaOffset changes the offset of the frame address and keeps the register.
func (b *Builder) DefCfaOffset(off int64) { b.cfiOp(CFIOp{Kind: CFIDefCfaOffset, Offset: off}) }

// Offset says that the caller's reg is saved at frame address + off.
func (b *Builder) Offset(reg Reg, off int64) {
	b.cfiOp(CFIOp{Kind: CFIOffset, Reg: dw(reg), Offset: off})
}

// OffsetColumn is Offset for any DWARF register number (64-95 are V0-V31).
func (b *Builder) OffsetColumn(col uint8, off int64) {
	b.cfiOp(CFIOp{Kind: CFIOffset, Reg: col, Offset: off})
}

// Restore says that reg is again as at entry.
func (b *Builder) Restore(reg Reg) { b.cfiOp(CFIOp{Kind: CFIRestore, Reg: dw(reg)}) }

// SameValue says that reg holds the caller's value.
func (b *Builder) SameValue(reg Reg) { b.cfiOp(CFIOp{Kind: CFISameValue, Reg: dw(reg)}) }

// Undefined says that the caller's reg cannot be recovered; of the return column it ends the backtrace.
func (b *Builder) Undefined(reg Reg) { b.cfiOp(CFIOp{Kind: CFIUndefined, Reg: dw(reg)}) }

// InRegister says that the caller's reg is held in in.
func (b *Builder) InRegister(reg, in Reg) {
	b.cfiOp(CFIOp{Kind: CFIRegister, Reg: dw(reg), Reg2: dw(in)})
}

// RememberState saves the rules in effect.
func (b *Builder) RememberState() { b.cfiOp(CFIOp{Kind: CFIRememberState}) }

// RestoreState brings the last saved rules back.
func (b *Builder) RestoreState() { b.cfiOp(CFIOp{Kind: CFIRestoreState}) }

// Expression says that the caller's value of a DWARF register is stored at the address the expression computes.
func (b *Builder) Expression(col uint8, expr []byte) {
	b.cfiOp(CFIOp{Kind: CFIExpression, Reg: col, Bytes: expr})
}

// ValExpression says that the caller's value of a DWARF register is what the expression computes.
func (b *Builder) ValExpression(col uint8, expr []byte) {
	b.cfiOp(CFIOp{Kind: CFIValExpression, Reg: col, Bytes: expr})
}

// DefCfaExpression says that the frame address is what the expression computes.
func (b *Builder) DefCfaExpression(expr []byte) {
	b.cfiOp(CFIOp{Kind: CFIDefCfaExpression, Bytes: expr})
}

// Escape appends raw call frame instruction bytes.
func (b *Builder) Escape(raw []byte) { b.cfiOp(CFIOp{Kind: CFIEscape, Bytes: raw}) }
