package main

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"svcrelay/tests/equiv/cases"
)

// streams are standard input and output of PRoot. They lie in the world: with bindings of /proc/self/fd/0 and its like a script
// gets at them by name. Standard error is a pipe, which PRoot cannot bind: the library says more there than PRoot alone.
type streams struct{ in, out *os.File }

// openStreams makes them in a world that has just been built. The script is to be read from the first.
func openStreams(c *cases.Case) (*streams, error) {
	if err := os.Mkdir(cases.Streams, 0o755); err != nil {
		return nil, err
	}
	script := strings.Join(c.Script, "\n") + "\n"
	if err := os.WriteFile(cases.Streams+"/in", []byte(script), 0o644); err != nil {
		return nil, err
	}
	s := &streams{}
	at := unix.NsecToTimespec(cases.Elsewhen * 1e9)
	for _, f := range []struct {
		name string
		file **os.File
	}{{"/in", &s.in}, {"/out", &s.out}, {"", nil}} {
		var err error
		if f.file != nil {
			*f.file, err = os.OpenFile(cases.Streams+f.name, os.O_RDWR|os.O_CREATE, 0o644)
		}
		if err == nil {
			err = os.Chown(cases.Streams+f.name, c.UID, c.UID)
		}
		if err == nil {
			err = unix.UtimesNanoAt(unix.AT_FDCWD, cases.Streams+f.name, []unix.Timespec{at, at}, 0)
		}
		if err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *streams) close() {
	for _, f := range []*os.File{s.in, s.out} {
		f.Close()
	}
}
