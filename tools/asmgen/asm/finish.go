package asm

import (
	"encoding/binary"
	"fmt"
	"sort"
	"sync"

	"github.com/twitchyliquid64/golang-asm/obj"
	"github.com/twitchyliquid64/golang-asm/obj/arm64"
	"golang.org/x/arch/arm64/arm64asm"
)

// Func is a finished function.
type Func struct {
	Name   string
	Align  int
	Code   []byte
	Relocs []Reloc
	Frame  Frame
	// Marks are the named places, by offset.
	Marks []Mark
	// labels are the offsets of all labels.
	labels []uint32
	// data tells which words are data.
	data map[uint32]bool
}

// Mark is a named place in a function.
type Mark struct {
	Name string
	Off  uint32
}

// LabelOffset is the offset of a label in the finished code.
func (f *Func) LabelOffset(l Label) uint32 { return f.labels[l.id] }

// IsData reports whether the word at off was emitted as data.
func (f *Func) IsData(off uint32) bool { return f.data[off] }

// initOnce guards golang-asm's global opcode tables.
var initOnce sync.Once

func newLink() *obj.Link {
	l := obj.Linknew(&arm64.Linkarm64)
	initOnce.Do(func() { arm64.Linkarm64.Init(l) })
	return l
}

// Finish lays the function out, assembles it and checks the result.
func (b *Builder) Finish() (Func, error) {
	for i, at := range b.labels {
		if at < 0 && b.labelUsed(i) {
			b.fail("label %d is used but placed nowhere", i)
		}
	}
	if len(b.items) == 0 {
		b.fail("no instructions")
	}
	if err := b.joinErrs(); err != nil {
		return Func{}, err
	}
	size := b.layout()
	if err := b.joinErrs(); err != nil {
		return Func{}, err
	}
	code, err := b.assemble(size)
	if err != nil {
		return Func{}, err
	}
	f := Func{Name: b.name, Align: b.align, Code: code, Frame: b.frame, data: map[uint32]bool{}}
	for i := range b.items {
		it := &b.items[i]
		if it.data {
			f.data[uint32(it.off)] = true
		}
		if it.reloc != nil {
			r := *it.reloc
			r.Off = uint32(it.off)
			f.Relocs = append(f.Relocs, r)
		}
	}
	for _, at := range b.labels {
		f.labels = append(f.labels, uint32(b.offsetOf(at, size)))
	}
	for _, m := range b.marks {
		f.Marks = append(f.Marks, Mark{m.name, f.labels[m.label]})
	}
	sort.SliceStable(f.Marks, func(i, j int) bool { return f.Marks[i].Off < f.Marks[j].Off })
	for _, c := range b.cfi {
		op := c.op
		op.Off = uint32(b.offsetOf(c.item, size))
		f.Frame.Ops = append(f.Frame.Ops, op)
	}
	return f, f.decode()
}

func (b *Builder) labelUsed(id int) bool {
	for i := range b.items {
		if it := &b.items[i]; it.kind.toLabel() && it.label == id {
			return true
		}
	}
	for _, m := range b.marks {
		if m.label == id {
			return true
		}
	}
	return false
}

// offsetOf is the offset of the item, or the end of the code.
func (b *Builder) offsetOf(item int, size int64) int64 {
	if item < 0 {
		return 0
	}
	if item >= len(b.items) {
		return size
	}
	return b.items[item].off
}

// layout assigns offsets, lengthening branches until every target is in reach.
func (b *Builder) layout() int64 {
	for {
		size := int64(0)
		for i := range b.items {
			it := &b.items[i]
			it.off = size
			size += 4
			if it.long {
				size += 4
			}
		}
		again := false
		for i := range b.items {
			it := &b.items[i]
			if !it.kind.toLabel() || it.long {
				continue
			}
			d := b.offsetOf(b.labels[it.label], size) - it.off
			if d > -it.reach && d < it.reach {
				continue
			}
			if it.far == nil {
				b.fail("the target at distance %d of the instruction at %#x is out of reach", d, it.off)
				continue
			}
			it.long, again = true, true
		}
		if !again {
			return size
		}
	}
}

// assemble turns the items into code through golang-asm.
func (b *Builder) assemble(size int64) ([]byte, error) {
	var diags []error
	b.ctxt.DiagFunc = func(format string, args ...any) {
		diags = append(diags, fmt.Errorf("asm: %s: golang-asm: %s", b.name, fmt.Sprintf(format, args...)))
	}
	text := b.prog(obj.ATEXT)
	last := text
	link := func(p *obj.Prog) {
		last.Link = p
		last = p
	}
	// Branches need an instruction to point at: every label's item gets an
	// empty one in front.
	anchors := map[int]*obj.Prog{}
	for i := range b.items {
		it := &b.items[i]
		if it.kind != itemBranch {
			continue
		}
		if at := b.labels[it.label]; anchors[at] == nil {
			anchors[at] = b.prog(obj.ANOP)
		}
	}
	for i := range b.items {
		it := &b.items[i]
		if a := anchors[i]; a != nil {
			link(a)
		}
		switch it.kind {
		case itemProg:
			link(it.prog)
		case itemBranch:
			target := anchors[b.labels[it.label]]
			switch {
			case it.long:
				over := b.prog(obj.ANOP)
				it.far.To.SetTarget(over)
				it.far2.To.SetTarget(target)
				link(it.far)
				link(it.far2)
				link(over)
			default:
				it.prog.To.SetTarget(target)
				link(it.prog)
			}
		default:
			w := it.word
			if it.kind == itemLit || it.kind == itemAdr {
				// Distances are multiples of 4, so adr's low two bits stay zero.
				w |= uint32((b.offsetOf(b.labels[it.label], size)-it.off)>>2&0x7ffff) << 5
			}
			p := b.prog(arm64.AWORD)
			p.To = constAddr(int64(w))
			link(p)
		}
	}
	if a := anchors[len(b.items)]; a != nil {
		link(a)
	}
	sym := &obj.LSym{Name: b.name, Func: &obj.FuncInfo{Text: text}}
	arm64.Linkarm64.Assemble(b.ctxt, sym, b.ctxt.NewProg)
	for _, d := range diags {
		return nil, d
	}
	// golang-asm rounds functions up to 16 bytes with zeros.
	if n := int64(len(sym.P)); n < size || n-size >= 16 {
		return nil, fmt.Errorf("asm: %s: golang-asm produced %d bytes for %d", b.name, n, size)
	}
	for _, z := range sym.P[size:] {
		if z != 0 {
			return nil, fmt.Errorf("asm: %s: golang-asm produced more than %d bytes", b.name, size)
		}
	}
	if len(sym.R) != 0 {
		for _, r := range sym.R {
			if r.Sym != nil {
				return nil, fmt.Errorf("asm: %s: golang-asm left a relocation at %#x", b.name, r.Off)
			}
		}
	}
	return append([]byte(nil), sym.P[:size]...), nil
}

// decode checks that every instruction word is one that the decoder knows.
func (f *Func) decode() error {
	for off := 0; off < len(f.Code); off += 4 {
		if f.data[uint32(off)] {
			continue
		}
		w := binary.LittleEndian.Uint32(f.Code[off:])
		if _, err := arm64asm.Decode(f.Code[off:]); err != nil && !KnownUndecodable(w) {
			return fmt.Errorf("asm: %s+%#x: word %#08x does not decode: %v", f.Name, off, w, err)
		}
	}
	return nil
}

// KnownUndecodable reports whether w is one of the instructions that this
// package emits on purpose and golang.org/x/arch does not decode: ic ivau.
func KnownUndecodable(w uint32) bool { return w&^0x1f == 0xd50b7520 }
