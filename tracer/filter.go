package tracer

// Insn is one classic BPF instruction, laid out like the kernel's struct sock_filter.
type Insn struct {
	Code uint16
	JT   uint8
	JF   uint8
	K    uint32
}

// MaxProgram is the largest number of instructions the kernel accepts (BPF_MAXINSNS).
const MaxProgram = 4096

// The instructions a PRoot filter is made of (include/uapi/linux/bpf_common.h).
const (
	opLoad         = 0x20 // BPF_LD | BPF_W | BPF_ABS
	opReturn       = 0x06 // BPF_RET | BPF_K
	opJump         = 0x05 // BPF_JMP | BPF_JA
	opJumpEqual    = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	opJumpGreater  = 0x25 // BPF_JMP | BPF_JGT | BPF_K
	opJumpAtLeast  = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	opJumpAnyBitOf = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	opAnd          = 0x54 // BPF_ALU | BPF_AND | BPF_K
)

// Offsets in struct seccomp_data, and its size.
const (
	offNumber     = 0
	offArch       = 4
	offAddressLow = 8 // of the instruction pointer, little-endian
	offAddressTop = 12
	sizeData      = 64
)

const archAarch64 = 0xc00000b7 // AUDIT_ARCH_AARCH64

// What a filter can answer (include/uapi/linux/seccomp.h).
const (
	actionMask        = 0xffff0000
	actionAllow       = 0x7fff0000
	actionLog         = 0x7ffc0000
	actionTrace       = 0x7ff00000
	actionErrno       = 0x00050000
	actionTrap        = 0x00030000
	actionKillThread  = 0x00000000
	actionKillProcess = 0x80000000
)

// The trampoline page 0xf_fff00000. The kernel reports the address after the svc, which is in the page too.
const (
	pageTop  = 0xf
	pageLow  = 0xfff00000
	pageMask = 0xfffff000
)

// Finding is what Rewrite makes of a program.
type Finding uint8

// The findings. Rewritten and HasRule are good news, the others say why a program is left alone.
const (
	Rewritten    Finding = iota
	HasRule              // the program lets the trampoline page through already, as a patched PRoot's does
	Empty                // no instruction at all
	TooLong              // it would not fit in MaxProgram instructions
	UnknownCode          // an instruction that PRoot's filters do not have
	UnknownLoad          // a load of something outside struct seccomp_data
	UnknownPlace         // a use of the instruction pointer that is not the trampoline rule
	UnknownExit          // an answer that is not known here
	BadJump              // a jump behind the end
	NoEnd                // the last instruction is no answer
	NoArch               // it does not check for the arm64 architecture first
	NoTrace              // it traces nothing
	ManyTraces           // more distinct trace values than there is room for
)

// maxTails is the number of distinct trace values that Rewrite handles. PRoot has two.
const maxTails = 16

// tailLength is the number of instructions appended per distinct trace value.
const tailLength = 7

// traces says whether the instruction asks the tracer.
func traces(in *Insn) bool { return in.Code == opReturn && in.K&actionMask == actionTrace }

// check looks at instruction i of a program of n instructions.
func check(in *Insn, i, n int) Finding {
	rest := uint32(n - i - 1) // instructions that follow: a jump over fewer stays inside
	switch in.Code {
	case opLoad:
		if in.K >= sizeData || in.K&3 != 0 {
			return UnknownLoad
		}
	case opJump:
		if in.K >= rest {
			return BadJump
		}
	case opJumpEqual, opJumpGreater, opJumpAtLeast, opJumpAnyBitOf:
		if uint32(in.JT) >= rest || uint32(in.JF) >= rest {
			return BadJump
		}
	case opAnd:
	case opReturn:
		switch in.K & actionMask {
		case actionAllow, actionLog, actionTrace, actionErrno, actionTrap, actionKillThread, actionKillProcess:
		default:
			return UnknownExit
		}
	default:
		return UnknownCode
	}
	return Rewritten
}

// hasRule says whether the program compares both halves of the instruction pointer with the trampoline page.
func hasRule(src []Insn) bool {
	top, low := false, false
	last := uint32(sizeData)
	for i := range src {
		in := &src[i]
		if in.Code == opLoad {
			last = in.K
		}
		if in.Code&7 != opJump&7 || in.Code == opJump {
			continue
		}
		if last == offAddressTop && in.K == pageTop {
			top = true
		}
		if last == offAddressLow && in.K&pageMask == pageLow {
			low = true
		}
	}
	return top && low
}

// Rewrite writes to dst the program src in which every answer "ask the tracer" became a jump to an appended
// tail: there the instruction pointer is compared with the trampoline page, inside which the call is allowed.
// Everything before stays in its place, so that no other jump changes, and the comparison comes after the
// dispatch on the number, so that the kernel still knows which numbers are always allowed.
//
// It returns the new length and what it found. For other findings than Rewritten, dst is unchanged and at is
// the instruction concerned, or -1.
func Rewrite(dst, src []Insn) (n int, what Finding, at int) {
	if len(src) == 0 {
		return 0, Empty, -1
	}
	if hasRule(src) {
		return 0, HasRule, -1
	}
	if src[0].Code != opLoad || src[0].K != offArch {
		return 0, NoArch, 0
	}

	var values [maxTails]uint32
	tails := 0
	arch := false
	for i := range src {
		in := &src[i]
		if f := check(in, i, len(src)); f != Rewritten {
			return 0, f, i
		}
		if in.Code == opLoad && (in.K == offAddressLow || in.K == offAddressTop) {
			return 0, UnknownPlace, i
		}
		if in.Code == opJumpEqual && in.K == archAarch64 {
			arch = true
		}
		if traces(in) && indexOf(&values, tails, in.K) == tails {
			if tails == maxTails {
				return 0, ManyTraces, i
			}
			values[tails] = in.K
			tails++
		}
	}
	if src[len(src)-1].Code != opReturn {
		return 0, NoEnd, len(src) - 1
	}
	if !arch {
		return 0, NoArch, -1
	}
	if tails == 0 {
		return 0, NoTrace, -1
	}
	total := len(src) + tails*tailLength
	if total > MaxProgram || total > len(dst) {
		return 0, TooLong, -1
	}

	for i := range src {
		in := &src[i]
		if traces(in) {
			tail := len(src) + indexOf(&values, tails, in.K)*tailLength
			put(dst, i, opJump, 0, 0, uint32(tail-i-1))
			continue
		}
		put(dst, i, in.Code, in.JT, in.JF, in.K)
	}
	for i := 0; i < tails; i++ {
		putTail(dst, len(src)+i*tailLength, values[i])
	}
	return total, Rewritten, -1
}

// indexOf returns the index of v among the first n values, or n.
func indexOf(values *[maxTails]uint32, n int, v uint32) int {
	for i := 0; i < n; i++ {
		if values[i] == v {
			return i
		}
	}
	return n
}

// putTail writes the comparison with the trampoline page that ends in trace.
func putTail(dst []Insn, at int, trace uint32) {
	put(dst, at+0, opLoad, 0, 0, offAddressTop)
	put(dst, at+1, opJumpEqual, 0, 4, pageTop)
	put(dst, at+2, opLoad, 0, 0, offAddressLow)
	put(dst, at+3, opAnd, 0, 0, pageMask)
	put(dst, at+4, opJumpEqual, 0, 1, pageLow)
	put(dst, at+5, opReturn, 0, 0, actionAllow)
	put(dst, at+6, opReturn, 0, 0, trace)
}

func put(dst []Insn, at int, code uint16, jt, jf uint8, k uint32) {
	in := &dst[at]
	in.Code = code
	in.JT = jt
	in.JF = jf
	in.K = k
}
