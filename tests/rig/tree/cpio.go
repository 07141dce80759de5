package tree

import (
	"fmt"
	"io"
	"path"

	"github.com/cavaliergopher/cpio"
)

// WriteCPIO writes the tree as a cpio archive of the kind the kernel unpacks, each path below prefix. Archives
// may be put one behind the other: later ones add to and replace what earlier ones brought.
func (t *Tree) WriteCPIO(w io.Writer, prefix string) error {
	counted := &counter{w: w}
	out := cpio.NewWriter(counted)
	prefix = clean(prefix)
	for _, dir := range parents(prefix) {
		if err := out.WriteHeader(&cpio.Header{Name: dir, Mode: cpio.TypeDir | 0o755, Links: 2}); err != nil {
			return fmt.Errorf("cpio %s: %w", dir, err)
		}
	}
	for _, p := range t.Paths() {
		if t.nodes[p].below {
			continue
		}
		if err := writeNode(out, path.Join(prefix, p), t.nodes[p]); err != nil {
			return fmt.Errorf("cpio %s: %w", p, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("cpio: %w", err)
	}
	// The kernel wants the next archive on a multiple of four bytes; 512 is what cpio programs use.
	if rest := counted.n % 512; rest != 0 {
		if _, err := w.Write(make([]byte, 512-rest)); err != nil {
			return fmt.Errorf("cpio: %w", err)
		}
	}
	return nil
}

func parents(dir string) []string {
	if dir == "" {
		return nil
	}
	return append(parents(clean(path.Dir("/"+dir))), dir)
}

func writeNode(out *cpio.Writer, name string, n *Node) error {
	h := &cpio.Header{Name: name, Uid: n.UID, Guid: n.GID, Links: 1}
	data := n.Data
	switch n.Kind {
	case Dir:
		h.Mode, h.Links, data = cpio.TypeDir, 2, nil
	case File:
		h.Mode = cpio.TypeReg
	case Symlink:
		h.Mode, data = cpio.TypeSymlink, []byte(n.Target)
	}
	h.Mode |= cpio.FileMode(n.Mode)
	h.Size = int64(len(data))
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err := out.Write(data)
	return err
}

// counter knows how much went through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
