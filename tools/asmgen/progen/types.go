package progen

import (
	"fmt"
	"math/rand"
	"strings"
)

// kind is the sort of a type.
type kind uint8

const (
	kInt kind = iota
	kBool
	kStruct
	kArray
	kSlice
	kPointer
	kString
)

// typ is a type of the generated program.
type typ struct {
	kind   kind
	name   string
	bits   int
	signed bool
	elem   *typ
	n      int
	fields []field
}

type field struct {
	name string
	t    *typ
}

// The integer types, and those used for counts.
var (
	ints = []*typ{
		{kind: kInt, name: "uint8", bits: 8}, {kind: kInt, name: "uint16", bits: 16}, {kind: kInt, name: "uint32", bits: 32},
		{kind: kInt, name: "uint64", bits: 64}, {kind: kInt, name: "int8", bits: 8, signed: true}, {kind: kInt, name: "int16", bits: 16, signed: true},
		{kind: kInt, name: "int32", bits: 32, signed: true}, {kind: kInt, name: "int64", bits: 64, signed: true},
		{kind: kInt, name: "int", bits: 64, signed: true}, {kind: kInt, name: "uint", bits: 64}, {kind: kInt, name: "uintptr", bits: 64},
	}
	tU8, tU64 = ints[0], ints[3]
	tInt      = ints[8]
	tUint     = ints[9]
	tBool     = &typ{kind: kBool, name: "bool"}
	tString   = &typ{kind: kString, name: "string"}
)

func arrayOf(n int, e *typ) *typ {
	return &typ{kind: kArray, name: fmt.Sprintf("[%d]%s", n, e.name), elem: e, n: n}
}
func sliceOf(e *typ) *typ   { return &typ{kind: kSlice, name: "[]" + e.name, elem: e} }
func pointerTo(e *typ) *typ { return &typ{kind: kPointer, name: "*" + e.name, elem: e} }

func same(a, b *typ) bool { return a.name == b.name }

// memType is the memory that every program gets; Header declares it.
var memType = &typ{kind: kStruct, name: "Mem", fields: []field{
	{"A", arrayOf(16, ints[0])}, {"B", arrayOf(8, ints[1])}, {"C", arrayOf(8, ints[6])}, {"D", arrayOf(8, ints[3])},
	{"E", arrayOf(4, ints[7])}, {"F", arrayOf(8, ints[4])}, {"G", arrayOf(4, ints[2])}, {"H", arrayOf(4, ints[5])},
	{"X", ints[3]}, {"Y", ints[8]},
}}

// MemSize is the size of Mem.
const MemSize = 16 + 16 + 32 + 64 + 32 + 8 + 16 + 8 + 8 + 8

// Header is the beginning of a package of programs.
func Header(pkg string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package %s holds random programs.\npackage %s\n\nimport \"unsafe\"\n\nvar _ unsafe.Pointer\n\n", pkg, pkg)
	b.WriteString("// Mem is the memory that a program works on.\ntype Mem struct {\n")
	for _, f := range memType.fields {
		fmt.Fprintf(&b, "\t%s %s\n", f.name, f.t.name)
	}
	b.WriteString("}\n\n// fuel bounds the rounds of all loops of a run together.\nvar fuel uint32\n")
	return b.String()
}

// constant is a literal of an integer type, in its range.
func constant(r *rand.Rand, t *typ) string {
	var v uint64
	switch r.Intn(6) {
	case 0:
		v = uint64(r.Intn(3))
	case 1:
		v = uint64(r.Intn(100))
	case 2:
		v = uint64(1) << r.Intn(64)
	case 3:
		v = uint64(1)<<r.Intn(64) - 1
	case 4:
		v = r.Uint64() >> r.Intn(64)
	default:
		v = ^uint64(r.Intn(20))
	}
	if t.signed {
		return fmt.Sprintf("%s(%d)", t.name, int64(v<<(64-t.bits))>>(64-t.bits))
	}
	return fmt.Sprintf("%s(%d)", t.name, v<<(64-t.bits)>>(64-t.bits))
}
