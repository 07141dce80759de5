package patcher

import (
	"encoding/binary"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/arch/arm64/arm64asm"
)

func TestStubWords(t *testing.T) {
	buf := make([]uint32, 1024)
	area := addrOf(buf)
	site := area + 0x10000
	var set Numbers
	set.Add(79)
	sh := shared{area: area, entry: area + 0x20000, stack: 0x7ff000, seen: 0x1234, wanted: &set, effects: &set}
	sh.head()
	if !sh.stub(area+areaHead, &Site{Addr: site, Nr: 79, Form: Fixed}) {
		t.Fatal("stub not filled")
	}
	want := []string{
		"sub x8, x8, #0x4f", "cbnz x8, .+0x58", "mov x8, sp", "and x8, x8, #0xfc0", "cbz x8, .+0x24",
		"stp x29, x30, [sp,#-64]!", "mov x8, #0x4f", "bl .+0x1ffcc", "ldp x29, x30, [sp],#64", "b .+0xffc8",
		"ldp x29, x30, [sp],#64", "svc #0x0", "b .+0xffbc", "ldr x8, .+0xfffffffffffffef4", "sub x8, sp, x8", "lsr x8, x8, #17",
		"cbz x8, .+0xffffffffffffffd4", "b .+0x8", "ldp x29, x30, [sp],#64", "ldr x8, .+0xfffffffffffffeec", "strb wzr, [x8]",
		"mov x8, #0x4f", "b .+0xffffffffffffffd4", "add x8, x8, #0x4f", "b .+0xffffffffffffffcc",
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), 4*len(buf))
	if got := text(t, b[areaVeneer:]); got != "ldr x29, .+0xfffffffffffffff0" {
		t.Errorf("veneer: %s", got)
	}
	if got := text(t, b[areaVeneer+4:]); got != "br x29" {
		t.Errorf("veneer: %s", got)
	}
	for i, w := range want {
		got := text(t, b[areaHead+4*i:])
		if i == 7 || i == 9 || i == 12 { // distances
			got, w = strings.Fields(got)[0], strings.Fields(w)[0]
		}
		if got != w {
			t.Errorf("word %d: %s, want %s", i, got, w)
		}
	}
	sh.effects = new(Numbers)
	if !sh.stub(area+areaHead, &Site{Addr: site, Nr: 79, Form: Fixed}) {
		t.Fatal("stub not filled")
	}
	if buf[areaHead/4+19] != nop || buf[areaHead/4+20] != nop {
		t.Error("a call without effect leaves a mark")
	}
	if at := areaHead + 4*(8+StubPoor/4); text(t, b[at:]) != "ldp x29, x30, [sp],#64" {
		t.Errorf("for want of stack the entry returns to %s", text(t, b[at:]))
	}
	if w := buf[(areaHead/4)+9]; area+areaHead+9*4+uintptr(w&0x3ffffff)*4 != site+4 {
		t.Errorf("way back %#x", w)
	}
}

func text(t *testing.T, b []byte) string {
	t.Helper()
	inst, err := arm64asm.Decode(b[:4])
	if err != nil {
		t.Fatalf("%#x: %v", binary.LittleEndian.Uint32(b), err)
	}
	return arm64asm.GNUSyntax(inst)
}
