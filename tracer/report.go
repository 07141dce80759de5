package tracer

import (
	"unsafe"

	"svcrelay/nocgo"
)

// message is a line under construction.
type message struct {
	text [256]byte
	n    int
}

var line message

// report says on standard error why a filter is left alone.
func report(what Finding, at int, in *Insn) {
	m := &line
	compose(m, what, at, in)
	nocgo.Plain(nocgo.SysWrite, 2, uintptr(unsafe.Pointer(&m.text)), uintptr(m.n), 0, 0, 0)
}

// compose writes the line into m. The instruction is nil where the reason concerns none.
func compose(m *message, what Finding, at int, in *Insn) {
	m.n = 0
	m.add("svcrelay: the system call filter is left unchanged, programs run at PRoot's own speed: ")
	m.add(why(what))
	if in != nil {
		m.add(" (instruction ")
		m.decimal(uint64(at))
		m.add(", code 0x")
		m.hex(uint64(in.Code))
		m.add(", value 0x")
		m.hex(uint64(in.K))
		m.add(")")
	}
	m.add("\n")
}

// why is the reason in words.
func why(what Finding) string {
	switch what {
	case Empty:
		return "it has no instructions"
	case TooLong:
		return "it would become longer than the 4096 instructions the kernel accepts"
	case UnknownCode:
		return "it has an instruction of an unknown kind"
	case UnknownLoad:
		return "it reads outside the system call's description"
	case UnknownPlace:
		return "it already looks at where system calls come from, in an unknown way"
	case UnknownExit:
		return "it has an answer of an unknown kind"
	case BadJump:
		return "a jump leaves it"
	case NoEnd:
		return "its last instruction is no answer"
	case NoArch:
		return "it does not begin with a check for the arm64 architecture"
	case NoTrace:
		return "it asks a tracer about nothing, so it is not PRoot's"
	case ManyTraces:
		return "it has too many kinds of questions to the tracer"
	}
	return "unknown reason"
}

func (m *message) add(s string) {
	for i := 0; i < len(s) && m.n < len(m.text); i++ {
		m.text[m.n] = s[i]
		m.n++
	}
}

func (m *message) decimal(v uint64) { m.number(v, 10) }

func (m *message) hex(v uint64) { m.number(v, 16) }

func (m *message) number(v, base uint64) {
	div := uint64(1)
	for v/div >= base {
		div *= base
	}
	for ; div > 0; div /= base {
		if d := v / div % base; m.n < len(m.text) {
			m.text[m.n] = "0123456789abcdef"[d]
			m.n++
		}
	}
}
