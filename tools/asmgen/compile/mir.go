package compile

import (
	"fmt"
	"go/token"
	"strings"
)

// reg is a machine register (0 to 30), the zero register, or a virtual register.
type reg int32

const (
	regZR    reg = 31
	regNone  reg = -1
	firstVir reg = 32
)

// mop is a machine operation.
type mop uint8

const (
	mNop mop = iota
	mParCopy
	mMovImm   // dst = imm
	mSymAddr  // dst = sym + imm
	mAdrp     // dst = page of sym + imm
	mGot      // dst = GOT entry of sym
	mSlotAddr // dst = sp + slot imm2 + imm

	mAdd // dst = src0 op operand
	mSub
	mAnd
	mOrr
	mEor
	mBic
	mOrn
	mEon
	mMul
	mMadd // dst = src2 + src0*src1
	mMsub
	mUmulh
	mSdiv
	mUdiv
	mLsl // src1 or imm
	mLsr
	mAsr
	mRor
	mBfx  // dst = imm2 bits of src0 from imm on, extended by signed
	mBfiz // dst = imm2 low bits of src0 shifted left by imm
	mExtr
	mClz
	mRbit
	mRev

	mCset // dst = cmp ? 1 : 0
	mCsel // dst = cmp ? src[n-2] : src[n-1]
	mCsinc
	mBr    // if cmp goto target
	mCheck // if cmp goto abort

	mLoad
	mStore
	mStoreArg // src0 to outgoing argument imm
	mLoadArg  // dst from incoming argument imm
	mSpill    // src0 to spill slot imm
	mReload   // dst from spill slot imm
	mZeroMem  // clear imm bytes at the address, 8-aligned

	mCall
	mRaw
	mPlain
	mCall1
	mLdar
	mStlr
	mCas
	mAtomicAdd
	mBarrier
	mCacheOp
	mMrs

	mJump
	mTailCall
	mRet
	mAbort
)

var mopNames = [...]string{"nop", "parcopy", "movi", "sym", "adrp", "got", "slot", "add", "sub", "and", "orr", "eor", "bic", "orn", "eon",
	"mul", "madd", "msub", "umulh", "sdiv", "udiv", "lsl", "lsr", "asr", "ror", "bfx", "bfiz", "extr", "clz", "rbit", "rev",
	"cset", "csel", "csinc", "br", "check", "load", "store", "storearg", "loadarg", "spill", "reload", "zeromem", "call", "raw", "plain", "call1",
	"ldar", "stlr", "cas", "atomicadd", "barrier", "cacheop", "mrs", "jump", "tailcall", "ret", "abort"}

// operandKind says what the last operand of an arithmetic instruction or comparison is.
type operandKind uint8

const (
	operandReg   operandKind = iota
	operandImm               // imm
	operandShift             // last source shifted by shift, amount
	operandExt               // last source extended (signed or not) from 32 bits and shifted left by amount
)

type shiftOp uint8

const (
	shiftLSL shiftOp = iota
	shiftLSR
	shiftASR
	shiftROR
)

// cmpKind is how the condition of mCset, mCsel, mBr and mCheck is computed from the first sources.
type cmpKind uint8

const (
	cmpNone cmpKind = iota
	cmpCmp          // flags of src0 - operand
	cmpTst          // flags of src0 & operand
	cmpZero         // src0 == 0 (condEQ) or != 0 (condNE): cbz
	cmpBit          // bit imm of src0: condEQ clear, condNE set
)

type addrKind uint8

const (
	addrImm   addrKind = iota // base + imm
	addrIdx                   // base + extend(index) << amount
	addrLow12                 // base + low 12 bits of sym + imm
	addrSlot                  // slot imm2 + imm
)

// minstr is a machine instruction over virtual registers.
type minstr struct {
	op     mop
	w      uint8 // operation width
	cw     uint8 // width of a comparison
	size   uint8
	signed bool
	opnd   operandKind
	shift  shiftOp
	amount uint8
	extend bool // operandExt, addrIdx: extend the register from 32 bits
	cmp    cmpKind
	cond   cond
	addr   addrKind
	abort  abortKind
	dst    reg
	src    []reg
	imm    int64
	imm2   int64
	sym    string
	target *mblock
	moves  []move
	uses   []reg // of calls: argument registers
	defs   []reg // of calls: result registers
	clob   uint32
	pos    token.Pos
}

// move is one part of a parallel copy. src is regNone for the constant imm.
type move struct {
	dst, src reg
	imm      int64
	w        uint8
	dstSlot  int64 // spill slot + 1 when the destination was spilled
	srcSlot  int64
	symAddr  string // src regNone: the address of a symbol + imm
	slotAddr bool   // src regNone: the address of stack slot imm2 + imm
	imm2     int64
}

// mblock is a basic block of machine instructions.
type mblock struct {
	id     int
	ir     *block
	code   []*minstr
	succs  []*mblock
	depth  int // of loops
	liveIn bitset
	out    bitset
}

// mfn is a function of machine instructions.
type mfn struct {
	f       *fn
	blocks  []*mblock // in layout order
	nregs   reg
	temp    map[reg]bool // made by spilling: not to be spilled again
	remat   map[reg]bool
	spills  int64
	color   []reg
	aliasOf func(reg) reg
}

func (m *mfn) newReg() reg {
	r := m.nregs
	m.nregs++
	return r
}

func (i *minstr) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%d", mopNames[i.op], i.w)
	if i.dst != regNone {
		fmt.Fprintf(&b, " r%d <-", i.dst)
	}
	for _, s := range i.src {
		fmt.Fprintf(&b, " r%d", s)
	}
	for _, m := range i.moves {
		if m.src == regNone {
			fmt.Fprintf(&b, " r%d<-#%d", m.dst, m.imm)
		} else {
			fmt.Fprintf(&b, " r%d<-r%d", m.dst, m.src)
		}
	}
	fmt.Fprintf(&b, " imm=%d,%d opnd=%d cmp=%d cond=%s addr=%d size=%d sym=%s", i.imm, i.imm2, i.opnd, i.cmp, i.cond, i.addr, i.size, i.sym)
	if i.target != nil {
		fmt.Fprintf(&b, " ->m%d", i.target.id)
	}
	return b.String()
}

func (m *mfn) String() string {
	var b strings.Builder
	for _, blk := range m.blocks {
		fmt.Fprintf(&b, "m%d (b%d):\n", blk.id, blk.ir.id)
		for _, i := range blk.code {
			fmt.Fprintf(&b, "\t%s\n", i)
		}
	}
	return b.String()
}

// bitset is a set of registers.
type bitset []uint64

func newBitset(n reg) bitset    { return make(bitset, (int(n)+63)/64) }
func (s bitset) has(r reg) bool { return s[r>>6]&(1<<(uint(r)&63)) != 0 }
func (s bitset) add(r reg)      { s[r>>6] |= 1 << (uint(r) & 63) }
func (s bitset) remove(r reg)   { s[r>>6] &^= 1 << (uint(r) & 63) }
func (s bitset) union(t bitset) bool {
	changed := false
	for i, x := range t {
		if x&^s[i] != 0 {
			s[i] |= x
			changed = true
		}
	}
	return changed
}
