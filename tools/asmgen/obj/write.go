package obj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// strtab is an ELF string table under construction.
type strtab struct {
	data []byte
	at   map[string]uint32
}

func newStrtab() *strtab { return &strtab{data: []byte{0}, at: map[string]uint32{"": 0}} }

func (t *strtab) add(s string) uint32 {
	if off, ok := t.at[s]; ok {
		return off
	}
	off := uint32(len(t.data))
	t.at[s] = off
	t.data = append(append(t.data, s...), 0)
	return off
}

// Bytes writes the object as an ELF relocatable file.
func (o *Object) Bytes() ([]byte, error) {
	o.declareReferenced()
	secs := append([]*section(nil), o.sections...)
	if eh := o.ehFrame(); eh != nil {
		secs = append(secs, eh)
	}
	secs = append(secs, &section{name: ".note.GNU-stack", typ: elf.SHT_PROGBITS, align: 1})
	if err := o.err(); err != nil {
		return nil, err
	}
	index := map[*section]int{}
	for i, s := range secs {
		index[s] = i + 1
	}

	names, shnames := newStrtab(), newStrtab()
	var syms bytes.Buffer
	symIndex := map[string]uint32{}
	count := uint32(0)
	put := func(key string, s elf.Sym64) {
		binary.Write(&syms, binary.LittleEndian, s)
		if key != "" {
			symIndex[key] = count
		}
		count++
	}
	put("", elf.Sym64{})
	for i, s := range secs {
		put(s.name, elf.Sym64{Info: elf.ST_INFO(elf.STB_LOCAL, elf.STT_SECTION), Shndx: uint16(i + 1)})
	}
	putSymbol := func(s *symbol) {
		e := elf.Sym64{Name: names.add(s.name), Value: uint64(s.off), Size: uint64(s.size)}
		bind := map[Bind]elf.SymBind{Local: elf.STB_LOCAL, Hidden: elf.STB_GLOBAL, Global: elf.STB_GLOBAL, Weak: elf.STB_WEAK}[s.bind]
		e.Info = elf.ST_INFO(bind, s.typ)
		if s.bind == Hidden {
			e.Other = uint8(elf.STV_HIDDEN)
		}
		if s.section != nil {
			e.Shndx = uint16(index[s.section])
		}
		put(s.name, e)
	}
	for _, s := range o.symbols {
		if s.bind == Local && s.section != nil {
			putSymbol(s)
		}
	}
	firstGlobal := count
	for _, s := range o.symbols {
		if s.bind != Local {
			putSymbol(s)
		} else if s.section == nil {
			o.fail("symbol %s is local but not defined", s.name)
		}
	}

	// The file: header, contents, relocations, symbols, names, section headers.
	out := make([]byte, 64)
	align := func(n int) {
		for len(out)%n != 0 {
			out = append(out, 0)
		}
	}
	headers := []elf.Section64{{}}
	for _, s := range secs {
		align(max(s.align, 1))
		headers = append(headers, elf.Section64{
			Name: shnames.add(s.name), Type: uint32(s.typ), Flags: uint64(s.flags),
			Off: uint64(len(out)), Size: uint64(s.length()), Addralign: uint64(s.align),
		})
		out = append(out, s.data...)
	}
	symtab := len(secs) + 1
	for _, s := range secs {
		if len(s.relocs) > 0 {
			symtab++
		}
	}
	for _, s := range secs {
		if len(s.relocs) == 0 {
			continue
		}
		align(8)
		start := len(out)
		for _, r := range s.relocs {
			i, ok := symIndex[r.Sym]
			if !ok {
				o.fail("%s+%#x refers to unknown symbol %q", s.name, r.Off, r.Sym)
			}
			out = binary.LittleEndian.AppendUint64(out, uint64(r.Off))
			out = binary.LittleEndian.AppendUint64(out, uint64(i)<<32|uint64(r.Type))
			out = binary.LittleEndian.AppendUint64(out, uint64(r.Addend))
		}
		headers = append(headers, elf.Section64{
			Name: shnames.add(".rela" + s.name), Type: uint32(elf.SHT_RELA), Flags: uint64(elf.SHF_INFO_LINK), Off: uint64(start),
			Size: uint64(len(out) - start), Link: uint32(symtab), Info: uint32(index[s]), Addralign: 8, Entsize: 24,
		})
	}
	table := func(name string, typ elf.SectionType, data []byte, h elf.Section64) {
		align(int(h.Addralign))
		h.Name, h.Type, h.Off, h.Size = shnames.add(name), uint32(typ), uint64(len(out)), uint64(len(data))
		headers = append(headers, h)
		out = append(out, data...)
	}
	table(".symtab", elf.SHT_SYMTAB, syms.Bytes(), elf.Section64{Link: uint32(symtab + 1), Info: firstGlobal, Addralign: 8, Entsize: 24})
	table(".strtab", elf.SHT_STRTAB, names.data, elf.Section64{Addralign: 1})
	shnames.add(".shstrtab")
	table(".shstrtab", elf.SHT_STRTAB, shnames.data, elf.Section64{Addralign: 1})
	align(8)
	shoff := len(out)
	var tail bytes.Buffer
	binary.Write(&tail, binary.LittleEndian, headers)
	out = append(out, tail.Bytes()...)
	putHeader(out, elf.Header64{Type: uint16(elf.ET_REL), Shoff: uint64(shoff), Shentsize: 64, Shnum: uint16(len(headers)), Shstrndx: uint16(len(headers) - 1)})
	return out, o.err()
}

// putHeader fills in the fields that all our files share and writes the header over the first 64 bytes.
func putHeader(out []byte, h elf.Header64) {
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
	h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2LSB)
	h.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	h.Machine = uint16(elf.EM_AARCH64)
	h.Version = uint32(elf.EV_CURRENT)
	h.Ehsize = 64
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, h)
	copy(out, b.Bytes())
}
