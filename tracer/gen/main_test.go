package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func object(t *testing.T) []byte {
	t.Helper()
	o, _, err := build()
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSameBytesTwice(t *testing.T) {
	if !bytes.Equal(object(t), object(t)) {
		t.Error("two runs gave different objects")
	}
}

func TestStackIsSmall(t *testing.T) {
	_, in, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{"prctl", "svcrelay_tracer_constructor"} {
		if depth := in.Entries[entry]; depth < int(constructorFrame.Size()) || depth > 1024 {
			t.Errorf("%s needs %d bytes of stack", entry, depth)
		}
	}
}

// TestLibrary links the shim as build.sh does and looks at what both glibc's and bionic's dynamic linkers want.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.o"), filepath.Join(dir, "libsvcrelay-tracer.so")
	if err := os.WriteFile(in, object(t), 0o644); err != nil {
		t.Fatal(err)
	}
	link := exec.Command("aarch64-linux-gnu-ld", "-shared", "-soname", "libsvcrelay-tracer.so", "-L", "ldscripts", "-T", "libsvcrelay-tracer.ld",
		"--hash-style=gnu", "--build-id=sha1", "--eh-frame-hdr", "-z", "max-page-size=65536", "-z", "noexecstack", "-z", "text", "-z", "nodelete",
		"--orphan-handling=error", "--strip-debug", "-o", out, in)
	link.Dir = "../.."
	if said, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Type != elf.ET_DYN || f.Machine != elf.EM_AARCH64 || f.Class != elf.ELFCLASS64 {
		t.Errorf("type %v, machine %v, class %v", f.Type, f.Machine, f.Class)
	}
	checkDynamic(t, f)
	checkSymbols(t, f)
	checkSegments(t, f)
	checkRelocations(t, f)
}

func checkDynamic(t *testing.T, f *elf.File) {
	if names, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(names, []string{"libsvcrelay-tracer.so"}) {
		t.Errorf("SONAME %q, %v", names, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_NEEDED, elf.DT_TEXTREL, elf.DT_JMPREL, elf.DT_FINI_ARRAY, elf.DT_HASH, elf.DT_RUNPATH} {
		if v, err := f.DynValue(tag); err != nil || len(v) != 0 {
			t.Errorf("%v: %v, %v", tag, v, err)
		}
	}
	for _, tag := range []elf.DynTag{elf.DT_GNU_HASH, elf.DT_INIT_ARRAY} {
		if v, err := f.DynValue(tag); err != nil || len(v) != 1 {
			t.Errorf("%v: %v, %v", tag, v, err)
		}
	}
	if n, err := f.DynValue(elf.DT_INIT_ARRAYSZ); err != nil || !slices.Equal(n, []uint64{8}) {
		t.Errorf("size of the constructor table %v, %v", n, err)
	}
	if f.Section(".note.gnu.build-id") == nil || f.Section(".eh_frame_hdr") == nil {
		t.Error("no build ID or no table of frames")
	}
}

func checkSymbols(t *testing.T, f *elf.File) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var exported, imported []string
	for _, s := range symbols {
		switch {
		case elf.ST_TYPE(s.Info) == elf.STT_SECTION:
		case s.Section != elf.SHN_UNDEF:
			exported = append(exported, s.Name)
		case elf.ST_BIND(s.Info) != elf.STB_WEAK:
			t.Errorf("%s is imported and must be there", s.Name)
		default:
			imported = append(imported, s.Name)
		}
	}
	slices.Sort(imported)
	if !slices.Equal(exported, []string{"prctl"}) || !slices.Equal(imported, []string{"__errno", "__errno_location", "environ"}) {
		t.Errorf("exports %q, imports %q", exported, imported)
	}
}

func checkSegments(t *testing.T, f *elf.File) {
	stack := false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if p.Align != 65536 || p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X || p.Vaddr%p.Align != p.Off%p.Align {
				t.Errorf("segment at %#x: flags %v, aligned to %#x", p.Vaddr, p.Flags, p.Align)
			}
		case elf.PT_GNU_STACK:
			stack = true
			if p.Flags&elf.PF_X != 0 {
				t.Error("the stack is executable")
			}
		}
	}
	if !stack {
		t.Error("nothing says that the stack is not executable")
	}
}

func checkRelocations(t *testing.T, f *elf.File) {
	rela, err := f.Section(".rela.dyn").Data()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[elf.R_AARCH64]int{}
	for ; len(rela) >= 24; rela = rela[24:] {
		kinds[elf.R_AARCH64(uint32(binary.LittleEndian.Uint64(rela[8:])))]++
	}
	if len(kinds) != 2 || kinds[elf.R_AARCH64_RELATIVE] != 1 || kinds[elf.R_AARCH64_GLOB_DAT] != 3 {
		t.Errorf("relocations %v", kinds)
	}
}
