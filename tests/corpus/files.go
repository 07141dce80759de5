package corpus

import (
	"path"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/tree"
)

// AddTo adds a tree's files and links to a job's files, below the directory at of the VM. Directories come from
// what is in them.
func AddTo(files map[string]rig.File, t *tree.Tree, at string) {
	for _, p := range t.Paths() {
		n := t.Get(p)
		switch n.Kind {
		case tree.File:
			f := rig.File{Data: n.Data, Mode: n.Mode}
			if f.Data == nil {
				f.Data = []byte{}
			}
			files[path.Join(at, p)] = f
		case tree.Symlink:
			files[path.Join(at, p)] = rig.File{Link: n.Target}
		}
	}
}
