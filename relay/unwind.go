package relay

import (
	"unsafe"

	"svcrelay/nocgo"
)

// registerObject is what libgcc's __register_frame_info keeps of a table: struct object, at most eight words.
var registerObject [8]uint64

// frameTable is unwind information for the trampoline page, as in .eh_frame: at both instructions the way back is in x30
// and everything else is the caller's.
var frameTable = [...]uint32{
	20, 0, // length of the common entry, and its mark
	1 | 'z'<<8 | 'R'<<16,         // version 1, augmentation "zR"
	4 | 0x78<<8 | 30<<16 | 1<<24, // factors of code, 4, and data, -8; the way back is in x30; a byte of augmentation:
	0 | 0x0c<<8 | 31<<16, 0,      // addresses are absolute; DW_CFA_def_cfa: sp + 0
	24, 28, // length of the page's entry, distance to the common one
	pageAddr & 0xffffffff, pageAddr >> 32, // where it begins
	8, 0, 0, // for how many bytes; nothing else
	0, // the end of the table
}

// describeTrampoline tells libgcc about the trampoline page, if the program has libgcc: nothing else of the library is
// unknown to it. A copy that is loaded later, or linked into the program, is not told.
func describeTrampoline() {
	if plan.Unwinder == 0 {
		return
	}
	const name = "__register_frame_info"
	fn := plan.Export(plan.Unwinder, name)
	if fn == 0 {
		return
	}
	register[0] = fn
	register[1] = uintptr(unsafe.Pointer(&frameTable))
	register[2] = uintptr(unsafe.Pointer(&registerObject))
	nocgo.Call1(nocgo.Symbol("svcrelay_call"), uintptr(unsafe.Pointer(&register)))
}

// register is a function and its two arguments, for svcrelay_call.
var register [3]uintptr
