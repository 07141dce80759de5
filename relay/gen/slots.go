package main

import (
	"encoding/binary"
	"fmt"

	"svcrelay/patcher"
	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/obj"
)

// pageAddr is the trampoline page, whose first instructions are svc #0 and ret.
const pageAddr = 0xffff00000

// returnsAddr is where the addresses after the sites of the library's own stubs are, for the unwind information: in the
// trampoline page, whose address is the same in every process, after its two instructions.
const returnsAddr = pageAddr + 16

// brk is brk #0, which stands where nothing has been written yet.
const brk = 0xd4200000

// slotSection is a section of their own: it begins in a page in which nothing else is executed, so that it may be made
// writable for a moment where nothing else writes it.
const slotSection = ".text.slots"

// slots makes the room for stubs in the library's text, with unwind information for each place.
func slots(o *obj.Object) error {
	head := make([]byte, patcher.OwnHead)
	for i := 0; i < len(head); i += 4 {
		binary.LittleEndian.PutUint32(head[i:], brk)
	}
	o.AddData("svcrelay_slots", slotSection, 64, head, nil, obj.Local)
	for i := range patcher.OwnPlaces {
		form, size := patcher.OwnPlace(i)
		b := asm.New(fmt.Sprintf("svcrelay_slot_%d", i))
		b.Align(4) // one right after the other
		b.ReturnColumn(returnColumn)
		b.Expression(returnColumn, constant(uint64(returnsAddr+8*i)))
		at := 0
		for _, r := range patcher.Saved(form) {
			if r[0] == r[1] {
				continue
			}
			fill(b, uintptr(4*(r[0]-at)))
			b.RememberState()
			b.DefCfaOffset(patcher.StubFrame)
			b.Offset(asm.X29, -patcher.StubFrame)
			b.Offset(asm.X30, 8-patcher.StubFrame)
			fill(b, uintptr(4*(r[1]-r[0])))
			b.RestoreState()
			at = r[1]
		}
		fill(b, size-uintptr(4*at))
		fn, err := b.Finish()
		if err != nil {
			return err
		}
		o.AddFunc(fn, slotSection, obj.Local)
	}
	return nil
}

// fill emits so many bytes of instructions that nobody runs.
func fill(b *asm.Builder, size uintptr) {
	for range size / 4 {
		b.Word(brk)
	}
}

func add(o *obj.Object, b *asm.Builder) error {
	fn, err := b.Finish()
	if err != nil {
		return err
	}
	o.AddFunc(fn, "", obj.Local)
	return nil
}

// constant is a DWARF expression: DW_OP_constu.
func constant(v uint64) []byte {
	out := []byte{0x10}
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}
