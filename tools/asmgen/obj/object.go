// Package obj collects functions and data and writes them as an ELF64 AArch64
// relocatable object for the linker, or as a freestanding static executable at
// a given address that needs no linker. Both outputs depend on nothing but what
// was added, in the order in which it was added.
package obj

import (
	"debug/elf"
	"errors"
	"fmt"

	"svcrelay/tools/asmgen/asm"
)

// Bind is a symbol's binding.
type Bind uint8

// The bindings. A Hidden symbol is global among objects and not exported from the library made of them.
const (
	Local Bind = iota
	Hidden
	Global
	Weak
)

// section is one section under construction.
type section struct {
	name   string
	typ    elf.SectionType
	flags  elf.SectionFlag
	align  int
	data   []byte
	size   int // of a NOBITS section
	relocs []asm.Reloc
	addr   uint64 // set by Link
}

func (s *section) length() int {
	if s.typ == elf.SHT_NOBITS {
		return s.size
	}
	return len(s.data)
}

// symbol is one symbol; section is nil for an undefined one.
type symbol struct {
	name    string
	section *section
	off     int
	size    int
	typ     elf.SymType
	bind    Bind
}

// frame is one function's call frame information, waiting for .eh_frame.
type frame struct {
	section *section
	off     int
	size    int
	info    asm.Frame
}

// Object is an object file under construction.
type Object struct {
	sections []*section
	byName   map[string]*section
	symbols  []*symbol
	symByNam map[string]*symbol
	frames   []frame
	errs     []error
}

// New makes an empty object with the usual sections in the usual order.
func New() *Object {
	o := &Object{byName: map[string]*section{}, symByNam: map[string]*symbol{}}
	for _, n := range []string{".text", ".rodata", ".data.rel.ro", ".data", ".bss"} {
		o.section(n)
	}
	return o
}

func (o *Object) fail(format string, args ...any) {
	o.errs = append(o.errs, fmt.Errorf("obj: "+format, args...))
}

func (o *Object) err() error { return errors.Join(o.errs...) }

// section finds or makes a section; what it is follows from its name.
func (o *Object) section(name string) *section {
	if s := o.byName[name]; s != nil {
		return s
	}
	s := &section{name: name, typ: elf.SHT_PROGBITS, align: 1}
	is := func(prefix string) bool {
		return name == prefix || len(name) > len(prefix) && name[:len(prefix)+1] == prefix+"."
	}
	switch {
	case is(".text"):
		s.flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	case is(".rodata"), name == ".eh_frame":
		s.flags = elf.SHF_ALLOC
	case is(".note"):
		s.typ = elf.SHT_NOTE
		s.flags = elf.SHF_ALLOC
	case is(".bss"):
		s.typ = elf.SHT_NOBITS
		s.flags = elf.SHF_ALLOC | elf.SHF_WRITE
	case is(".init_array"):
		s.typ = elf.SHT_INIT_ARRAY
		s.flags = elf.SHF_ALLOC | elf.SHF_WRITE
	case is(".fini_array"):
		s.typ = elf.SHT_FINI_ARRAY
		s.flags = elf.SHF_ALLOC | elf.SHF_WRITE
	case is(".data"):
		s.flags = elf.SHF_ALLOC | elf.SHF_WRITE
	default:
		o.fail("section %s: names begin with .text, .rodata, .data, .bss, .note, .init_array or .fini_array", name)
	}
	o.byName[name] = s
	o.sections = append(o.sections, s)
	return s
}

// place reserves an aligned place in the section and gives its offset.
func (s *section) place(align int) int {
	if align < 1 {
		align = 1
	}
	if align > s.align {
		s.align = align
	}
	if s.typ == elf.SHT_NOBITS {
		s.size += -s.size & (align - 1)
		return s.size
	}
	for len(s.data)%align != 0 {
		// Between functions the filler must be instructions.
		if s.flags&elf.SHF_EXECINSTR != 0 && len(s.data)%4 == 0 {
			s.data = append(s.data, 0x1f, 0x20, 0x03, 0xd5)
		} else {
			s.data = append(s.data, 0)
		}
	}
	return len(s.data)
}

func (o *Object) define(sym *symbol) {
	if sym.name == "" {
		return
	}
	if old := o.symByNam[sym.name]; old != nil {
		if old.section != nil {
			o.fail("symbol %s is defined twice", sym.name)
			return
		}
		// A declaration came first; it may have asked for a binding.
		if sym.bind == Local {
			sym.bind = old.bind
		}
		*old = *sym
		return
	}
	o.symByNam[sym.name] = sym
	o.symbols = append(o.symbols, sym)
}

// AddFunc adds a function to a section (empty: .text), with its marks as local symbols.
func (o *Object) AddFunc(f asm.Func, sec string, bind Bind) {
	if sec == "" {
		sec = ".text"
	}
	s := o.section(sec)
	off := s.place(max(f.Align, 4))
	s.data = append(s.data, f.Code...)
	o.addRelocs(s, off, len(f.Code), f.Relocs)
	o.define(&symbol{name: f.Name, section: s, off: off, size: len(f.Code), typ: elf.STT_FUNC, bind: bind})
	for _, m := range f.Marks {
		o.define(&symbol{name: m.Name, section: s, off: off + int(m.Off), typ: elf.STT_NOTYPE, bind: Local})
	}
	if !f.Frame.None {
		o.frames = append(o.frames, frame{s, off, len(f.Code), f.Frame})
	}
}

// AddData adds named bytes to a section. Relocation offsets count from the first byte.
func (o *Object) AddData(name, sec string, align int, data []byte, relocs []asm.Reloc, bind Bind) {
	s := o.section(sec)
	if s.typ == elf.SHT_NOBITS {
		o.fail("%s: %s holds no bytes", name, sec)
		return
	}
	off := s.place(align)
	s.data = append(s.data, data...)
	o.addRelocs(s, off, len(data), relocs)
	o.define(&symbol{name: name, section: s, off: off, size: len(data), typ: elf.STT_OBJECT, bind: bind})
}

// AddBss adds a named zero variable.
func (o *Object) AddBss(name string, align, size int, bind Bind) {
	s := o.section(".bss")
	off := s.place(align)
	s.size += size
	o.define(&symbol{name: name, section: s, off: off, size: size, typ: elf.STT_OBJECT, bind: bind})
}

// AddPointer adds the address of a symbol to .init_array, .fini_array or another writable section.
func (o *Object) AddPointer(sec, sym string) {
	o.AddData("", sec, 8, make([]byte, 8), []asm.Reloc{{Type: elf.R_AARCH64_ABS64, Sym: sym}}, Local)
}

// AddSymbol gives a place in something already defined a name of its own.
func (o *Object) AddSymbol(name, of string, off int, bind Bind) {
	base := o.symByNam[of]
	if base == nil || base.section == nil {
		o.fail("symbol %s: %s is not defined yet", name, of)
		return
	}
	o.define(&symbol{name: name, section: base.section, off: base.off + off, typ: base.typ, bind: bind})
}

// Declare names a symbol that is defined elsewhere (or later), and its binding.
func (o *Object) Declare(name string, bind Bind) {
	if old := o.symByNam[name]; old != nil {
		old.bind = bind
		return
	}
	o.define(&symbol{name: name, bind: bind})
}

// Has reports whether the symbol is defined.
func (o *Object) Has(name string) bool {
	s := o.symByNam[name]
	return s != nil && s.section != nil
}

// Size is the number of bytes in a section so far.
func (o *Object) Size(sec string) int {
	if s := o.byName[sec]; s != nil {
		return s.length()
	}
	return 0
}

func (o *Object) addRelocs(s *section, off, size int, relocs []asm.Reloc) {
	for _, r := range relocs {
		if int(r.Off) >= size {
			o.fail("%s+%#x: relocation at %#x is beyond its %d bytes", s.name, off, r.Off, size)
			continue
		}
		r.Off += uint32(off)
		s.relocs = append(s.relocs, r)
	}
}

// declareReferenced makes undefined global symbols of all names that are only referred to.
func (o *Object) declareReferenced() {
	for _, s := range o.sections {
		for _, r := range s.relocs {
			if o.symByNam[r.Sym] == nil && r.Sym != "" && o.byName[r.Sym] == nil {
				o.define(&symbol{name: r.Sym, bind: Global})
			}
		}
	}
}
