package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// link makes the library from an object file as build.sh does.
func link(t *testing.T, object string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "libsvcrelay.so")
	cmd := exec.Command("aarch64-linux-gnu-ld", "-shared", "-soname", "libsvcrelay.so", "-L", "../../ldscripts", "-T", "libsvcrelay.ld",
		"--hash-style=gnu", "--build-id=sha1", "--eh-frame-hdr", "-z", "max-page-size=65536", "-z", "noexecstack", "-z", "text",
		"-z", "nodelete", "--no-undefined", "--orphan-handling=error", "--strip-debug", "-o", out, object)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return out
}

func TestLibrary(t *testing.T) {
	f, err := elf.Open(link(t, "../libsvcrelay.o"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_DYN {
		t.Errorf("%v %v %v", f.Class, f.Machine, f.Type)
	}
	if s, _ := f.DynString(elf.DT_SONAME); len(s) != 1 || s[0] != "libsvcrelay.so" {
		t.Errorf("SONAME %q", s)
	}
	if s, _ := f.DynString(elf.DT_NEEDED); len(s) != 0 {
		t.Errorf("NEEDED %q", s)
	}
	if s, _ := f.DynamicSymbols(); len(s) != 0 {
		for _, sym := range s {
			if sym.Name != "" {
				t.Errorf("dynamic symbol %s", sym.Name)
			}
		}
	}
	for _, tag := range []elf.DynTag{elf.DT_TEXTREL, elf.DT_JMPREL, elf.DT_HASH, elf.DT_RUNPATH, elf.DT_RPATH, elf.DT_INIT, elf.DT_FINI} {
		if v, _ := f.DynValue(tag); len(v) != 0 {
			t.Errorf("%v is there", tag)
		}
	}
	for _, tag := range []elf.DynTag{elf.DT_GNU_HASH, elf.DT_INIT_ARRAY, elf.DT_FINI_ARRAY} {
		if v, _ := f.DynValue(tag); len(v) != 1 {
			t.Errorf("%v is missing", tag)
		}
	}
	loads, stack, frames := 0, false, false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			loads++
			if p.Align != 65536 || p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X {
				t.Errorf("segment %+v", p.ProgHeader)
			}
		case elf.PT_GNU_STACK:
			stack = p.Flags&elf.PF_X == 0
		case elf.PT_GNU_EH_FRAME:
			frames = true
		}
	}
	if loads != 2 || !stack || !frames {
		t.Errorf("%d segments, stack %v, frames %v", loads, stack, frames)
	}
	rela, err := f.Section(".rela.dyn").Data()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(rela) >= 24; rela = rela[24:] {
		if typ := elf.R_AARCH64(f.ByteOrder.Uint32(rela[8:])); typ != elf.R_AARCH64_RELATIVE {
			t.Errorf("relocation %v", typ)
		}
	}
}

// TestReproducible generates twice and compares with what is committed.
func TestReproducible(t *testing.T) {
	for range 2 {
		dir := t.TempDir()
		if err := generate(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"libsvcrelay.o", "libsvcrelay.json"} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what go generate ./relay makes", name)
			}
		}
	}
}
