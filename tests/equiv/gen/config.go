// Package gen makes cases from a seed: worlds full of links and bindings, and scripts that ask about them and change
// them in ordinary and in hostile ways. The same seed gives the same case on any machine.
package gen

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"svcrelay/tests/equiv/cases"
)

// Configs are the names of the configurations.
var Configs = []string{"plain", "bindings", "root-id", "change-id", "link2symlink", "proot-distro"}

// host is where the directories are that bindings show.
const host = cases.Top + "/h"

// options returns PRoot's options in a configuration, and which host directories it shows where.
func options(config string) (args []string, binds [][2]string) {
	switch config {
	case "plain":
	case "bindings":
		binds = [][2]string{
			{host + "/one", "/b/one"}, {host + "/one/a", "/b/one/nested"}, {host + "/one", "/b/two"}, {host + "/one/file", "/t/bound-file"},
			{host + "/two", "/glue/x/y"}, {host + "/dirlink", "/b/link"}, {cases.Top + "/nothing", "/b/missing"}, {host + "/two", "/t/covered"},
			{host + "/three", "/t/a/mounted"}, {cases.Root + "/t", "/alias"}, {host + "/two/file", "/glue/z/file"}, {host + "/one/b", "/b/one/b"},
		}
		for i := range 12 {
			binds = append(binds, [2]string{fmt.Sprintf("%s/m%d", host, i), fmt.Sprintf("/m/%d", i)})
		}
	case "root-id":
		args = []string{"-0"}
	case "change-id":
		args = []string{"-i", "1000:1000"}
	case "link2symlink":
		args = []string{"--link2symlink"}
	case "proot-distro":
		// Its login line, as far as PRoot 5.4.0 knows it: --sysvipc, -L and -H it has not. The directory in which everything
		// lies stands for Termux's prefix.
		args = []string{"--kill-on-exit", "--link2symlink", `--kernel-release=\Linux\localhost\6.17.0-PRoot-Distro\#1 SMP PREEMPT_DYNAMIC\aarch64\localdomain\-1\`,
			"--change-id=0:0", "-b", "/sys"}
		const storage = host + "/storage"
		binds = [][2]string{
			{"/dev/urandom", "/dev/random"}, {"/proc/self/fd", "/dev/fd"},
			{"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
			{host + "/empty", "/sys/fs/selinux"}, {host + "/fake/loadavg", "/proc/loadavg"}, {host + "/fake/stat", "/proc/stat"}, {host + "/fake/version", "/proc/version"},
			{host + "/fake/cap", "/proc/sys/kernel/cap_last_cap"}, {host + "/two", "/dev/shm"},
			{storage, storage}, {storage + "/emulated/0", "/sdcard"}, {storage + "/emulated/0", "/mnt/sdcard"}, {host + "/apps", host + "/apps"},
			{host + "/one", "/data/one"}, {cases.Top, cases.Top}, {host + "/two", "/t/covered"},
		}
	}
	for _, b := range binds {
		args = append(args, "-b", b[0]+":"+b[1])
	}
	return args, binds
}

// Case makes a case of a configuration with about n operations.
func Case(config string, seed uint64, n int) (*cases.Case, error) {
	if !slices.Contains(Configs, config) {
		return nil, fmt.Errorf("there is no configuration %q; there are %v", config, Configs)
	}
	h := fnv.New64a()
	h.Write([]byte(config))
	g := &generator{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), c: &cases.Case{Name: fmt.Sprintf("%s-%d", config, seed)}}
	g.c.Note = fmt.Sprintf("Configuration %s, seed %d.", config, seed)
	if g.IntN(2) == 0 {
		g.c.UID = 1000
	}
	args, binds := options(config)
	if config == "proot-distro" && g.IntN(2) == 0 {
		// Most hosts have these; proot-distro binds them all the same, apart from its newest versions.
		for _, l := range [][2]string{{"fd", ""}, {"stdin", "/0"}, {"stdout", "/1"}, {"stderr", "/2"}} {
			g.c.World = append(g.c.World, cases.Entry{Kind: cases.Link, Path: cases.Dev + "/" + l[0], Text: "/proc/self/fd" + l[1]})
		}
	}
	if config == "proot-distro" {
		// Where Termux's fork keeps the contents of what has several names; PRoot 5.4.0 does not look at it.
		g.c.Env = append(g.c.Env, "PROOT_L2S_DIR="+cases.Root+"/.l2s")
		g.c.World = append(g.c.World, cases.Entry{Kind: cases.Dir, Path: cases.Root + "/.l2s", Mode: 0o755, UID: g.c.UID, GID: g.c.UID})
	}
	g.c.Options = append(args, "-w", []string{"/", "/t", "/t/a", "/nowhere"}[g.pick(6, 3, 3, 1)])
	g.world(binds)
	g.script(n)
	return g.c, nil
}

type generator struct {
	*rand.Rand
	c     *cases.Case
	taken map[string]cases.Kind
	known []name // what is likely to exist in the guest
	dirs  []string
	procs []*process
}

// name is a file by its guest path.
type name struct {
	path string
	kind cases.Kind
}

// pick returns an index with probabilities that go as the weights.
func (g *generator) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.IntN(sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	return 0
}

func one[E any](g *generator, of []E) E { return of[g.IntN(len(of))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }
