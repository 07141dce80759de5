package tree

import (
	"encoding/json"
	"fmt"
	"path"
)

// Outline describes the directories and symlinks of a tree at prefix, without what is in files: all that is needed
// to lay another archive over it.
func (t *Tree) Outline(prefix string) ([]byte, error) {
	out := map[string]*Node{}
	for _, dir := range parents(clean(prefix)) {
		out[dir] = &Node{Kind: Dir, Mode: 0o755}
	}
	for p, n := range t.nodes {
		if n.Kind == File {
			continue
		}
		shown := *n
		if n.Kind == Symlink && path.IsAbs(n.Target) {
			shown.Target = path.Join("/", prefix, n.Target) // as its programs will see it
		}
		out[clean(path.Join(prefix, p))] = &shown
	}
	return json.Marshal(out)
}

// AddBelow makes the tree an addition to one that is already there, given by its Outline: names go through its
// symlinks, and its directories are left as they are. Nothing of it is written again.
func (t *Tree) AddBelow(outline []byte) error {
	var below map[string]*Node
	if err := json.Unmarshal(outline, &below); err != nil {
		return fmt.Errorf("outline: %w", err)
	}
	for p, n := range below {
		n.below = true
		t.nodes[p] = n
	}
	return nil
}
