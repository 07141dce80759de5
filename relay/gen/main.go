// Command gen makes relay/libsvcrelay.o: the relay compiled by asmgen, with the hand-laid sequences around it and a note
// of what it takes of a process (package about), and beside it libsvcrelay.json with these figures for people.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/patcher"
	"svcrelay/relay/about"
	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
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
		{"svcrelay_call", call},
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
	if err := slots(o); err != nil {
		return nil, info{}, err
	}
	o.AddBss("svcrelay_stack", 8, 8, obj.Local)
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
	o.AddData("svcrelay_about", about.Section, 4, note, nil, obj.Local)
	return o, in, nil
}

// describe collects the figures.
func describe(p *compile.Program, o *obj.Object) info {
	in := info{Sections: map[string]int{}}
	in.Frame, in.Scratch, in.Entries = frameSize, scratchSize, map[string]int{}
	in.Trampoline = pageAddr
	in.Relays = about.Relays{
		Own: patcher.OwnSize, Places: patcher.OwnPlaces, Head: patcher.HeadSize, Fixed: patcher.FixedSize, Any: patcher.AnySize,
		Bridge: patcher.BridgeSize, Effect: patcher.EffectSize, Sites: patcher.MaxSites,
	}
	for _, e := range p.Entries {
		in.Entries[e.Name] = e.Stack
	}
	in.Stack = frameSize + scratchSize + int64(in.Entries["svcrelay_dispatch"])
	for _, s := range []string{".text", slotSection, ".rodata", ".data.rel.ro", ".data", ".bss"} {
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
