package artifacts

import (
	"debug/elf"
	"encoding/binary"
	"testing"
)

// Pointer encodings that linkers use in .eh_frame_hdr.
const (
	encPCRelSData4   = 0x1b
	encUData4        = 0x03
	encDataRelSData4 = 0x3b
)

// TestFrameTable checks that an unwinder finds an entry for every function by binary search.
func TestFrameTable(t *testing.T) {
	each(t, func(t *testing.T, lib library, f *elf.File) {
		starts := frameStarts(t, f)
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF {
				continue
			}
			functions++
			if !starts[s.Value] {
				t.Errorf("%s at %#x has no entry in the frame table", s.Name, s.Value)
			}
		}
		if functions == 0 {
			t.Error("no function symbols: a crash report could not name anything")
		}
	})
}

// frameStarts reads the sorted table of .eh_frame_hdr: the function starts that have an entry.
func frameStarts(t *testing.T, f *elf.File) map[uint64]bool {
	t.Helper()
	s := f.Section(".eh_frame_hdr")
	if s == nil {
		t.Fatal("has no .eh_frame_hdr")
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 12 || data[0] != 1 || data[1] != encPCRelSData4 || data[2] != encUData4 || data[3] != encDataRelSData4 {
		t.Fatalf("its frame table starts with % x, which is no sorted table", data[:min(len(data), 12)])
	}
	n := int(binary.LittleEndian.Uint32(data[8:]))
	table := data[12:]
	if len(table) < 8*n {
		t.Fatalf("its frame table has %d bytes for %d entries", len(table), n)
	}
	starts, last := map[uint64]bool{}, uint64(0)
	for i := range n {
		at := s.Addr + uint64(int64(int32(binary.LittleEndian.Uint32(table[8*i:]))))
		if at <= last {
			t.Fatalf("its frame table is not sorted at entry %d", i)
		}
		starts[at], last = true, at
	}
	return starts
}
