package qemu

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestListen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "console")
	heard := make(chan string, 10)
	stop := listen(file, func(l string) { heard <- l })
	write := func(s string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	write("one\r\ntw")
	select {
	case l := <-heard:
		if l != "one" {
			t.Fatalf("heard %q", l)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was heard")
	}
	write("o\nthree\nno end")
	stop()
	close(heard)
	var rest []string
	for l := range heard {
		rest = append(rest, l)
	}
	if !slices.Equal(rest, []string{"two", "three"}) {
		t.Errorf("heard %q", rest)
	}
}
