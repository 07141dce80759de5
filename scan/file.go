package scan

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"sort"
	"unsafe"

	"svcrelay/patcher"
)

// maxText is the largest executable segment that is looked at, in bytes: as in the guest.
const maxText = 256 << 20

// ErrNotForGuests marks a file that no guest of svcrelay could load as a library.
var ErrNotForGuests = errors.New("not an arm64 shared library")

// File scans the library at path. wanted are the calls that relays answer or watch. The error wraps ErrNotForGuests
// where the file is something else, and says what is wrong with it where it is damaged.
func File(path string, wanted *patcher.Numbers) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := Library(f, wanted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.File = path
	return r, nil
}

// Library scans the library in r.
func Library(r io.ReaderAt, wanted *patcher.Numbers) (*Report, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNotForGuests, err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_AARCH64 {
		return nil, fmt.Errorf("%w: %v %v %v", ErrNotForGuests, f.Class, f.Data, f.Machine)
	}
	if f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%w: its type is %v", ErrNotForGuests, f.Type)
	}
	out := &Report{Calls: map[string]Share{}, Patched: []Site{}, Unpatched: []Site{}}
	where := symbols(f)
	found := false
	for _, p := range f.Progs {
		data, err := content(p)
		if err != nil {
			return nil, err
		}
		if out.BuildID == "" && p.Type == elf.PT_NOTE {
			out.BuildID = buildID(data)
		}
		if p.Type != elf.PT_LOAD {
			continue
		}
		if out.Version == "" {
			out.Version = version(data)
		}
		if p.Flags&elf.PF_X != 0 {
			found = true
			out.text(data, p.Vaddr, where, wanted)
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: it has no executable segment", ErrNotForGuests)
	}
	return out, nil
}

// content reads what a segment has in the file.
func content(p *elf.Prog) ([]byte, error) {
	if p.Type != elf.PT_LOAD && p.Type != elf.PT_NOTE {
		return nil, nil
	}
	if p.Filesz > maxText {
		return nil, fmt.Errorf("a segment at %#x claims %d bytes, more than the %d that are looked at", p.Vaddr, p.Filesz, maxText)
	}
	// Read as far as there is something: a size that the file does not have must not be allocated.
	data, err := io.ReadAll(io.LimitReader(p.Open(), int64(p.Filesz)))
	if err != nil {
		return nil, fmt.Errorf("segment at %#x: %w", p.Vaddr, err)
	}
	if uint64(len(data)) < p.Filesz {
		return nil, fmt.Errorf("truncated: the segment at %#x should have %d bytes, the file ends after %d", p.Vaddr, p.Filesz, len(data))
	}
	return data, nil
}

// text scans an executable segment.
func (r *Report) text(data []byte, vaddr uint64, where table, wanted *patcher.Numbers) {
	skip := int(-vaddr & 3)
	if len(data) < skip+4 {
		return
	}
	// Words again, so that they are aligned in memory as they are in the guest.
	words := make([]uint32, (len(data)-skip)/4)
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*4), data[skip:])
	for i, w := range words {
		if w == patcher.SVC {
			at := vaddr + uint64(skip) + uint64(i)*4
			r.site(lo+uintptr(i)*4, lo, lo+uintptr(len(words))*4, Site{Offset: at, Symbol: where.name(at)}, wanted)
		}
	}
	runtime.KeepAlive(words)
}

// site classifies one svc instruction of the text [lo, hi).
func (r *Report) site(at, lo, hi uintptr, s Site, wanted *patcher.Numbers) {
	r.SVC++
	form, nr := patcher.Recognise(at, lo, hi)
	patched, matters := false, true
	switch form {
	case patcher.Fixed, patcher.Async:
		s.Syscall = callName(nr)
		patched = wanted.Has(nr) && form == patcher.Fixed
		matters = pathCalls[s.Syscall]
		if matters {
			r.Path.count(patched)
		}
		s.Why = "no relay answers or watches this call"
		if form == patcher.Async && wanted.Has(nr) {
			s.Why = "a thread can be cancelled in it at any moment"
		}
	case patcher.Any:
		s.Syscall, patched = "any", true
		r.Dispatchers.count(true)
	case patcher.Body:
		s.Syscall = "cancellable"
		s.Why = "a blocked thread can be cancelled nowhere else: the calls of this function are redirected instead"
	default:
		s.Syscall = "unknown"
		s.Why = "its number was not found"
	}
	c := r.Calls[s.Syscall]
	c.count(patched)
	r.Calls[s.Syscall] = c
	switch {
	case patched:
		s.Why = ""
		r.Patched = append(r.Patched, s)
	case matters:
		r.Unpatched = append(r.Unpatched, s)
	}
}

// buildID finds the GNU build-id among the notes of a segment (gABI, note section).
func buildID(notes []byte) string {
	const gnuBuildID = 3
	for len(notes) >= 12 {
		word := func(i int) uint64 {
			return uint64(notes[i]) | uint64(notes[i+1])<<8 | uint64(notes[i+2])<<16 | uint64(notes[i+3])<<24
		}
		name, desc, kind := (word(0)+3)&^3, word(4), word(8)
		rest := notes[12:]
		if name+(desc+3)&^3 > uint64(len(rest)) {
			return ""
		}
		if kind == gnuBuildID && name == 4 && string(rest[:4]) == "GNU\x00" {
			return hex.EncodeToString(rest[4 : 4+desc])
		}
		notes = rest[name+(desc+3)&^3:]
	}
	return ""
}

var (
	glibcVersion = regexp.MustCompile(`(?:GNU C Library|ld\.so) \([^)]{0,80}\) [a-z]* ?(?:release )?(?:version )?[0-9][0-9.]*`)
	muslVersion  = regexp.MustCompile(`\x00(1\.[0-9]+\.[0-9]+)\x00`)
)

// version finds what the C libraries print of themselves.
func version(data []byte) string {
	if m := glibcVersion.Find(data); m != nil {
		return string(m)
	}
	if bytes.Contains(data, []byte("musl libc")) {
		if m := muslVersion.FindSubmatch(data); m != nil {
			return "musl libc " + string(m[1])
		}
		return "musl libc"
	}
	return ""
}

// table is a library's functions, by address.
type table []elf.Symbol

// symbols reads the functions that a library names, of both symbol tables; none is no error.
func symbols(f *elf.File) table {
	var out table
	full, _ := f.Symbols()
	dyn, _ := f.DynamicSymbols()
	for _, s := range append(full, dyn...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			out = append(out, s)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Value != out[j].Value {
			return out[i].Value < out[j].Value
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// name gives the function at or before an address. One that ends before is marked: the site is then in a function
// without a name, after it.
func (t table) name(at uint64) string {
	i := sort.Search(len(t), func(i int) bool { return t[i].Value > at })
	if i == 0 {
		return ""
	}
	s := t[i-1]
	for i > 1 && t[i-2].Value == s.Value {
		i--
		s = t[i-1]
	}
	if at >= s.Value+s.Size {
		return fmt.Sprintf("after %s+%#x", s.Name, at-s.Value)
	}
	return fmt.Sprintf("%s+%#x", s.Name, at-s.Value)
}
