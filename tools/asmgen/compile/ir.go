package compile

import (
	"fmt"
	"go/token"
	"strings"
)

// op is an operation of the IR. The IR is in SSA form over scalars of 32 and 64 bits. A scalar of 8 or 16 bits
// is kept in 32 bits, zero- or sign-extended by its type; the upper half of a 32-bit value is unspecified.
type op uint8

const (
	opInvalid op = iota
	opConst      // imm
	opParam      // imm: which of the flattened parameters
	opPhi
	opSlot // address of stack slot imm
	opSym  // address of sym + imm
	opGot  // address of weak symbol sym, or 0

	opAdd
	opSub
	opMul
	opSDiv // divisor not zero
	opUDiv
	opSRem
	opURem
	opAnd
	opOr
	opXor
	opAndNot
	opShl // count modulo the width
	opShr
	opSar
	opRor
	opNeg
	opNot
	opClz
	opRbit
	opRev
	opMulHi // upper half of the unsigned 128-bit product

	opZext8
	opZext16
	opZext32 // 32 to 64
	opSext8
	opSext16
	opSext32 // 32 to 64
	opTrunc  // 64 to 32
	opPtr    // its argument, not to be checked for nil

	opCmp    // cond of two arguments: 0 or 1
	opSelect // args[0] != 0 ? args[1] : args[2]

	opLoad  // size bytes at args[0]+imm, extended by signed
	opStore // args[1] to args[0]+imm
	opMove  // imm bytes from args[1] to args[0], memmove semantics
	opZero  // imm bytes at args[0]

	opNilCheck // abort if args[0] is 0
	opCheck    // abort unless cond of the arguments holds; code is the reason

	opCall   // sym or callee
	opResult // result imm of args[0], a call

	opRaw       // nr, a0..a5
	opPlain     // nr, a0..a5
	opCall1     // fn, a0
	opLoadAcq   // size
	opStoreRel  // size
	opCas       // p, old, new
	opAtomicAdd // p, d
	opBarrier   // imm: which
	opCacheOp   // imm: which; args[0]
	opMrs       // imm: which
)

var opNames = map[op]string{
	opConst: "const", opParam: "param", opPhi: "phi", opSlot: "slot", opSym: "sym", opGot: "got",
	opAdd: "add", opSub: "sub", opMul: "mul", opSDiv: "sdiv", opUDiv: "udiv", opSRem: "srem", opURem: "urem",
	opAnd: "and", opOr: "or", opXor: "xor", opAndNot: "andnot", opShl: "shl", opShr: "shr", opSar: "sar", opRor: "ror",
	opNeg: "neg", opNot: "not", opClz: "clz", opRbit: "rbit", opRev: "rev", opMulHi: "mulhi",
	opZext8: "zext8", opZext16: "zext16", opZext32: "zext32", opSext8: "sext8", opSext16: "sext16",
	opSext32: "sext32", opTrunc: "trunc", opPtr: "ptr", opCmp: "cmp", opSelect: "select", opLoad: "load",
	opStore: "store", opMove: "move", opZero: "zero", opNilCheck: "nilcheck", opCheck: "check", opCall: "call",
	opResult: "result", opRaw: "raw", opPlain: "plain", opCall1: "call1", opLoadAcq: "ldar", opStoreRel: "stlr",
	opCas: "cas", opAtomicAdd: "atomicadd", opBarrier: "barrier", opCacheOp: "cacheop", opMrs: "mrs",
}

func (o op) String() string { return opNames[o] }

// pure operations have no effect and depend on their arguments only.
func (o op) pure() bool { return o > opPhi && o <= opSelect }

// cond is a comparison.
type cond uint8

const (
	condEQ cond = iota
	condNE
	condLT
	condGE
	condLE
	condGT
	condULT
	condUGE
	condULE
	condUGT
)

var condNames = [...]string{"eq", "ne", "lt", "ge", "le", "gt", "ult", "uge", "ule", "ugt"}

func (c cond) String() string { return condNames[c] }

// not is the opposite comparison.
func (c cond) not() cond { return c ^ 1 }

// swapped is the comparison with its arguments exchanged.
func (c cond) swapped() cond {
	switch c {
	case condLT:
		return condGT
	case condGT:
		return condLT
	case condLE:
		return condGE
	case condGE:
		return condLE
	case condULT:
		return condUGT
	case condUGT:
		return condULT
	case condULE:
		return condUGE
	case condUGE:
		return condULE
	}
	return c
}

// abortKind is why a check fails.
type abortKind int

const (
	abortIndex abortKind = iota
	abortNil
	abortDivide
	abortShift
	abortUnreachable
	numAborts
)

var abortNames = [...]string{"index out of range", "nil dereference", "division by zero", "negative shift count", "unreachable code reached"}

// value is one operation and its result.
type value struct {
	id      int
	op      op
	w       uint8 // width of the result: 32, 64, or 0 for none
	size    uint8 // of a memory access, in bytes
	signed  bool
	cond    cond
	known   uint8 // if not 0: only so many low bits can be set
	nonNil  bool
	noCheck bool // a pointer that the source says is not to be checked for nil, though it may be
	nonNeg  bool
	code    abortKind
	imm     int64
	sym     string
	callee  *fn
	args    []*value
	blk     *block
	pos     token.Pos

	uses int    // filled in by countUses
	fwd  *value // set when replaced
}

type blockKind uint8

const (
	blockJump blockKind = iota
	blockIf             // succs[0] if ctl[0] != 0, else succs[1]
	blockRet            // ctl are the results
	blockAbort
)

type block struct {
	id    int
	kind  blockKind
	vals  []*value
	ctl   []*value
	succs []*block
	preds []*block
	code  abortKind // of blockAbort
	pos   token.Pos

	// Filled in by analyze.
	rpo   int
	idom  *block
	depth int // in the dominator tree
	kids  []*block
	loop  *loop
}

// slot is a piece of the stack frame.
type slot struct {
	size, align int64
	off         int64 // from sp, set by the frame layout
	dead        bool
}

// fn is one function.
type fn struct {
	name     string // full Go name
	sym      string
	blocks   []*block
	slots    []*slot
	params   []kind
	results  []kind
	entry    bool
	nextVal  int
	nextBlk  int
	order    []*block // reverse postorder
	loops    []*loop
	size     int // estimate after optimisation, for inlining
	calls    []*fn
	noInline bool
}

func (f *fn) newBlock(kind blockKind) *block {
	b := &block{id: f.nextBlk, kind: kind}
	f.nextBlk++
	f.blocks = append(f.blocks, b)
	return b
}

func (f *fn) newSlot(size, align int64) int64 {
	f.slots = append(f.slots, &slot{size: size, align: align})
	return int64(len(f.slots) - 1)
}

// newValue makes a value that is in no block yet.
func (f *fn) newValue(o op, w uint8, args ...*value) *value {
	v := &value{id: f.nextVal, op: o, w: w, args: args}
	f.nextVal++
	return v
}

// bits is how many low bits of a canonical value of the kind can be set, or 0 for all.
func (k kind) bits() uint8 {
	switch {
	case k.bool:
		return 1
	case k.size < 4 && !k.signed:
		return k.size * 8
	}
	return 0
}

// add appends a new value to b.
func (f *fn) add(b *block, o op, w uint8, args ...*value) *value {
	v := f.newValue(o, w, args...)
	v.blk = b
	b.vals = append(b.vals, v)
	return v
}

// constant makes a constant in the entry block.
func (f *fn) constant(w uint8, imm int64) *value {
	v := f.newValue(opConst, w)
	v.imm = normConst(w, imm)
	v.blk = f.blocks[0]
	f.blocks[0].vals = append([]*value{v}, f.blocks[0].vals...)
	return v
}

// normConst brings a constant to its unique form: sign-extended from its width.
func normConst(w uint8, imm int64) int64 {
	if w == 32 {
		return int64(int32(imm))
	}
	return imm
}

func addEdge(from, to *block) {
	from.succs = append(from.succs, to)
	to.preds = append(to.preds, from)
}

func (v *value) isConst() bool { return v.op == opConst }

func (v *value) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "v%d:%d = %s", v.id, v.w, v.op)
	switch v.op {
	case opCmp, opCheck:
		fmt.Fprintf(&b, ".%s", v.cond)
	case opLoad, opStore, opLoadAcq, opStoreRel:
		fmt.Fprintf(&b, "%d", v.size*8)
		if v.signed {
			b.WriteByte('s')
		}
	}
	for _, a := range v.args {
		if a.op == opConst {
			fmt.Fprintf(&b, " #%d", a.imm)
		} else {
			fmt.Fprintf(&b, " v%d", a.id)
		}
	}
	if v.imm != 0 || v.op == opConst || v.op == opParam || v.op == opSlot {
		fmt.Fprintf(&b, " [%d]", v.imm)
	}
	if v.sym != "" {
		fmt.Fprintf(&b, " %s", v.sym)
	}
	if v.callee != nil {
		fmt.Fprintf(&b, " %s", v.callee.name)
	}
	return b.String()
}

func (f *fn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "func %s\n", f.name)
	for _, blk := range f.blocks {
		fmt.Fprintf(&b, "b%d: <-", blk.id)
		for _, p := range blk.preds {
			fmt.Fprintf(&b, " b%d", p.id)
		}
		b.WriteByte('\n')
		for _, v := range blk.vals {
			fmt.Fprintf(&b, "\t%s\n", v)
		}
		fmt.Fprintf(&b, "\t%s", [...]string{"jump", "if", "ret", "abort"}[blk.kind])
		for _, c := range blk.ctl {
			fmt.Fprintf(&b, " v%d", c.id)
		}
		for _, s := range blk.succs {
			fmt.Fprintf(&b, " b%d", s.id)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
