package about

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestNoteComesBack(t *testing.T) {
	for _, stack := range []int64{1, 10, 100, 1000, 10000} { // texts of all lengths modulo 4
		want := Figures{Stack: stack, Entries: map[string]int{"a": 1}, Relays: Relays{Fixed: 2}}
		note, err := Note(want)
		if err != nil {
			t.Fatal(err)
		}
		other := []byte("\x04\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00GNU\x00ABCDE\x00\x00\x00")
		for _, notes := range [][]byte{note, append(bytes.Clone(other), note...), append(bytes.Clone(note), other...)} {
			var got Figures
			if err := decode(notes, &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if got := Find(append(note, other...), "GNU\x00", 3); string(got) != "ABCDE" {
			t.Errorf("build-id %q", got)
		}
	}
}

// TestFindOnGarbage gives damaged notes: whatever they say, the search stays within them and ends.
func TestFindOnGarbage(t *testing.T) {
	note, err := Note(Figures{Stack: 4096})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := bytes.Clone(note[:rnd.IntN(len(note)+1)])
		for range rnd.IntN(4) {
			if len(b) > 0 {
				b[rnd.IntN(min(len(b), 24))] = byte(rnd.Uint32())
			}
		}
		Find(b, owner, kind)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, b := range []string{"", "\x7fELF", "#!/bin/sh\n"} {
		if l, err := Read(bytes.NewReader([]byte(b))); err == nil {
			t.Errorf("%q: %+v", b, l)
		}
	}
}
