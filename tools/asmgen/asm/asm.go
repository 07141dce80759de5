// Package asm is a typed arm64 instruction builder. It hands every instruction
// that golang-asm can encode in exactly one word to golang-asm, encodes the
// listed rest itself, records call frame information at instruction
// granularity, and checks that the result is what was asked for: the length is
// four bytes per instruction and every word decodes.
//
// Mistakes (an immediate that does not fit, an unbound label) are collected and
// returned by Finish, so that a caller can emit a whole function without
// checking each step.
package asm

import (
	"errors"
	"fmt"

	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
)

// Reg is a general purpose register. XZR and SP share an encoding and are kept
// apart here, so that using one where the other is meant is an error.
type Reg uint8

// The general purpose registers.
const (
	X0 Reg = iota
	X1
	X2
	X3
	X4
	X5
	X6
	X7
	X8
	X9
	X10
	X11
	X12
	X13
	X14
	X15
	X16
	X17
	X18
	X19
	X20
	X21
	X22
	X23
	X24
	X25
	X26
	X27
	X28
	X29
	X30
	XZR
	SP

	FP = X29
	LR = X30
)

// String gives the 64-bit name of the register.
func (r Reg) String() string {
	switch {
	case r == XZR:
		return "xzr"
	case r == SP:
		return "sp"
	case r <= X30:
		return fmt.Sprintf("x%d", uint8(r))
	}
	return fmt.Sprintf("reg(%d)", uint8(r))
}

// num is the 5-bit field value of the register.
func (r Reg) num() uint32 {
	if r >= XZR {
		return 31
	}
	return uint32(r)
}

// VReg is a SIMD register, 0 to 31. Only whole-register (Q) loads and stores exist here.
type VReg uint8

// Width selects the 32-bit (W) or 64-bit (X) form of an instruction.
type Width uint8

// The two operation widths.
const (
	W Width = 32
	X Width = 64
)

// sf is the size bit (bit 31) of most data-processing encodings.
func (w Width) sf() uint32 {
	if w == X {
		return 1 << 31
	}
	return 0
}

// Cond is a condition code in its encoded form.
type Cond uint8

// The condition codes.
const (
	EQ Cond = iota
	NE
	HS
	LO
	MI
	PL
	VS
	VC
	HI
	LS
	GE
	LT
	GT
	LE
	AL

	CS = HS
	CC = LO
)

// Invert gives the opposite condition.
func (c Cond) Invert() Cond { return c ^ 1 }

// String gives the condition's assembler suffix.
func (c Cond) String() string {
	if int(c) < len(condNames) {
		return condNames[c]
	}
	return fmt.Sprintf("cond(%d)", uint8(c))
}

var condNames = [...]string{"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"}

// Label is a place in the function under construction. It is made by NewLabel
// and placed by Bind; it may be used before it is placed.
type Label struct{ id int }

// itemKind says how an item is turned into words.
type itemKind uint8

const (
	itemProg   itemKind = iota // one golang-asm instruction
	itemWord                   // one word, already encoded
	itemBranch                 // one golang-asm instruction with a label operand
	itemLit                    // an own-encoded ldr literal
	itemAdr                    // an own-encoded adr
)

// toLabel reports whether an item of this kind refers to a label.
func (k itemKind) toLabel() bool { return k >= itemBranch }

// item is one instruction of the function.
type item struct {
	kind  itemKind
	prog  *obj.Prog
	word  uint32
	label int
	reach int64     // largest distance of a branch, in bytes
	far   *obj.Prog // the branch's inverse, for a target beyond its reach
	far2  *obj.Prog // the jump that goes with it
	long  bool      // far and far2 are used
	data  bool      // a data word: not to be decoded
	off   int64
	reloc *Reloc
}

// Builder collects the instructions of one function.
type Builder struct {
	name   string
	align  int
	ctxt   *obj.Link
	items  []item
	labels []int // item index, -1 while unbound
	marks  []mark
	cfi    []cfiAt
	frame  Frame
	errs   []error
}

type mark struct {
	name  string
	label int
}

type cfiAt struct {
	item int
	op   CFIOp
}

// New starts a function. Its code is aligned to 16 bytes unless Align says otherwise.
func New(name string) *Builder {
	b := &Builder{name: name, align: 16, ctxt: newLink()}
	b.frame.ReturnColumn = 30
	return b
}

// Align sets the alignment of the function's first instruction, a power of two.
func (b *Builder) Align(n int) {
	if n < 4 || n&(n-1) != 0 {
		b.fail("alignment %d is not a power of two of at least 4", n)
		return
	}
	b.align = n
}

// Len is the number of instructions so far. Branches that turn out too far for
// their encoding grow by one instruction in Finish.
func (b *Builder) Len() int { return len(b.items) }

// NewLabel makes a label that is not placed yet.
func (b *Builder) NewLabel() Label {
	b.labels = append(b.labels, -1)
	return Label{len(b.labels) - 1}
}

// Bind places the label at the next instruction.
func (b *Builder) Bind(l Label) {
	if b.labels[l.id] >= 0 {
		b.fail("label %d placed twice", l.id)
		return
	}
	b.labels[l.id] = len(b.items)
}

// Here makes a label placed at the next instruction.
func (b *Builder) Here() Label {
	l := b.NewLabel()
	b.Bind(l)
	return l
}

// Mark gives the next instruction a name, reported in Func.Marks.
func (b *Builder) Mark(name string) {
	b.MarkLabel(name, b.Here())
}

// MarkLabel gives the label's place a name, reported in Func.Marks.
func (b *Builder) MarkLabel(name string, l Label) {
	b.marks = append(b.marks, mark{name, l.id})
}

// Err is the first mistake so far, if any.
func (b *Builder) Err() error {
	if len(b.errs) == 0 {
		return nil
	}
	return b.errs[0]
}

// fail records a mistake at the instruction that comes next.
func (b *Builder) fail(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("asm: %s+%#x: %s", b.name, 4*len(b.items), fmt.Sprintf(format, args...)))
}

func (b *Builder) joinErrs() error { return errors.Join(b.errs...) }

// prog makes an empty golang-asm instruction.
func (b *Builder) prog(as obj.As) *obj.Prog {
	p := b.ctxt.NewProg()
	p.As = as
	return p
}

// addProg appends an instruction that golang-asm encodes in one word.
func (b *Builder) addProg(p *obj.Prog) {
	b.items = append(b.items, item{kind: itemProg, prog: p})
}

// Word appends one instruction word as it is.
func (b *Builder) Word(w uint32) {
	b.items = append(b.items, item{kind: itemWord, word: w})
}

// Data appends one 32-bit data word: it is not required to be an instruction.
func (b *Builder) Data(w uint32) {
	b.items = append(b.items, item{kind: itemWord, word: w, data: true})
}

// Quad appends eight bytes of data, low word first, at the current offset.
func (b *Builder) Quad(v uint64) {
	b.Data(uint32(v))
	b.Data(uint32(v >> 32))
}

// gr is golang-asm's number of a register.
func gr(r Reg) int16 {
	switch r {
	case XZR:
		return arm64.REGZERO
	case SP:
		return arm64.REGSP
	}
	return arm64.REG_R0 + int16(r)
}

// regs checks that no operand is SP where the encoding means XZR.
func (b *Builder) noSP(what string, regs ...Reg) bool {
	for _, r := range regs {
		if r >= SP {
			b.fail("%s: %v is not allowed as an operand", what, r)
			return false
		}
	}
	return true
}
