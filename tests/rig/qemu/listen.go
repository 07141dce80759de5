package qemu

import (
	"bytes"
	"io"
	"os"
	"strings"
	"time"
)

// listen calls said with every line that is appended to a file, which need not be there yet, until stop is called.
func listen(file string, said func(line string)) (stop func()) {
	if said == nil {
		return func() {}
	}
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var rest []byte
		at := int64(0)
		for more := true; more; {
			select {
			case <-end:
				more = false // what came last is still read
			case <-time.After(300 * time.Millisecond):
			}
			text := from(file, at)
			at += int64(len(text))
			rest = append(rest, text...)
			for {
				line, after, ok := bytes.Cut(rest, []byte("\n"))
				if !ok {
					break
				}
				said(strings.TrimRight(string(line), "\r"))
				rest = after
			}
		}
	}()
	return func() { close(end); <-done }
}

// from reads a file from an offset on.
func from(file string, at int64) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, at, 1<<40))
	return text
}
