package patcher

import (
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/arch/arm64/arm64asm"
)

// addrOf gives the address of words that stay where they are: on the heap.
func addrOf(words []uint32) uintptr {
	held = words
	return uintptr(unsafe.Pointer(unsafe.SliceData(words)))
}

var held []uint32

func TestNumber(t *testing.T) {
	const svc = SVC
	for _, c := range []struct {
		name  string
		words []uint32
		want  uintptr
		ok    bool
	}{
		{"movz", []uint32{0xd2800708, svc}, 56, true},
		{"movz w", []uint32{0x52800708, svc}, 56, true},
		{"farther", []uint32{0xd28009e8, 0xaa1303e0, 0xf94003e1, 0xb9400c42, svc}, 79, true},
		{"orr immediate", []uint32{0xb27d03e8, svc}, 8, true},
		{"through a register", []uint32{0xd28009e1, 0xaa0103e8, svc}, 79, true},
		{"callee-saved across a call", []uint32{0xd28009f3, 0x94000010, 0xaa1303e8, svc}, 79, true},
		{"scratch across a call", []uint32{0xd28009e1, 0x94000010, 0xaa0103e8, svc}, 0, false},
		{"behind a branch", []uint32{0xd2800708, 0x14000002, svc}, 0, false},
		{"behind a return", []uint32{0xd2800708, 0xd65f03c0, svc}, 0, false},
		{"conditional branch", []uint32{0xd2800708, 0xb4000040, svc}, 56, true},
		{"an svc between", []uint32{0xd2800708, svc, svc}, 56, true},
		{"parameter", []uint32{0xd503201f, svc}, 0, false},
		{"loaded", []uint32{0xd2800708, 0xf94003e8, svc}, 0, false},
		{"loaded pair", []uint32{0xd2800708, 0xa94023e7, svc}, 0, false},
		{"stored", []uint32{0xd2800708, 0xf90003e8, svc}, 56, true},
		{"compared", []uint32{0xd2800708, 0xfa401908, svc}, 56, true},
		{"movk", []uint32{0xd2a00028, 0xf2800708, svc}, 0x10038, true},
		{"computed", []uint32{0xd2800708, 0x91000508, svc}, 0, false},
		{"first instruction", []uint32{svc}, 0, false},
	} {
		a := addrOf(c.words)
		nr, ok := Number(a+uintptr(len(c.words)-1)*4, a, a+uintptr(len(c.words))*4)
		if nr != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, nr, ok, c.want, c.ok)
		}
	}
}

// TestConstant compares constant and copied with an independent decoder on random moves.
func TestConstant(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	shapes := [][2]uint32{ // fixed bits, random bits
		{0x12800008, 0xe07fffe0}, {0x320003e8, 0x807ffc00}, {0x2a0003e8, 0x801f0000},
	}
	for range 200000 {
		shape := shapes[rnd.Intn(len(shapes))]
		w := shape[0] | rnd.Uint32()&shape[1]
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], w)
		inst, err := arm64asm.Decode(b[:])
		v, isConst := constant(w)
		_, isCopy := copied(w)
		if err != nil {
			// arm64asm also refuses some valid encodings; what it refuses is only required not to be a move here
			// if it is reserved: 32-bit forms with a shift past the register.
			continue
		}
		text := arm64asm.GNUSyntax(inst)
		if isConst || isCopy {
			if !strings.HasPrefix(text, "mov ") && !strings.HasPrefix(text, "movz ") && !strings.HasPrefix(text, "movn ") && !strings.HasPrefix(text, "orr ") {
				t.Fatalf("%#x is %q, taken for a move", w, text)
			}
		}
		if isConst {
			if imm, ok := inst.Args[1].(arm64asm.Imm64); ok && uint64(v) != imm.Imm && uint64(v) != imm.Imm&0xffffffff {
				t.Fatalf("%#x is %q, value %#x", w, text, v)
			}
		}
	}
}

// TestMayWrite asks the independent decoder for the destinations of random instructions that it knows.
func TestMayWrite(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	missed := 0
	for range 2000000 {
		w := rnd.Uint32()
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], w)
		inst, err := arm64asm.Decode(b[:])
		if err != nil {
			continue
		}
		reg, writes := destination(inst)
		if writes && reg != 31 && !mayWrite(w, reg) && !isCall(w) {
			missed++
			if missed < 10 {
				t.Errorf("%#08x %s writes register %d, not seen", w, arm64asm.GNUSyntax(inst), reg)
			}
		}
	}
}

// destination gives the general register that the instruction's first operand names, for instructions that write it.
func destination(inst arm64asm.Inst) (reg uint32, ok bool) {
	op := inst.Op.String()
	for _, p := range []string{"ST", "CB", "TB", "B", "PRF", "CM", "CCM", "TST", "MSR", "SYS", "DC", "IC", "AT", "TLBI", "RET", "FCMP", "SVC"} {
		if strings.HasPrefix(op, p) && !strings.HasPrefix(op, "BIC") && !strings.HasPrefix(op, "BF") && op != "SYSL" {
			return 0, false
		}
	}
	r, isReg := inst.Args[0].(arm64asm.Reg)
	if !isReg {
		return 0, false
	}
	switch {
	case r <= arm64asm.W30:
		return uint32(r - arm64asm.W0), true
	case r >= arm64asm.X0 && r <= arm64asm.X30:
		return uint32(r - arm64asm.X0), true
	}
	return 0, false
}
