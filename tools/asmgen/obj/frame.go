package obj

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"svcrelay/tools/asmgen/asm"
)

// Alignment factors of the call frame information: instructions are 4 bytes, saved registers 8.
const (
	codeFactor = 4
	dataFactor = -8
)

func uleb(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// cieKey is what functions must share to share a CIE.
type cieKey struct {
	signal bool
	column uint8
}

// cie makes a common information entry: at entry the frame address is sp.
func cie(k cieKey) []byte {
	b := []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R'}
	if k.signal {
		b = append(b, 'S')
	}
	b = append(b, 0)
	b = uleb(b, codeFactor)
	b = sleb(b, dataFactor)
	b = uleb(b, uint64(k.column))
	b = append(b, 1, 0x1b) // pointers are 4-byte, pc-relative, signed
	b = append(b, 0x0c)    // DW_CFA_def_cfa
	b = uleb(b, 31)
	b = uleb(b, 0)
	return padEntry(b)
}

// padEntry fills the entry with DW_CFA_nop to a multiple of 8 and sets its length.
func padEntry(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// cfiProgram encodes call frame instructions.
func cfiProgram(ops []asm.CFIOp) ([]byte, error) {
	var b []byte
	at := uint32(0)
	for _, op := range ops {
		if op.Off < at {
			return nil, fmt.Errorf("call frame instruction at %#x after one at %#x", op.Off, at)
		}
		if d := (op.Off - at) / codeFactor; d != 0 {
			switch {
			case d < 64:
				b = append(b, 0x40|byte(d))
			case d < 256:
				b = append(b, 0x02, byte(d))
			case d < 1<<16:
				b = append(b, 0x03, byte(d), byte(d>>8))
			default:
				b = binary.LittleEndian.AppendUint32(append(b, 0x04), d)
			}
			at = op.Off
		}
		switch op.Kind {
		case asm.CFIDefCfa:
			if op.Offset < 0 {
				b = uleb(append(b, 0x12), uint64(op.Reg)) // DW_CFA_def_cfa_sf
				if op.Offset%dataFactor != 0 {
					return nil, fmt.Errorf("frame address offset %d is not a multiple of 8", op.Offset)
				}
				b = sleb(b, op.Offset/dataFactor)
				break
			}
			b = uleb(uleb(append(b, 0x0c), uint64(op.Reg)), uint64(op.Offset))
		case asm.CFIDefCfaRegister:
			b = uleb(append(b, 0x0d), uint64(op.Reg))
		case asm.CFIDefCfaOffset:
			if op.Offset < 0 {
				return nil, fmt.Errorf("frame address offset %d", op.Offset)
			}
			b = uleb(append(b, 0x0e), uint64(op.Offset))
		case asm.CFIOffset:
			if op.Offset%dataFactor != 0 {
				return nil, fmt.Errorf("register %d saved at %d, not a multiple of 8", op.Reg, op.Offset)
			}
			switch f := op.Offset / dataFactor; {
			case f < 0:
				b = sleb(uleb(append(b, 0x11), uint64(op.Reg)), f) // DW_CFA_offset_extended_sf
			case op.Reg >= 64:
				b = uleb(uleb(append(b, 0x05), uint64(op.Reg)), uint64(f)) // DW_CFA_offset_extended
			default:
				b = uleb(append(b, 0x80|op.Reg), uint64(f))
			}
		case asm.CFIRestore:
			if op.Reg >= 64 {
				b = uleb(append(b, 0x06), uint64(op.Reg))
			} else {
				b = append(b, 0xc0|op.Reg)
			}
		case asm.CFIUndefined:
			b = uleb(append(b, 0x07), uint64(op.Reg))
		case asm.CFISameValue:
			b = uleb(append(b, 0x08), uint64(op.Reg))
		case asm.CFIRegister:
			b = uleb(uleb(append(b, 0x09), uint64(op.Reg)), uint64(op.Reg2))
		case asm.CFIRememberState:
			b = append(b, 0x0a)
		case asm.CFIRestoreState:
			b = append(b, 0x0b)
		case asm.CFIDefCfaExpression:
			b = append(uleb(append(b, 0x0f), uint64(len(op.Bytes))), op.Bytes...)
		case asm.CFIExpression:
			b = append(uleb(uleb(append(b, 0x10), uint64(op.Reg)), uint64(len(op.Bytes))), op.Bytes...)
		case asm.CFIValExpression:
			b = append(uleb(uleb(append(b, 0x16), uint64(op.Reg)), uint64(len(op.Bytes))), op.Bytes...)
		case asm.CFIEscape:
			b = append(b, op.Bytes...)
		default:
			return nil, fmt.Errorf("call frame instruction kind %d", op.Kind)
		}
	}
	return b, nil
}

// ehFrame makes the .eh_frame section, or nil if no function has frame information.
func (o *Object) ehFrame() *section {
	if len(o.frames) == 0 {
		return nil
	}
	s := &section{name: ".eh_frame", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, align: 8}
	cies := map[cieKey]int{}
	for _, f := range o.frames {
		k := cieKey{f.info.Signal, f.info.ReturnColumn}
		at, ok := cies[k]
		if !ok {
			at = len(s.data)
			cies[k] = at
			s.data = append(s.data, cie(k)...)
		}
		prog, err := cfiProgram(f.info.Ops)
		if err != nil {
			o.fail("%s+%#x: %v", f.section.name, f.off, err)
			continue
		}
		start := len(s.data)
		b := make([]byte, 16, 24+len(prog))
		binary.LittleEndian.PutUint32(b[4:], uint32(start+4-at))
		binary.LittleEndian.PutUint32(b[12:], uint32(f.size))
		b = append(b, 0) // no augmentation data
		s.relocs = append(s.relocs, asm.Reloc{Off: uint32(start + 8), Type: elf.R_AARCH64_PREL32, Sym: f.section.name, Addend: int64(f.off)})
		s.data = append(s.data, padEntry(append(b, prog...))...)
	}
	return s
}
