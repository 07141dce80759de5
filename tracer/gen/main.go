// Command gen makes tracer/libsvcrelay-tracer.o: the shim compiled by asmgen, with its two hand-laid entry points,
// and beside it libsvcrelay-tracer.json with its figures.
package main

import (
	"fmt"
	"os"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/library"
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
	return library.Write(dir, "libsvcrelay-tracer", o, in)
}

// build compiles the shim and adds what is laid by hand.
func build() (*obj.Object, *info, error) {
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/tracer"}})
	if err != nil {
		return nil, nil, err
	}
	o := obj.New()
	err = library.Add(o, library.Hand{Name: "prctl", Emit: prctl, Bind: obj.Global},
		library.Hand{Name: "svcrelay_tracer_constructor", Emit: constructor})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"__errno_location", "__errno", "environ"} {
		o.Declare(name, obj.Weak)
	}
	o.AddProgram(p, obj.Local)
	o.AddPointer(".init_array", "svcrelay_tracer_constructor")
	o.MarkGCS()

	in := &info{
		Entries: library.Entries(p), Aborts: library.Aborts(p),
		Sections: library.Sections(o, ".text", ".rodata", ".data.rel.ro", ".data", ".bss"),
	}
	in.Entries["prctl"] = int(prctlFrame.Size()) + in.Entries["svcrelay_tracer_install"]
	in.Entries["svcrelay_tracer_constructor"] = int(constructorFrame.Size()) + in.Entries["svcrelay_tracer_start"]
	return o, in, nil
}
