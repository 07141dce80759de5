package patcher

import (
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/arch/arm64/arm64asm"
)

func addrOf(words []uint32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(words))) }

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
		{"movk", []uint32{0xd2800708, 0xf2800028, svc}, 0, false},
		{"computed", []uint32{0xd2800708, 0x91000508, svc}, 0, false},
		{"first instruction", []uint32{svc}, 0, false},
	} {
		a := addrOf(c.words)
		nr, ok := Number(a+uintptr(len(c.words)-1)*4, a)
		if nr != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, nr, ok, c.want, c.ok)
		}
	}
}

func TestDispatches(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint32
		want  bool
	}{
		{"glibc", []uint32{0xd503245f, 0x2a0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, 0xaa0403e3, 0xaa0503e4, 0xaa0603e5, 0xaa0703e6, SVC}, true},
		{"musl", []uint32{0xa9b97bfd, 0xaa0003e8, 0x910003fd, 0xa9040be1, 0xaa0103e0, 0xaa0203e1, 0xf94037e5, SVC}, true},
		{"__syscall_cp_asm", []uint32{0xaa0103e8, 0xaa0203e0, 0xaa0303e1, SVC}, false},
		{"parameter not moved", []uint32{0x2a0003e8, SVC}, false},
		{"a call between", []uint32{0x2a0003e8, 0xaa0103e0, 0x94000010, SVC}, false},
		{"known number", []uint32{0xd2800708, 0xaa0103e0, SVC}, false},
		{"nothing", []uint32{SVC}, false},
	} {
		a := addrOf(c.words)
		if got := Dispatches(a+uintptr(len(c.words)-1)*4, a); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCancels(t *testing.T) {
	const svc, ret = SVC, 0xd65f03c0
	for _, c := range []struct {
		name  string
		words []uint32
		at    int
		want  bool
	}{
		{"2.43", []uint32{0xd65f03c0, 0xaa0603e8, svc, ret}, 2, true},
		{"2.41", []uint32{0xaa0603e8, 0x910003fd, 0x35000080, 0x37000066, 0x94000010, 0x94000011, svc, ret}, 6, true},
		{"branches elsewhere", []uint32{0xaa0603e8, 0x35000060, 0x94000010, 0x94000011, 0xd503201f, svc, ret}, 5, false},
		{"__syscall_cancel_arch", []uint32{0x37180140, 0xaa0103e8, 0xaa0203e0, svc, ret}, 3, false},
		{"another function", []uint32{0xaa0603e8, ret, 0x94000010, svc, ret}, 3, false},
		{"goes on", []uint32{0xaa0603e8, svc, 0xd503201f}, 1, false},
	} {
		a := addrOf(c.words)
		if got := Cancels(a+uintptr(c.at)*4, a); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAsync(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint32
		want  bool
	}{
		{"after a call", []uint32{0x94000010, 0x2a0003f3, 0xaa1403e1, 0xd2800708, SVC}, true},
		{"after a branch", []uint32{0x94000010, 0x14000002, 0xd2800708, SVC}, false},
		{"far from a call", []uint32{0x94000010, 0, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f, 0xd2800708, SVC}, false},
		{"alone", []uint32{SVC}, false},
	} {
		a := addrOf(c.words)
		if got := Async(a+uintptr(len(c.words)-1)*4, a); got != c.want {
			t.Errorf("%s: %v", c.name, got)
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
