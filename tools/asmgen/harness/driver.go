// Package harness runs compiled functions under qemu-aarch64. It packages them
// with a hand-laid driver as a freestanding static program that makes a list of
// calls, and gives back what each call left in the result registers and in
// memory. The driver also checks what compiled code promises its callers: the
// registers it preserves, the stack pointer, and the depth of its stack.
package harness

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/obj"
)

const (
	// MaxStackArgs is the number of 8-byte stack arguments the driver passes.
	MaxStackArgs = 24
	// MaxArena is the size of the memory that a call's pointers lead to.
	MaxArena = 1 << 16

	recordSize = (4 + 8 + MaxStackArgs) * 8
	outHead    = (2 + 8) * 8
	stackGuard = 512
	arenaSym   = "harness.arena"
	outSym     = "harness.out"
	callsSym   = "harness.calls"

	// aborted is the status of a call that ended in the abort path; the bits
	// below tell which promise was broken.
	aborted     = 1 << 32
	brokenSP    = 1 << 31
	paint       = 0x5af00d5a5af00d5a
	regPattern  = 0xc0de000000000000
	stateResume = 0
	stateCall   = 8
	stateLeft   = 16
	stateSize   = 48
	argsArea    = MaxStackArgs * 8
)

// preserved are the registers that a call must leave alone.
var preserved = []asm.Reg{asm.X18, asm.X19, asm.X20, asm.X21, asm.X22, asm.X23, asm.X24, asm.X25, asm.X26, asm.X27, asm.X29}

// driver emits _start. State lives on the stack, where x28 points, as the abort
// path resumes there with nothing else left.
func driver(count int) (asm.Func, error) {
	b := asm.New("_start")
	b.Undefined(asm.LR)
	loop, paintLoop, resume, report, exit := b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel(), b.NewLabel()

	b.Sub(asm.X, asm.SP, asm.SP, asm.Imm(stateSize))
	b.MovReg(asm.X, asm.X28, asm.SP)
	b.Adr(asm.X0, resume)
	b.Str(asm.X, asm.X0, asm.At(asm.X28, stateResume))
	b.AddrOf(asm.X0, callsSym, 0)
	b.Str(asm.X, asm.X0, asm.At(asm.X28, stateCall))
	b.MovImm(asm.X, asm.X0, uint64(count))
	b.Str(asm.X, asm.X0, asm.At(asm.X28, stateLeft))

	mapTrampoline(b)

	b.Bind(loop)
	b.Ldr(asm.X, asm.X0, asm.At(asm.X28, stateLeft))
	b.Cbz(asm.X, asm.X0, exit)
	b.Sub(asm.X, asm.X0, asm.X0, asm.Imm(1))
	b.Str(asm.X, asm.X0, asm.At(asm.X28, stateLeft))
	b.Ldr(asm.X, asm.X9, asm.At(asm.X28, stateCall))
	// The arena gets its contents.
	b.Ldp(asm.X, asm.X1, asm.X2, asm.At(asm.X9, 8))
	b.AddrOf(asm.X3, arenaSym, 0)
	copyWords(b)
	// The stack below the call is painted.
	b.Ldr(asm.X, asm.X2, asm.At(asm.X9, 24))
	b.Sub(asm.X, asm.X3, asm.SP, asm.Imm(argsArea))
	b.Sub(asm.X, asm.X4, asm.X3, asm.X2)
	b.Sub(asm.X, asm.X4, asm.X4, asm.Imm(stackGuard))
	b.MovImm(asm.X, asm.X5, paint)
	b.Bind(paintLoop)
	b.Str(asm.X, asm.X5, asm.Post(asm.X4, 8))
	b.Cmp(asm.X, asm.X4, asm.X3)
	b.BCond(asm.LO, paintLoop)
	// Arguments on the stack, then in registers.
	b.MovReg(asm.X, asm.SP, asm.X3)
	for i := 0; i < MaxStackArgs; i += 2 {
		off := int64(8*(4+8) + 8*i)
		b.Ldp(asm.X, asm.X1, asm.X2, asm.At(asm.X9, off))
		b.Stp(asm.X, asm.X1, asm.X2, asm.At(asm.SP, int64(8*i)))
	}
	for i, r := range preserved {
		b.MovImm(asm.X, r, regPattern|uint64(i))
	}
	b.Ldr(asm.X, asm.X16, asm.At(asm.X9, 0))
	for i := asm.X0; i < asm.X8; i += 2 {
		b.Ldp(asm.X, i, i+1, asm.At(asm.X9, 32+8*int64(i)))
	}
	b.Blr(asm.X16)
	// Results, then the promises.
	b.AddrOf(asm.X17, outSym, 0)
	for i := asm.X0; i < asm.X8; i += 2 {
		b.Stp(asm.X, i, i+1, asm.At(asm.X17, 16+8*int64(i)))
	}
	b.MovImm(asm.X, asm.X0, 0)
	for i, r := range preserved {
		b.MovImm(asm.X, asm.X1, regPattern|uint64(i))
		b.Cmp(asm.X, asm.X1, r)
		b.Cset(asm.X, asm.X1, asm.NE)
		b.Orr(asm.X, asm.X0, asm.X0, asm.Shifted{Reg: asm.X1, Kind: asm.LSL, Amount: uint8(r)})
	}
	b.MovReg(asm.X, asm.X1, asm.SP)
	b.Sub(asm.X, asm.X2, asm.X28, asm.Imm(argsArea))
	b.Cmp(asm.X, asm.X1, asm.X2)
	b.Cset(asm.X, asm.X1, asm.NE)
	b.Orr(asm.X, asm.X0, asm.X0, asm.Shifted{Reg: asm.X1, Kind: asm.LSL, Amount: 31})
	b.B(report)

	b.Bind(resume)
	b.AddrOf(asm.X17, outSym, 0)
	b.Stp(asm.X, asm.X0, asm.XZR, asm.At(asm.X17, 16))
	for i := int64(1); i < 4; i++ {
		b.Stp(asm.X, asm.XZR, asm.XZR, asm.At(asm.X17, 16+16*i))
	}
	b.MovImm(asm.X, asm.X0, aborted)
	b.MovReg(asm.X, asm.X1, asm.SP)
	b.Cmp(asm.X, asm.X1, asm.X28)
	b.Cset(asm.X, asm.X1, asm.NE)
	b.Orr(asm.X, asm.X0, asm.X0, asm.Shifted{Reg: asm.X1, Kind: asm.LSL, Amount: 31})

	b.Bind(report)
	b.MovReg(asm.X, asm.SP, asm.X28)
	b.Str(asm.X, asm.X0, asm.At(asm.X17, 0))
	b.Ldr(asm.X, asm.X9, asm.At(asm.X28, stateCall))
	// How deep the paint is scratched.
	scan, scanned := b.NewLabel(), b.NewLabel()
	b.Ldr(asm.X, asm.X2, asm.At(asm.X9, 24))
	b.Sub(asm.X, asm.X3, asm.SP, asm.Imm(argsArea))
	b.Sub(asm.X, asm.X4, asm.X3, asm.X2)
	b.Sub(asm.X, asm.X4, asm.X4, asm.Imm(stackGuard))
	b.MovImm(asm.X, asm.X5, paint)
	b.Bind(scan)
	b.Cmp(asm.X, asm.X4, asm.X3)
	b.BCond(asm.HS, scanned)
	b.Ldr(asm.X, asm.X6, asm.At(asm.X4, 0))
	b.Cmp(asm.X, asm.X6, asm.X5)
	b.BCond(asm.NE, scanned)
	b.Add(asm.X, asm.X4, asm.X4, asm.Imm(8))
	b.B(scan)
	b.Bind(scanned)
	b.Sub(asm.X, asm.X4, asm.X3, asm.X4)
	b.Str(asm.X, asm.X4, asm.At(asm.X17, 8))
	// The arena follows the results.
	write := b.NewLabel()
	b.Ldr(asm.X, asm.X2, asm.At(asm.X9, 16))
	b.Add(asm.X, asm.X20, asm.X2, asm.Imm(outHead))
	b.Add(asm.X, asm.X3, asm.X17, asm.Imm(outHead))
	b.AddrOf(asm.X1, arenaSym, 0)
	copyWords(b)
	b.MovReg(asm.X, asm.X19, asm.X17)
	b.Bind(write)
	b.MovImm(asm.X, asm.X0, 1)
	b.MovReg(asm.X, asm.X1, asm.X19)
	b.MovReg(asm.X, asm.X2, asm.X20)
	b.MovImm(asm.X, asm.X8, 64)
	b.Svc(0)
	b.Cmp(asm.X, asm.X0, asm.Imm(0))
	b.BCond(asm.LE, exit)
	b.Add(asm.X, asm.X19, asm.X19, asm.X0)
	b.Subs(asm.X, asm.X20, asm.X20, asm.X0)
	b.BCond(asm.NE, write)
	b.Ldr(asm.X, asm.X9, asm.At(asm.X28, stateCall))
	b.Add(asm.X, asm.X9, asm.X9, asm.Imm(recordSize))
	b.Str(asm.X, asm.X9, asm.At(asm.X28, stateCall))
	b.B(loop)

	b.Bind(exit)
	b.MovImm(asm.X, asm.X0, 0)
	b.MovImm(asm.X, asm.X8, 94)
	b.Svc(0)
	b.Udf(0)
	return b.Finish()
}

// mapTrampoline makes the page from which compiled code issues raw system calls.
func mapTrampoline(b *asm.Builder) {
	const (
		page      = 0xffff00000
		size      = 0x1000
		mmap      = 222
		mprotect  = 226
		readWrite = 3
		readExec  = 5
		fixedAnon = 0x32
	)
	b.MovImm(asm.X, asm.X0, page)
	b.MovImm(asm.X, asm.X1, size)
	b.MovImm(asm.X, asm.X2, readWrite)
	b.MovImm(asm.X, asm.X3, fixedAnon)
	b.MovImm(asm.X, asm.X4, ^uint64(0))
	b.MovImm(asm.X, asm.X5, 0)
	b.MovImm(asm.X, asm.X8, mmap)
	b.Svc(0)
	b.MovImm(asm.W, asm.X1, 0xd4000001) // svc #0
	b.MovImm(asm.W, asm.X2, 0xd65f03c0) // ret
	b.Stp(asm.W, asm.X1, asm.X2, asm.At(asm.X0, 0))
	b.MovImm(asm.X, asm.X1, size)
	b.MovImm(asm.X, asm.X2, readExec)
	b.MovImm(asm.X, asm.X8, mprotect)
	b.Svc(0)
}

// addCalls adds the driver, its data and the list of calls to the object.
func addCalls(o *obj.Object, calls []Call, stacks map[string]int) error {
	d, err := driver(len(calls))
	if err != nil {
		return err
	}
	o.AddFunc(d, "", obj.Global)
	o.AddBss(arenaSym, 64, MaxArena, obj.Local)
	o.AddBss(outSym, 64, outHead+MaxArena, obj.Local)
	var records []byte
	var relocs []asm.Reloc
	var arenas []byte
	var arenaRelocs []asm.Reloc
	word := func(v uint64) { records = binary.LittleEndian.AppendUint64(records, v) }
	addr := func(sym string, off int64) {
		relocs = append(relocs, asm.Reloc{Off: uint32(len(records)), Type: elf.R_AARCH64_ABS64, Sym: sym, Addend: off})
		word(0)
	}
	for i, c := range calls {
		stack, ok := stacks[c.Entry]
		if !ok || !o.Has(c.Entry) {
			return fmt.Errorf("harness: call %d: no entry point %s", i, c.Entry)
		}
		if len(c.Args) > 8+MaxStackArgs || len(c.Arena) > MaxArena || len(c.Arena)%8 != 0 {
			return fmt.Errorf("harness: call %d of %s: %d arguments, %d bytes of memory", i, c.Entry, len(c.Args), len(c.Arena))
		}
		addr(c.Entry, 0)
		addr("harness.arenas", int64(len(arenas)))
		word(uint64(len(c.Arena)))
		word(uint64(stack+15) &^ 15)
		for j := range 8 + MaxStackArgs {
			switch {
			case j >= len(c.Args):
				// Whatever is beyond the arguments must not matter.
				word(0xbad0bad0bad0bad0 + uint64(j))
			case c.Args[j].Pointer:
				addr(arenaSym, int64(c.Args[j].Value))
			default:
				word(c.Args[j].Value)
			}
		}
		for _, p := range c.Pointers {
			arenaRelocs = append(arenaRelocs, asm.Reloc{Off: uint32(len(arenas) + p.At), Type: elf.R_AARCH64_ABS64, Sym: arenaSym, Addend: int64(p.To)})
		}
		arenas = append(arenas, c.Arena...)
	}
	o.AddData(callsSym, ".data", 8, records, relocs, obj.Local)
	o.AddData("harness.arenas", ".data", 16, append(arenas, make([]byte, 8)...), arenaRelocs, obj.Local)
	return nil
}

// copyWords copies x2 bytes, a multiple of 8, from x1 to x3. It changes x1 to x4.
func copyWords(b *asm.Builder) {
	loop, done := b.NewLabel(), b.NewLabel()
	b.Bind(loop)
	b.Cbz(asm.X, asm.X2, done)
	b.Ldr(asm.X, asm.X4, asm.Post(asm.X1, 8))
	b.Str(asm.X, asm.X4, asm.Post(asm.X3, 8))
	b.Sub(asm.X, asm.X2, asm.X2, asm.Imm(8))
	b.B(loop)
	b.Bind(done)
}
