package asm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/bits"
	"math/rand"
	"strings"
	"testing"
)

func finish(t *testing.T, b *Builder) Func {
	t.Helper()
	f, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func wordAt(f Func, off int) uint32 { return binary.LittleEndian.Uint32(f.Code[off:]) }

// TestBranches checks every kind of branch, forwards, backwards and to the end.
func TestBranches(t *testing.T) {
	b := New("f")
	top := b.Here()
	end := b.NewLabel()
	b.Nop()
	b.B(top)
	b.BL(end)
	b.BCond(LT, top)
	b.Cbz(X, X1, end)
	b.Cbnz(W, X2, top)
	b.Tbz(X3, 40, end)
	b.Tbnz(X4, 3, top)
	b.Adr(X5, end)
	b.LdrLit(X, X6, end)
	b.LdrLit(W, X6, top)
	b.LdrswLit(X6, end)
	b.Mark("end")
	b.Bind(end)
	f := finish(t, b)
	want := []uint32{
		0xd503201f, 0x17ffffff, 0x9400000a, 0x54ffffab, 0xb4000101, 0x35ffff62,
		0xb64000c3, 0x371fff24, 0x10000085, 0x58000066, 0x18fffec6, 0x98000026,
	}
	for i, w := range want {
		if got := wordAt(f, 4*i); got != w {
			t.Errorf("instruction %d: %08x, want %08x", i, got, w)
		}
	}
	if len(f.Code) != 4*len(want) {
		t.Errorf("%d bytes", len(f.Code))
	}
	if f.LabelOffset(end) != 48 || f.Marks[0] != (Mark{"end", 48}) {
		t.Errorf("end at %d, marks %v", f.LabelOffset(end), f.Marks)
	}
}

// TestFarBranches checks that branches out of reach grow, and only those.
func TestFarBranches(t *testing.T) {
	for _, n := range []int{8188, 8189, 8190, 8191, 8192, 10000} {
		b := New("f")
		end := b.NewLabel()
		b.Tbz(X0, 5, end)
		b.DefCfaOffset(16)
		for range n {
			b.Nop()
		}
		b.Bind(end)
		b.Ret()
		f := finish(t, b)
		first := wordAt(f, 0)
		if d := int64(f.LabelOffset(end)); d < reachTest {
			if want := 0x36280000 | uint32(d/4)<<5; first != want || len(f.Code) != 4*(n+2) {
				t.Errorf("%d: near tbz %08x, want %08x", n, first, want)
			}
			continue
		}
		if want := uint32(0x37280040); first != want || len(f.Code) != 4*(n+3) {
			t.Errorf("%d: far tbz became %08x, want %08x; %d bytes", n, first, want, len(f.Code))
		}
		if got, want := wordAt(f, 4), 0x14000000|(f.LabelOffset(end)-4)/4; got != want {
			t.Errorf("%d: jump %08x, want %08x", n, got, want)
		}
		if f.Frame.Ops[0].Off != 8 {
			t.Errorf("%d: frame information at %d", n, f.Frame.Ops[0].Off)
		}
	}
	b := New("g")
	end := b.NewLabel()
	b.Cbz(X, X0, end)
	b.BCond(EQ, end)
	for range 1 << 18 {
		b.Nop()
	}
	b.Bind(end)
	b.Ret()
	f := finish(t, b)
	if got := wordAt(f, 0); got != 0xb5000040 {
		t.Errorf("far cbz became %08x", got)
	}
	if got := wordAt(f, 8); got != 0x54000041 {
		t.Errorf("far b.eq became %08x", got)
	}
}

// runMov executes a constant's instructions.
func runMov(t *testing.T, f Func) uint64 {
	t.Helper()
	var x uint64
	for off := 0; off < len(f.Code); off += 4 {
		w := wordAt(f, off)
		sh := 16 * (w >> 21 & 3)
		imm := uint64(w>>5&0xffff) << sh
		switch w >> 23 & 0xff {
		case 0xa5: // movz
			x = imm
		case 0x25: // movn
			x = ^imm
		case 0xe5: // movk
			x = x&^(0xffff<<sh) | imm
		case 0x64: // orr immediate
			x = expandMask(w)
		default:
			t.Fatalf("unexpected word %08x", w)
		}
		if w>>31 == 0 {
			x = uint64(uint32(x))
		}
	}
	return x
}

// expandMask is the decoding of a logical immediate, as the architecture manual describes it.
func expandMask(w uint32) uint64 {
	n, immr, imms := w>>22&1, w>>16&63, w>>10&63
	length := bits.Len32(n<<6|^imms&63) - 1
	size := uint(1) << length
	s, r := uint(imms)&(size-1), uint(immr)&(size-1)
	e := uint64(1)<<(s+1) - 1
	if r != 0 {
		e = e>>r | e<<(size-r)
		if size < 64 {
			e &= 1<<size - 1
		}
	}
	for ; size < 64; size *= 2 {
		e |= e << size
	}
	return e
}

// TestMovImm builds constants of many shapes and evaluates the instructions.
func TestMovImm(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	vals := []uint64{0, 1, ^uint64(0), 0xffff, 0xffff0000, 0x10000, 0xffffffff, 1 << 63, 0x5555555555555555, 0xffff0000ffff0000, 0xdeadbeefcafebabe}
	for range 3000 {
		v := rng.Uint64()
		for i := range 4 {
			switch rng.Intn(4) {
			case 0:
				v &^= 0xffff << (16 * i)
			case 1:
				v |= 0xffff << (16 * i)
			}
		}
		vals = append(vals, v, bits.RotateLeft64(1<<uint(1+rng.Intn(63))-1, rng.Intn(64)))
	}
	for _, w := range widths {
		for _, v := range vals {
			want := v
			if w == W {
				want = uint64(uint32(v))
			}
			b := New("mov")
			b.MovImm(w, X3, v)
			f := finish(t, b)
			if got := runMov(t, f); got != want {
				t.Errorf("%v-bit %#x: instructions % x give %#x", w, v, f.Code, got)
			}
			if len(f.Code) > 4*int(w)/16 {
				t.Errorf("%v-bit %#x takes %d instructions", w, v, len(f.Code)/4)
			}
		}
	}
}

// TestBitmask checks BitmaskOK against the set of all encodable immediates.
func TestBitmask(t *testing.T) {
	all := map[uint64]bool{}
	for n := uint32(0); n < 2; n++ {
		for immr := range uint32(64) {
			for imms := range uint32(64) {
				length := bits.Len32(n<<6|^imms&63) - 1
				if length < 1 || imms&(1<<length-1) == 1<<length-1 {
					continue
				}
				v := expandMask(n<<22 | immr<<16 | imms<<10)
				all[v] = true
				field, ok := bitmask(X, v)
				if !ok {
					t.Fatalf("%#x is not recognised", v)
				}
				if back := expandMask(field>>12<<22 | field>>6&63<<16 | field&63<<10); back != v {
					t.Fatalf("%#x encodes as %#x", v, back)
				}
			}
		}
	}
	if len(all) != 5334 {
		t.Errorf("%d immediates, want 5334", len(all))
	}
	rng := rand.New(rand.NewSource(2))
	for range 100000 {
		v := rng.Uint64() & rng.Uint64() & rng.Uint64()
		if BitmaskOK(X, v) != all[v] {
			t.Errorf("BitmaskOK(%#x) = %v", v, !all[v])
		}
	}
}

// TestErrors checks that what cannot be encoded is reported.
func TestErrors(t *testing.T) {
	cases := map[string]func(b *Builder){
		"does not fit":          func(b *Builder) { b.Add(X, X0, X1, Imm(4097)) },
		"not a bitmask":         func(b *Builder) { b.And(X, X0, X1, Imm(5)) },
		"no immediate form":     func(b *Builder) { b.Orn(X, X0, X1, Imm(1)) },
		"shift by 64":           func(b *Builder) { b.Lsl(X, X0, X1, Imm(64)) },
		"shift by 32":           func(b *Builder) { b.Lsl(W, X0, X1, Imm(32)) },
		"offset 32768":          func(b *Builder) { b.Ldr(X, X0, At(X1, 32768)) },
		"offset 257":            func(b *Builder) { b.Ldr(X, X0, At(X1, 257)) },
		"offset 512":            func(b *Builder) { b.Ldp(X, X0, X1, At(SP, 512)) },
		"sp is not allowed":     func(b *Builder) { b.Mul(X, X0, SP, X1) },
		"sp cannot be the last": func(b *Builder) { b.Add(X, X0, X1, SP) },
		"result cannot be sp":   func(b *Builder) { b.Adds(X, SP, X1, X2) },
		"xzr is not an operand": func(b *Builder) { b.Add(X, X0, XZR, Imm(1)) },
		"updated base":          func(b *Builder) { b.Ldr(X, X0, Pre(X0, 8)) },
		"status register":       func(b *Builder) { b.Stxr(8, X0, X0, X1) },
		"twice":                 func(b *Builder) { b.Ldp(X, X0, X0, At(SP, 0)) },
		"placed nowhere":        func(b *Builder) { b.B(b.NewLabel()) },
		"placed twice":          func(b *Builder) { l := b.Here(); b.Bind(l) },
		"does not decode":       func(b *Builder) { b.Word(0xffffffff) },
		"index shifted by 2":    func(b *Builder) { b.Ldr(X, X0, Index(X1, X2, 2)) },
		"bits 30..33":           func(b *Builder) { b.Ubfx(W, X0, X1, 30, 4) },
		"out of reach":          func(b *Builder) { l := b.Here(); padWords(b, 1<<18); b.Adr(X0, l) },
		"not usable here":       func(b *Builder) { b.Csel(X, X0, X1, X2, AL) },
		"shift 8":               func(b *Builder) { b.Movz(X, X0, 1, 8) },
		"width 16":              func(b *Builder) { b.Add(16, X0, X1, X2) },
	}
	for want, f := range cases {
		b := New("f")
		b.Nop()
		f(b)
		_, err := b.Finish()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := New("empty").Finish(); err == nil {
		t.Error("an empty function is accepted")
	}
}

func padWords(b *Builder, n int) {
	for range n {
		b.Nop()
	}
}

// TestRelocs checks words and relocations of symbol references.
func TestRelocs(t *testing.T) {
	b := New("f")
	b.AddrOf(X1, "sym", 8)
	b.LoadLo12(4, true, X2, X1, "sym", 12)
	b.LoadLo12(1, false, X2, X1, "sym", 1)
	b.StoreLo12(8, X3, X1, "sym", 16)
	b.LoadGOT(X4, "ext")
	b.BLSym("callee")
	b.BSym("tail")
	b.QuadSym("sym", 3)
	f := finish(t, b)
	want := []struct {
		word uint32
		r    Reloc
	}{
		{0x90000001, Reloc{0, elf.R_AARCH64_ADR_PREL_PG_HI21, "sym", 8}},
		{0x91000021, Reloc{4, elf.R_AARCH64_ADD_ABS_LO12_NC, "sym", 8}},
		{0xb9800022, Reloc{8, elf.R_AARCH64_LDST32_ABS_LO12_NC, "sym", 12}},
		{0x39400022, Reloc{12, elf.R_AARCH64_LDST8_ABS_LO12_NC, "sym", 1}},
		{0xf9000023, Reloc{16, elf.R_AARCH64_LDST64_ABS_LO12_NC, "sym", 16}},
		{0x90000004, Reloc{20, elf.R_AARCH64_ADR_GOT_PAGE, "ext", 0}},
		{0xf9400084, Reloc{24, elf.R_AARCH64_LD64_GOT_LO12_NC, "ext", 0}},
		{0x94000000, Reloc{28, elf.R_AARCH64_CALL26, "callee", 0}},
		{0x14000000, Reloc{32, elf.R_AARCH64_JUMP26, "tail", 0}},
		{0, Reloc{36, elf.R_AARCH64_ABS64, "sym", 3}},
	}
	for i, w := range want {
		if got := wordAt(f, 4*i); got != w.word || f.Relocs[i] != w.r {
			t.Errorf("%d: %08x %v, want %08x %v", i, got, f.Relocs[i], w.word, w.r)
		}
	}
	if len(f.Code) != 44 || !f.IsData(36) || !f.IsData(40) || f.IsData(32) {
		t.Errorf("%d bytes", len(f.Code))
	}
}

// TestDeterministic builds a long function twice, and many at once.
func TestDeterministic(t *testing.T) {
	build := func() []byte {
		rng := rand.New(rand.NewSource(3))
		b := New("f")
		forms := allForms()
		l := b.Here()
		for range 5000 {
			forms[rng.Intn(len(forms))].emit(b)
			if rng.Intn(20) == 0 {
				b.Cbnz(X, X0, l)
				l = b.Here()
			}
		}
		f, err := b.Finish()
		if err != nil {
			t.Error(err)
		}
		return f.Code
	}
	first := build()
	out := make(chan []byte)
	for range 4 {
		go func() { out <- build() }()
	}
	for range 4 {
		if !bytes.Equal(first, <-out) {
			t.Error("two builds differ")
		}
	}
}
