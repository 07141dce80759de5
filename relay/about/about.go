// Package about is the note in libsvcrelay.so that says what the library takes of a process: the generator writes it
// from what the compiler found, the command and the tests read it from the file itself.
package about

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Section is the section that holds the note.
const Section = ".note.svcrelay"

// owner and kind identify the note.
const (
	owner = "svcrelay\x00"
	kind  = 1
)

// PageSize is the size of the trampoline page where the machine's pages are not larger.
const PageSize = 4096

// maxNote is the size of the largest note that is read, in bytes.
const maxNote = 1 << 20

// Figures are what the generator knows of the library. All sizes are in bytes.
type Figures struct {
	// Stack is the deepest stack below the guest's sp while a call is answered, saved registers included.
	Stack int64 `json:"stack"`
	// Frame, Scratch and the stack of the compiled code are its parts.
	Frame   int64 `json:"frame"`
	Scratch int64 `json:"scratch"`
	// Entries is the deepest stack of each compiled entry point.
	Entries map[string]int `json:"entries"`
	// Relays is what is mapped for the sites of a process.
	Relays Relays `json:"relays"`
	// Trampoline is the address of the page whose system calls the tracer lets through.
	Trampoline uint64 `json:"trampoline"`
}

// Relays says how much memory the relays of a process take. The library keeps room for stubs in its own text; those that
// do not fit there, or are out of its reach, are in mappings of their own: a head, and a stub for each site, rounded up to
// pages.
type Relays struct {
	// Own is the room in the library's text, and Places the number of stubs that it is for.
	Own    int `json:"own"`
	Places int `json:"places"`
	Head   int `json:"head"`
	// Fixed is the size of the stub of a site that makes one call, Any that of one that makes any call, and Bridge that
	// of a call of the function that makes cancellable ones. Effect is what Any grows by for each call that must not go
	// unseen.
	Fixed  int `json:"fixed"`
	Any    int `json:"any"`
	Bridge int `json:"bridge"`
	Effect int `json:"effect"`
	// Sites is the largest number of sites of a process.
	Sites int `json:"sites"`
}

// Library is what a library takes.
type Library struct {
	File string `json:"file"`
	// BuildID is in hexadecimal digits.
	BuildID string `json:"buildid"`
	Figures
	// Mapped are the sizes of its segments in memory, by their permissions.
	Mapped map[string]uint64 `json:"mapped"`
	// Sections are the sizes of its sections in memory.
	Sections map[string]uint64 `json:"sections"`
}

// ErrNoNote marks a library that has no such note.
var ErrNoNote = errors.New("it has no note of svcrelay's: this is not a libsvcrelay.so")

// Note encodes figures as an ELF note.
func Note(f Figures) ([]byte, error) {
	desc, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, v := range []int{len(owner), len(desc), kind} {
		binary.Write(&b, binary.LittleEndian, uint32(v))
	}
	for _, s := range []string{owner, string(desc)} {
		b.WriteString(s)
		b.Write(make([]byte, -len(s)&3))
	}
	return b.Bytes(), nil
}

// Read reads what the library in r takes.
func Read(r io.ReaderAt) (*Library, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("it is no library: %w", err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("it is no arm64 library but %v %v %v %v", f.Class, f.Data, f.Machine, f.Type)
	}
	out := &Library{Mapped: map[string]uint64{}, Sections: map[string]uint64{}}
	found := false
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			out.Mapped[permissions(p.Flags)] += p.Memsz
		case elf.PT_NOTE:
			notes, err := io.ReadAll(io.LimitReader(p.Open(), maxNote))
			if err != nil {
				return nil, fmt.Errorf("its notes: %w", err)
			}
			if d := Find(notes, "GNU\x00", 3); d != nil {
				out.BuildID = fmt.Sprintf("%x", d)
			}
			switch err := decode(notes, &out.Figures); {
			case err == nil:
				found = true
			case !errors.Is(err, ErrNoNote):
				return nil, err
			}
		}
	}
	if !found {
		return nil, ErrNoNote
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 {
			out.Sections[s.Name] += s.Size
		}
	}
	return out, nil
}

// decode reads the figures among the notes of a segment.
func decode(notes []byte, into *Figures) error {
	d := Find(notes, owner, kind)
	if d == nil {
		return ErrNoNote
	}
	if err := json.Unmarshal(d, into); err != nil {
		return fmt.Errorf("its note of svcrelay's: %w", err)
	}
	return nil
}

// Find gives the contents of the first note of an owner and a kind; nil where there is none. The owner's name is with
// its NUL.
func Find(notes []byte, owner string, kind uint32) []byte {
	for len(notes) >= 12 {
		name, desc := uint64(binary.LittleEndian.Uint32(notes)), uint64(binary.LittleEndian.Uint32(notes[4:]))
		is := binary.LittleEndian.Uint32(notes[8:])
		rest := notes[12:]
		at := (name + 3) &^ 3
		if at+desc > uint64(len(rest)) {
			return nil
		}
		if is == kind && string(rest[:name]) == owner {
			return rest[at : at+desc]
		}
		notes = rest[min(at+(desc+3)&^3, uint64(len(rest))):]
	}
	return nil
}

// permissions writes a segment's flags as /proc/PID/maps does.
func permissions(f elf.ProgFlag) string {
	b := []byte("---")
	for i, p := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if f&p != 0 {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}
