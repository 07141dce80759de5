// Package corpus generates the file trees that guests are tested and measured on, and lists the paths worth
// asking about. Everything is the same in every run.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"path"

	"svcrelay/tests/rig/tree"
)

// DemoDir is where the demo's tree lies in a guest.
const DemoDir = "/srv/tree"

// The shape of the demo's tree: 15 x 12 directories with 14 entries each are 2,700 files, links included.
const (
	demoTops    = 15
	demoSubs    = 12
	demoEntries = 14
)

// Demo returns a tree like those of source packages: small files in nested directories, and among them
// relative and absolute symlinks to files and directories, some of them dangling. It is to be laid at DemoDir.
func Demo() (*tree.Tree, error) {
	t, rnd := tree.New(), rand.New(rand.NewPCG(2026, 11))
	files := 0
	for i := range demoTops {
		top := fmt.Sprintf("%s-%02d", words[i%len(words)], i)
		for j := range demoSubs {
			dir := path.Join(top, fmt.Sprintf("%s%d", words[(i+j)%len(words)], j))
			if j%3 == 2 {
				dir = path.Join(top, fmt.Sprintf("%s%d", words[(i+j-1)%len(words)], j-1), "inner", "most")
			}
			for k := range demoEntries {
				name := path.Join(dir, fmt.Sprintf("%s_%02d%s", words[rnd.IntN(len(words))], k, suffixes[rnd.IntN(len(suffixes))]))
				if err := demoEntry(t, rnd, k, top, dir, name); err != nil {
					return nil, err
				}
				files++
			}
		}
	}
	return t, t.WriteFile("README", fmt.Appendf(nil, "%d generated files\n", files), 0o644)
}

func demoEntry(t *tree.Tree, rnd *rand.Rand, k int, top, dir, name string) error {
	switch k {
	case 3:
		return t.Symlink(name, fmt.Sprintf("../%s", path.Base(dir)))
	case 6:
		return t.Symlink(name, path.Join(DemoDir, top))
	case 9:
		return t.Symlink(name, "nothing-here")
	case 12:
		return t.Symlink(name, path.Join(DemoDir, "README"))
	}
	data := make([]byte, rnd.IntN(1500))
	for i := range data {
		data[i] = "abcdefghijklmnopqrstuvwxyz0123456789 \n"[rnd.IntN(38)]
	}
	return t.WriteFile(name, data, []uint32{0o644, 0o644, 0o600, 0o755}[rnd.IntN(4)])
}

var (
	words = []string{"alpha", "branch", "cache", "delta", "entry", "field", "graph", "handle", "index", "join",
		"kernel", "label", "module", "node", "offset", "parser", "queue", "record", "signal", "table"}
	suffixes = []string{".c", ".h", ".py", ".txt", ".o", ".json", ""}
)
