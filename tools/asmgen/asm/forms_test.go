package asm

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// formsSum is the SHA-256 of all forms' words and texts as they were when GNU
// as last agreed with every one of them: the check on a machine without it.
const formsSum = "fc81ba8b97e5f98215942347a1704314075ae81fd364d550de5bb590b6f831f4"

// form is one instruction: as GNU as writes it, and as the builder makes it.
type form struct {
	text string
	emit func(b *Builder)
}

// wname is a register's name in the given width.
func wname(w Width, r Reg) string {
	switch {
	case w == X:
		return r.String()
	case r == XZR:
		return "wzr"
	case r == SP:
		return "wsp"
	}
	return fmt.Sprintf("w%d", uint8(r))
}

var (
	shiftNames = []string{"lsl", "lsr", "asr", "ror"}
	extNames   = []string{"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"}
	widths     = []Width{W, X}
)

type formTable struct{ forms []form }

func (t *formTable) add(emit func(b *Builder), format string, args ...any) {
	t.forms = append(t.forms, form{fmt.Sprintf(format, args...), emit})
}

func allForms() []form {
	t := &formTable{}
	t.moves()
	t.addSub()
	t.logical()
	t.shifts()
	t.multiply()
	t.selects()
	t.memory()
	t.pairs()
	t.ordered()
	t.system()
	return t.forms
}

func (t *formTable) moves() {
	for _, w := range widths {
		for _, p := range [][2]Reg{{X0, X1}, {X30, X28}, {X5, XZR}, {SP, X3}, {X3, SP}} {
			t.add(func(b *Builder) { b.MovReg(w, p[0], p[1]) }, "mov %s, %s", wname(w, p[0]), wname(w, p[1]))
		}
		for _, sh := range []int{0, 16, 32, 48} {
			if sh >= int(w) {
				continue
			}
			for _, v := range []uint16{0, 1, 0x8000, 0xffff} {
				t.add(func(b *Builder) { b.Movz(w, X7, v, sh) }, "movz %s, #%d, lsl #%d", wname(w, X7), v, sh)
				t.add(func(b *Builder) { b.Movn(w, X27, v, sh) }, "movn %s, #%d, lsl #%d", wname(w, X27), v, sh)
				t.add(func(b *Builder) { b.Movk(w, X18, v, sh) }, "movk %s, #%d, lsl #%d", wname(w, X18), v, sh)
			}
		}
	}
}

func (t *formTable) addSub() {
	type three func(b *Builder, w Width, rd, rn Reg, op Operand)
	ops := []struct {
		name string
		f    three
		s    bool
	}{
		{"add", (*Builder).Add, false}, {"sub", (*Builder).Sub, false},
		{"adds", (*Builder).Adds, true}, {"subs", (*Builder).Subs, true},
	}
	for _, w := range widths {
		for _, o := range ops {
			for _, p := range [][2]Reg{{X0, X1}, {X27, X28}, {SP, SP}, {X2, SP}, {XZR, X9}} {
				if p[0] == SP && o.s || p[0] == XZR && !o.s {
					continue
				}
				for _, v := range []int64{0, 1, 16, 255, 4095, 4096, 0xfff000, -1, -4095, -4096} {
					t.add(func(b *Builder) { o.f(b, w, p[0], p[1], Imm(v)) }, "%s %s, %s, #%d", o.name, wname(w, p[0]), wname(w, p[1]), v)
				}
			}
			for _, p := range [][3]Reg{{X0, X1, X2}, {X27, X28, X29}, {X4, XZR, X5}, {X4, X5, XZR}, {SP, SP, X9}, {X9, SP, X10}, {X11, SP, XZR}} {
				if p[0] == SP && o.s {
					continue
				}
				t.add(func(b *Builder) { o.f(b, w, p[0], p[1], p[2]) }, "%s %s, %s, %s", o.name, wname(w, p[0]), wname(w, p[1]), wname(w, p[2]))
			}
			for k := LSL; k <= ASR; k++ {
				for _, n := range []uint8{0, 1, 31, 63} {
					if int(n) >= int(w) {
						continue
					}
					t.add(func(b *Builder) { o.f(b, w, X8, X9, Shifted{X10, k, n}) }, "%s %s, %s, %s, %s #%d", o.name, wname(w, X8), wname(w, X9), wname(w, X10), shiftNames[k], n)
				}
			}
			for e := UXTB; e <= SXTX; e++ {
				rm := wname(W, X3)
				if e&3 == 3 {
					rm = wname(w, X3)
				}
				for _, n := range []uint8{0, 2, 4} {
					t.add(func(b *Builder) { o.f(b, w, X1, X2, Extended{X3, e, n}) }, "%s %s, %s, %s, %s #%d", o.name, wname(w, X1), wname(w, X2), rm, extNames[e], n)
				}
			}
			t.add(func(b *Builder) { o.f(b, w, X1, SP, Extended{X3, UXTW, 3}) }, "%s %s, %s, w3, uxtw #3", o.name, wname(w, X1), wname(w, SP))
		}
		for _, v := range []int64{0, 7, 4095, 4096, -7} {
			t.add(func(b *Builder) { b.Cmp(w, X3, Imm(v)) }, "cmp %s, #%d", wname(w, X3), v)
			t.add(func(b *Builder) { b.Cmn(w, X3, Imm(v)) }, "cmn %s, #%d", wname(w, X3), v)
			t.add(func(b *Builder) { b.Cmp(w, SP, Imm(v)) }, "cmp %s, #%d", wname(w, SP), v)
		}
		t.add(func(b *Builder) { b.Cmp(w, X3, X4) }, "cmp %s, %s", wname(w, X3), wname(w, X4))
		t.add(func(b *Builder) { b.Cmp(w, XZR, X4) }, "cmp %s, %s", wname(w, XZR), wname(w, X4))
		t.add(func(b *Builder) { b.Cmp(w, SP, X4) }, "cmp %s, %s", wname(w, SP), wname(w, X4))
		t.add(func(b *Builder) { b.Cmn(w, X3, X4) }, "cmn %s, %s", wname(w, X3), wname(w, X4))
		t.add(func(b *Builder) { b.Cmp(w, X3, Shifted{X4, LSL, 3}) }, "cmp %s, %s, lsl #3", wname(w, X3), wname(w, X4))
		t.add(func(b *Builder) { b.Cmp(w, X3, Extended{X4, SXTW, 0}) }, "cmp %s, w4, sxtw", wname(w, X3))
		t.add(func(b *Builder) { b.Neg(w, X3, X4) }, "neg %s, %s", wname(w, X3), wname(w, X4))
		t.add(func(b *Builder) { b.Neg(w, X3, Shifted{X4, ASR, 5}) }, "neg %s, %s, asr #5", wname(w, X3), wname(w, X4))
	}
}

func (t *formTable) logical() {
	ops := []struct {
		name string
		f    func(b *Builder, w Width, rd, rn Reg, op Operand)
		imm  bool
	}{
		{"and", (*Builder).And, true}, {"orr", (*Builder).Orr, true}, {"eor", (*Builder).Eor, true},
		{"ands", (*Builder).Ands, true}, {"bic", (*Builder).Bic, false}, {"bics", (*Builder).Bics, false},
		{"orn", (*Builder).Orn, false}, {"eon", (*Builder).Eon, false},
	}
	masks := []uint64{1, 2, 0xff, 0xff0, 0x7fffffff, 0x80000000, 0xfffffffe, 0x80000001, 0x55555555, 0x33333333, 0xf0f0f0f0, 0x00ff00ff, 0x7ffe7ffe}
	masks64 := []uint64{1 << 63, 1<<63 | 1, 1<<63 - 1, ^uint64(1), 0x5555555555555555, 0xffff0000ffff0000, 0xff000000000000ff, 0xfffffffffffff000, 0x3c3c3c3c3c3c3c3c, 0xffffffff, 0xffffffff00000000}
	for _, w := range widths {
		for _, o := range ops {
			for _, p := range [][3]Reg{{X0, X1, X2}, {X27, X28, X29}, {X4, XZR, X5}, {X4, X5, XZR}} {
				t.add(func(b *Builder) { o.f(b, w, p[0], p[1], p[2]) }, "%s %s, %s, %s", o.name, wname(w, p[0]), wname(w, p[1]), wname(w, p[2]))
			}
			for k := LSL; k <= ROR; k++ {
				for _, n := range []uint8{1, 31, 63} {
					if int(n) >= int(w) {
						continue
					}
					t.add(func(b *Builder) { o.f(b, w, X8, X9, Shifted{X10, k, n}) }, "%s %s, %s, %s, %s #%d", o.name, wname(w, X8), wname(w, X9), wname(w, X10), shiftNames[k], n)
				}
			}
			if !o.imm {
				continue
			}
			ms := masks
			if w == X {
				ms = append(append([]uint64(nil), masks[:8]...), masks64...)
			}
			for _, m := range ms {
				if !BitmaskOK(w, m) {
					continue
				}
				t.add(func(b *Builder) { o.f(b, w, X6, X7, Imm(int64(m))) }, "%s %s, %s, #%#x", o.name, wname(w, X6), wname(w, X7), m)
			}
			if o.name != "ands" {
				t.add(func(b *Builder) { o.f(b, w, SP, X7, Imm(0xf0)) }, "%s %s, %s, #0xf0", o.name, wname(w, SP), wname(w, X7))
			}
		}
		t.add(func(b *Builder) { b.Tst(w, X1, X2) }, "tst %s, %s", wname(w, X1), wname(w, X2))
		t.add(func(b *Builder) { b.Tst(w, X1, Imm(0x10)) }, "tst %s, #16", wname(w, X1))
		t.add(func(b *Builder) { b.Mvn(w, X1, X2) }, "mvn %s, %s", wname(w, X1), wname(w, X2))
		t.add(func(b *Builder) { b.Mvn(w, X1, Shifted{X2, LSR, 4}) }, "mvn %s, %s, lsr #4", wname(w, X1), wname(w, X2))
		t.add(func(b *Builder) { b.Bic(w, X1, X2, Imm(0xff)) }, "bic %s, %s, #0xff", wname(w, X1), wname(w, X2))
	}
}

func (t *formTable) shifts() {
	shifts := []func(b *Builder, w Width, rd, rn Reg, op Operand){(*Builder).Lsl, (*Builder).Lsr, (*Builder).Asr, (*Builder).Ror}
	for _, w := range widths {
		for k, f := range shifts {
			t.add(func(b *Builder) { f(b, w, X1, X2, X3) }, "%s %s, %s, %s", shiftNames[k], wname(w, X1), wname(w, X2), wname(w, X3))
			for _, n := range []int{1, 7, 31, 32, 63} {
				if n < int(w) {
					t.add(func(b *Builder) { f(b, w, X1, X2, Imm(n)) }, "%s %s, %s, #%d", shiftNames[k], wname(w, X1), wname(w, X2), n)
				}
			}
		}
		fields := []struct {
			name string
			f    func(b *Builder, w Width, rd, rn Reg, lsb, n int)
		}{
			{"ubfx", (*Builder).Ubfx}, {"sbfx", (*Builder).Sbfx}, {"bfxil", (*Builder).Bfxil},
			{"bfi", (*Builder).Bfi}, {"ubfiz", (*Builder).Ubfiz}, {"sbfiz", (*Builder).Sbfiz},
		}
		for _, o := range fields {
			for _, p := range [][2]int{{0, 1}, {0, 8}, {3, 5}, {31, 1}, {16, 16}, {1, 31}, {40, 24}, {63, 1}, {1, 63}} {
				if p[0]+p[1] <= int(w) {
					t.add(func(b *Builder) { o.f(b, w, X4, X5, p[0], p[1]) }, "%s %s, %s, #%d, #%d", o.name, wname(w, X4), wname(w, X5), p[0], p[1])
				}
			}
		}
		for _, n := range []int{0, 1, 31} {
			t.add(func(b *Builder) { b.Extr(w, X4, X5, X6, n) }, "extr %s, %s, %s, #%d", wname(w, X4), wname(w, X5), wname(w, X6), n)
		}
		t.add(func(b *Builder) { b.Sxtb(w, X1, X2) }, "sxtb %s, w2", wname(w, X1))
		t.add(func(b *Builder) { b.Sxth(w, X1, X2) }, "sxth %s, w2", wname(w, X1))
	}
	t.add(func(b *Builder) { b.Uxtb(X1, X2) }, "uxtb w1, w2")
	t.add(func(b *Builder) { b.Uxth(X1, X2) }, "uxth w1, w2")
	t.add(func(b *Builder) { b.Uxtw(X1, X2) }, "mov w1, w2")
	t.add(func(b *Builder) { b.Sxtw(X1, X2) }, "sxtw x1, w2")
}

func (t *formTable) multiply() {
	for _, w := range widths {
		ops := []struct {
			name string
			f    func(b *Builder, w Width, rd, rn, rm Reg)
		}{
			{"mul", (*Builder).Mul}, {"mneg", (*Builder).Mneg}, {"udiv", (*Builder).Udiv}, {"sdiv", (*Builder).Sdiv},
			{"adc", (*Builder).Adc}, {"adcs", (*Builder).Adcs}, {"sbc", (*Builder).Sbc}, {"sbcs", (*Builder).Sbcs},
		}
		for _, o := range ops {
			for _, p := range [][3]Reg{{X0, X1, X2}, {X27, X28, X30}, {X1, XZR, X2}} {
				t.add(func(b *Builder) { o.f(b, w, p[0], p[1], p[2]) }, "%s %s, %s, %s", o.name, wname(w, p[0]), wname(w, p[1]), wname(w, p[2]))
			}
		}
		t.add(func(b *Builder) { b.Madd(w, X1, X2, X3, X4) }, "madd %s, %s, %s, %s", wname(w, X1), wname(w, X2), wname(w, X3), wname(w, X4))
		t.add(func(b *Builder) { b.Msub(w, X1, X2, X3, X4) }, "msub %s, %s, %s, %s", wname(w, X1), wname(w, X2), wname(w, X3), wname(w, X4))
		ones := []struct {
			name string
			f    func(b *Builder, w Width, rd, rn Reg)
		}{
			{"clz", (*Builder).Clz}, {"cls", (*Builder).Cls}, {"rbit", (*Builder).Rbit}, {"rev", (*Builder).Rev}, {"rev16", (*Builder).Rev16},
		}
		for _, o := range ones {
			t.add(func(b *Builder) { o.f(b, w, X1, X2) }, "%s %s, %s", o.name, wname(w, X1), wname(w, X2))
		}
	}
	t.add(func(b *Builder) { b.Rev32(X1, X2) }, "rev32 x1, x2")
	t.add(func(b *Builder) { b.Umulh(X1, X2, X3) }, "umulh x1, x2, x3")
	t.add(func(b *Builder) { b.Smulh(X1, X2, X3) }, "smulh x1, x2, x3")
	t.add(func(b *Builder) { b.Umull(X1, X2, X3) }, "umull x1, w2, w3")
	t.add(func(b *Builder) { b.Smull(X1, X2, X3) }, "smull x1, w2, w3")
}

func (t *formTable) selects() {
	for _, w := range widths {
		for c := EQ; c <= LE; c++ {
			t.add(func(b *Builder) { b.Csel(w, X1, X2, X3, c) }, "csel %s, %s, %s, %v", wname(w, X1), wname(w, X2), wname(w, X3), c)
			t.add(func(b *Builder) { b.Cset(w, X1, c) }, "cset %s, %v", wname(w, X1), c)
		}
		t.add(func(b *Builder) { b.Csel(w, X1, XZR, X3, LT) }, "csel %s, %s, %s, lt", wname(w, X1), wname(w, XZR), wname(w, X3))
		t.add(func(b *Builder) { b.Csinc(w, X1, X2, X3, HI) }, "csinc %s, %s, %s, hi", wname(w, X1), wname(w, X2), wname(w, X3))
		t.add(func(b *Builder) { b.Csinv(w, X1, X2, X3, HI) }, "csinv %s, %s, %s, hi", wname(w, X1), wname(w, X2), wname(w, X3))
		t.add(func(b *Builder) { b.Csneg(w, X1, X2, X3, HI) }, "csneg %s, %s, %s, hi", wname(w, X1), wname(w, X2), wname(w, X3))
		t.add(func(b *Builder) { b.Csetm(w, X1, HI) }, "csetm %s, hi", wname(w, X1))
		t.add(func(b *Builder) { b.Cinc(w, X1, X2, HI) }, "cinc %s, %s, hi", wname(w, X1), wname(w, X2))
		t.add(func(b *Builder) { b.Cneg(w, X1, X2, HI) }, "cneg %s, %s, hi", wname(w, X1), wname(w, X2))
		for _, v := range []int64{0, 5, 31} {
			t.add(func(b *Builder) { b.Ccmp(w, X1, Imm(v), 4, NE) }, "ccmp %s, #%d, #4, ne", wname(w, X1), v)
			t.add(func(b *Builder) { b.Ccmn(w, X1, Imm(v), 0, GE) }, "ccmn %s, #%d, #0, ge", wname(w, X1), v)
		}
		t.add(func(b *Builder) { b.Ccmp(w, X1, X2, 15, EQ) }, "ccmp %s, %s, #15, eq", wname(w, X1), wname(w, X2))
	}
}

func (t *formTable) memory() {
	type access struct {
		load, store string
		w           Width
		size        int
		ld, st      func(b *Builder, rt Reg, a Addr)
	}
	acc := []access{
		{"ldrb", "strb", W, 1, (*Builder).Ldrb, (*Builder).Strb},
		{"ldrh", "strh", W, 2, (*Builder).Ldrh, (*Builder).Strh},
		{"ldr", "str", W, 4, func(b *Builder, rt Reg, a Addr) { b.Ldr(W, rt, a) }, func(b *Builder, rt Reg, a Addr) { b.Str(W, rt, a) }},
		{"ldr", "str", X, 8, func(b *Builder, rt Reg, a Addr) { b.Ldr(X, rt, a) }, func(b *Builder, rt Reg, a Addr) { b.Str(X, rt, a) }},
		{"ldrsb", "", W, 1, func(b *Builder, rt Reg, a Addr) { b.Ldrsb(W, rt, a) }, nil},
		{"ldrsb", "", X, 1, func(b *Builder, rt Reg, a Addr) { b.Ldrsb(X, rt, a) }, nil},
		{"ldrsh", "", W, 2, func(b *Builder, rt Reg, a Addr) { b.Ldrsh(W, rt, a) }, nil},
		{"ldrsh", "", X, 2, func(b *Builder, rt Reg, a Addr) { b.Ldrsh(X, rt, a) }, nil},
		{"ldrsw", "", X, 4, (*Builder).Ldrsw, nil},
	}
	for _, a := range acc {
		for _, rt := range []Reg{X0, X27, XZR} {
			both := func(addr Addr, text string) {
				t.add(func(b *Builder) { a.ld(b, rt, addr) }, "%s %s, %s", a.load, wname(a.w, rt), text)
				if a.st != nil {
					t.add(func(b *Builder) { a.st(b, rt, addr) }, "%s %s, %s", a.store, wname(a.w, rt), text)
				}
			}
			for _, base := range []Reg{X1, SP} {
				for _, off := range []int64{0, 1, 8, 255, -1, -8, -256, int64(a.size) * 16, int64(a.size) * 4095} {
					both(At(base, off), fmt.Sprintf("[%v, #%d]", base, off))
				}
				for _, off := range []int64{0, 16, -16, 255, -256} {
					both(Pre(base, off), fmt.Sprintf("[%v, #%d]!", base, off))
					both(Post(base, off), fmt.Sprintf("[%v], #%d", base, off))
				}
				both(Index(base, X9, 0), fmt.Sprintf("[%v, x9]", base))
				if a.size > 1 {
					n := uint8(map[int]int{2: 1, 4: 2, 8: 3}[a.size])
					both(Index(base, X9, n), fmt.Sprintf("[%v, x9, lsl #%d]", base, n))
					both(IndexExt(base, X9, UXTW, n), fmt.Sprintf("[%v, w9, uxtw #%d]", base, n))
					both(IndexExt(base, X9, SXTX, n), fmt.Sprintf("[%v, x9, sxtx #%d]", base, n))
				}
				both(IndexExt(base, X9, SXTW, 0), fmt.Sprintf("[%v, w9, sxtw]", base))
			}
		}
	}
	for _, v := range []VReg{0, 31} {
		for _, off := range []int64{0, 16, 65520, -16, 3} {
			t.add(func(b *Builder) { b.LdrQ(v, At(SP, off)) }, "ldr q%d, [sp, #%d]", v, off)
			t.add(func(b *Builder) { b.StrQ(v, At(X3, off)) }, "str q%d, [x3, #%d]", v, off)
		}
		t.add(func(b *Builder) { b.StrQ(v, Pre(SP, -32)) }, "str q%d, [sp, #-32]!", v)
		t.add(func(b *Builder) { b.LdrQ(v, Post(SP, 32)) }, "ldr q%d, [sp], #32", v)
		t.add(func(b *Builder) { b.LdrQ(v, Index(X3, X4, 4)) }, "ldr q%d, [x3, x4, lsl #4]", v)
	}
}

func (t *formTable) pairs() {
	for _, w := range widths {
		s := int64(w) / 8
		for _, p := range [][3]Reg{{X0, X1, X2}, {X29, X30, SP}, {X27, X28, X3}, {XZR, X5, SP}} {
			for _, off := range []int64{0, s, 63 * s, -64 * s, -s} {
				t.add(func(b *Builder) { b.Ldp(w, p[0], p[1], At(p[2], off)) }, "ldp %s, %s, [%v, #%d]", wname(w, p[0]), wname(w, p[1]), p[2], off)
				t.add(func(b *Builder) { b.Stp(w, p[0], p[1], At(p[2], off)) }, "stp %s, %s, [%v, #%d]", wname(w, p[0]), wname(w, p[1]), p[2], off)
				t.add(func(b *Builder) { b.Ldp(w, p[0], p[1], Post(p[2], off)) }, "ldp %s, %s, [%v], #%d", wname(w, p[0]), wname(w, p[1]), p[2], off)
				t.add(func(b *Builder) { b.Stp(w, p[0], p[1], Pre(p[2], off)) }, "stp %s, %s, [%v, #%d]!", wname(w, p[0]), wname(w, p[1]), p[2], off)
			}
		}
		t.add(func(b *Builder) { b.Stp(w, XZR, XZR, At(SP, 16)) }, "stp %s, %s, [sp, #16]", wname(w, XZR), wname(w, XZR))
	}
	for _, off := range []int64{0, 16, 1008, -1024} {
		t.add(func(b *Builder) { b.LdpQ(0, 31, At(SP, off)) }, "ldp q0, q31, [sp, #%d]", off)
		t.add(func(b *Builder) { b.StpQ(30, 1, At(X9, off)) }, "stp q30, q1, [x9, #%d]", off)
		t.add(func(b *Builder) { b.LdpQ(2, 3, Post(SP, off)) }, "ldp q2, q3, [sp], #%d", off)
		t.add(func(b *Builder) { b.StpQ(2, 3, Pre(SP, off)) }, "stp q2, q3, [sp, #%d]!", off)
	}
}

func (t *formTable) ordered() {
	suffix := map[int]string{1: "b", 2: "h", 4: "", 8: ""}
	for _, size := range []int{1, 2, 4, 8} {
		w := W
		if size == 8 {
			w = X
		}
		for _, base := range []Reg{X2, SP} {
			t.add(func(b *Builder) { b.Ldar(size, X1, base) }, "ldar%s %s, [%v]", suffix[size], wname(w, X1), base)
			t.add(func(b *Builder) { b.Stlr(size, X1, base) }, "stlr%s %s, [%v]", suffix[size], wname(w, X1), base)
			t.add(func(b *Builder) { b.Stlr(size, XZR, base) }, "stlr%s %s, [%v]", suffix[size], wname(w, XZR), base)
			t.add(func(b *Builder) { b.Ldxr(size, X1, base) }, "ldxr%s %s, [%v]", suffix[size], wname(w, X1), base)
			t.add(func(b *Builder) { b.Ldaxr(size, X1, base) }, "ldaxr%s %s, [%v]", suffix[size], wname(w, X1), base)
			t.add(func(b *Builder) { b.Stxr(size, X3, X1, base) }, "stxr%s w3, %s, [%v]", suffix[size], wname(w, X1), base)
			t.add(func(b *Builder) { b.Stlxr(size, X3, X1, base) }, "stlxr%s w3, %s, [%v]", suffix[size], wname(w, X1), base)
		}
	}
	t.add((*Builder).Clrex, "clrex")
}

func (t *formTable) system() {
	for d, name := range map[Barrier]string{ISH: "ish"} {
		t.add(func(b *Builder) { b.Dmb(d) }, "dmb %s", name)
		t.add(func(b *Builder) { b.Dsb(d) }, "dsb %s", name)
	}
	t.add(func(b *Builder) { b.Dmb(SY) }, "dmb sy")
	t.add(func(b *Builder) { b.Dmb(ISHLD) }, "dmb ishld")
	t.add(func(b *Builder) { b.Dsb(SYST) }, "dsb st")
	t.add((*Builder).Isb, "isb")
	regs := []struct {
		r     SysReg
		name  string
		write bool
	}{
		{NZCV, "nzcv", true}, {FPCR, "fpcr", true}, {FPSR, "fpsr", true}, {CTREL0, "ctr_el0", false},
		{DCZIDEL0, "dczid_el0", false}, {TPIDREL0, "tpidr_el0", true}, {CNTFRQEL0, "cntfrq_el0", false},
		{CNTVCTEL0, "cntvct_el0", false}, {SVCR, "S3_3_C4_C2_2", true},
		{GCSPREL0, "S3_3_C2_C5_1", false},
	}
	for _, r := range regs {
		t.add(func(b *Builder) { b.Mrs(X9, r.r) }, "mrs x9, %s", r.name)
		if r.write {
			t.add(func(b *Builder) { b.Msr(r.r, X30) }, "msr %s, x30", r.name)
		}
	}
	t.add(func(b *Builder) { b.DcCvau(X3) }, "dc cvau, x3")
	t.add(func(b *Builder) { b.DcCivac(X3) }, "dc civac, x3")
	t.add(func(b *Builder) { b.IcIvau(X3) }, "ic ivau, x3")
	t.add(func(b *Builder) { b.Svc(0) }, "svc #0")
	t.add(func(b *Builder) { b.Brk(0x123) }, "brk #0x123")
	t.add((*Builder).Nop, "nop")
	t.add((*Builder).Yield, "yield")
	t.add(func(b *Builder) { b.Bti(BTIC) }, "hint #34")
	t.add(func(b *Builder) { b.Bti(BTIJ) }, "hint #36")
	t.add(func(b *Builder) { b.Bti(BTIJC) }, "hint #38")
	t.add((*Builder).chkfeat, "hint #40")
	t.add(func(b *Builder) { b.gcspopm(X16) }, "sysl x16, #3, C7, C7, #1")
	t.add(func(b *Builder) { b.Br(X17) }, "br x17")
	t.add(func(b *Builder) { b.Blr(X16) }, "blr x16")
	t.add((*Builder).Ret, "ret")
	t.add(func(b *Builder) { b.RetReg(X5) }, "ret x5")
}

// words assembles each form in a function of its own and gives its one word.
func words(t *testing.T, forms []form) []uint32 {
	t.Helper()
	out := make([]uint32, len(forms))
	for i, f := range forms {
		b := New("form")
		f.emit(b)
		fn, err := b.Finish()
		if err != nil {
			t.Errorf("%s: %v", f.text, err)
			continue
		}
		if len(fn.Code) != 4 {
			t.Errorf("%s: %d bytes", f.text, len(fn.Code))
			continue
		}
		out[i] = binary.LittleEndian.Uint32(fn.Code)
	}
	return out
}

// TestForms compares every form with the recorded words and, where GNU as is
// installed, with its output.
func TestForms(t *testing.T) {
	forms := allForms()
	got := words(t, forms)
	if t.Failed() {
		return
	}
	var sb strings.Builder
	for i, f := range forms {
		fmt.Fprintf(&sb, "%08x %s\n", got[i], f.text)
	}
	if path, err := exec.LookPath("aarch64-linux-gnu-as"); err == nil {
		want := gnuWords(t, path, forms)
		for i, f := range forms {
			if i < len(want) && got[i] != want[i] {
				t.Errorf("%s: got %08x, as says %08x", f.text, got[i], want[i])
			}
		}
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(sb.String()))); !t.Failed() && sum != formsSum {
		t.Errorf("the forms' sum is %s; once GNU as agrees with them all, record it in formsSum", sum)
	}
	t.Logf("%d forms", len(forms))
}

// gnuWords assembles the forms' texts with GNU as.
func gnuWords(t *testing.T, as string, forms []form) []uint32 {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
	var sb strings.Builder
	for _, f := range forms {
		sb.WriteString(f.text + "\n")
	}
	if err := os.WriteFile(src, []byte(sb.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(as, "-march=armv8.2-a", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	var ws []uint32
	for i := 0; i+4 <= len(data); i += 4 {
		ws = append(ws, binary.LittleEndian.Uint32(data[i:]))
	}
	if len(ws) != len(forms) {
		t.Fatalf("as made %d words of %d forms", len(ws), len(forms))
	}
	return ws
}

// TestUndecodableList checks that the words taken on trust are exactly those
// that the decoder does not know.
func TestUndecodableList(t *testing.T) {
	forms := allForms()
	for i, w := range words(t, forms) {
		var buf [4]byte
		binary.LittleEndian.PutUint32(buf[:], w)
		if _, err := arm64asm.Decode(buf[:]); (err != nil) != KnownUndecodable(w) {
			t.Errorf("%08x %s: decode error %v, taken on trust %v", w, forms[i].text, err, KnownUndecodable(w))
		}
	}
}
