package tracer

import (
	"encoding/binary"
	"os"
	"runtime"
	"testing"

	"svcrelay/translate"
)

// The board that guests find is one for translate, and it is made only where guests have a key.
func TestMakeBoard(t *testing.T) {
	const link = "/proc/self/fd/200"
	for _, env := range [][]string{nil, {"A=1"}, {"PROOT_FASTPATH="}, {"XPROOT_FASTPATH=k"}} {
		b := newBlock(env...)
		makeBoard(b.address())
		runtime.KeepAlive(b)
		if _, err := os.Readlink(link); err == nil {
			t.Fatalf("a board for %q", env)
		}
	}
	b := newBlock("A=1", "PROOT_FASTPATH=k")
	makeBoard(b.address())
	runtime.KeepAlive(b)
	if text, err := os.Readlink(link); err != nil || text != "/memfd:svcrelay-board (deleted)" {
		t.Fatal(text, err)
	}
	f := os.NewFile(boardDescriptor, "board")
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() != translate.BoardSize {
		t.Fatal(st, err)
	}
	content := make([]byte, 8)
	if _, err := f.ReadAt(content, 0); err != nil || binary.LittleEndian.Uint64(content) != translate.BoardMagic {
		t.Errorf("begins with %q, %v", content, err)
	}
}
