package relay

import (
	"encoding/binary"
	"testing"
	"unsafe"
)

// image lays out a program: headers at its beginning, and notes. The bytes must be kept.
func image(notes []byte, align uint64) (p process, keep []byte) {
	const at = 0x200
	b := make([]byte, at+len(notes)+64)
	header := func(i int, kind uint32, vaddr, size, align uint64) {
		h := b[64+i*headerSize:]
		binary.LittleEndian.PutUint32(h, kind)
		binary.LittleEndian.PutUint64(h[16:], vaddr)
		binary.LittleEndian.PutUint64(h[40:], size)
		binary.LittleEndian.PutUint64(h[48:], align)
	}
	header(0, ptPhdr, 64, 3*headerSize, 8)
	header(1, 1, 0, uint64(len(b)), 1<<16)
	header(2, ptNote, at, uint64(len(notes)), align)
	copy(b[at:], notes)
	return process{phdr: uintptr(unsafe.Pointer(&b[64])), phnum: 3}, b
}

func TestGoProgram(t *testing.T) {
	note := func(name string, kind uint32, desc string, align int) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
		b = append(binary.LittleEndian.AppendUint32(b, kind), name...)
		for len(b)%align != 0 {
			b = append(b, 0)
		}
		b = append(b, desc...)
		for len(b)%align != 0 {
			b = append(b, 0)
		}
		return b
	}
	gnu := note("GNU\x00", 3, "01234567890123456789", 4)
	ours := note("Go\x00\x00", 4, "abc/def", 4)
	broken := append(binary.LittleEndian.AppendUint32(nil, 1<<31), gnu[4:]...)
	for _, c := range []struct {
		name  string
		notes []byte
		align uint64
		want  bool
	}{
		{"none", nil, 4, false},
		{"another", gnu, 4, false},
		{"its own", ours, 4, true},
		{"behind another", append(append([]byte{}, gnu...), ours...), 4, true},
		{"behind one of eight bytes", append(note("GNU\x00", 5, "0123456789012", 8), note("Go\x00\x00", 4, "x", 8)...), 8, true},
		{"of another kind", note("Go\x00\x00", 3, "x", 4), 4, false},
		{"cut", ours[:12], 4, false},
		{"too long a name", append(broken, ours...), 4, false},
	} {
		p, keep := image(c.notes, c.align)
		if got := goProgram(&p); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		_ = keep[0]
	}
}
