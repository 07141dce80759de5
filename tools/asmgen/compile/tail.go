package compile

// tailCalls turns a call whose results are the function's own, with nothing left to do, into a jump. The frame is
// gone by then, so functions with variables in it are left alone, and so are calls that pass arguments on the stack.
func (m *mfn) tailCalls() {
	for _, s := range m.f.slots {
		if !s.dead {
			return
		}
	}
	for _, b := range m.blocks {
		for k, i := range b.code {
			if i.op == mCall && i.imm <= 8 && returns(b.code[k+1:]) {
				i.op = mTailCall
				b.code = b.code[:k+1]
				break
			}
		}
	}
}

// returns says whether all that instructions do is return. Copies of registers to themselves have been removed.
func returns(code []*minstr) bool {
	for range 8 {
		var next *minstr
		for _, i := range code {
			if i.op == mNop || i.op == mParCopy && len(i.moves) == 0 {
				continue
			}
			next = i
			break
		}
		switch {
		case next == nil:
			return false
		case next.op == mRet:
			return true
		case next.op != mJump:
			return false
		}
		code = next.target.code
	}
	return false
}
