package scan

import (
	"debug/elf"
	"fmt"
	"sort"
)

// table is a library's functions, by address.
type table []elf.Symbol

// symbols reads the functions that a library names, of both symbol tables; none is no error.
func symbols(f *elf.File) table {
	var out table
	full, _ := f.Symbols()
	dyn, _ := f.DynamicSymbols()
	for _, s := range append(full, dyn...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			out = append(out, s)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Value != out[j].Value {
			return out[i].Value < out[j].Value
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// at gives the function at or before an address, and whether the address is in it.
func (t table) at(addr uint64) (s elf.Symbol, within bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].Value > addr })
	if i == 0 {
		return elf.Symbol{}, false
	}
	s = t[i-1]
	for i > 1 && t[i-2].Value == s.Value {
		i--
		s = t[i-1]
	}
	return s, addr < s.Value+s.Size
}

// name gives the function at or before an address, with the distance. One that ends before is marked: the address is
// then in a function that has lost its name.
func (t table) name(addr uint64) string {
	s, within := t.at(addr)
	switch {
	case s.Name == "":
		return ""
	case within:
		return fmt.Sprintf("%s+%#x", s.Name, addr-s.Value)
	}
	return fmt.Sprintf("after %s+%#x", s.Name, addr-s.Value)
}
