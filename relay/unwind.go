package relay

import (
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/patcher"
)

// Whoever unwinds a stack asks for the object that an address belongs to: a libgcc since version 12 by _dl_find_object, where
// glibc has it (2.35), all others by dl_iterate_phdr. The trampoline page belongs to none, so the library exports both
// functions (relay/gen/unwind.go): they answer for the page and leave all else to those that would be found without it.

// frameTable is unwind information for the trampoline page: at both instructions the way back is in x30 and everything else
// is the caller's. It begins like an .eh_frame_hdr without a table to search in, the entries of an .eh_frame follow.
var frameTable = [...]uint32{
	1 | 0x1b<<8 | 0xff<<16 | 0xff<<24, 4, // version 1; where the entries are: right here; no table
	20, 0, // length of the common entry, and its mark
	1 | 'z'<<8 | 'R'<<16,         // version 1, augmentation "zR"
	4 | 0x78<<8 | 30<<16 | 1<<24, // factors of code, 4, and data, -8; the way back is in x30; a byte of augmentation:
	0 | 0x0c<<8 | 31<<16, 0,      // addresses are absolute; DW_CFA_def_cfa: sp + 0
	24, 28, // length of the page's entry, distance to the common one
	pageAddr & 0xffffffff, pageAddr >> 32, // where it begins
	codeSize, 0, 0, // for how many bytes; nothing else
	0, // the end of the table
}

// codeSize is how much of the page is instructions.
const codeSize = 8

// unwinding is svcrelay_unwind, which both functions read.
type unwinding struct {
	page    uint64 // the address of the trampoline page; 0: there is none
	table   uint64 // of frameTable
	linkMap uint64 // the library's own entry in the dynamic linker's list
	real    [2]uint64
	object  objectInfo
}

// Functions of the C library, in the order of unwinding.real.
const (
	findObject = iota
	iterateHeaders
)

// objectInfo is a struct dl_phdr_info up to dlpi_phnum; the functions called by dl_iterate_phdr are told its size.
type objectInfo struct {
	addr, name, phdr uint64
	phnum            uint64
}

// programHeader is a program header.
type programHeader struct {
	kind, flags                         uint32
	off, vaddr, paddr, file, mem, align uint64
}

// pageHeaders are the program headers that dl_iterate_phdr shows of the page.
var pageHeaders [2]programHeader

const pageName = "svcrelay\x00"

// describeTrampoline lets those who unwind stacks know the page.
func describeTrampoline() {
	const ptLoad, ptEhFrame, readExec, read = 1, 0x6474e550, 5, 4
	table := uint64(uintptr(unsafe.Pointer(&frameTable)))
	pageHeaders[0] = programHeader{kind: ptLoad, flags: readExec, file: pageSize, mem: pageSize, align: pageSize}
	pageHeaders[1] = programHeader{kind: ptEhFrame, flags: read, vaddr: table - pageAddr, paddr: table - pageAddr,
		file: uint64(unsafe.Sizeof(frameTable)), mem: uint64(unsafe.Sizeof(frameTable)), align: 4}
	u := unwinds()
	u.object = objectInfo{addr: pageAddr, name: uint64(uintptr(unsafe.Pointer(unsafe.StringData(pageName)))),
		phdr: uint64(uintptr(unsafe.Pointer(&pageHeaders))), phnum: uint64(len(pageHeaders))}
	u.table = table
	u.linkMap = uint64(patcher.Entry(loaded(), nocgo.Symbol("_DYNAMIC")))
	nocgo.StoreRelease64(&u.page, pageAddr)
}

// forgetTrampoline is for when the page goes.
func forgetTrampoline() { nocgo.StoreRelease64(&unwinds().page, 0) }

func unwinds() *unwinding { return (*unwinding)(nocgo.Ptr(nocgo.Symbol("svcrelay_unwind"))) }

// loaded is the head of the dynamic linker's list of loaded objects: the functions may be called before any constructor.
func loaded() uintptr {
	debug := nocgo.WeakSymbol("_r_debug")
	if debug == 0 {
		at := nocgo.WeakSymbol("_dl_debug_addr") // musl's name for where it is
		if at == 0 {
			return 0
		}
		debug = uintptr(nocgo.Load64(at))
	}
	return uintptr(nocgo.Load64(debug + 8))
}

// realFunction gives the function that would be there without ours: the C library's own, or that of another library which
// stands before it, as a sanitizer's. It is 0 where there is none. It may run at any moment of any thread.
//
//asmgen:entry svcrelay_real
func realFunction(which uintptr) uintptr {
	u := unwinds()
	name := "_dl_find_object"
	if which == iterateHeaders {
		name = "dl_iterate_phdr"
	}
	fn := patcher.Behind(loaded(), nocgo.Symbol("_DYNAMIC"), name)
	nocgo.StoreRelease64(&u.real[which&1], uint64(fn))
	return fn
}

// asksForPage says whether what a caller of dl_iterate_phdr gives to its function is the question for an address in the
// trampoline page: libgcc and libunwind have the address first in it, LLVM's libunwind third. What others look for is left to
// the C library, and so is that which cannot be read.
//
//asmgen:entry svcrelay_asked
func asksForPage(data, sp uintptr) bool {
	if data&7 != 0 || data < granule {
		return false
	}
	for i := uintptr(0); i <= 16; i += 8 {
		a := data + i
		// The caller's own variables are mostly in the page of its stack pointer, which needs no question.
		if (i == 0 || a&(granule-1) == 0) && a&^(granule-1) != sp&^(granule-1) && !nocgo.Readable(a) {
			return false
		}
		if nocgo.Load64(a)-pageAddr < codeSize {
			return true
		}
	}
	return false
}
