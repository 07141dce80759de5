package compile

import (
	"fmt"

	"svcrelay/tools/asmgen/asm"
)

// emitter turns allocated machine code into instructions.
type emitter struct {
	m      *module
	mf     *mfn
	b      *asm.Builder
	fr     frame
	labels []asm.Label
	aborts [numAborts]struct {
		label asm.Label
		used  bool
	}
	lines []lineMark
	fname string
}

type lineMark struct {
	label asm.Label
	line  Line
}

// code compiles one function.
func (m *module) code(f *fn) (*Function, error) {
	mf := m.selectCode(f)
	if err := mf.allocate(); err != nil {
		return nil, err
	}
	mf.dropCopies()
	mf.tailCalls()
	mf.threadJumps()
	e := &emitter{m: m, mf: mf, b: asm.New(f.sym), fr: mf.layoutFrame()}
	e.function()
	fun, err := e.b.Finish()
	if err != nil {
		return nil, err
	}
	out := &Function{Func: fun, Go: f.name, Global: f.entry, FrameSize: int(e.fr.size)}
	out.nested = map[string]bool{}
	for _, b := range mf.blocks {
		for _, i := range b.code {
			if i.op == mCall {
				out.nested[i.sym] = true
			}
		}
	}
	for _, l := range e.lines {
		l.line.Offset = int(fun.LabelOffset(l.label))
		out.Lines = append(out.Lines, l.line)
	}
	return out, nil
}

func (e *emitter) function() {
	for range e.mf.blocks {
		e.labels = append(e.labels, e.b.NewLabel())
	}
	for k, b := range e.mf.blocks {
		b.id = k
	}
	e.prologue()
	for k, b := range e.mf.blocks {
		e.b.Bind(e.labels[k])
		var next *mblock
		if k+1 < len(e.mf.blocks) {
			next = e.mf.blocks[k+1]
		}
		e.block(b, next)
	}
	for k := range e.aborts {
		if e.aborts[k].used {
			e.b.Bind(e.aborts[k].label)
			e.abort(abortKind(k))
		}
	}
}

func (e *emitter) prologue() {
	b, fr := e.b, e.fr
	if fr.size == 0 {
		return
	}
	e.adjust(true)
	e.saves(func(r1, r2 reg, off int64) {
		if r2 == regNone {
			b.Str(asm.X, asm.Reg(r1), asm.At(asm.SP, off))
		} else {
			b.Stp(asm.X, asm.Reg(r1), asm.Reg(r2), asm.At(asm.SP, off))
			b.Offset(asm.Reg(r2), off+8-fr.size)
		}
		b.Offset(asm.Reg(r1), off-fr.size)
	})
}

// adjust lowers or raises sp by the frame's size and keeps the frame information in step.
func (e *emitter) adjust(down bool) {
	n := e.fr.size
	op, end := e.b.Add, int64(0)
	if down {
		op, end = e.b.Sub, n
	}
	defer e.b.DefCfaOffset(end)
	if n >= 1<<24 {
		e.b.MovImm(asm.X, asm.X16, uint64(n))
		op(asm.X, asm.SP, asm.SP, asm.Extended{Reg: asm.X16, Kind: asm.UXTX})
		return
	}
	if hi := n &^ 0xfff; hi != 0 && !asm.AddSubOK(n) {
		op(asm.X, asm.SP, asm.SP, asm.Imm(hi))
		n -= hi
		if down {
			e.b.DefCfaOffset(hi)
		} else {
			e.b.DefCfaOffset(n)
		}
	}
	op(asm.X, asm.SP, asm.SP, asm.Imm(n))
}

// saves goes through the saved registers in pairs.
func (e *emitter) saves(f func(r1, r2 reg, off int64)) {
	s, off := e.fr.saved, e.fr.save
	for len(s) > 0 {
		if len(s) > 1 && asm.PairOffsetOK(8, off) {
			f(s[0], s[1], off)
			s, off = s[2:], off+16
			continue
		}
		f(s[0], regNone, off)
		s, off = s[1:], off+8
	}
}

// epilogue leaves the function by ret, or by a jump to another.
func (e *emitter) epilogue(tail string) {
	b, fr := e.b, e.fr
	if fr.size != 0 {
		b.RememberState()
		e.saves(func(r1, r2 reg, off int64) {
			if r2 == regNone {
				b.Ldr(asm.X, asm.Reg(r1), asm.At(asm.SP, off))
			} else {
				b.Ldp(asm.X, asm.Reg(r1), asm.Reg(r2), asm.At(asm.SP, off))
			}
		})
		e.adjust(false)
		for _, r := range fr.saved {
			b.Restore(asm.Reg(r))
		}
	}
	if tail != "" {
		b.BSym(tail)
	} else {
		b.Ret()
	}
	if fr.size != 0 {
		b.RestoreState()
	}
}

func (e *emitter) abort(k abortKind) {
	code := e.m.abortCode(e.mf.f, k)
	e.movImm(64, asm.X0, int64(code))
	e.b.MovReg(asm.X, asm.SP, asm.X28)
	e.b.Ldr(asm.X, asm.X16, asm.At(asm.SP, 0))
	e.b.Br(asm.X16)
}

func (e *emitter) abortLabel(k abortKind) asm.Label {
	a := &e.aborts[k]
	if !a.used {
		a.used = true
		a.label = e.b.NewLabel()
	}
	return a.label
}

// r is the machine register of a virtual one.
func (e *emitter) r(v reg) asm.Reg { return asm.Reg(e.loc(v)) }

func (e *emitter) loc(v reg) reg {
	if v < firstVir {
		return v
	}
	return e.mf.color[v]
}

func (e *emitter) block(b, next *mblock) {
	code := b.code
	// A conditional branch over the jump that ends the block is turned round when its target comes next.
	if n := len(code); n >= 2 && code[n-2].op == mBr && code[n-1].op == mJump && code[n-2].target == next {
		br, j := code[n-2], code[n-1]
		br.target, j.target = j.target, br.target
		br.cond = br.cond.not()
	}
	for k := 0; k < len(code); k++ {
		i := code[k]
		if i.op == mJump {
			if i.target != next {
				e.b.B(e.labels[i.target.id])
			}
			continue
		}
		e.mark(i)
		if k+1 < len(code) && e.pair(i, code[k+1]) {
			k++
			continue
		}
		e.instr(i)
	}
}

// mark records the source line of an instruction.
func (e *emitter) mark(i *minstr) {
	if !i.pos.IsValid() {
		return
	}
	p := e.m.src.prog.Fset.Position(i.pos)
	if n := len(e.lines); n > 0 && e.lines[n-1].line.Pos.Line == p.Line && e.lines[n-1].line.Pos.Filename == p.Filename {
		return
	}
	l := e.b.NewLabel()
	e.b.Bind(l)
	e.lines = append(e.lines, lineMark{l, Line{Pos: p}})
}

// operand is the last operand of an arithmetic instruction.
func (e *emitter) operand(i *minstr, r reg) asm.Operand {
	switch i.opnd {
	case operandImm:
		return asm.Imm(i.imm)
	case operandShift:
		if i.amount == 0 {
			return e.r(r)
		}
		return asm.Shifted{Reg: e.r(r), Kind: asm.ShiftKind(i.shift), Amount: i.amount}
	case operandExt:
		k := asm.UXTW
		if i.signed {
			k = asm.SXTW
		}
		return asm.Extended{Reg: e.r(r), Kind: k, Amount: i.amount}
	}
	return e.r(r)
}

func (e *emitter) second(i *minstr) asm.Operand {
	if i.opnd == operandImm {
		return e.operand(i, regNone)
	}
	return e.operand(i, i.src[1])
}

var condCodes = [...]asm.Cond{
	condEQ: asm.EQ, condNE: asm.NE, condLT: asm.LT, condGE: asm.GE, condLE: asm.LE, condGT: asm.GT,
	condULT: asm.LO, condUGE: asm.HS, condULE: asm.LS, condUGT: asm.HI,
}

// compare sets the flags for i and returns the condition.
func (e *emitter) compare(i *minstr) asm.Cond {
	w := asm.Width(i.cw)
	switch i.cmp {
	case cmpCmp:
		e.b.Cmp(w, e.r(i.src[0]), e.second(i))
	case cmpTst:
		e.b.Tst(w, e.r(i.src[0]), e.second(i))
	case cmpZero:
		e.b.Cmp(w, e.r(i.src[0]), asm.Imm(0))
	default:
		panic(fmt.Sprintf("compare kind %d", i.cmp))
	}
	return condCodes[i.cond]
}

// branch emits a conditional branch.
func (e *emitter) branch(i *minstr, l asm.Label) {
	switch i.cmp {
	case cmpZero:
		if i.cond == condEQ {
			e.b.Cbz(asm.Width(i.cw), e.r(i.src[0]), l)
		} else {
			e.b.Cbnz(asm.Width(i.cw), e.r(i.src[0]), l)
		}
	case cmpBit:
		if i.cond == condEQ {
			e.b.Tbz(e.r(i.src[0]), int(i.imm), l)
		} else {
			e.b.Tbnz(e.r(i.src[0]), int(i.imm), l)
		}
	default:
		e.b.BCond(e.compare(i), l)
	}
}

func (e *emitter) instr(i *minstr) {
	b := e.b
	w := asm.Width(i.w)
	var d asm.Reg
	if i.dst != regNone {
		d = e.r(i.dst)
	}
	s := func(k int) asm.Reg { return e.r(i.src[k]) }
	switch i.op {
	case mNop:
	case mParCopy:
		e.parCopy(i.moves)
	case mMovImm:
		e.movImm(i.w, d, i.imm)
	case mSymAddr:
		b.AddrOf(d, i.sym, i.imm)
	case mAdrp:
		b.Adrp(d, i.sym, i.imm)
	case mGot:
		b.LoadGOT(d, i.sym)
	case mSlotAddr:
		e.slotAddr(d, i.imm2, i.imm)
	case mAdd:
		b.Add(w, d, s(0), e.second(i))
	case mSub:
		b.Sub(w, d, s(0), e.second(i))
	case mAnd:
		b.And(w, d, s(0), e.second(i))
	case mOrr:
		b.Orr(w, d, s(0), e.second(i))
	case mEor:
		b.Eor(w, d, s(0), e.second(i))
	case mBic:
		b.Bic(w, d, s(0), e.second(i))
	case mOrn:
		b.Orn(w, d, s(0), e.second(i))
	case mEon:
		b.Eon(w, d, s(0), e.second(i))
	case mMul:
		b.Mul(w, d, s(0), s(1))
	case mMadd:
		b.Madd(w, d, s(0), s(1), s(2))
	case mMsub:
		b.Msub(w, d, s(0), s(1), s(2))
	case mUmulh:
		b.Umulh(d, s(0), s(1))
	case mSdiv:
		b.Sdiv(w, d, s(0), s(1))
	case mUdiv:
		b.Udiv(w, d, s(0), s(1))
	case mLsl:
		b.Lsl(w, d, s(0), e.second(i))
	case mLsr:
		b.Lsr(w, d, s(0), e.second(i))
	case mAsr:
		b.Asr(w, d, s(0), e.second(i))
	case mRor:
		b.Ror(w, d, s(0), e.second(i))
	case mBfx:
		e.bitField(i, d, s(0))
	case mBfiz:
		if i.signed {
			b.Sbfiz(w, d, s(0), int(i.imm), int(i.imm2))
		} else {
			b.Ubfiz(w, d, s(0), int(i.imm), int(i.imm2))
		}
	case mExtr:
		b.Extr(w, d, s(0), s(1), int(i.imm))
	case mClz:
		b.Clz(w, d, s(0))
	case mRbit:
		b.Rbit(w, d, s(0))
	case mRev:
		b.Rev(w, d, s(0))
	case mCset:
		b.Cset(w, d, e.compare(i))
	case mCsel, mCsinc:
		c := e.compare(i)
		n := len(i.src)
		if i.op == mCsel {
			b.Csel(w, d, s(n-2), s(n-1), c)
		} else {
			b.Csinc(w, d, s(n-2), s(n-1), c)
		}
	case mBr:
		e.branch(i, e.labels[i.target.id])
	case mCheck:
		e.branch(i, e.abortLabel(i.abort))
	case mLoad:
		if i.addr == addrLow12 {
			b.LoadLo12(int(i.size), i.signed, d, s(0), i.sym, i.imm)
			return
		}
		b.Load(int(i.size), i.signed, d, e.address(i, i.src))
	case mStore:
		if i.addr == addrLow12 {
			b.StoreLo12(int(i.size), s(0), s(1), i.sym, i.imm)
			return
		}
		b.Store(int(i.size), s(0), e.address(i, i.src[1:]))
	case mRet:
		e.epilogue("")
	case mTailCall:
		e.epilogue(i.sym)
	case mAbort:
		b.B(e.abortLabel(i.abort))
	default:
		e.special(i, d, s)
	}
}

// movImm sets d to a constant; 32 bits will do where the upper half is zero.
func (e *emitter) movImm(w uint8, d asm.Reg, v int64) {
	if v == 0 {
		e.b.Movz(asm.W, d, 0, 0)
		return
	}
	if w == 64 && v == int64(uint32(v)) {
		w = 32
	}
	e.b.MovImm(asm.Width(w), d, uint64(v))
}

func (e *emitter) bitField(i *minstr, d, s asm.Reg) {
	w := asm.Width(i.w)
	switch {
	case i.imm == 0 && i.imm2 == 32 && !i.signed && i.w == 64:
		e.b.MovReg(asm.W, d, s)
	case i.signed:
		e.b.Sbfx(w, d, s, int(i.imm), int(i.imm2))
	default:
		e.b.Ubfx(w, d, s, int(i.imm), int(i.imm2))
	}
}

// special emits calls and the operations that are more than one instruction.
func (e *emitter) special(i *minstr, d asm.Reg, s func(int) asm.Reg) {
	b := e.b
	size := int(i.size)
	switch i.op {
	case mStoreArg:
		b.Str(asm.X, s(0), asm.At(asm.SP, 8*i.imm))
	case mLoadArg:
		b.Ldr(asm.X, d, e.stack(e.fr.size+8*i.imm, 8))
	case mSpill:
		b.Str(asm.X, s(0), e.stack(e.fr.spill+8*i.imm, 8))
	case mReload:
		b.Ldr(asm.X, d, e.stack(e.fr.spill+8*i.imm, 8))
	case mCall:
		b.BLSym(i.sym)
	case mRaw:
		b.MovImm(asm.X, asm.X16, trampoline)
		b.Blr(asm.X16)
	case mPlain:
		b.Svc(0)
	case mCall1:
		b.Blr(asm.Reg(call1Target))
	case mLdar:
		b.Ldar(size, d, s(0))
	case mStlr:
		b.Stlr(size, s(0), s(1))
	case mCas:
		retry, done := b.Here(), b.NewLabel()
		b.Ldaxr(size, asm.X16, s(0))
		b.Cmp(asm.Width(8*size), asm.X16, s(1))
		b.BCond(asm.NE, done)
		b.Stlxr(size, asm.X17, s(2), s(0))
		b.Cbnz(asm.W, asm.X17, retry)
		b.Bind(done)
		b.Cset(asm.W, d, asm.EQ)
	case mAtomicAdd:
		retry := b.Here()
		b.Ldaxr(size, asm.X16, s(0))
		b.Add(asm.Width(8*size), asm.X16, asm.X16, s(1))
		b.Stlxr(size, asm.X17, asm.X16, s(0))
		b.Cbnz(asm.W, asm.X17, retry)
		if i.dst != regNone {
			b.MovReg(asm.X, d, asm.X16)
		}
	case mBarrier:
		switch i.imm {
		case barrierDmb:
			b.Dmb(asm.ISH)
		case barrierDsb:
			b.Dsb(asm.ISH)
		default:
			b.Isb()
		}
	case mCacheOp:
		if i.imm == cacheClean {
			b.DcCvau(s(0))
		} else {
			b.IcIvau(s(0))
		}
	case mMrs:
		b.Mrs(d, [...]asm.SysReg{mrsCtr: asm.CTREL0, mrsCntvct: asm.CNTVCTEL0, mrsCntfrq: asm.CNTFRQEL0}[i.imm])
	default:
		panic("emit: " + i.String())
	}
}

// trampoline is the page from which system calls reach the kernel untraced.
const trampoline = 0xffff00000

// stack addresses sp + off, through x17 where the offset is too big for the instruction.
func (e *emitter) stack(off, size int64) asm.Addr {
	if asm.OffsetOK(int(size), off) {
		return asm.At(asm.SP, off)
	}
	e.spPlus(asm.X17, off)
	return asm.At(asm.X17, 0)
}

// spPlus sets d to sp + off.
func (e *emitter) spPlus(d asm.Reg, off int64) {
	if asm.AddSubOK(off) {
		e.b.Add(asm.X, d, asm.SP, asm.Imm(off))
		return
	}
	if hi := off &^ 0xfff; asm.AddSubOK(hi) {
		e.b.Add(asm.X, d, asm.SP, asm.Imm(hi))
		e.b.Add(asm.X, d, d, asm.Imm(off-hi))
		return
	}
	e.b.MovImm(asm.X, d, uint64(off))
	e.b.Add(asm.X, d, asm.SP, asm.Extended{Reg: d, Kind: asm.UXTX})
}

func (e *emitter) slotAddr(d asm.Reg, slot, off int64) {
	e.spPlus(d, e.mf.f.slots[slot].off+off)
}

func (e *emitter) address(i *minstr, rs []reg) asm.Addr {
	switch i.addr {
	case addrSlot:
		return e.stack(e.mf.f.slots[i.imm2].off+i.imm, int64(i.size))
	case addrIdx:
		if i.extend {
			k := asm.UXTW
			if i.shift == shiftASR {
				k = asm.SXTW
			}
			return asm.IndexExt(e.r(rs[0]), e.r(rs[1]), k, i.amount)
		}
		return asm.Index(e.r(rs[0]), e.r(rs[1]), i.amount)
	}
	return asm.At(e.r(rs[0]), i.imm)
}

func (e *emitter) parCopy(ms []move) {
	for _, st := range sequence(ms, e.loc) {
		e.step(st)
	}
}

func (e *emitter) step(st step) {
	b := e.b
	d := asm.Reg(st.dst.reg)
	toSlot := st.dst.slot != 0
	if st.m == nil {
		switch {
		case !toSlot && st.src.slot == 0:
			b.MovReg(asm.X, d, asm.Reg(st.src.reg))
		case !toSlot:
			b.Ldr(asm.X, d, e.stack(e.fr.spill+8*(st.src.slot-1), 8))
		case st.src.slot == 0:
			b.Str(asm.X, asm.Reg(st.src.reg), e.stack(e.fr.spill+8*(st.dst.slot-1), 8))
		default:
			// x16 may hold a cycle's value and x17 an address.
			b.Ldr(asm.X, asm.X17, e.stack(e.fr.spill+8*(st.src.slot-1), 8))
			e.storeFar(e.fr.spill + 8*(st.dst.slot-1))
		}
		return
	}
	if toSlot {
		d = asm.X16
		if !st.m.slotAddr && st.m.symAddr == "" && st.m.imm == 0 {
			d = asm.XZR
		}
	}
	switch {
	case d == asm.XZR:
	case st.m.slotAddr:
		e.slotAddr(d, st.m.imm2, st.m.imm)
	case st.m.symAddr != "":
		b.AddrOf(d, st.m.symAddr, st.m.imm)
	default:
		e.movImm(st.m.w, d, st.m.imm)
	}
	if toSlot {
		b.Str(asm.X, d, e.stack(e.fr.spill+8*(st.dst.slot-1), 8))
	}
}

// storeFar stores x17 to sp + off. Beyond the reach of the instruction the address has to go somewhere: into x17's
// place, with x17 kept below in the frame's own first spill slot, would need one more slot; frames that large do
// not occur because spill slots are near sp.
func (e *emitter) storeFar(off int64) {
	if !asm.OffsetOK(8, off) {
		panic(fmt.Sprintf("spill slot at sp+%d is out of reach", off))
	}
	e.b.Str(asm.X, asm.X17, asm.At(asm.SP, off))
}
