package rt

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"
)

func at(b []byte, i int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i) }

func fresh() []byte {
	b := make([]byte, 160)
	for i := range b {
		b[i] = byte(i*7 + 1)
	}
	return b
}

func TestMove(t *testing.T) {
	for n := 0; n <= 70; n++ {
		for from := 30; from < 90; from++ {
			got, want := fresh(), fresh()
			Move(at(got, 40), at(got, from), uintptr(n))
			copy(want[40:40+n], want[from:from+n])
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes from %d to 40", n, from)
			}
		}
	}
}

func TestZero(t *testing.T) {
	for n := 0; n <= 70; n++ {
		got, want := fresh(), fresh()
		Zero(at(got, 5), uintptr(n))
		clear(want[5 : 5+n])
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes", n)
		}
	}
}

func TestEqual(t *testing.T) {
	for n := 0; n <= 40; n++ {
		for diff := -1; diff <= n; diff++ {
			a, b := fresh(), fresh()
			if diff >= 0 {
				b[3+diff]++
			}
			if got, want := Equal(at(a, 3), at(b, 3), uintptr(n)), bytes.Equal(a[3:3+n], b[3:3+n]); got != want {
				t.Fatalf("%d bytes, difference at %d: %v", n, diff, got)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	words := []string{"", "a", "aa", "ab", "b", "\xff", "a\xff", "abc", "abd"}
	sign := func(n int) int { return max(-1, min(1, n)) }
	for _, a := range words {
		for _, b := range words {
			got := Compare(unsafe.Pointer(unsafe.StringData(a)), uintptr(len(a)), unsafe.Pointer(unsafe.StringData(b)), uintptr(len(b)))
			if sign(got) != strings.Compare(a, b) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}
