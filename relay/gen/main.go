// Command gen makes relay/libsvcrelay.o: the relay compiled by asmgen, with the hand-laid sequences around it and a note
// of what it takes of a process (package about), and beside it libsvcrelay.json with these figures for people.
package main

import (
	"fmt"
	"os"

	"svcrelay/patcher"
	"svcrelay/relay/about"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/library"
	"svcrelay/tools/asmgen/obj"
)

// info is what libsvcrelay.json holds.
type info struct {
	about.Figures
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
	return library.Write(dir, "libsvcrelay", o, in)
}

// assemble makes the object. A test may replace source files.
func assemble(overlay map[string][]byte) (*obj.Object, info, error) {
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/relay"}, Overlay: overlay})
	if err != nil {
		return nil, info{}, err
	}
	o := obj.New()
	err = library.Add(o,
		library.Hand{Name: "svcrelay_entry", Emit: entry}, library.Hand{Name: "svcrelay_start", Emit: start},
		library.Hand{Name: "svcrelay_stop", Emit: stop}, library.Hand{Name: "svcrelay_scan", Emit: scan},
		library.Hand{Name: "svcrelay_passes_over", Emit: passOver},
		library.Hand{Name: exportedFind, Emit: findObject, Bind: obj.Global},
		library.Hand{Name: exportedIterate, Emit: iterateHeaders, Bind: obj.Global})
	if err != nil {
		return nil, info{}, err
	}
	o.AddProgram(p, obj.Local)
	if err := slots(o); err != nil {
		return nil, info{}, err
	}
	o.AddBss("svcrelay_stack", 8, 8, obj.Local)
	o.AddBss("svcrelay_unasked", 8, 8, obj.Local)
	o.AddBss("svcrelay_unwind", 8, unwindSize, obj.Local)
	o.AddPointer(".init_array", "svcrelay_start")
	o.AddPointer(".fini_array", "svcrelay_stop")
	in := describe(p, o)
	if in.Stack > needed {
		return nil, in, fmt.Errorf("a call needs %d bytes of stack, more than %d: make translate.Scratch smaller", in.Stack, needed)
	}
	note, err := about.Note(in.Figures)
	if err != nil {
		return nil, in, err
	}
	o.MarkGCS()
	o.AddData("svcrelay_about", about.Section, 4, note, nil, obj.Local)
	return o, in, nil
}

// describe collects the figures.
func describe(p *compile.Program, o *obj.Object) info {
	in := info{Sections: library.Sections(o, ".text", slotSection, ".rodata", ".data.rel.ro", ".data", ".bss"), Aborts: library.Aborts(p)}
	in.Frame, in.Scratch, in.Entries = frameSize, scratchSize, library.Entries(p)
	in.Trampoline = pageAddr
	in.Relays = about.Relays{
		Own: patcher.OwnSize, Places: patcher.OwnPlaces, Head: patcher.HeadSize, Fixed: patcher.FixedSize, Any: patcher.AnySize,
		Bridge: patcher.BridgeSize, Effect: patcher.EffectSize, Sites: patcher.MaxSites,
	}
	in.Stack = frameSize + scratchSize + int64(in.Entries["svcrelay_dispatch"])
	return in
}
