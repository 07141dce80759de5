// Command gen makes relay/libsvcrelay.o: the relay compiled by asmgen, with the hand-laid sequences around it, and
// beside it libsvcrelay.json with the figures that tests and the command report.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/obj"
)

// info is what libsvcrelay.json holds.
type info struct {
	// Stack is the deepest stack below the guest's sp while a call is answered, saved registers included.
	Stack int64 `json:"stack"`
	// Frame and Scratch are parts of it.
	Frame   int64 `json:"frame"`
	Scratch int64 `json:"scratch"`
	// Entries is the deepest stack of each compiled entry point.
	Entries map[string]int `json:"entries"`
	// Sections are sizes in bytes.
	Sections map[string]int `json:"sections"`
	// Aborts are the places of checks, by the code that the statistics show.
	Aborts []string `json:"aborts"`
}

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "relay/gen:", err)
		os.Exit(1)
	}
}

// generate writes both files to dir.
func generate(dir string) error {
	o, in, err := assemble(nil)
	if err != nil {
		return err
	}
	return write(dir, o, in)
}

// assemble makes the object. A test may replace source files.
func assemble(overlay map[string][]byte) (*obj.Object, info, error) {
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/relay"}, Overlay: overlay})
	if err != nil {
		return nil, info{}, err
	}
	o := obj.New()
	for _, f := range []struct {
		name string
		emit func(*asm.Builder)
	}{
		{"svcrelay_entry", entry}, {"svcrelay_start", start}, {"svcrelay_stop", stop}, {"svcrelay_scan", scan},
	} {
		b := asm.New(f.name)
		f.emit(b)
		fn, err := b.Finish()
		if err != nil {
			return nil, info{}, err
		}
		o.AddFunc(fn, "", obj.Local)
	}
	o.AddProgram(p, obj.Local)
	o.AddBss("svcrelay_stack", 8, 8, obj.Local)
	o.AddPointer(".init_array", "svcrelay_start")
	o.AddPointer(".fini_array", "svcrelay_stop")
	in := describe(p, o)
	if in.Stack > needed {
		return nil, in, fmt.Errorf("a call needs %d bytes of stack, more than %d: make translate.Scratch smaller", in.Stack, needed)
	}
	return o, in, nil
}

// describe collects the figures.
func describe(p *compile.Program, o *obj.Object) info {
	in := info{Frame: frameSize, Scratch: scratchSize, Entries: map[string]int{}, Sections: map[string]int{}}
	for _, e := range p.Entries {
		in.Entries[e.Name] = e.Stack
	}
	in.Stack = frameSize + scratchSize + int64(in.Entries["svcrelay_dispatch"])
	for _, s := range []string{".text", ".rodata", ".data.rel.ro", ".data", ".bss"} {
		in.Sections[s] = o.Size(s)
	}
	for _, a := range p.Aborts {
		in.Aborts = append(in.Aborts, a.Go+": "+a.Kind)
	}
	return in
}

func write(dir string, o *obj.Object, in info) error {
	b, err := o.Bytes()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "libsvcrelay.o"), b, 0o644); err != nil {
		return err
	}
	j, err := json.MarshalIndent(in, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "libsvcrelay.json"), append(j, '\n'), 0o644)
}
