package tree

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteDir writes the tree to a directory on disk, for compilers: owners and times are not kept.
func (t *Tree) WriteDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range t.Paths() {
		n, to := t.nodes[p], filepath.Join(dir, p)
		var err error
		switch n.Kind {
		case Dir:
			err = os.MkdirAll(to, 0o755)
		case File:
			err = os.WriteFile(to, n.Data, os.FileMode(n.Mode)&0o755|0o600)
		case Symlink:
			err = os.Symlink(n.Target, to)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", p, err)
		}
	}
	return nil
}
