package compile

// Registers that calls clobber: all but x18 to x30.
const callClobbers uint32 = 1<<18 - 1

// call1Target holds the address that mCall1 calls.
const call1Target reg = 9

func clobbers(rs ...reg) uint32 {
	m := uint32(0)
	for _, r := range rs {
		m |= 1 << uint(r)
	}
	return m
}

// special emits calls, memory blocks and the other intrinsics.
func (s *isel) special(i *minstr, v *value) {
	args := v.args
	switch v.op {
	case opCall:
		s.call(i, v)
		return
	case opRaw, opPlain:
		i.op = mPlain
		order := []reg{8, 0, 1, 2, 3, 4, 5}
		i.clob = clobbers(0, 1, 2, 3, 4, 5, 8, 16, 17)
		if v.op == opRaw {
			i.op = mRaw
			i.clob = clobbers(0, 16, 17, 30)
		}
		s.fixed(i, v, order, args)
		return
	case opCall1:
		i.op = mCall1
		i.clob = callClobbers | 1<<30
		s.fixed(i, v, []reg{call1Target, 0}, args)
		return
	case opLoadAcq:
		i.op, i.size = mLdar, v.size
		i.src = []reg{s.use(args[0])}
	case opStoreRel:
		i.op, i.size, i.dst = mStlr, v.size, regNone
		i.src = []reg{s.useZ(args[1]), s.use(args[0])}
	case opCas:
		i.op, i.size = mCas, v.size
		i.src = []reg{s.use(args[0]), s.useZ(args[1]), s.useZ(args[2])}
		if i.dst == regNone {
			i.dst = s.mf.newReg()
		}
	case opAtomicAdd:
		i.op, i.size = mAtomicAdd, v.size
		i.src = []reg{s.use(args[0]), s.useZ(args[1])}
	case opBarrier:
		i.op, i.imm, i.dst = mBarrier, v.imm, regNone
	case opCacheOp:
		i.op, i.imm, i.dst = mCacheOp, v.imm, regNone
		i.src = []reg{s.use(args[0])}
	case opMrs:
		i.op, i.imm = mMrs, v.imm
		if i.dst == regNone {
			i.dst = s.mf.newReg()
		}
	default:
		panic("isel: " + v.String())
	}
	if v.op == opLoadAcq && i.dst == regNone {
		i.dst = s.mf.newReg()
	}
	s.push(i)
}

// fixed emits an operation whose arguments are in fixed registers and whose result is in x0.
func (s *isel) fixed(i *minstr, v *value, order []reg, args []*value) {
	dst := i.dst
	i.dst = regNone
	i.defs = []reg{0}
	if dst != regNone {
		s.push(&minstr{op: mParCopy, dst: regNone, moves: []move{{dst: dst, src: 0}}})
	}
	var ms []move
	for k, a := range args {
		ms = append(ms, s.copyOf(order[k], a))
		i.uses = append(i.uses, order[k])
	}
	p := s.pending
	s.pending = nil
	s.push(i)
	s.push(&minstr{op: mParCopy, dst: regNone, moves: ms})
	s.rev = append(s.rev, p...)
}

func (s *isel) call(i *minstr, v *value) {
	i.op, i.sym, i.clob, i.imm = mCall, v.callee.sym, callClobbers|1<<30, int64(len(v.args))
	i.dst = regNone
	var after []move
	for k, r := range s.results[v] {
		if r != regNone {
			after = append(after, move{dst: r, src: reg(k)})
			i.defs = append(i.defs, reg(k))
		}
	}
	if len(after) > 0 {
		s.push(&minstr{op: mParCopy, dst: regNone, moves: after})
	}
	var ms []move
	var stack []*minstr
	for k, a := range v.args {
		if k < 8 {
			ms = append(ms, s.copyOf(reg(k), a))
			i.uses = append(i.uses, reg(k))
			continue
		}
		stack = append(stack, &minstr{op: mStoreArg, w: 64, dst: regNone, src: []reg{s.useZ(a)}, imm: int64(k - 8)})
	}
	p := s.pending
	s.pending = nil
	s.push(i)
	if len(ms) > 0 {
		s.push(&minstr{op: mParCopy, dst: regNone, moves: ms})
	}
	for _, st := range stack {
		s.push(st)
	}
	s.rev = append(s.rev, p...)
}
