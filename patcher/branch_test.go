package patcher

import "testing"

func TestBranchLimits(t *testing.T) {
	const from = 0x7f00_0000_0000
	for _, c := range []struct {
		d  int64
		w  uint32
		ok bool
	}{
		{0, 0x14000000, true},
		{4, 0x14000001, true},
		{-4, 0x17ffffff, true},
		{Reach - 4, 0x15ffffff, true},
		{Reach, 0, false},
		{-Reach, 0x16000000, true},
		{-Reach - 4, 0, false},
		{2, 0, false},
		{1 << 40, 0, false},
		{-1 << 40, 0, false},
	} {
		w, ok := Branch(from, uintptr(from+c.d))
		if w != c.w || ok != c.ok {
			t.Errorf("distance %d: %#x, %v; want %#x, %v", c.d, w, ok, c.w, c.ok)
		}
	}
	if w, ok := Call(from, from+8); w != 0x94000002 || !ok {
		t.Errorf("Call: %#x, %v", w, ok)
	}
}

func TestReaches(t *testing.T) {
	const lib = 0x7f00_0000_0000
	for _, c := range []struct {
		to   uintptr
		want bool
	}{
		{lib - 4096, true},
		{lib + 0x200000, true},
		{lib + 0x1000 - Reach, true},
		{lib + 0x1000 - Reach - 1, false},
		{lib + Reach - 4096, true},
		{lib + Reach - 4095, false},
		{^uintptr(0) - 100, false},
		{0, false},
	} {
		if got := Reaches(lib, lib+0x1000, c.to, 4096); got != c.want {
			t.Errorf("%#x: %v", c.to, got)
		}
	}
}

// TestBothEnds encodes branches and calls at and beyond both ends of their reach, and reads them back.
func TestBothEnds(t *testing.T) {
	const from = 0x7f00_0000_0000
	for _, d := range []int64{-Reach - 4, -Reach, -Reach + 4, -4, 0, 4, Reach - 8, Reach - 4, Reach, Reach + 4} {
		to := uintptr(from + d)
		fits := d >= -Reach && d <= Reach-4
		b, ok := Branch(from, to)
		if got, is := target(from, b); ok != fits || ok && (!is || got != to) {
			t.Errorf("branch by %d: %v, and it goes by %d", d, ok, int64(got)-from)
		}
		c, ok := Call(from, to)
		if ok != fits || ok && (!isCall(c) || from+callOffset(c) != to) {
			t.Errorf("call by %d: %v, and it goes by %d", d, ok, int64(callOffset(c)))
		}
	}
}
