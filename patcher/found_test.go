package patcher

import "testing"

// body is __syscall_cancel_arch as glibc has it, landing pad included, at 1; musl's differs in the third word.
var body = []uint32{
	0xd65f03c0, landing, 0xb9400000, 0x37180140, 0xaa0103e8, 0xaa0203e0, 0xaa0303e1, 0xaa0403e2, 0xaa0503e3, 0xaa0603e4, 0xaa0703e5, SVC,
	0xd65f03c0, 0x14000003, 0, 0,
}

func TestRecognise(t *testing.T) {
	with := func(at int, w uint32) []uint32 {
		b := append([]uint32(nil), body...)
		b[at] = w
		return b
	}
	for _, c := range []struct {
		name  string
		words []uint32
		at    int
		form  Form
		nr    uintptr
	}{
		{"adjacent", []uint32{0xd2800708, SVC}, 1, Fixed, 56},
		{"too large", []uint32{0xd2804008, SVC}, 1, Fixed, 512},
		{"syscall of glibc", []uint32{ret, 0xd503245f, 0x2a0003e8, 0xaa0103e0, 0xaa0203e1, 0xaa0303e2, SVC}, 6, Any, 0},
		{"syscall of musl", []uint32{0x94000010, 0xa9b97bfd, 0xaa0003e8, 0x910003fd, 0xa9040be1, 0xaa0103e0, 0xaa0203e1, 0xf94037e5, SVC}, 8, Any, 0},
		{"from memory", []uint32{0xb9800068, 0xa9400460, SVC}, 2, Any, 0},
		{"second of a pair from memory", []uint32{0x69410022, 0x6941a262, SVC}, 2, Any, 0},
		{"__internal_syscall_cancel of 2.41", []uint32{0x94000010, 0xaa0603e8, 0x910003fd, 0x35000080, 0x37000066, 0x94000010, 0x94000011, SVC, ret}, 7, Any, 0},
		{"computed", []uint32{0xd2800708, 0x91000508, SVC}, 2, Unknown, 0},
		{"nothing", []uint32{0xd503201f, SVC}, 1, Unknown, 0},
		{"two ways, one number", []uint32{0xd2800c48, 0x14000003, 0xd2800c48, 0xd503201f, 0xd503201f, SVC}, 5, Fixed, 98},
		{"two ways, two numbers", []uint32{0xd2800708, 0x14000003, 0xd2800c48, 0xd503201f, 0xd503201f, SVC}, 5, Any, 0},
		{"by a branch only", []uint32{0xd2800328, 0xb4000060, 0xd503201f, ret, SVC}, 4, Fixed, 25},
		{"body of glibc", body, 11, Body, 0},
		{"body of musl", with(3, 0x35000140), 11, Body, 0},
		{"another bit", with(3, 0x37100140), 11, Any, 0},
		{"another order", with(6, 0xaa0403e1), 11, Any, 0},
		{"goes on", with(12, 0xd503201f), 11, Any, 0},
		{"async", []uint32{0x94000010, 0x2a0003e4, 0xaa1403e1, 0xd2800708, SVC, 0x2a0003f3, 0x2a0403e0, 0x94000020, ret}, 4, Async, 56},
		{"result not given back", []uint32{0x94000010, 0x2a0003e4, 0xaa1403e1, 0xd2800708, SVC, 0x2a0003f3, 0x2a0503e0, 0x94000020, ret}, 4, Fixed, 56},
		{"no call after it", []uint32{0x94000010, 0x2a0003e4, 0xaa1403e1, 0xd2800708, SVC, 0x2a0003f3, 0x2a0403e0, ret, ret}, 4, Fixed, 56},
		{"cannot be cancelled", []uint32{0x94000010, 0x2a0003e4, 0xaa1403e1, 0xd28009e8, SVC, 0x2a0003f3, 0x2a0403e0, 0x94000020, ret}, 4, Fixed, 79},
	} {
		a := addrOf(c.words)
		form, nr := Recognise(a+uintptr(c.at)*4, a, a+uintptr(len(c.words))*4)
		if c.nr >= MaxNumber {
			c.form, c.nr = Unknown, 0
		}
		if form != c.form || nr != c.nr {
			t.Errorf("%s: form %d, number %d; want %d, %d", c.name, form, nr, c.form, c.nr)
		}
	}
}

func TestBridges(t *testing.T) {
	words := append([]uint32{0x94000003, 0x94000004, 0x94000002}, body...) // to the landing pad, after it, before it
	words[0], words[1], words[2] = 0x94000004, 0x94000004, 0x94000001
	a := addrOf(words)
	hi := a + uintptr(len(words))*4
	for i, want := range []bool{true, true, false} {
		if got := isBridge(a+uintptr(i)*4, a, hi); got != want {
			t.Errorf("call %d: %v", i, got)
		}
	}
	if !bodyOfGlibc(a+4*4) || !bodyOfGlibc(a+5*4) {
		t.Error("taken for musl's")
	}
	words[6] = 0x35000140
	if bodyOfGlibc(a+4*4) || bodyOfGlibc(a+5*4) {
		t.Error("taken for glibc's")
	}
}

// TestConfirm offers sites that a cache might hold.
func TestConfirm(t *testing.T) {
	words := append([]uint32{0xd2800708, SVC, 0xd28009e8, SVC, 0x94000002}, body...)
	words[4] = 0x94000002
	a := addrOf(words)
	l := &Library{Base: a, Text: Text{a, a + uintptr(len(words))*4}}
	p := new(Plan)
	p.want.Add(56)
	for _, c := range []struct {
		name string
		f    Found
		want bool
	}{
		{"as it is", Found{4, 56, Fixed}, true},
		{"another number", Found{4, 57, Fixed}, false},
		{"another form", Found{4, 56, Async}, false},
		{"not wanted", Found{12, 79, Fixed}, false},
		{"not aligned", Found{6, 56, Fixed}, false},
		{"no svc", Found{0, 56, Fixed}, false},
		{"beyond the text", Found{4096, 56, Fixed}, false},
		{"far beyond", Found{^uint32(3), 56, Fixed}, false},
		{"unknown", Found{4, 0, Unknown}, false},
		{"a form that is none", Found{4, 56, 99}, false},
		{"body", Found{4 * 16, 0, Body}, true},
		{"body as dispatcher", Found{4 * 16, 0, Any}, false},
		{"bridge", Found{16, 0, Bridge}, true},
		{"bridge with a number", Found{16, 56, Bridge}, false},
		{"no bridge", Found{4, 0, Bridge}, false},
	} {
		if got := p.Confirm(l, c.f); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
