package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"svcrelay/cmd/svcrelay/internal/beside"
	"svcrelay/cmd/svcrelay/internal/rootfs"
)

const installUsage = `Usage: svcrelay install [options] ROOTFS

Copies the library to ` + rootfs.Library + ` in ROOTFS and adds it to
/etc/ld.so.preload there, so that every dynamically linked program loads it. Other entries stay. Without PRoot, or
under a PRoot that was not started by svcrelay run, the library does nothing.
`

const libraryName = "libsvcrelay.so"

// install puts the library into a rootfs or takes it out.
func install(args []string, out, errs io.Writer) error {
	f := flags("install", installUsage, out)
	file := f.String("library", "", "the library to copy (default: "+libraryName+" beside svcrelay)")
	remove := f.Bool("remove", false, "undo an installation")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("svcrelay install needs one rootfs, not %d: %w install", f.NArg(), errUsage)
	}
	dir := f.Arg(0)
	if err := notThisMachine(dir); err != nil {
		return err
	}
	t, err := rootfs.Open(dir)
	if err != nil {
		return err
	}
	defer t.Close()
	if *remove {
		return uninstall(t, dir, out)
	}

	library, err := readLibrary(*file)
	if err != nil {
		return err
	}
	glibc, err := t.Glibc()
	if err != nil {
		return err
	}
	if err := t.Put(bytes.NewReader(library)); err != nil {
		return err
	}
	if !glibc {
		fmt.Fprintf(out, "%s is in %s now.\nThis rootfs has musl, which does not read /etc/ld.so.preload: start it with\n"+
			"  svcrelay run --guest-preload %s proot ...\nor set LD_PRELOAD=%s in the guest.\n", rootfs.Library, dir, rootfs.Library, rootfs.Library)
		return nil
	}
	changed, err := t.SetPreload(true)
	if err != nil {
		return err
	}
	if changed {
		fmt.Fprintf(out, "%s is in %s now, and in its /etc/ld.so.preload.\n", rootfs.Library, dir)
	} else {
		fmt.Fprintf(out, "%s in %s is up to date; it was in /etc/ld.so.preload already.\n", rootfs.Library, dir)
	}
	return nil
}

// uninstall takes the entry out before the library, so that no program looks for a library that is gone.
func uninstall(t *rootfs.Tree, dir string, out io.Writer) error {
	entry, err := t.SetPreload(false)
	if err != nil {
		return err
	}
	library, err := t.Remove()
	if err != nil {
		return err
	}
	if entry || library {
		fmt.Fprintf(out, "%s is no longer in %s.\n", rootfs.Library, dir)
	} else {
		fmt.Fprintf(out, "Nothing of svcrelay was in %s.\n", dir)
	}
	return nil
}

// readLibrary reads the library and makes sure that a guest can load it.
func readLibrary(file string) ([]byte, error) {
	if file == "" {
		var err error
		if file, err = beside.Find(libraryName, "--library"); err != nil {
			return nil, err
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the library: %w", err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil || f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s is not an arm64 shared library", file)
	}
	return b, nil
}

// notThisMachine refuses "/" unless this program is traced, that is, "/" is a guest's.
func notThisMachine(dir string) error {
	here, err := os.Stat("/")
	if err != nil {
		return nil
	}
	there, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the rootfs %s does not exist", dir)
	}
	if err != nil || !os.SameFile(here, there) {
		return nil
	}
	if b, err := os.ReadFile("/proc/self/status"); err != nil || strings.Contains(string(b), "\nTracerPid:\t0\n") {
		return fmt.Errorf("%s is this machine itself, not the rootfs of a guest", dir)
	}
	return nil
}
