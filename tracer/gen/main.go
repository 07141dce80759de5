// Command gen makes tracer/libsvcrelay-tracer.o: the shim compiled by asmgen, with its two hand-laid entry points,
// and beside it libsvcrelay-tracer.json with its figures.
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

// info is what the JSON file holds.
type info struct {
	// Entries is the deepest stack of each entry point below its caller's sp.
	Entries map[string]int `json:"entries"`
	// Sections are sizes in bytes.
	Sections map[string]int `json:"sections"`
	// Aborts are the places of checks.
	Aborts []string `json:"aborts"`
}

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "tracer/gen:", err)
		os.Exit(1)
	}
}

// generate writes both files to dir.
func generate(dir string) error {
	o, in, err := build()
	if err != nil {
		return err
	}
	b, err := o.Bytes()
	if err != nil {
		return err
	}
	j, err := json.MarshalIndent(in, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "libsvcrelay-tracer.o"), b, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "libsvcrelay-tracer.json"), append(j, '\n'), 0o644)
}

// build compiles the shim and adds what is laid by hand.
func build() (*obj.Object, *info, error) {
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/tracer"}})
	if err != nil {
		return nil, nil, err
	}
	o := obj.New()
	for _, f := range []struct {
		name string
		emit func(*asm.Builder)
		bind obj.Bind
	}{
		{"prctl", prctl, obj.Global}, {"svcrelay_tracer_constructor", constructor, obj.Local},
	} {
		b := asm.New(f.name)
		f.emit(b)
		fn, err := b.Finish()
		if err != nil {
			return nil, nil, err
		}
		o.AddFunc(fn, "", f.bind)
	}
	for _, name := range []string{"__errno_location", "__errno", "environ"} {
		o.Declare(name, obj.Weak)
	}
	o.AddProgram(p, obj.Local)
	o.AddPointer(".init_array", "svcrelay_tracer_constructor")

	in := &info{Entries: map[string]int{"prctl": frameSize, "svcrelay_tracer_constructor": frameSize}, Sections: map[string]int{}}
	for _, e := range p.Entries {
		in.Entries[e.Name] = e.Stack
	}
	in.Entries["prctl"] += in.Entries["svcrelay_tracer_install"]
	in.Entries["svcrelay_tracer_constructor"] += in.Entries["svcrelay_tracer_start"]
	for _, s := range []string{".text", ".rodata", ".data.rel.ro", ".data", ".bss"} {
		in.Sections[s] = o.Size(s)
	}
	for _, a := range p.Aborts {
		in.Aborts = append(in.Aborts, a.Go+": "+a.Kind)
	}
	return o, in, nil
}
