package tree

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// AddDeb adds the files of a Debian package for which keep (given the path without a leading slash) says yes.
// A nil keep keeps all. Device nodes and the like are left out: no package the rig uses needs one.
func (t *Tree) AddDeb(deb string, keep func(name string) bool) error {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	var said strings.Builder
	cmd.Stderr = &said
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("dpkg-deb: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("dpkg-deb: %w; install the package dpkg", err)
	}
	addErr := t.AddTar(pipe, keep)
	io.Copy(io.Discard, pipe)
	if err := cmd.Wait(); err != nil && addErr == nil {
		addErr = fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	if addErr != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(deb), addErr)
	}
	return nil
}

// AddTar adds the entries of a tar stream, as AddDeb does.
func (t *Tree) AddTar(r io.Reader, keep func(name string) bool) error {
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := clean(h.Name)
		if name == "" || keep != nil && !keep(name) {
			continue
		}
		n := &Node{Mode: uint32(h.Mode) & 0o7777, UID: h.Uid, GID: h.Gid}
		switch h.Typeflag {
		case tar.TypeDir:
			n.Kind = Dir
		case tar.TypeReg:
			n.Kind = File
			if n.Data, err = io.ReadAll(in); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		case tar.TypeSymlink:
			n.Kind, n.Target = Symlink, h.Linkname
		case tar.TypeLink:
			first, err := t.Lookup(h.Linkname)
			if err != nil {
				return fmt.Errorf("hard link %s: %w", name, err)
			}
			*n = *first
		default:
			continue
		}
		if err := t.Add(name, n); err != nil {
			return err
		}
	}
}
