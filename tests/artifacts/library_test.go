package artifacts

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"svcrelay/tests/rig/product"
)

// library is one file of dist/ and what is special about it.
type library struct {
	name    string
	exports []string // symbols that others may bind to
	imports []string // weak symbols it may do without
	fini    bool     // has a destructor
}

var libraries = []library{
	{name: "libsvcrelay.so", exports: []string{"_dl_find_object", "dl_iterate_phdr"}, imports: []string{"_dl_debug_addr", "_r_debug"}, fini: true},
	{name: "libsvcrelay-tracer.so", exports: []string{"prctl"}, imports: []string{"__errno", "__errno_location", "environ"}},
}

const pageSize = 64 << 10 // the largest page of arm64

// shtRELR is the section type of packed relative relocations, which older loaders ignore.
const shtRELR elf.SectionType = 19

// open opens a library that ./build.sh made.
func open(t *testing.T, lib library) *elf.File {
	t.Helper()
	f, err := elf.Open(built(t, lib.name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// built is the path of a file that ./build.sh made.
func built(t *testing.T, name string) string {
	t.Helper()
	file, err := product.Built("", name)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("SVCRELAY_VM") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func each(t *testing.T, test func(t *testing.T, lib library, f *elf.File)) {
	for _, lib := range libraries {
		t.Run(lib.name, func(t *testing.T) { test(t, lib, open(t, lib)) })
	}
}

func TestHeader(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_DYN {
			t.Errorf("is %v %v %v %v, want a 64-bit little-endian AArch64 shared object", f.Class, f.Data, f.Machine, f.Type)
		}
		if got, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(got, []string{lib.name}) {
			t.Errorf("SONAME is %q (%v), want %q", got, err, lib.name)
		}
		if needed, err := f.ImportedLibraries(); err != nil || len(needed) > 0 {
			t.Errorf("needs the libraries %q (%v), want none", needed, err)
		}
		for _, tag := range []elf.DynTag{elf.DT_GNU_HASH, elf.DT_INIT_ARRAY} {
			if len(dynamic(t, f, tag)) != 1 {
				t.Errorf("has no %v", tag)
			}
		}
		if got := dynamic(t, f, elf.DT_INIT_ARRAYSZ); !slices.Equal(got, []uint64{8}) {
			t.Errorf("its constructor table has sizes %d, want one entry of 8 bytes", got)
		}
		if got := dynamic(t, f, elf.DT_FINI_ARRAYSZ); lib.fini != slices.Equal(got, []uint64{8}) {
			t.Errorf("its destructor table has sizes %d; one entry wanted: %v", got, lib.fini)
		}
		for _, tag := range []elf.DynTag{elf.DT_TEXTREL, elf.DT_RPATH, elf.DT_RUNPATH, elf.DT_INIT, elf.DT_FINI, elf.DT_JMPREL, elf.DT_HASH} {
			if len(dynamic(t, f, tag)) > 0 {
				t.Errorf("has a %v", tag)
			}
		}
	})
}

func TestBuildID(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		s := f.Section(".note.gnu.build-id")
		if s == nil {
			t.Fatal("has no build-id")
		}
		note, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		if len(note) != 16+20 || binary.LittleEndian.Uint32(note[4:]) != 20 || string(note[12:16]) != "GNU\x00" {
			t.Errorf("its build-id note is % x, want 20 bytes named GNU", note)
		}
	})
}

func TestSegments(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		loads, stack, frames := 0, false, false
		var end uint64
		for _, p := range f.Progs {
			if p.Flags&elf.PF_W != 0 && p.Flags&elf.PF_X != 0 {
				t.Errorf("a %v segment is writable and executable", p.Type)
			}
			switch p.Type {
			case elf.PT_LOAD:
				loads++
				if p.Align != pageSize || p.Vaddr%pageSize != p.Off%pageSize {
					t.Errorf("the segment at %#x (file offset %#x) is aligned to %#x, want %#x", p.Vaddr, p.Off, p.Align, pageSize)
				}
				if p.Vaddr/pageSize < (end+pageSize-1)/pageSize {
					t.Errorf("the segment at %#x shares a 64 KiB page with the one before it", p.Vaddr)
				}
				end = p.Vaddr + p.Memsz
			case elf.PT_GNU_STACK:
				stack = p.Flags&elf.PF_X == 0
			case elf.PT_GNU_EH_FRAME:
				frames = true
			case elf.PT_INTERP, elf.PT_TLS, elf.PT_GNU_RELRO:
				t.Errorf("has a %v segment", p.Type)
			}
		}
		if loads == 0 || !stack || !frames {
			t.Errorf("%d loaded segments, non-executable stack %v, frame table %v", loads, stack, frames)
		}
	})
}

func TestSymbols(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		symbols, err := f.DynamicSymbols()
		if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
			t.Fatal(err)
		}
		var exports, imports []string
		for _, s := range symbols {
			bind := elf.ST_BIND(s.Info)
			switch {
			case bind == elf.STB_LOCAL, s.Section == elf.SHN_ABS: // the linker adds the names of versions
			case s.Section != elf.SHN_UNDEF:
				exports = append(exports, s.Name)
			case bind == elf.STB_WEAK:
				imports = append(imports, s.Name)
			default:
				t.Errorf("cannot be loaded without the symbol %s", s.Name)
			}
		}
		slices.Sort(exports)
		slices.Sort(imports)
		if !slices.Equal(exports, lib.exports) || !slices.Equal(imports, lib.imports) {
			t.Errorf("exports %q and imports %q, want %q and %q", exports, imports, lib.exports, lib.imports)
		}
	})
}

func TestRelocations(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		imported := 0
		for _, s := range f.Sections {
			if s.Type == elf.SHT_REL || s.Type == shtRELR {
				t.Errorf("has relocations of type %v", s.Type)
			}
			if s.Type != elf.SHT_RELA {
				continue
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			for ; len(data) >= 24; data = data[24:] {
				at, kind := binary.LittleEndian.Uint64(data), elf.R_AARCH64(uint32(binary.LittleEndian.Uint64(data[8:])))
				switch {
				case kind == elf.R_AARCH64_RELATIVE:
				case kind == elf.R_AARCH64_GLOB_DAT && len(lib.imports) > 0:
					imported++
				default:
					t.Errorf("has a relocation %v at %#x", kind, at)
				}
				if !writable(f, at) {
					t.Errorf("the relocation at %#x is not in a writable segment", at)
				}
			}
		}
		if imported != len(lib.imports) {
			t.Errorf("%d relocations bind imports, want %d", imported, len(lib.imports))
		}
	})
}

func writable(f *elf.File, at uint64) bool {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && at >= p.Vaddr && at < p.Vaddr+p.Memsz {
			return p.Flags&elf.PF_W != 0
		}
	}
	return false
}

func dynamic(t *testing.T, f *elf.File, tag elf.DynTag) []uint64 {
	t.Helper()
	values, err := f.DynValue(tag)
	if err != nil {
		t.Fatal(err)
	}
	return values
}
