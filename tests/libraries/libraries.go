// Package libraries fetches the C libraries and dynamic loaders that svcrelay is made for, of all releases, so that
// tests can look at the real files.
package libraries

import (
	"context"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/toolchain"
)

// Library is one file.
type Library struct {
	// Release names the C library: glibc and musl with the number of the release.
	Release string
	// Guest is the rig's name for it.
	Guest string
	// Name is what it is loaded as.
	Name string
	// Path is where it is on this machine.
	Path string
}

// String is how tests call it.
func (l Library) String() string { return l.Release + " " + l.Name }

const gnu, musl = "usr/lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-musl"

var releases = []struct {
	name, guest, dir string
	libraries        []string
}{
	{"glibc 2.31", "bullseye", gnu, []string{"libc.so.6", "ld-linux-aarch64.so.1", "libpthread.so.0", "librt.so.1"}},
	{"glibc 2.36", "bookworm", gnu, []string{"libc.so.6", "ld-linux-aarch64.so.1"}},
	{"glibc 2.41", "trixie", gnu, []string{"libc.so.6", "ld-linux-aarch64.so.1"}},
	{"glibc 2.43", "forky", gnu, []string{"libc.so.6", "ld-linux-aarch64.so.1"}},
	{"musl 1.2.3", "musl", musl, []string{"libc.so"}},
	{"musl 1.2.6", "musl-sid", musl, []string{"libc.so"}},
}

// All returns the libraries of all releases. It skips the test where nothing may be fetched, as rig.NeedVM does.
func All(t testing.TB) []Library {
	t.Helper()
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var out []Library
	for _, r := range releases {
		cc, err := toolchain.For(ctx, r.guest)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range r.libraries {
			out = append(out, Library{Release: r.name, Guest: r.guest, Name: name, Path: filepath.Join(cc.Sysroot, r.dir, name)})
		}
	}
	return out
}

// Code is an executable segment.
type Code struct {
	// Addr is its address in the file's own terms.
	Addr uint64
	// Words are its instructions, and what lies between them.
	Words []uint32
}

// Code reads the library's executable segments.
func (l Library) Code() ([]Code, error) {
	f, err := elf.Open(l.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Code
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		b, err := io.ReadAll(p.Open())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Path, err)
		}
		c := Code{Addr: p.Vaddr, Words: make([]uint32, len(b)/4)}
		for i := range c.Words {
			c.Words[i] = f.ByteOrder.Uint32(b[4*i:])
		}
		out = append(out, c)
	}
	return out, nil
}
