// Package faults breaks the relay library on purpose, to show that the checks of tests/guest/abi.c notice.
package faults

import (
	"encoding/binary"
	"fmt"
)

// Fault is a change of instructions, and the check that must notice it.
type Fault struct {
	Name, Check   string
	Mask, Was, Is uint32 // the first instruction that is Was under Mask becomes Is
}

const (
	nop      = 0xd503201f
	setFlags = 0xd51b4210 // msr nzcv, x16
	// These load and store two registers of the frame, wherever in it they are.
	anywhere = 0xffc07fff
	load     = 0xa9400000 | 31<<5
	store    = 0xa9000000 | 31<<5
)

// All are faults of each kind that the checks of registers must notice.
var All = []Fault{
	{"flags not given back", "registers", ^uint32(0), setFlags, nop},
	{"a vector register cleared", "registers", ^uint32(0), setFlags, 0x6f00e409},
	{"fpsr changed", "registers", ^uint32(0), setFlags, 0xd51b4430},
	{"x9 and x10 not given back", "registers", anywhere, load | 10<<10 | 9, nop},
	{"x15 and x16 not saved", "registers", anywhere, store | 16<<10 | 15, nop},
}

// Apply returns a library with a fault.
func (f Fault) Apply(library []byte) ([]byte, error) {
	for i := 0; i+4 <= len(library); i += 4 {
		if binary.LittleEndian.Uint32(library[i:])&f.Mask == f.Was {
			broken := append([]byte(nil), library...)
			binary.LittleEndian.PutUint32(broken[i:], f.Is)
			return broken, nil
		}
	}
	return nil, fmt.Errorf("%s: the instruction %#x is not in the library", f.Name, f.Was)
}
