package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"regexp"
	"testing"

	"svcrelay/relay"
)

// crossLibrary is the C library that the cross compiler's package brings.
const crossLibrary = "/usr/aarch64-linux-gnu/lib/libc.so.6"

// TestAgainstObjdump compares the sites with an independent disassembly.
func TestAgainstObjdump(t *testing.T) {
	dis, err := exec.Command("aarch64-linux-gnu-objdump", "-d", crossLibrary).Output()
	if err != nil {
		t.Fatalf("objdump %s: %v (the package gcc-aarch64-linux-gnu brings both)", crossLibrary, err)
	}
	r, err := File(crossLibrary, relay.Wanted())
	if err != nil {
		t.Fatal(err)
	}
	if want := len(regexp.MustCompile(`(?m)\tsvc\t#0x0$`).FindAll(dis, -1)); r.SVC != want {
		t.Errorf("%d svc instructions, objdump sees %d", r.SVC, want)
	}
	if want := len(regexp.MustCompile(`(?m)\tmov\tx8, #0x38 .*\n.*\tsvc\t#0x0$`).FindAll(dis, -1)); r.Calls["openat"].Total < want || want == 0 {
		t.Errorf("openat: %v, objdump sees %d with the number right before", r.Calls["openat"], want)
	}
	for _, call := range []string{"openat", "newfstatat", "statx", "chdir"} {
		if c := r.Calls[call]; c.Total == 0 || c.Patched != c.Total {
			t.Errorf("%s: %d of %d patched", call, c.Patched, c.Total)
		}
	}
	// syscall, and two that change the identity of all threads
	if d := r.Dispatchers; d.Share != (Share{3, 3}) || len(d.List) != d.Total || d.List[2].Name != "syscall" {
		t.Errorf("dispatchers: %+v", d)
	}
	if len(r.BuildID) != 40 || r.Version == "" {
		t.Errorf("build-id %q, version %q", r.BuildID, r.Version)
	}
	for _, s := range r.Unpatched {
		if s.Why == "" {
			t.Errorf("%s at %#x stays for no reason", s.Syscall, s.Offset)
		}
	}
}

// tiny makes a library whose only segment holds the headers and, from tinyText on, code.
func tiny(code ...uint32) []byte {
	const header, segment = 64, 56
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 15: 0})
	w := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	w([]uint16{3, 183})       // ET_DYN, EM_AARCH64
	w(uint32(1))              // version
	w([]uint64{0, header, 0}) // entry, program headers, section headers
	w(uint32(0))              // flags
	w([]uint16{64, segment, 1, 0, 0, 0})
	size := uint64(tinyText + 4*len(code))
	w([]uint32{1, 5}) // PT_LOAD, readable and executable
	w([]uint64{0, 0, 0, size, size, 4096})
	w(code)
	return b.Bytes()
}

const tinyText = 120

func TestSites(t *testing.T) {
	const svc, ret = 0xd4000001, 0xd65f03c0
	mov := func(nr uint32) uint32 { return 0xd2800008 | nr<<5 }
	b := tiny(mov(56), svc, ret, mov(64), svc, ret, mov(221), svc, ret, svc)
	r, err := Library(bytes.NewReader(b), relay.Wanted())
	if err != nil {
		t.Fatal(err)
	}
	if r.SVC != 4 || r.Path != (Share{1, 1}) || len(r.Patched) != 1 || len(r.Unpatched) != 3 {
		t.Fatalf("got %+v", r)
	}
	if s := r.Patched[0]; s.Offset != tinyText+4 || s.Syscall != "openat" || s.As == "" || s.Why != "" {
		t.Errorf("patched: %+v", s)
	}
	s := r.Unpatched
	if s[0].Syscall != "write" || s[1].Syscall != "execve" || s[2].Syscall != "unknown" || s[2].Offset != tinyText+36 {
		t.Errorf("unpatched: %+v", s)
	}
	for _, s := range s {
		if s.Why == "" || s.As != "" {
			t.Errorf("unpatched: %+v", s)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := tiny(0xd4000001, 0xd65f03c0)
	change := func(at int, v ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], v)
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("#!/bin/sh\n"), "header only": good[:64], "another machine": change(18, 62),
		"32 bits": change(4, 1), "big-endian": change(5, 2), "a program": change(16, 2), "no code": change(64+4, 4),
	} {
		if _, err := Library(bytes.NewReader(b), relay.Wanted()); !errors.Is(err, ErrNotForGuests) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"truncated": good[:len(good)-2], "a huge segment": change(64+32, 0, 0, 0, 0, 1), "less memory than file": change(64+40, 4),
		"a high address": change(64+16, 0, 0, 0, 0, 1), "headers elsewhere": change(32, 0, 1),
	} {
		if _, err := Library(bytes.NewReader(b), relay.Wanted()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
