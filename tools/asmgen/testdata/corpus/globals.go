package corpus

// The variables below are constant or zero at first.
var (
	table   = [8]uint32{1, 1, 2, 3, 5, 8, 13, 21}
	primes  = []uint16{2, 3, 5, 7, 11, 13, 17, 19}
	names   = [...]string{"zero", "one", "two", "three", "", "five"}
	version = "1.2.3"
	limits  = struct {
		low, high int32
		name      string
	}{-5, 100, "limits"}
	pointed  = uint32(77)
	pointer  = &pointed
	entries  = [3]entry{{"openat", 56, 4}, {"fstatat", 79, 4}, {nr: 3}}
	nested   = [2][3]int8{{1, 2, 3}, {-1, -2, -3}}
	negative = int16(-12345)
	flag     = true

	zeroWord  uint64
	zeroArray [64]uint8
	zeroPair  pair
	zeroSlice []uint8
)

const (
	bitA = 1 << iota
	bitB
	bitC
	wide = 1 << 40
)

type entry struct {
	name string
	nr   uint32
	args uint8
}

// Table reads a table of constants.
func Table(i uint8) uint32 { return table[i&7] + uint32(primes[i&7]) }

// TableAny reads past its end.
func TableAny(i int) uint32 { return table[i] }

// PrimesAny does so with a slice.
func PrimesAny(i int) uint16 { return primes[i] }

// Names reads strings.
func Names(i uint8) (int, uint8, bool) {
	n := names[i%6]
	if len(n) == 0 {
		return 0, 0, n == version
	}
	return len(n), n[0], n == "three"
}

// NameIs compares with strings of a table.
func NameIs(s string) int {
	for i, e := range entries {
		if e.name == s {
			return i + int(e.nr)
		}
	}
	return -1
}

// Limits reads a structure.
func Limits(v int32) (bool, int) { return v >= limits.low && v <= limits.high, len(limits.name) }

// PointerVar follows a pointer of a variable.
func PointerVar(v uint32) uint32 {
	if pointer == nil {
		return 0
	}
	return *pointer + v
}

// Signs reads negative values of narrow types.
func Signs(i, j uint8) (int64, int64) { return int64(nested[i&1][j%3]), int64(negative) }

// Zero reads and restores zero variables.
func Zero(v uint64, i uint8) (uint64, uint8, bool) {
	old := zeroWord
	zeroWord = v
	zeroArray[i&63] += uint8(v)
	a := zeroArray[i&63]
	v = zeroWord + 1
	zeroWord, zeroArray[i&63] = old, 0
	return v, a, zeroSlice == nil
}

// ZeroStruct does so with a structure, through its address.
func ZeroStruct(v uint32) uint32 {
	p := &zeroPair
	p.x = v
	zeroPair.y = p.x * 2
	p.bump()
	s := p.sum()
	zeroPair = pair{}
	return s + p.x
}

// Flags uses constants.
func Flags(a uint64) (r uint64) {
	if a&bitB != 0 {
		r |= bitA | wide
	}
	if flag && a&(bitA|bitC) == bitA|bitC {
		r += wide >> 3
	}
	return r
}

// Strings returns string constants.
func Strings(i uint8) string {
	switch i % 4 {
	case 0:
		return "a string constant"
	case 1:
		return names[1]
	case 2:
		return version[2:]
	}
	return ""
}

// Bytes reads the bytes of a constant.
func Bytes(i int) uint8 { return "0123456789abcdef"[i] }

// Hex formats a number into a buffer.
func Hex(buf []uint8, v uint64) int {
	const digits = "0123456789abcdef"
	n := 0
	for i := 60; i >= 0; i -= 4 {
		d := v >> uint(i) & 15
		if d != 0 || n > 0 || i == 0 {
			buf[n] = digits[d]
			n++
		}
	}
	return n
}
