package main

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"text/tabwriter"

	"svcrelay/relay"
	"svcrelay/scan"
)

const scanText = `Say which system calls of a C library or dynamic loader svcrelay redirects, and which not, and why.

Usage:
  svcrelay scan [options] FILE...
  svcrelay scan [options] --rootfs DIR
  svcrelay scan [options] --library libsvcrelay.so
`

// scanLibraries runs "svcrelay scan".
func scanLibraries(args []string, out, errs io.Writer) error {
	f := flags("scan", scanText, out)
	asJSON := f.Bool("json", false, "print JSON, one object for each file")
	rootfs := f.String("rootfs", "", "scan the C libraries and loaders of the rootfs `DIR`")
	library := f.String("library", "", "say what `FILE`, a libsvcrelay.so, takes of a process: stack, memory, sections")
	if err := parse(f, args); err != nil {
		return err
	}
	files := f.Args()
	if *library != "" {
		if *rootfs != "" || len(files) > 0 {
			return fmt.Errorf("--library goes with nothing else: %w scan", errUsage)
		}
		return describe(*library, *asJSON, out)
	}
	if *rootfs != "" {
		found, err := libraries(*rootfs)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return fmt.Errorf("no file given: %w scan", errUsage)
	}
	failed := 0
	for _, name := range files {
		r, err := scan.File(name, relay.Wanted())
		if err != nil {
			fmt.Fprintln(errs, "svcrelay: scan:", err)
			failed++
			continue
		}
		if *asJSON {
			err = json.NewEncoder(out).Encode(r)
		} else {
			err = show(out, r)
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be scanned", failed, len(files))
	}
	return nil
}

// libraries finds what the constructor looks for, in the places where distributions put it, links not followed.
func libraries(root string) ([]string, error) {
	names := map[string]bool{"libc.so.6": true, "ld-linux-aarch64.so.1": true, "libpthread.so.0": true, "librt.so.1": true,
		"libc.so": true, "ld-musl-aarch64.so.1": true, "libc.musl-aarch64.so.1": true}
	// Where names are links to versions (glibc up to 2.33), the files have the version in their names.
	patterns := []string{"libc-2.*.so", "ld-2.*.so", "libpthread-2.*.so", "librt-2.*.so"}
	var found []string
	for _, top := range []string{"lib", "usr/lib", "lib64", "usr/lib64"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
					return nil
				}
				return err
			}
			match := names[d.Name()]
			for _, p := range patterns {
				ok, _ := filepath.Match(p, d.Name())
				match = match || ok
			}
			if match && d.Type().IsRegular() && isELF(path) { // libc.so may also be a linker script
				found = append(found, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: there is no C library in lib, usr/lib or lib64: is it a rootfs?", root)
	}
	sort.Strings(found)
	return found, nil
}

// isELF looks at the first bytes of a file. One that cannot be read counts: scanning it will say why.
func isELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	_, err = io.ReadFull(f, magic)
	return err == nil && string(magic) == elf.ELFMAG
}

// show prints a report for people: figures, calls, dispatchers, and then every site of interest with its reason. The
// sites that have nothing to do with files are only counted.
func show(out io.Writer, r *scan.Report) error {
	fmt.Fprintf(out, "%s\n  %s, build-id %s\n", r.File, or(r.Version, "unknown version"), or(r.BuildID, "none"))
	fmt.Fprintf(out, "  %d svc instructions; calls with paths: %d of %d redirected; dispatchers: %d of %d\n\n",
		r.SVC, r.Path.Patched, r.Path.Total, r.Dispatchers.Patched, r.Dispatchers.Total)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  call\tsites\tredirected\n")
	for _, name := range slices.Sorted(maps.Keys(r.Calls)) {
		fmt.Fprintf(w, "  %s\t%d\t%d\n", name, r.Calls[name].Total, r.Calls[name].Patched)
	}
	if len(r.Dispatchers.List) > 0 {
		fmt.Fprintf(w, "\n  dispatcher\tat\thandled\n")
	}
	for _, d := range r.Dispatchers.List {
		fmt.Fprintf(w, "  %s\t%#x\t%s\n", d.Name, d.Offset, d.How)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Patched) > 0 {
		fmt.Fprintf(w, "\n  redirected\tcall\tin\tas\n")
	}
	for _, s := range r.Patched {
		fmt.Fprintf(w, "  %#x\t%s\t%s\t%s\n", s.Offset, s.Syscall, s.Symbol, s.As)
	}
	reasons := map[string]int{}
	for i, s := range r.Unpatched {
		if i == 0 {
			fmt.Fprintf(w, "\n  left\tcall\tin\twhy\n")
		}
		if s.Why == scan.NoFile {
			reasons[s.Why]++
			continue
		}
		fmt.Fprintf(w, "  %#x\t%s\t%s\t%s\n", s.Offset, s.Syscall, s.Symbol, s.Why)
	}
	for why, n := range reasons {
		fmt.Fprintf(w, "  %d more\t\t\t%s\n", n, why)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
