// Command asmgen compiles packages written in the freestanding subset of Go to one relocatable arm64 object.
//
//	asmgen -o out.o [-e 'full.Go.name=symbol']... [-t tag]... [-S] package...
//
// Functions with a comment "//asmgen:entry NAME" become global symbols; everything reachable from them is
// compiled. What is outside the subset is reported as file:line:col: what and why, all of it in one run.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/arch/arm64/arm64asm"

	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/obj"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	fs := pflag.NewFlagSet("asmgen", pflag.ContinueOnError)
	output := fs.StringP("output", "o", "", "write the object to this file")
	entries := fs.StringToStringP("entry", "e", nil, "make a function an entry point: full Go name=symbol")
	tags := fs.StringSliceP("tags", "t", nil, "build tags in addition to freestanding")
	dir := fs.StringP("dir", "C", "", "resolve package patterns in this directory")
	listing := fs.BoolP("listing", "S", false, "print the compiled functions")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return fmt.Errorf("asmgen: name the packages to compile (see --help)")
	}
	p, err := compile.Compile(compile.Config{Dir: *dir, Patterns: fs.Args(), Tags: *tags, Entries: *entries})
	if err != nil {
		return err
	}
	if *listing {
		for _, f := range p.Functions {
			list(out, f)
		}
	}
	for _, e := range p.Entries {
		fmt.Fprintf(out, "%s\t%s\tstack %d\n", e.Name, e.Go, e.Stack)
	}
	if *output == "" {
		return nil
	}
	o := obj.New()
	o.AddProgram(p, obj.Global)
	b, err := o.Bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(*output, b, 0o644)
}

// list prints a function with its source lines.
func list(w io.Writer, f *compile.Function) {
	fmt.Fprintf(w, "%s: %s, %d instructions, frame %d, stack %d\n", f.Name, f.Go, len(f.Code)/4, f.FrameSize, f.Stack)
	lines, relocs := f.Lines, f.Relocs
	for off := 0; off < len(f.Code); off += 4 {
		for len(lines) > 0 && lines[0].Offset <= off {
			fmt.Fprintf(w, "  %s:%d\n", lines[0].Pos.Filename, lines[0].Pos.Line)
			lines = lines[1:]
		}
		text := "?"
		if in, err := arm64asm.Decode(f.Code[off:]); err == nil {
			text = arm64asm.GNUSyntax(in)
		}
		fmt.Fprintf(w, "%6x  %08x  %s", off, binary.LittleEndian.Uint32(f.Code[off:]), text)
		for len(relocs) > 0 && int(relocs[0].Off) == off {
			fmt.Fprintf(w, "  <%s%+d>", relocs[0].Sym, relocs[0].Addend)
			relocs = relocs[1:]
		}
		fmt.Fprintln(w)
	}
}
