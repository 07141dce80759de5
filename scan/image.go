package scan

import (
	"debug/elf"
	"fmt"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"
)

// image is a library as the dynamic linker lays it out in memory, except that nothing is executable.
type image struct {
	mem  []byte
	base uintptr
}

// maxImage is the largest library that is laid out, in bytes: more than the constructor accepts.
const maxImage = 1 << 30

const pageSize = 64 << 10

// layOut maps the segments of a library that the dynamic linker would map.
func layOut(f *elf.File) (*image, error) {
	size := uint64(0)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Vaddr > maxImage || p.Memsz > maxImage || p.Filesz > p.Memsz {
			return nil, fmt.Errorf("a segment claims %d bytes, %d of them in the file, at %#x: no library is like that", p.Memsz, p.Filesz, p.Vaddr)
		}
		size = max(size, p.Vaddr+p.Memsz)
	}
	if size == 0 {
		return nil, fmt.Errorf("%w: it has no segment", ErrNotForGuests)
	}
	// Inaccessible memory around it, so that whatever a file says can be no more than a mistake in this process.
	mem, err := unix.Mmap(-1, 0, int(size)+3*pageSize, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("memory for %d bytes: %w", size, err)
	}
	im := &image{mem: mem, base: (uintptr(unsafe.Pointer(&mem[0])) + 2*pageSize - 1) &^ (pageSize - 1)}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		if err := im.add(p); err != nil {
			im.close()
			return nil, err
		}
	}
	return im, nil
}

// add maps and fills one segment, and its pages to their ends.
func (im *image) add(p *elf.Prog) error {
	const small = 4096
	skip := int(im.base - uintptr(unsafe.Pointer(&im.mem[0])))
	from, to := skip+int(p.Vaddr&^(small-1)), skip+int((p.Vaddr+p.Memsz+small-1)&^(small-1))
	if err := unix.Mprotect(im.mem[from:to], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("the segment at %#x: %w", p.Vaddr, err)
	}
	at := skip + int(p.Vaddr)
	n, err := io.ReadFull(p.Open(), im.mem[at:at+int(p.Filesz)])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("truncated: the segment at %#x should have %d bytes, the file ends after %d", p.Vaddr, p.Filesz, n)
	}
	if err != nil {
		return fmt.Errorf("the segment at %#x: %w", p.Vaddr, err)
	}
	return nil
}

func (im *image) close() { unix.Munmap(im.mem) }
