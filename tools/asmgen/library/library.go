// Package library has what the generators of both libraries share: the frame of functions that C calls, figures for
// people, and the files that are written.
package library

import (
	"encoding/json"
	"os"
	"path/filepath"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/obj"
)

// Hand is a function that is laid instruction by instruction.
type Hand struct {
	Name string
	Emit func(*asm.Builder)
	Bind obj.Bind
}

// Add adds hand-laid functions to an object.
func Add(o *obj.Object, hands ...Hand) error {
	for _, h := range hands {
		b := asm.New(h.Name)
		h.Emit(b)
		fn, err := b.Finish()
		if err != nil {
			return err
		}
		o.AddFunc(fn, "", h.Bind)
	}
	return nil
}

// Sections gives the sizes of sections in bytes.
func Sections(o *obj.Object, names ...string) map[string]int {
	sizes := map[string]int{}
	for _, s := range names {
		sizes[s] = o.Size(s)
	}
	return sizes
}

// Entries gives how deep the stack of each entry point of a program gets below its caller's sp, in bytes.
func Entries(p *compile.Program) map[string]int {
	stacks := map[string]int{}
	for _, e := range p.Entries {
		stacks[e.Name] = e.Stack
	}
	return stacks
}

// Aborts gives the places of a program's checks; the place in the list is the code that the program shows.
func Aborts(p *compile.Program) []string {
	var list []string
	for _, a := range p.Aborts {
		list = append(list, a.Go+": "+a.Kind)
	}
	return list
}

// Write writes NAME.o, and NAME.json with the figures, to a directory. Neither is written if the object cannot be made.
func Write(dir, name string, o *obj.Object, figures any) error {
	b, err := o.Bytes()
	if err != nil {
		return err
	}
	j, err := json.MarshalIndent(figures, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".o"), b, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".json"), append(j, '\n'), 0o644)
}
