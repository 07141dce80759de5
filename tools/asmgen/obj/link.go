package obj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"svcrelay/tools/asmgen/asm"
)

// segmentAlign keeps segments apart at every page size that Linux uses on arm64.
const segmentAlign = 0x10000

// Link lays everything out from address base (a multiple of 64 KiB), resolves
// all references and gives a static executable that starts at the symbol entry.
// Undefined weak symbols are 0. The symbols __bss_start and _end delimit .bss;
// _base is base.
func (o *Object) Link(base uint64, entry string) ([]byte, error) {
	if base%segmentAlign != 0 {
		return nil, fmt.Errorf("obj: base %#x is not a multiple of %#x", base, segmentAlign)
	}
	o.declareReferenced()
	l := &linker{o: o, got: map[string]uint64{}}
	l.layout(base)
	l.relocate()
	if err := o.err(); err != nil {
		return nil, err
	}
	start, ok := l.address(entry)
	if !ok {
		return nil, fmt.Errorf("obj: entry %s is not defined", entry)
	}
	return l.write(start), nil
}

type linker struct {
	o       *Object
	rx, rw  []*section
	gotSec  *section
	got     map[string]uint64 // symbol to offset in the table
	base    uint64
	rwStart uint64
	rwFile  uint64 // end of the writable bytes that are in the file
	end     uint64
}

func (l *linker) layout(base uint64) {
	l.base = base
	for _, s := range l.o.sections {
		if s.flags&elf.SHF_WRITE == 0 {
			l.rx = append(l.rx, s)
		}
	}
	if eh := l.o.ehFrame(); eh != nil {
		l.rx = append(l.rx, eh)
	}
	l.gotSec = &section{name: ".got", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_WRITE, align: 8}
	for _, s := range l.o.sections {
		for _, r := range s.relocs {
			if r.Type != elf.R_AARCH64_ADR_GOT_PAGE {
				continue
			}
			if _, ok := l.got[r.Sym]; !ok {
				l.got[r.Sym] = uint64(len(l.gotSec.data))
				l.gotSec.relocs = append(l.gotSec.relocs, asm.Reloc{Off: uint32(len(l.gotSec.data)), Type: elf.R_AARCH64_ABS64, Sym: r.Sym})
				l.gotSec.data = append(l.gotSec.data, make([]byte, 8)...)
			}
		}
	}
	l.rw = append(l.rw, l.gotSec)
	for _, bss := range []bool{false, true} {
		for _, s := range l.o.sections {
			if s.flags&elf.SHF_WRITE != 0 && (s.typ == elf.SHT_NOBITS) == bss {
				l.rw = append(l.rw, s)
			}
		}
	}
	// The file header and two program headers come first.
	addr := base + 64 + 2*56
	place := func(s *section) {
		a := uint64(max(s.align, 1))
		addr = (addr + a - 1) &^ (a - 1)
		s.addr = addr
		addr += uint64(s.length())
	}
	for _, s := range l.rx {
		place(s)
	}
	addr = (addr + segmentAlign - 1) &^ (segmentAlign - 1)
	l.rwStart, l.rwFile = addr, addr
	for _, s := range l.rw {
		place(s)
		if s.typ != elf.SHT_NOBITS {
			l.rwFile = addr
		}
	}
	l.end = addr
}

// address finds a symbol's or a section's address.
func (l *linker) address(name string) (uint64, bool) {
	switch name {
	case "_base":
		return l.base, true
	case "__bss_start":
		return l.rwFile, true
	case "_end":
		return l.end, true
	}
	if s := l.o.symByNam[name]; s != nil {
		if s.section != nil {
			return s.section.addr + uint64(s.off), true
		}
		return 0, s.bind == Weak
	}
	if s := l.o.byName[name]; s != nil {
		return s.addr, true
	}
	return 0, false
}

func (l *linker) relocate() {
	for _, secs := range [][]*section{l.rx, l.rw} {
		for _, s := range secs {
			// Relocation works on a copy: the object can be linked again elsewhere.
			if len(s.relocs) > 0 {
				s = l.copyOf(s, secs)
			}
			for _, r := range s.relocs {
				sym, ok := l.address(r.Sym)
				if !ok {
					l.o.fail("%s+%#x refers to %s, which is not defined", s.name, r.Off, r.Sym)
					continue
				}
				if off, ok := l.got[r.Sym]; ok && (r.Type == elf.R_AARCH64_ADR_GOT_PAGE || r.Type == elf.R_AARCH64_LD64_GOT_LO12_NC) {
					sym = l.gotSec.addr + off
				}
				if err := apply(s.data, r, sym+uint64(r.Addend), s.addr+uint64(r.Off)); err != nil {
					l.o.fail("%s+%#x to %s: %v", s.name, r.Off, r.Sym, err)
				}
			}
		}
	}
}

// copyOf replaces the section in the list by one with its own bytes.
func (l *linker) copyOf(s *section, in []*section) *section {
	c := *s
	c.data = bytes.Clone(s.data)
	for i := range in {
		if in[i] == s {
			in[i] = &c
		}
	}
	return &c
}

// apply resolves one relocation: target is S+A, place is P.
func apply(data []byte, r asm.Reloc, target, place uint64) error {
	at := data[r.Off:]
	le := binary.LittleEndian
	field := func(v uint64, width, lsb uint) {
		m := uint32(1)<<width - 1
		le.PutUint32(at, le.Uint32(at)&^(m<<lsb)|uint32(v)&m<<lsb)
	}
	fits := func(v int64, n uint) bool { return v >= -1<<(n-1) && v < 1<<(n-1) }
	lo12 := func(scale uint) error {
		if target&(1<<scale-1) != 0 {
			return fmt.Errorf("%#x is not aligned to %d", target, 1<<scale)
		}
		field(target&0xfff>>scale, 12, 10)
		return nil
	}
	d := int64(target - place)
	switch r.Type {
	case elf.R_AARCH64_ABS64:
		le.PutUint64(at, target)
	case elf.R_AARCH64_PREL64:
		le.PutUint64(at, uint64(d))
	case elf.R_AARCH64_PREL32:
		if !fits(d, 32) {
			return fmt.Errorf("distance %#x does not fit 32 bits", d)
		}
		le.PutUint32(at, uint32(d))
	case elf.R_AARCH64_CALL26, elf.R_AARCH64_JUMP26:
		if d%4 != 0 || !fits(d, 28) {
			return fmt.Errorf("distance %#x is beyond a branch", d)
		}
		field(uint64(d>>2), 26, 0)
	case elf.R_AARCH64_ADR_PREL_PG_HI21, elf.R_AARCH64_ADR_GOT_PAGE:
		p := int64(target&^0xfff - place&^0xfff)
		if !fits(p, 33) {
			return fmt.Errorf("distance %#x is beyond adrp", p)
		}
		field(uint64(p>>12), 2, 29)
		field(uint64(p>>14), 19, 5)
	case elf.R_AARCH64_ADD_ABS_LO12_NC, elf.R_AARCH64_LDST8_ABS_LO12_NC:
		return lo12(0)
	case elf.R_AARCH64_LDST16_ABS_LO12_NC:
		return lo12(1)
	case elf.R_AARCH64_LDST32_ABS_LO12_NC:
		return lo12(2)
	case elf.R_AARCH64_LDST64_ABS_LO12_NC, elf.R_AARCH64_LD64_GOT_LO12_NC:
		return lo12(3)
	case elf.R_AARCH64_LDST128_ABS_LO12_NC:
		return lo12(4)
	default:
		return fmt.Errorf("relocation type %v", r.Type)
	}
	return nil
}

func (l *linker) write(start uint64) []byte {
	out := make([]byte, l.rwFile-l.base)
	rxEnd := uint64(0)
	for _, secs := range [][]*section{l.rx, l.rw} {
		for _, s := range secs {
			if s.typ != elf.SHT_NOBITS {
				copy(out[s.addr-l.base:], s.data)
			}
			if s.flags&elf.SHF_WRITE == 0 {
				rxEnd = s.addr + uint64(len(s.data)) - l.base
			}
		}
	}
	if l.rwFile == l.rwStart {
		out = out[:rxEnd]
	}
	var ph bytes.Buffer
	binary.Write(&ph, binary.LittleEndian, []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: l.base, Paddr: l.base, Filesz: rxEnd, Memsz: rxEnd, Align: segmentAlign},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: l.rwStart - l.base, Vaddr: l.rwStart, Paddr: l.rwStart,
			Filesz: l.rwFile - l.rwStart, Memsz: max(l.end-l.rwStart, 1), Align: segmentAlign},
	})
	copy(out[64:], ph.Bytes())
	putHeader(out, elf.Header64{Type: uint16(elf.ET_EXEC), Entry: start, Phoff: 64, Phentsize: 56, Phnum: 2, Shentsize: 64})
	return out
}

// Address is the address that the last Link gave to a symbol.
func (o *Object) Address(name string) (uint64, bool) {
	s := o.symByNam[name]
	if s == nil || s.section == nil {
		return 0, false
	}
	return s.section.addr + uint64(s.off), true
}
