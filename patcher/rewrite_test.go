package patcher

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"svcrelay/nocgo"
)

// rewritable is a world with a room for stubs and a page for the addresses after their sites, whose library can only be
// read and executed.
func rewritable(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if !w.discover() {
		t.Fatal("nothing discovered")
	}
	p := &w.plan
	const size = (ownSize+4095)&^4095 + 4096
	room := mapNear(w.base, w.base+worldSz, size)
	if room == 0 {
		t.Fatal("no room in reach")
	}
	t.Cleanup(func() { unmap(room, size) })
	p.Own.At, p.Own.Returns, p.page = room, room+size-4096, 4096
	if !p.close(room, room+size) {
		t.Fatal("it cannot be made executable")
	}
	if !p.Place(w.base, w.base, 4096) || p.Own.unused() {
		t.Fatal("no stub is in the room")
	}
	if err := unix.Mprotect(w.mem[atLib:atLib+0x1000], unix.PROT_READ|unix.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	return w
}

// protections is what may be done in each page of the world and in the room for stubs.
func protections(t *testing.T, addrs ...uintptr) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, a := range addrs {
		for line := range strings.Lines(string(text)) {
			var lo, hi uintptr
			var how string
			if n, err := fmt.Sscanf(line, "%x-%x %s", &lo, &hi, &how); n == 3 && err == nil && lo <= a && a < hi {
				out.WriteString(how + " ")
			}
		}
	}
	return out.String()
}

func TestRewrite(t *testing.T) {
	w := rewritable(t)
	p := &w.plan
	if !p.rewrite() {
		t.Fatal("not published")
	}
	for i, site := range []int{1, 4, 18} {
		want, _ := Branch(p.Sites[i].Addr, p.Sites[i].Stub)
		if got := w.word(site); got != want {
			t.Errorf("site %d: %#x, want %#x", i, got, want)
		}
		if p.Sites[i].Stub-p.Own.At >= ownSize || nocgo.Load32(p.Sites[i].Stub) == 0 {
			t.Errorf("site %d has no stub in the library", i)
		}
	}
	at := p.Sites[0].Stub - p.Own.At
	if nocgo.Load64(p.Own.Returns+8*(ownBridges+ownAnys)) != uint64(p.Sites[0].Addr+4) {
		t.Errorf("the address after the site of the stub at %#x is not there", at)
	}
	if got := protections(t, w.base+atLib, p.Own.At, p.Own.Returns); got != "r-xp r-xp r-xp " {
		t.Errorf("afterwards text is %s", got)
	}
	p.Undo()
	if w.word(1) != SVC || w.word(4) != SVC || w.word(18) != SVC {
		t.Error("Undo left a branch")
	}
	if got := protections(t, w.base+atLib); got != "r-xp " {
		t.Errorf("after Undo text is %s", got)
	}
}

// TestRewriteFar has a room for stubs that no site reaches.
func TestRewriteFar(t *testing.T) {
	w := rewritable(t)
	p := &w.plan
	p.Own.used = [3]int{}
	if !p.rewrite() {
		t.Fatal("not published")
	}
	if got := protections(t, w.base+atLib, p.Own.At, p.Own.Returns); got != "r-xp r-xp r-xp " {
		t.Errorf("afterwards text is %s", got)
	}
	p.Undo()
	p.Own.At = 0
	if p.rewrite() {
		t.Error("published without knowing that text can be made executable again")
	}
}

// TestRewriteFails moves the second site to where there is no svc: the first must be taken back, and text be as it was.
func TestRewriteFails(t *testing.T) {
	w := rewritable(t)
	p := &w.plan
	p.Sites[1].Addr += 4
	if p.rewrite() {
		t.Fatal("published")
	}
	if w.word(1) != SVC || p.Sites[0].Published {
		t.Error("the first branch was left")
	}
	if got := protections(t, w.base+atLib, p.Own.At, p.Own.Returns); got != "r-xp r-xp r-xp " {
		t.Errorf("afterwards text is %s", got)
	}
}

// TestNotRefused has a kernel that writes text through the file, or the way around is what Publish took.
func TestNotRefused(t *testing.T) {
	w := rewritable(t)
	p := &w.plan
	if !p.Publish() {
		t.Fatal("not published")
	}
	if got := protections(t, w.base+atLib, p.Own.At, p.Own.Returns); got != "r-xp r-xp r-xp " {
		t.Errorf("afterwards text is %s", got)
	}
}
