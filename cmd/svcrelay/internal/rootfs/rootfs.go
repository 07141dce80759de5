// Package rootfs puts the library into a guest's root file system and takes it out again. All paths are resolved
// inside the rootfs, absolute links too, and no name can lead out of it.
package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Where things are in the guest.
const (
	// Library is the library's path in the guest.
	Library = "/usr/local/lib/svcrelay/libsvcrelay.so"
	preload = "/etc/ld.so.preload"
)

// The loaders that tell which C library a rootfs has.
var (
	glibcLoaders = []string{"/lib/ld-linux-aarch64.so.1", "/lib64/ld-linux-aarch64.so.1", "/usr/lib/ld-linux-aarch64.so.1", "/usr/lib64/ld-linux-aarch64.so.1"}
	muslLoaders  = []string{"/lib/ld-musl-aarch64.so.1", "/usr/lib/ld-musl-aarch64.so.1"}
)

// Tree is a root file system.
type Tree struct {
	dir  string
	root *os.Root
}

// Open opens the rootfs in dir.
func Open(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the rootfs: %w", err)
	}
	return &Tree{dir, root}, nil
}

// Close closes the rootfs.
func (t *Tree) Close() error { return t.root.Close() }

// Glibc says whether programs of the rootfs read /etc/ld.so.preload: musl's do not. A rootfs without an arm64
// loader of either kind is an error.
func (t *Tree) Glibc() (bool, error) {
	has := func(loaders []string) bool {
		for _, l := range loaders {
			if p, err := t.resolve(l); err == nil {
				if st, err := t.root.Lstat(p); err == nil && st.Mode().IsRegular() {
					return true
				}
			}
		}
		return false
	}
	switch {
	case has(glibcLoaders):
		return true, nil
	case has(muslLoaders):
		return false, nil
	}
	return false, fmt.Errorf("%s has neither glibc's nor musl's arm64 loader (such as %s): is it an arm64 rootfs?", t.dir, glibcLoaders[0])
}

// Put copies the library into the rootfs.
func (t *Tree) Put(library io.Reader) error {
	p, err := t.resolve(Library)
	if err != nil {
		return err
	}
	if err := t.root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return t.failed("create the directory of "+Library, err)
	}
	content, err := io.ReadAll(library)
	if err != nil {
		return fmt.Errorf("the library: %w", err)
	}
	return t.replace(p, content, 0o755)
}

// Remove deletes the library, and its directory if nothing else is in it.
func (t *Tree) Remove() (bool, error) {
	p, err := t.resolve(Library)
	if err != nil {
		return false, err
	}
	err = t.root.Remove(p)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, t.failed("remove "+Library, err)
	}
	t.root.Remove(path.Dir(p)) // stays if something else is in it
	return true, nil
}

// SetPreload adds the library to /etc/ld.so.preload or takes it out, and says whether the file changed. All other
// entries and comments stay; a file without any is removed.
func (t *Tree) SetPreload(want bool) (bool, error) {
	p, err := t.resolve(preload)
	if err != nil {
		return false, err
	}
	mode := fs.FileMode(0o644)
	if st, err := t.root.Lstat(p); err == nil {
		if !st.Mode().IsRegular() {
			return false, fmt.Errorf("%s in %s is not a file", preload, t.dir)
		}
		mode = st.Mode().Perm()
	}
	old, err := t.root.ReadFile(p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, t.failed("read "+preload, err)
	}
	text := edit(string(old), want)
	if text == string(old) {
		return false, nil
	}
	if text == "" {
		if err := t.root.Remove(p); err != nil {
			return false, t.failed("remove "+preload, err)
		}
		return true, nil
	}
	if err := t.root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return false, t.failed("create the directory of "+preload, err)
	}
	return true, t.replace(p, []byte(text), mode)
}

// edit adds the library to the text of an ld.so.preload or takes it out. Entries are separated by spaces, tabs,
// line ends or colons, and a comment runs from "#" to the end of its line.
func edit(text string, want bool) string {
	var out strings.Builder
	found := false
	for line := range strings.Lines(text) {
		body, comment := line, ""
		if i := strings.IndexAny(line, "#\n"); i >= 0 {
			body, comment = line[:i], line[i:]
		}
		kept := ""
		for rest := body; rest != ""; {
			n := strings.IndexAny(rest, " \t:")
			entry, separator := rest, ""
			if n >= 0 {
				entry, separator = rest[:n], rest[n:n+1]
			}
			rest = rest[len(entry)+len(separator):]
			if entry == Library {
				found = true
				if !want {
					continue
				}
			}
			kept += entry + separator
		}
		if !want && kept != body {
			if kept = strings.TrimRight(kept, " \t:"); kept == "" && comment == "\n" {
				continue // the line was ours alone
			}
		}
		out.WriteString(kept + comment)
	}
	if want && !found {
		if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(Library + "\n")
	}
	return out.String()
}

// replace writes a file under another name and renames it, so that a guest sees the old or the new content.
func (t *Tree) replace(p string, content []byte, mode fs.FileMode) error {
	temp := path.Join(path.Dir(p), "."+path.Base(p)+".svcrelay-new")
	t.root.Remove(temp) // of an attempt that was interrupted
	f, err := t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return t.failed("write /"+p, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = t.root.Rename(temp, p)
	}
	if err != nil {
		t.root.Remove(temp)
		return t.failed("write /"+p, err)
	}
	return nil
}

func (t *Tree) failed(what string, err error) error {
	return fmt.Errorf("cannot %s in %s: %w", what, t.dir, err)
}

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 40

// resolve follows all links of a guest path, with "/" meaning the rootfs, and returns it relative to the rootfs.
// What does not exist is taken as it is written.
func (t *Tree) resolve(guest string) (string, error) {
	done := ""
	rest := strings.Split(guest, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if done = path.Dir(done); done == "." {
				done = ""
			}
			continue
		}
		next := path.Join(done, name)
		st, err := t.root.Lstat(next)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", t.failed("look at /"+next, err)
		}
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s in %s leads through too many links", guest, t.dir)
		}
		text, err := t.root.Readlink(next)
		if err != nil {
			return "", t.failed("read the link /"+next, err)
		}
		if strings.HasPrefix(text, "/") {
			done = ""
		}
		rest = append(strings.Split(text, "/"), rest...)
	}
	return done, nil
}
