// Package compile turns packages written in the freestanding subset of Go into position-independent arm64.
//
// The stages, each in a file or a few of its own: load (go/packages, go/ssa), check (the subset), lower (ssa
// to an IR of flattened scalars), opt (simplification, inlining, check elimination), isel (IR to machine
// instructions over virtual registers), regalloc, emit (through tools/asmgen/asm), stack (deepest stack).
package compile

import (
	"go/token"
	"strconv"
	"strings"

	"svcrelay/tools/asmgen/asm"
)

// Config says what to compile.
type Config struct {
	// Dir is the directory in which Patterns are resolved; empty: the current one.
	Dir string
	// Patterns are package patterns as the go command takes them.
	Patterns []string
	// Tags are build tags in addition to freestanding.
	Tags []string
	// Overlay replaces or adds source files: absolute file name to content.
	Overlay map[string][]byte
	// Entries makes functions that have no asmgen:entry comment entry points too: full Go name
	// ("svcrelay/nocgo.Errno", "(*svcrelay/translate.Path).Push") to symbol name.
	Entries map[string]string
}

// Compile loads, checks and compiles everything reachable from the entry points: the functions with a comment
// "//asmgen:entry NAME" in the packages of cfg.Patterns, and cfg.Entries. An error about the source is an
// ErrorList. The result is the same, byte for byte, for the same source.
func Compile(cfg Config) (*Program, error) {
	return compileProgram(cfg)
}

// Program is the result of Compile.
type Program struct {
	Functions []*Function
	// Data are all data symbols, in a fixed order.
	Data []*Datum
	// Entries are the entry points, sorted by name.
	Entries []Entry
	// Aborts describes the codes in x0 when a check fails at run time; the index is the code.
	Aborts []AbortSite
}

// Function is one compiled function.
type Function struct {
	// Func has the symbol (NAME of the asmgen:entry comment, or the full Go name), code, relocations and CFI.
	asm.Func
	// Go is the full Go name.
	Go string
	// Global is true for entry points.
	Global bool
	// Lines maps code offsets to source positions, ascending.
	Lines []Line
	// FrameSize is the number of bytes by which sp is lowered in this function.
	FrameSize int
	// Calls are the symbols of the functions it calls directly, sorted.
	Calls []string
	// Stack is the deepest stack of the function and everything it calls, in bytes below its caller's sp.
	Stack int

	nested map[string]bool // the functions called while the frame is there; others are jumped to after it is gone
}

// Line says that the code from Offset on comes from Pos.
type Line struct {
	Offset int
	Pos    token.Position
}

// Section says where a data symbol goes.
type Section int

// The sections. RelRO is constant data that holds addresses (relocated once, then read-only).
const (
	Rodata Section = iota
	RelRO
	Data
	Bss
)

// String returns the section's ELF name.
func (s Section) String() string {
	return [...]string{".rodata", ".data.rel.ro", ".data", ".bss"}[s]
}

// Datum is one data symbol, local to the object.
type Datum struct {
	Name    string
	Section Section
	Align   int
	// Size is the size in bytes; Bytes is nil in Bss and has Size bytes elsewhere.
	Size   int
	Bytes  []byte
	Relocs []asm.Reloc // ABS64 only
}

// Entry is one entry point.
type Entry struct {
	Name string
	// Go is the full Go name.
	Go string
	// Stack is the deepest stack in bytes below the caller's sp.
	Stack int
}

// AbortSite says where a failed check comes from.
type AbortSite struct {
	Go   string
	Kind string
}

// Diagnostic is one thing that is wrong with the source.
type Diagnostic struct {
	Pos token.Position
	Msg string
}

func (d Diagnostic) String() string {
	if d.Pos.Filename == "" {
		return d.Msg
	}
	return d.Pos.Filename + ":" + strconv.Itoa(d.Pos.Line) + ":" + strconv.Itoa(d.Pos.Column) + ": " + d.Msg
}

// ErrorList is everything that is wrong with the source, sorted by position.
type ErrorList []Diagnostic

func (l ErrorList) Error() string {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.String())
	}
	return b.String()
}
