package obj

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svcrelay/tools/asmgen/asm"
)

func build(t *testing.T, name string, f func(b *asm.Builder)) asm.Func {
	t.Helper()
	b := asm.New(name)
	f(b)
	fn, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

// hello makes a program that adds what several kinds of reference lead to and
// exits with the sum, which is 42 if each of them was resolved.
func hello(t *testing.T) *Object {
	o := New()
	o.AddFunc(build(t, "_start", func(b *asm.Builder) {
		b.Undefined(asm.LR)
		b.AddrOf(asm.X1, "const", 4)
		b.Ldr(asm.W, asm.X0, asm.At(asm.X1, 0)) // 7
		b.Adrp(asm.X1, "pointer", 0)
		b.LoadLo12(8, false, asm.X1, asm.X1, "pointer", 0)
		b.Ldr(asm.W, asm.X2, asm.At(asm.X1, 0)) // 5
		b.Add(asm.X, asm.X0, asm.X0, asm.X2)
		b.LoadGOT(asm.X1, "absent")
		b.Add(asm.X, asm.X0, asm.X0, asm.X1) // 0
		b.LoadGOT(asm.X1, "zero")
		b.Ldr(asm.X, asm.X2, asm.At(asm.X1, 0)) // 0
		b.Add(asm.X, asm.X0, asm.X0, asm.X2)
		b.MovImm(asm.X, asm.X3, 30)
		b.Str(asm.X, asm.X3, asm.At(asm.X1, 0))
		b.BLSym("load zero")
		b.MovImm(asm.X, asm.X8, 93)
		b.Svc(0)
		b.Udf(0)
	}), "", Global)
	o.AddFunc(build(t, "load zero", func(b *asm.Builder) {
		b.Stp(asm.X, asm.X29, asm.X30, asm.Pre(asm.SP, -16))
		b.DefCfaOffset(16)
		b.Offset(asm.X29, -16)
		b.Offset(asm.X30, -8)
		b.Adrp(asm.X1, "zero", 0)
		b.LoadLo12(8, false, asm.X2, asm.X1, "zero", 0)
		b.Add(asm.X, asm.X0, asm.X0, asm.X2)
		b.Ldp(asm.X, asm.X29, asm.X30, asm.Post(asm.SP, 16))
		b.Restore(asm.X29)
		b.Restore(asm.X30)
		b.DefCfaOffset(0)
		b.Mark("the end")
		b.Ret()
	}), "", Local)
	o.AddFunc(build(t, "signal", func(b *asm.Builder) {
		b.SignalFrame()
		b.ReturnColumn(96)
		b.DefCfa(asm.X19, 0)
		b.RememberState()
		b.DefCfa(asm.SP, 272)
		b.OffsetColumn(72, -16)
		b.ValExpression(31, []byte{0x8f, 0x10})      // breg31 16
		b.Expression(96, []byte{0x8f, 0x80, 0x02})   // breg31 256
		b.DefCfaExpression([]byte{0x8f, 0x08, 0x06}) // breg31 8, deref
		b.InRegister(asm.X5, asm.X6)
		b.SameValue(asm.X7)
		b.Nop()
		b.RestoreState()
		b.Nop()
		b.Escape([]byte{0x00})
		b.Ret()
	}), ".text.signal", Hidden)
	o.AddData("const", ".rodata", 4, []byte{9, 0, 0, 0, 7, 0, 0, 0}, nil, Local)
	o.AddData("pointer", ".data.rel.ro", 8, make([]byte, 8), []asm.Reloc{{Type: elf.R_AARCH64_ABS64, Sym: "five", Addend: 4}}, Local)
	o.AddData("five", ".data", 4, []byte{1, 0, 0, 0, 5, 0, 0, 0}, nil, Hidden)
	o.AddBss("pad", 1, 3, Local)
	o.AddBss("zero", 64, 8, Hidden)
	o.AddPointer(".init_array", "load zero")
	o.AddPointer(".fini_array", "signal")
	o.AddSymbol("start_alias", "_start", 0, Weak)
	o.Declare("absent", Weak)
	return o
}

// TestReadBack reads the object with debug/elf.
func TestReadBack(t *testing.T) {
	data, err := hello(t).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := hello(t).Bytes()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("two writes differ (%v)", err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_REL || f.Machine != elf.EM_AARCH64 || f.Class != elf.ELFCLASS64 {
		t.Errorf("%v %v %v", f.Type, f.Machine, f.Class)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]elf.Symbol{}
	locals := true
	for _, s := range syms {
		got[s.Name] = s
		if local := elf.ST_BIND(s.Info) == elf.STB_LOCAL; local && !locals {
			t.Errorf("local symbol %s after a global one", s.Name)
		} else {
			locals = local
		}
	}
	check := func(name, sec string, bind elf.SymBind, vis elf.SymVis, typ elf.SymType, size uint64) {
		s, ok := got[name]
		where := ""
		if ok && s.Section != elf.SHN_UNDEF {
			where = f.Sections[s.Section].Name
		}
		if !ok || where != sec || elf.ST_BIND(s.Info) != bind || elf.ST_VISIBILITY(s.Other) != vis || elf.ST_TYPE(s.Info) != typ || s.Size != size {
			t.Errorf("%s: %+v in %q", name, s, where)
		}
	}
	check("_start", ".text", elf.STB_GLOBAL, elf.STV_DEFAULT, elf.STT_FUNC, 80)
	check("load zero", ".text", elf.STB_LOCAL, elf.STV_DEFAULT, elf.STT_FUNC, 24)
	check("the end", ".text", elf.STB_LOCAL, elf.STV_DEFAULT, elf.STT_NOTYPE, 0)
	check("signal", ".text.signal", elf.STB_GLOBAL, elf.STV_HIDDEN, elf.STT_FUNC, 12)
	check("zero", ".bss", elf.STB_GLOBAL, elf.STV_HIDDEN, elf.STT_OBJECT, 8)
	check("start_alias", ".text", elf.STB_WEAK, elf.STV_DEFAULT, elf.STT_FUNC, 0)
	check("absent", "", elf.STB_WEAK, elf.STV_DEFAULT, elf.STT_NOTYPE, 0)
	for name, want := range map[string][2]uint64{
		".text": {uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), 16}, ".data": {uint64(elf.SHF_ALLOC | elf.SHF_WRITE), 4}, ".bss": {uint64(elf.SHF_ALLOC | elf.SHF_WRITE), 64},
		".init_array": {uint64(elf.SHF_ALLOC | elf.SHF_WRITE), 8}, ".eh_frame": {uint64(elf.SHF_ALLOC), 8}, ".note.GNU-stack": {0, 1},
	} {
		s := f.Section(name)
		if s == nil || uint64(s.Flags) != want[0] || s.Addralign != want[1] {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestTools checks that binutils understand the object: the frame information as
// readelf prints it, and a shared library linked from it.
func TestTools(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.o")
	data, err := hello(t).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	frames := tool(t, "aarch64-linux-gnu-readelf", "-wf", file)
	for _, want := range []string{
		`Augmentation:          "zR"`, `Augmentation:          "zRS"`, "Return address column: 96",
		"DW_CFA_undefined: r30", "DW_CFA_advance_loc: 4", "DW_CFA_def_cfa_offset: 16", "DW_CFA_offset: r29 (x29) at cfa-16",
		"DW_CFA_restore: r30 (x30)", "DW_CFA_def_cfa: r19 (x19) ofs 0", "DW_CFA_remember_state", "DW_CFA_offset_extended: r72 (v8) at cfa-16",
		"DW_CFA_val_expression: r31 (sp) (DW_OP_breg31 (sp): 16)", "DW_CFA_expression: r96", "DW_CFA_def_cfa_expression (DW_OP_breg31 (sp): 8; DW_OP_deref)",
		"DW_CFA_register: r5 (x5) in r6 (x6)", "DW_CFA_same_value: r7", "DW_CFA_restore_state",
	} {
		if !strings.Contains(frames, want) {
			t.Errorf("readelf -wf lacks %q", want)
		}
	}
	if all := tool(t, "aarch64-linux-gnu-readelf", "-Wa", file); strings.Contains(strings.ToLower(all), "warning") {
		t.Errorf("readelf complains:\n%s", all)
	}
	if t.Failed() {
		t.Log(frames)
	}
	lib := filepath.Join(dir, "a.so")
	if msg := tool(t, "aarch64-linux-gnu-ld", "-shared", "--eh-frame-hdr", "-z", "noexecstack", "-o", lib, file); msg != "" {
		t.Errorf("ld says: %s", msg)
	}
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found := false
	for _, p := range f.Progs {
		found = found || p.Type == elf.PT_GNU_EH_FRAME
	}
	if !found {
		t.Error("ld made no table of the frame information")
	}
	exe := filepath.Join(dir, "a.exe")
	if msg := tool(t, "aarch64-linux-gnu-ld", "-static", "-o", exe, file); msg != "" {
		t.Errorf("ld says: %s", msg)
	}
	runExits(t, exe, 42)
}

// runExits runs a program and checks its status.
func runExits(t *testing.T, exe string, want int) {
	t.Helper()
	cmd := exec.Command("qemu-aarch64", exe)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%s exits with %d, want %d: %s", filepath.Base(exe), got, want, out)
	}
}

// TestLink runs the same program at several addresses.
func TestLink(t *testing.T) {
	o := hello(t)
	dir := t.TempDir()
	for _, base := range []uint64{0x400000, 0x10000, 0x5500000000, 0x7ffff0000} {
		data, err := o.Link(base, "_start")
		if err != nil {
			t.Fatal(err)
		}
		exe := filepath.Join(dir, "exe")
		os.Remove(exe)
		if err := os.WriteFile(exe, data, 0o755); err != nil {
			t.Fatal(err)
		}
		runExits(t, exe, 42)
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X {
				t.Error("a segment is writable and executable")
			}
		}
		again, err := o.Link(base, "_start")
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("two links at %#x differ (%v)", base, err)
		}
	}
}

// TestErrors checks that mistakes are reported by both writers.
func TestErrors(t *testing.T) {
	ret := build(t, "f", func(b *asm.Builder) { b.Ret() })
	call := build(t, "g", func(b *asm.Builder) { b.BLSym("nowhere") })
	cases := map[string]func(o *Object){
		"f is defined twice": func(o *Object) { o.AddFunc(ret, "", Local) },
		"names begin with":   func(o *Object) { o.AddFunc(ret, "text", Local) },
		"holds no bytes":     func(o *Object) { o.AddData("d", ".bss", 1, nil, nil, Local) },
		"is not defined yet": func(o *Object) { o.AddSymbol("a", "b", 0, Local) },
		"is beyond its":      func(o *Object) { o.AddData("d", ".data", 1, nil, []asm.Reloc{{Sym: "f"}}, Local) },
		"not a multiple of 8": func(o *Object) {
			o.frames = append(o.frames, frame{section: o.byName[".text"], info: asm.Frame{Ops: []asm.CFIOp{{Kind: asm.CFIOffset, Offset: 4}}}})
		},
		"g is defined twice":    func(o *Object) { o.AddFunc(call, "", Local); o.AddFunc(call, "", Local) },
		"nowhere, which is not": func(o *Object) { o.AddFunc(call, "", Local) },
	}
	for want, f := range cases {
		o := New()
		o.AddFunc(ret, "", Global)
		f(o)
		_, err := o.Link(0x400000, "f")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	o := New()
	o.AddFunc(ret, "", Global)
	if _, err := o.Link(0x1000, "f"); err == nil {
		t.Error("a base between 64 KiB pages is accepted")
	}
	if _, err := o.Link(0x10000, "g"); err == nil {
		t.Error("an entry that is not there is accepted")
	}
}
