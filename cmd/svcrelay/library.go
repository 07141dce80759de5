package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"svcrelay/relay/about"
)

// describe runs "svcrelay scan --library": what libsvcrelay.so takes of a process, as the file itself says.
func describe(name string, asJSON bool, out io.Writer) error {
	l, err := aboutFile(name)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(l)
	}
	return showLibrary(out, l)
}

func aboutFile(name string) (*about.Library, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := about.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l.File = name
	return l, nil
}

// showLibrary prints the figures for people.
func showLibrary(out io.Writer, l *about.Library) error {
	fmt.Fprintf(out, "%s\n  build-id %s\n", l.File, or(l.BuildID, "none"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(n any, what string, args ...any) {
		fmt.Fprintf(w, "  %v\t  %s\n", n, fmt.Sprintf(what, args...))
	}
	line(l.Stack, "bytes of stack below the program's, at most, while a call is answered; of these")
	line(l.Frame, "bytes for the registers that are saved")
	line(l.Scratch, "bytes for the scratch area of a call")
	line(l.Stack-l.Frame-l.Scratch, "bytes for the compiled code")
	for _, p := range slices.Sorted(maps.Keys(l.Mapped)) {
		line(l.Mapped[p], "bytes of the library mapped %s", p)
	}
	line(about.PageSize, "bytes for the trampoline page at %#x, and as many for the count of moves", l.Trampoline)
	line(l.Relays.Own, "bytes of .text for the relays of %d sites; for others, mappings in whole pages, each with", l.Relays.Places)
	line(l.Relays.Head, "bytes for all its sites")
	line(l.Relays.Fixed, "bytes for a site that makes one call")
	line(l.Relays.Any, "bytes for a site that makes any call, and %d for each call that must not go unseen", l.Relays.Effect)
	line(l.Relays.Bridge, "bytes for a call of the function that makes cancellable calls")
	line(l.Relays.Sites, "sites at most")
	for _, s := range slices.Sorted(maps.Keys(l.Sections)) {
		line(l.Sections[s], "bytes of %s", s)
	}
	return w.Flush()
}
