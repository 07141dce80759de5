package compile

import "svcrelay/tools/asmgen/asm"

// pair emits two accesses to neighbouring places as one instruction, where there is one.
func (e *emitter) pair(i, j *minstr) bool {
	if i.op != j.op || i.op != mLoad && i.op != mStore || i.size != j.size || i.size < 4 || i.addr != j.addr {
		return false
	}
	store := i.op == mStore
	at := 0
	if store {
		at = 1
	}
	var base asm.Reg
	off1, off2 := i.imm, j.imm
	switch i.addr {
	case addrImm:
		base = e.r(i.src[at])
		if e.r(j.src[at]) != base {
			return false
		}
	case addrSlot:
		base = asm.SP
		off1 += e.mf.f.slots[i.imm2].off
		off2 += e.mf.f.slots[j.imm2].off
	default:
		return false
	}
	first, second := i, j
	if off1 > off2 {
		first, second, off1, off2 = j, i, off2, off1
	}
	if off2-off1 != int64(i.size) || !asm.PairOffsetOK(int(i.size), off1) {
		return false
	}
	w := asm.Width(8 * int(i.size))
	if store {
		e.b.Stp(w, e.r(first.src[0]), e.r(second.src[0]), asm.At(base, off1))
		return true
	}
	d1, d2 := e.r(first.dst), e.r(second.dst)
	// The first load must not change the address of the second; a pair has no sign-extending form here.
	if d1 == d2 || e.r(i.dst) == base || i.size == 4 && (i.signed || j.signed) {
		return false
	}
	e.b.Ldp(w, d1, d2, asm.At(base, off1))
	return true
}
