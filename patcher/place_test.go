package patcher

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// apart is a plan with two libraries of one site each, so far from each other, in free address space.
func apart(t *testing.T, distance uintptr) *Plan {
	t.Helper()
	free, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	lo := uintptr(unsafe.Pointer(&free[0])) + 300<<20
	if err := unix.Munmap(free); err != nil {
		t.Fatal(err)
	}
	p := new(Plan)
	p.want.Add(56)
	for i := range 2 {
		p.Library[i] = Library{First: i, Count: 1}
		p.Sites[i] = Site{Addr: lo + uintptr(i)*distance, Nr: 56, Form: Fixed, was: SVC}
	}
	p.Libraries, p.Count = 2, 2
	t.Cleanup(p.Undo)
	return p
}

// TestAreas places the stubs of two libraries: together as long as one area is within reach of both, then apart.
func TestAreas(t *testing.T) {
	for _, c := range []struct {
		name     string
		distance uintptr
		areas    int
	}{
		{"side by side", 1 << 20, 1},
		{"far", Reach - 4<<20, 1},
		{"too far", Reach + 4, 2},
		{"very far", 400 << 20, 2},
	} {
		p := apart(t, c.distance)
		if !p.Place(p.Sites[0].Addr-1<<30, 0, 4096) {
			t.Fatalf("%s: not placed", c.name)
		}
		if p.nareas != c.areas || p.Unreachable != 0 {
			t.Errorf("%s: %d areas, %d sites without a stub; want %d, 0", c.name, p.nareas, p.Unreachable, c.areas)
		}
		for i := range p.Count {
			s := &p.Sites[i]
			if _, ok := Branch(s.Addr, s.Stub); !ok || s.Stub == 0 {
				t.Errorf("%s: site %#x cannot reach its stub at %#x", c.name, s.Addr, s.Stub)
			}
		}
		p.Undo()
	}
}

// TestNoRoom takes all memory within reach of one library: its site stays as it is, and is counted.
func TestNoRoom(t *testing.T) {
	p := apart(t, 450<<20)
	lie(t, func(nr uintptr, a [6]uintptr) (uintptr, bool) {
		const mmap, enomem = 222, 12
		near := a[0]-(p.Sites[1].Addr-Reach) < 2*Reach
		return ^uintptr(enomem - 1), nr == mmap && (near || a[0] == 0)
	})
	if !p.Place(p.Sites[0].Addr-1<<30, 0, 4096) {
		t.Fatal("not placed")
	}
	if p.Sites[0].Stub == 0 || p.Sites[1].Stub != 0 || p.Unreachable != 1 {
		t.Errorf("stubs at %#x and %#x, %d sites without", p.Sites[0].Stub, p.Sites[1].Stub, p.Unreachable)
	}
}
