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
	"unsafe"

	"svcrelay/patcher"
	"svcrelay/relay/about"
)

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
	code := false
	for _, p := range f.Progs {
		code = code || p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0
	}
	if !code {
		return nil, fmt.Errorf("%w: it has no executable segment", ErrNotForGuests)
	}
	im, err := layOut(f)
	if err != nil {
		return nil, err
	}
	defer im.close()
	out := &Report{Calls: map[string]Share{}, Patched: []Site{}, Unpatched: []Site{}}
	out.Dispatchers.List = []Dispatcher{}
	if err := out.identify(f, im); err != nil {
		return nil, err
	}
	plan := new(patcher.Plan)
	all, text, ok := plan.Examine(im.base, patcher.Libc, wanted)
	if !ok && text.Hi == 0 {
		return nil, errors.New("the constructor leaves it alone: its headers are not at its beginning, or its segments are not as linkers make them")
	}
	if !ok {
		return nil, fmt.Errorf("the constructor leaves it alone: it has more than %d sites", patcher.MaxSites)
	}
	out.sort(all, symbols(f), wanted, func(at uintptr) uint32 { return *(*uint32)(pointer(im.base + at)) })
	return out, nil
}

// identify fills in the build-id and the version.
func (r *Report) identify(f *elf.File, im *image) error {
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_NOTE:
			const most = 64 << 10
			notes, err := io.ReadAll(io.LimitReader(p.Open(), most))
			if err != nil {
				return fmt.Errorf("its notes: %w", err)
			}
			if r.BuildID == "" {
				r.BuildID = hex.EncodeToString(about.Find(notes, "GNU\x00", 3))
			}
		case elf.PT_LOAD:
			if r.Version == "" && p.Filesz > 0 {
				r.Version = version(unsafe.Slice((*byte)(pointer(im.base+uintptr(p.Vaddr))), p.Filesz))
			}
		}
	}
	return nil
}

// pointer turns an address in an image into a pointer.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

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
