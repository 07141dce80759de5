package tracer

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

func TestRewriteAt(t *testing.T) {
	src := upstreamFilter()
	p := &program{length: uint16(len(src)), filter: uintptr(unsafe.Pointer(&src[0]))}
	if !rewriteAt(uintptr(unsafe.Pointer(p))) {
		t.Fatal("a PRoot filter was not rewritten")
	}
	if header.length != 122 || header.filter != uintptr(unsafe.Pointer(&rewritten)) {
		t.Errorf("header %+v", header)
	}
	if want := rewrite(t, src); !slices.Equal(rewritten[:header.length], want) {
		t.Error("the buffer does not hold the rewritten program")
	}
	runtime.KeepAlive(src)
}

// TestRewriteAtUnreadable hands over what the kernel would answer with EFAULT.
func TestRewriteAtUnreadable(t *testing.T) {
	for _, p := range []*program{
		{length: 3, filter: 0},
		{length: 3, filter: 8},
		{length: 3, filter: ^uintptr(0) - 7},
		{length: 0xffff, filter: 1 << 46},
		{},
	} {
		if rewriteAt(uintptr(unsafe.Pointer(p))) {
			t.Errorf("%+v was rewritten", *p)
		}
	}
	for _, a := range []uintptr{0, 8, 1 << 46, ^uintptr(0)} {
		if rewriteAt(a) {
			t.Errorf("a program at %#x was rewritten", a)
		}
	}
}

func TestInstallPassesOn(t *testing.T) {
	const prGetDumpable, prSetName, prGetName = 3, 15, 16
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var old, name [16]byte
	at := func(b *[16]byte) uintptr { return uintptr(unsafe.Pointer(b)) }
	if r := Install(prGetName, at(&old), 0, 0, 0); r != 0 {
		t.Fatalf("reading the name: %#x", r)
	}
	copy(name[:], "svcrelay-test")
	if r := Install(prSetName, at(&name), 0, 0, 0); r != 0 {
		t.Fatalf("setting the name: %#x", r)
	}
	var got [16]byte
	Install(prGetName, at(&got), 0, 0, 0)
	Install(prSetName, at(&old), 0, 0, 0)
	if got != name {
		t.Errorf("name %q", got)
	}
	if r := Install(0x7ffffff0, 0, 0, 0, 0); r != nocgo.Fail(nocgo.EINVAL) {
		t.Errorf("an unknown option: %#x", r)
	}
	if r := Install(prSetSeccomp, seccompModeFilter, 0, 0, 0); r != nocgo.Fail(nocgo.EFAULT) {
		t.Errorf("no program: %#x", r)
	}
	if busy != 0 {
		t.Error("the buffer is still taken")
	}
}

func TestCompose(t *testing.T) {
	var m message
	for what := Empty; what <= ManyTraces; what++ {
		compose(&m, what, 4095, &Insn{Code: 0xffff, K: 0xdeadbeef})
		s := string(m.text[:m.n])
		if m.n == len(m.text) || !strings.HasSuffix(s, " (instruction 4095, code 0xffff, value 0xdeadbeef)\n") || strings.Contains(s, "unknown reason") {
			t.Errorf("finding %d: %q", what, s)
		}
	}
	compose(&m, NoTrace, -1, nil)
	want := "svcrelay: the system call filter is left unchanged, programs run at PRoot's own speed: " +
		"it asks a tracer about nothing, so it is not PRoot's\n"
	if s := string(m.text[:m.n]); s != want {
		t.Errorf("%q", s)
	}
	compose(&m, UnknownCode, 0, &Insn{})
	if s := string(m.text[:m.n]); !strings.HasSuffix(s, "(instruction 0, code 0x0, value 0x0)\n") {
		t.Errorf("%q", s)
	}
}
