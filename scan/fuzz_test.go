package scan

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"svcrelay/relay"
)

// inputs is how many damaged files every test run tries.
const inputs = 20000

// FuzzLibrary looks for files that crash the scanner.
func FuzzLibrary(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(try)
}

// try scans a file that may be anything: there is a report or an error.
func try(t *testing.T, b []byte) {
	r, err := Library(bytes.NewReader(b), relay.Wanted())
	if (r == nil) == (err == nil) {
		t.Errorf("report %v, error %v", r, err)
	}
	if r == nil {
		return
	}
	total := 0
	for _, c := range r.Calls {
		total += c.Total
	}
	if total != r.SVC || r.Path.Patched > r.Path.Total || r.Dispatchers.Total != len(r.Dispatchers.List) {
		t.Errorf("figures that do not fit each other: %+v", r)
	}
}

// seeds are good files, and the beginning of a real one.
func seeds(tb testing.TB) [][]byte {
	out := [][]byte{
		tiny(0xd2800708, 0xd4000001), tiny(),
		tiny(0x2a0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, 0xaa0403e3, 0xaa0503e4, 0xaa0603e5, 0xd4000001, 0xd65f03c0),
		tiny(0xb9400000, 0x37180140, 0xaa0103e8, 0xaa0203e0, 0xaa0303e1, 0xaa0403e2, 0xaa0503e3, 0xaa0603e4, 0xaa0703e5, 0xd4000001, 0xd65f03c0,
			0xaa0603e8, 0xd4000001, 0xd65f03c0, 0x97fffff2, 0xd65f03c0),
	}
	b, err := os.ReadFile(crossLoader)
	if err != nil {
		tb.Fatalf("%v (the package gcc-aarch64-linux-gnu brings it)", err)
	}
	return append(out, b[:64<<10], b)
}

const crossLoader = "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"

// TestDamagedFiles is the fuzzer for a fixed number of inputs, the same ones every time. Most damage is done to the
// headers and tables, where it leads the scanner astray.
func TestDamagedFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 17))
	all := seeds(t)
	for i := range inputs {
		b := all[rnd.IntN(len(all)-2)]
		if i%40 == 0 {
			b = all[len(all)-1-i/40%2]
		}
		try(t, damage(rnd, bytes.Clone(b)))
	}
}

// damage changes a few fields of a file.
func damage(rnd *rand.Rand, b []byte) []byte {
	for range 1 + rnd.IntN(5) {
		at := rnd.IntN(min(len(b), 64<<rnd.IntN(11)))
		switch rnd.IntN(6) {
		case 0:
			b[at] = byte(rnd.Uint32())
		case 1:
			b[at] ^= 1 << rnd.IntN(8)
		case 2:
			b[at] += byte(rnd.IntN(17)) - 8
		case 3:
			if at = at &^ 7; at+8 <= len(b) { // a field as it would be if it were meant
				binary.LittleEndian.PutUint64(b[at:], []uint64{0, 1, 3, 1 << 12, 1<<28 - 1, 1 << 28, 1 << 31, 1 << 40, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(7)}[rnd.IntN(12)])
			}
		case 4:
			if at = at &^ 3; at+4 <= len(b) {
				binary.LittleEndian.PutUint32(b[at:], []uint32{0, 1, 2, 3, 4, 5, 7, 0x6474e550, 0x7fffffff, ^uint32(0)}[rnd.IntN(10)])
			}
		case 5:
			if rnd.IntN(4) == 0 {
				b = b[:max(at, 1)]
			}
		}
	}
	return b
}
