package patcher

import (
	"encoding/binary"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
	"svcrelay/nocgo"
)

// stubOf writes the stub of a site of each form into words, near a Body's function for bridges.
func stubOf(t *testing.T, form Form, effects ...uintptr) (words []uint32, at, site uintptr, s *shared) {
	t.Helper()
	buf := make([]uint32, 4096)
	area := addrOf(buf)
	function := area + 0x3000
	for i, w := range body {
		nocgo.Store32(function+4*uintptr(i), w)
	}
	site = area + 0x3800
	var want, effect Numbers
	want.Add(56)
	for _, nr := range effects {
		want.Add(nr)
		effect.Add(nr)
	}
	s = &shared{area: area, entry: area + 0x3c00, stack: 0x7fff_edcb_a000, seen: 0x1234, wanted: &want, effects: &effect}
	if !s.count() {
		t.Fatal("too many effects")
	}
	s.head()
	was := uint32(SVC)
	if form == Bridge {
		was, _ = Call(site, function+4)
	}
	st := &Site{Addr: site, Nr: 56, Form: form, was: was, careful: true}
	at = area + areaHead
	if !s.stub(at, st) {
		t.Fatal("a branch does not reach")
	}
	return buf[areaHead/4:][:s.size(st)/4], at, site, s
}

// TestSaved compares what the unwind information is made from with the instructions: where x29 and x30 are in memory.
func TestSaved(t *testing.T) {
	for _, form := range []Form{Fixed, Async, Any, Bridge} {
		words, _, _, _ := stubOf(t, form, 49, 260, 452)
		saved := make([]bool, len(words)+1)
		for _, r := range Saved(form) {
			for i := r[0]; i < r[1]; i++ {
				saved[i] = true
			}
		}
		for i, w := range words {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], w)
			if inst, err := arm64asm.Decode(b[:]); err != nil {
				t.Errorf("form %d, instruction %d: %#x: %v", form, i, w, err)
			} else if (w == saveFP) != (!saved[i] && saved[i+1] && w != giveFP && !goes(w)) {
				t.Errorf("form %d, instruction %d: %v, saved before and after it: %v, %v", form, i, inst, saved[i], saved[i+1])
			}
			if w == giveFP && (!saved[i] || saved[i+1] && !goes(w)) {
				t.Errorf("form %d, instruction %d: memory given back: %v, %v", form, i, saved[i], saved[i+1])
			}
			to, is := target(uintptr(4*i), w)
			if j := int(to) / 4; is && int(to) >= 0 && j < len(words) && saved[j] != saved[i] {
				t.Errorf("form %d: the branch from %d to %d: %v, %v", form, i, j, saved[i], saved[j])
			}
		}
		if words[Saved(form)[0][0]-1] != saveFP {
			t.Errorf("form %d: the first is not the memory's taking", form)
		}
	}
}

// goes says whether control leaves w for elsewhere, so that what follows it is another path.
func goes(w uint32) bool { return leaves(w) || w == SVC }

// TestReturns looks at the two places that the entry returns to, and at the branch that it finds the site by.
func TestReturns(t *testing.T) {
	for _, form := range []Form{Fixed, Async, Any, Bridge} {
		words, at, site, s := stubOf(t, form, 49)
		call := 0
		for i, w := range words {
			if to, ok := Call(at+4*uintptr(i), s.entry); ok && to == w {
				call = i
			}
		}
		if call == 0 {
			t.Fatalf("form %d: the entry is not called", form)
		}
		answered, declined, poor := call+1, call+1+StubDeclined/4, call+1+StubPoor/4
		if form == Bridge { // an answer returns to the call
			to, ok := target(at+4*uintptr(answered), words[answered])
			if answered = int(to-at) / 4; !ok || answered < 0 || answered > len(words)-2 || words[answered+1] != ret {
				t.Errorf("an answer goes to instruction %d", answered)
			}
			answered = min(max(answered, 0), len(words)-2)
		}
		if words[answered] != giveFP || words[declined] != giveFP {
			t.Errorf("form %d: %#x, %#x where the entry returns to", form, words[answered], words[declined])
		}
		if to, ok := target(at+4*uintptr(call+2), words[call+2]); !ok || to != site+4 {
			t.Errorf("form %d: an answer goes to %#x, not behind the site", form, to)
		}
		in := false
		for _, r := range Saved(form) {
			in = in || poor == r[0]
		}
		if !in {
			t.Errorf("form %d: for want of stack the entry returns to %d", form, poor)
		}
	}
}

// TestOwn places more sites than there is room for, some of them out of reach.
func TestOwn(t *testing.T) {
	const at = 0x7f00_0000_0000
	var want Numbers
	want.Add(56)
	s := &shared{entry: at - 0x1000, stack: 0x7ff000, wanted: &want, effects: new(Numbers)}
	o := &Own{At: at}
	var sites []Site
	for i := range uintptr(ownFixed + 3) {
		sites = append(sites, Site{Addr: at + 0x100000 + 4*i, Nr: 56, Form: Fixed})
	}
	far := []Site{
		{Addr: at + OwnHead + 2*Reach, Nr: 56, Form: Any}, {Addr: at + offset(Any, 0) - Reach + 4, Nr: 56, Form: Any},
		{Addr: at - 3*Reach, Nr: 56, Form: Any},
	}
	o.place(s, far)
	for i := range far {
		if got := far[i].Stub != 0; got {
			t.Errorf("the site at %#x has a stub at %#x", far[i].Addr, far[i].Stub)
		}
	}
	o.place(s, sites)
	for i := range sites {
		want := at + offset(Fixed, i)
		if i >= ownFixed {
			want = 0
		}
		if sites[i].Stub != want {
			t.Fatalf("stub %d at %#x, want %#x", i, sites[i].Stub, want)
		}
		if i < ownFixed && o.returns[ownBridges+ownAnys+i] != uint64(sites[i].Addr+4) {
			t.Errorf("the unwinder is led to %#x", o.returns[ownBridges+ownAnys+i])
		}
	}
	end := uintptr(OwnHead)
	for i := range OwnPlaces {
		form, size := OwnPlace(i)
		_, first, _ := index(form)
		if offset(form, i-first) != end {
			t.Fatalf("place %d is at %d, not right behind the one before", i, offset(form, i-first))
		}
		end += size
	}
	if end != ownSize {
		t.Errorf("the places end at %d of %d", end, ownSize)
	}
}

// TestReachOfStubs puts sites exactly at the limits of what a stub's branches and the site's own reach.
func TestReachOfStubs(t *testing.T) {
	const at = 0x7f00_0000_0000
	var want Numbers
	want.Add(56)
	for _, c := range []struct {
		name string
		site uintptr
		ok   bool
	}{
		// The stub's first branch to the site is its tenth instruction, its last the thirteenth.
		{"the highest", at + 4*9 + Reach - 4 - 4, true},
		{"one too high", at + 4*9 + Reach - 4, false},
		{"the lowest", at + 4*12 - Reach - 4, true},
		{"one too low", at + 4*12 - Reach - 8, false},
	} {
		buf := make([]uint32, 64)
		s := &shared{area: at - areaHead, shift: addrOf(buf) - at, entry: at + 0x1000, wanted: &want, effects: new(Numbers)}
		if ok := s.stub(at, &Site{Addr: c.site, Nr: 56, Form: Fixed}); ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
	}
}

func TestUnseen(t *testing.T) {
	p := new(Plan)
	for _, nr := range []uintptr{25, 56, 79, 146} {
		p.want.Add(nr)
	}
	p.Sites[0] = Site{Nr: 56, Form: Fixed, Published: true}
	p.Sites[1] = Site{Nr: 79, Form: Fixed}
	p.Sites[2] = Site{Form: Any, Published: true}
	p.Count = 3
	check := func(nr uintptr, want bool, when string) {
		if p.Unseen(nr) != want {
			t.Errorf("%d, %s: %v", nr, when, !want)
		}
	}
	check(56, false, "all patched")
	check(79, true, "a site is not patched")
	check(146, false, "from memory only")
	check(25, true, "it blocks")
	check(64, true, "not wanted")
	p.Bodies = 1
	check(56, true, "no bridge")
	check(146, false, "no bridge, but never cancelled")
	p.Bridges = 1
	check(56, false, "a bridge")
	p.Sites[2].Published = false
	check(146, true, "the dispatcher is not patched")
	p.Sites[2].Published = true
	p.Unknowns = 1
	check(146, true, "an unknown number")
}
