package compile

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// intrinsic is a function that the compiler replaces by instructions.
type intrinsic int

const (
	intrinsicNone intrinsic = iota
	intrinsicUnknown
	intrinsicRaw
	intrinsicPlain
	intrinsicPtr
	intrinsicLoad8
	intrinsicLoad16
	intrinsicLoad32
	intrinsicLoad64
	intrinsicStore8
	intrinsicStore16
	intrinsicStore32
	intrinsicStore64
	intrinsicLoadAcquire32
	intrinsicLoadAcquire64
	intrinsicStoreRelease32
	intrinsicStoreRelease64
	intrinsicCas32
	intrinsicCas64
	intrinsicAdd32
	intrinsicAdd64
	intrinsicFence
	intrinsicCleanData
	intrinsicInvalidate
	intrinsicSync
	intrinsicIsb
	intrinsicCacheType
	intrinsicCounter
	intrinsicCounterHz
	intrinsicSymbol
	intrinsicWeak
	intrinsicCall1

	intrinsicClz32
	intrinsicClz64
	intrinsicCtz32
	intrinsicCtz64
	intrinsicRev32
	intrinsicRev64
	intrinsicBitLen32
	intrinsicBitLen64
	intrinsicRol32
	intrinsicRol64
	intrinsicMulHi
)

// barriers, cache operations and system registers, as imm of opBarrier, opCacheOp and opMrs.
const (
	barrierDmb = iota
	barrierDsb
	barrierIsb
)

const (
	cacheClean = iota
	cacheInvalidate
)

const (
	mrsCtr = iota
	mrsCntvct
	mrsCntfrq
)

var nocgoIntrinsics = map[string]intrinsic{
	"Raw": intrinsicRaw, "Plain": intrinsicPlain, "Ptr": intrinsicPtr,
	"Load8": intrinsicLoad8, "Load16": intrinsicLoad16, "Load32": intrinsicLoad32, "Load64": intrinsicLoad64,
	"Store8": intrinsicStore8, "Store16": intrinsicStore16, "Store32": intrinsicStore32, "Store64": intrinsicStore64,
	"LoadAcquire32": intrinsicLoadAcquire32, "LoadAcquire64": intrinsicLoadAcquire64,
	"StoreRelease32": intrinsicStoreRelease32, "StoreRelease64": intrinsicStoreRelease64,
	"CompareAndSwap32": intrinsicCas32, "CompareAndSwap64": intrinsicCas64,
	"Add32": intrinsicAdd32, "Add64": intrinsicAdd64,
	"Fence": intrinsicFence, "CleanData": intrinsicCleanData, "InvalidateInstruction": intrinsicInvalidate,
	"SyncBarrier": intrinsicSync, "InstructionBarrier": intrinsicIsb,
	"CacheType": intrinsicCacheType, "Counter": intrinsicCounter, "CounterHz": intrinsicCounterHz,
	"Symbol": intrinsicSymbol, "WeakSymbol": intrinsicWeak, "Call1": intrinsicCall1,
}

var bitsIntrinsics = map[string]intrinsic{
	"LeadingZeros32": intrinsicClz32, "LeadingZeros64": intrinsicClz64, "LeadingZeros": intrinsicClz64,
	"TrailingZeros32": intrinsicCtz32, "TrailingZeros64": intrinsicCtz64, "TrailingZeros": intrinsicCtz64,
	"ReverseBytes32": intrinsicRev32, "ReverseBytes64": intrinsicRev64,
	"Len32": intrinsicBitLen32, "Len64": intrinsicBitLen64, "Len": intrinsicBitLen64,
	"RotateLeft32": intrinsicRol32, "RotateLeft64": intrinsicRol64,
}

// intrinsicOf says which intrinsic f is. A function of nocgo is one if its comment has //asmgen:intrinsic or it
// has no body.
func intrinsicOf(f *ssa.Function) intrinsic {
	if f.Pkg == nil || f.Signature.Recv() != nil {
		return intrinsicNone
	}
	path := f.Pkg.Pkg.Path()
	switch {
	case path == "math/bits":
		return bitsIntrinsics[f.Name()]
	case path == "nocgo" || strings.HasSuffix(path, "/nocgo"):
		if len(f.Blocks) == 0 {
			if k := nocgoIntrinsics[f.Name()]; k != intrinsicNone {
				return k
			}
			return intrinsicUnknown
		}
	}
	return intrinsicNone
}

// intrinsic lowers a call of an intrinsic; the result is empty for those without one.
func (l *lowerer) intrinsic(k intrinsic, args []ssa.Value, pos token.Pos) lval {
	a := func(i int) *value { return l.scalar(args[i]) }
	one := func(v *value) lval { return lval{sc: []*value{v}} }
	mem := func(o op, w uint8, size uint8, vs ...*value) *value {
		v := l.emit(o, w, vs...)
		v.size = size
		return v
	}
	imm := func(o op, w uint8, n int64, vs ...*value) *value {
		v := l.emit(o, w, vs...)
		v.imm = n
		return v
	}
	ptr := func(i int) *value {
		p := a(i)
		l.nilCheck(p)
		return p
	}
	switch k {
	case intrinsicRaw, intrinsicPlain:
		o := opRaw
		if k == intrinsicPlain {
			o = opPlain
		}
		var vs []*value
		for i := range args {
			vs = append(vs, a(i))
		}
		return one(l.emit(o, 64, vs...))
	case intrinsicPtr:
		v := l.emit(opPtr, 64, a(0))
		v.noCheck = true
		return one(v)
	case intrinsicLoad8:
		return one(mem(opLoad, 32, 1, a(0)))
	case intrinsicLoad16:
		return one(mem(opLoad, 32, 2, a(0)))
	case intrinsicLoad32:
		return one(mem(opLoad, 32, 4, a(0)))
	case intrinsicLoad64:
		return one(mem(opLoad, 64, 8, a(0)))
	case intrinsicStore8:
		mem(opStore, 0, 1, a(0), a(1))
	case intrinsicStore16:
		mem(opStore, 0, 2, a(0), a(1))
	case intrinsicStore32:
		mem(opStore, 0, 4, a(0), a(1))
	case intrinsicStore64:
		mem(opStore, 0, 8, a(0), a(1))
	case intrinsicLoadAcquire32:
		return one(mem(opLoadAcq, 32, 4, ptr(0)))
	case intrinsicLoadAcquire64:
		return one(mem(opLoadAcq, 64, 8, ptr(0)))
	case intrinsicStoreRelease32:
		mem(opStoreRel, 0, 4, ptr(0), a(1))
	case intrinsicStoreRelease64:
		mem(opStoreRel, 0, 8, ptr(0), a(1))
	case intrinsicCas32:
		return one(mem(opCas, 32, 4, ptr(0), a(1), a(2)))
	case intrinsicCas64:
		return one(mem(opCas, 32, 8, ptr(0), a(1), a(2)))
	case intrinsicAdd32:
		return one(mem(opAtomicAdd, 32, 4, ptr(0), a(1)))
	case intrinsicAdd64:
		return one(mem(opAtomicAdd, 64, 8, ptr(0), a(1)))
	case intrinsicFence:
		imm(opBarrier, 0, barrierDmb)
	case intrinsicSync:
		imm(opBarrier, 0, barrierDsb)
	case intrinsicIsb:
		imm(opBarrier, 0, barrierIsb)
	case intrinsicCleanData:
		imm(opCacheOp, 0, cacheClean, a(0))
	case intrinsicInvalidate:
		imm(opCacheOp, 0, cacheInvalidate, a(0))
	case intrinsicCacheType:
		return one(imm(opMrs, 64, mrsCtr))
	case intrinsicCounter:
		return one(imm(opMrs, 64, mrsCntvct))
	case intrinsicCounterHz:
		return one(imm(opMrs, 64, mrsCntfrq))
	case intrinsicSymbol, intrinsicWeak:
		o := opSym
		if k == intrinsicWeak {
			o = opGot
		}
		v := l.emit(o, 64)
		v.sym = constString(args[0])
		return one(v)
	case intrinsicCall1:
		return one(l.emit(opCall1, 64, a(0), a(1)))
	case intrinsicClz32:
		return one(l.emit(opZext32, 64, l.emit(opClz, 32, a(0))))
	case intrinsicClz64:
		return one(l.emit(opClz, 64, a(0)))
	case intrinsicCtz32:
		return one(l.emit(opZext32, 64, l.emit(opClz, 32, l.emit(opRbit, 32, a(0)))))
	case intrinsicCtz64:
		return one(l.emit(opClz, 64, l.emit(opRbit, 64, a(0))))
	case intrinsicRev32:
		return one(l.emit(opRev, 32, a(0)))
	case intrinsicRev64:
		return one(l.emit(opRev, 64, a(0)))
	case intrinsicBitLen32:
		return one(l.emit(opSub, 64, l.constant(64, 32), l.emit(opZext32, 64, l.emit(opClz, 32, a(0)))))
	case intrinsicBitLen64:
		return one(l.emit(opSub, 64, l.constant(64, 64), l.emit(opClz, 64, a(0))))
	case intrinsicRol32:
		return one(l.emit(opRor, 32, a(0), l.emit(opTrunc, 32, l.emit(opNeg, 64, a(1)))))
	case intrinsicRol64:
		return one(l.emit(opRor, 64, a(0), l.emit(opNeg, 64, a(1))))
	}
	return lval{}
}
