// Package tree is a file tree in memory, on its way from Debian packages to an initramfs: owners, modes and
// links are kept without being root and without touching the disk.
package tree

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Kind says what a node is.
type Kind int

// The kinds of node a tree can hold.
const (
	Dir Kind = iota
	File
	Symlink
)

// Node is one entry. Data belongs to files, Target to symlinks.
type Node struct {
	Kind     Kind
	Mode     uint32 // permission bits, with set-id and sticky
	UID, GID int
	Data     []byte
	Target   string

	below bool // part of the tree that this one is laid over
}

// Tree maps clean paths without a leading slash to nodes. The root itself is not in it.
type Tree struct {
	nodes map[string]*Node
}

// New returns an empty tree.
func New() *Tree { return &Tree{nodes: map[string]*Node{}} }

// Mkdir adds a directory and its parents.
func (t *Tree) Mkdir(name string, mode uint32) error {
	return t.Add(name, &Node{Kind: Dir, Mode: mode})
}

// WriteFile adds a regular file.
func (t *Tree) WriteFile(name string, data []byte, mode uint32) error {
	return t.Add(name, &Node{Kind: File, Mode: mode, Data: data})
}

// Symlink adds a symbolic link.
func (t *Tree) Symlink(name, target string) error {
	return t.Add(name, &Node{Kind: Symlink, Mode: 0o777, Target: target})
}

// Add puts a node at name, below directories that are symlinks if need be (a merged /usr), and makes missing
// parents. A directory over an existing directory or a symlink to one changes nothing.
func (t *Tree) Add(name string, n *Node) error {
	name = clean(name)
	if name == "" {
		return nil
	}
	dir, err := t.resolve(path.Dir(name), 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t.mkparents(dir)
	full := clean(path.Join(dir, path.Base(name)))
	if n.Kind == Dir {
		if old := t.nodes[full]; old != nil && (old.Kind == Symlink || old.Kind == Dir) {
			return nil
		}
	}
	t.nodes[full] = n
	return nil
}

// Remove drops a path and everything below it.
func (t *Tree) Remove(name string) {
	name = clean(name)
	for p := range t.nodes {
		if p == name || strings.HasPrefix(p, name+"/") {
			delete(t.nodes, p)
		}
	}
}

// Lookup follows symlinks in every position and returns the node, or fs.ErrNotExist.
func (t *Tree) Lookup(name string) (*Node, error) {
	p, err := t.resolve(clean(name), 0)
	if err != nil {
		return nil, err
	}
	if n := t.nodes[p]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// Paths returns all paths, sorted: parents come before what is in them.
func (t *Tree) Paths() []string {
	out := make([]string, 0, len(t.nodes))
	for p := range t.nodes {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// Get returns the node at exactly this path.
func (t *Tree) Get(name string) *Node { return t.nodes[clean(name)] }

func (t *Tree) mkparents(dir string) {
	for dir = clean(dir); dir != "" && t.nodes[dir] == nil; dir = clean(path.Dir(dir)) {
		t.nodes[dir] = &Node{Kind: Dir, Mode: 0o755}
	}
}

func (t *Tree) resolve(name string, links int) (string, error) {
	if links > 40 {
		return "", fmt.Errorf("too many symlinks")
	}
	parts := strings.Split(clean(name), "/")
	at := ""
	for i, part := range parts {
		at = clean(path.Join(at, part))
		n := t.nodes[at]
		if n == nil || n.Kind != Symlink {
			continue
		}
		target := n.Target
		if !path.IsAbs(target) {
			target = path.Join("/", path.Dir(at), target)
		}
		return t.resolve(path.Join(append([]string{target}, parts[i+1:]...)...), links+1)
	}
	return at, nil
}

func clean(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}
