package obj

import (
	"debug/elf"

	"svcrelay/tools/asmgen/compile"
)

// AddProgram adds everything the compiler made. Entry points get the binding
// entry, everything else is local. Symbols reached through the global offset
// table that are not defined by then are weak.
func (o *Object) AddProgram(p *compile.Program, entry Bind) {
	for _, f := range p.Functions {
		bind := Local
		if f.Global {
			bind = entry
		}
		for _, r := range f.Relocs {
			if r.Type == elf.R_AARCH64_ADR_GOT_PAGE && !o.Has(r.Sym) {
				o.Declare(r.Sym, Weak)
			}
		}
		o.AddFunc(f.Func, "", bind)
	}
	for _, d := range p.Data {
		if d.Section == compile.Bss {
			o.AddBss(d.Name, d.Align, d.Size, Local)
		} else {
			o.AddData(d.Name, d.Section.String(), d.Align, d.Bytes, d.Relocs, Local)
		}
	}
}
