// Package broken makes a libsvcrelay.so with faults in it, one of which a variable in the environment chooses: a
// comparison that does not see them proves nothing.
package broken

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"svcrelay/tests/rig/repo"
)

// Variable is the environment variable that chooses the fault by its number; only the faulty library knows it.
const Variable = "PROOT_FP_FAULT"

// Result returns the number of the fault in the result of a system call, and Buffer of the one in what it writes.
func Result(nr int) int { return nr }
func Buffer(nr int) int { return 500 + nr }

// Faults that are not about one system call.
const (
	NeverForget = 901 // our own changes leave what is remembered
	NeverMove   = 902 // the current directory stays what it was believed to be
)

type edit struct {
	file, find, put string
}

var edits = []edit{
	{"relay/dispatch.go", `(?m)^\tret, why := view\.Handle\(s, &f\.Call\)$`, `	view.Keep()
	ret, why := view.Handle(s, &f.Call)
	view.PutBack(fault)
	if why == 0 && uint64(f.Call.Nr) == fault {
		if ret < 1<<31 {
			ret = nocgo.Fail(5) // EIO: libc's functions make 0 of any success
		} else {
			ret ^= 1
		}
	}
	if why == 0 && uint64(f.Call.Nr)+500 == fault && ret < 1<<31 {
		spoil(&f.Call)
	}`},
	{"relay/dispatch.go", `\z`, `
// spoil changes a byte of what a call wrote.
func spoil(c *translate.Call) {
	at := c.Arg[1]
	switch c.Nr {
	case 17:
		at = c.Arg[0]
	case 78:
		at = c.Arg[2]
	case 79:
		at = c.Arg[2] + 16
	case 291:
		at = c.Arg[4] + 20
	}
	nocgo.Store8(at, nocgo.Load8(at)^1)
}
`},
	{"relay/config.go", `(?m)^\tcase "STATS":$`, `	case "FAULT":
		if v, ok := number(value); ok {
			fault = v
		}
	case "STATS":`},
	{"relay/config.go", `\z`, `
var fault uint64
`},
	{"translate/view.go", `\z`, `
var keptGen, keptLinks, keptMoves uint32
var keptPlaces [placeCount]slot

// Keep notes what says that something has changed.
func (v *View) Keep() {
	keptGen, keptLinks, keptMoves = v.gen, v.links, *v.moves()
	keptPlaces = v.places
}

// PutBack makes a call that changed something one that did not.
func (v *View) PutBack(fault uint64) {
	switch fault {
	case 901:
		v.gen, v.links = keptGen, keptLinks
	case 902:
		if keptMoves != *v.moves() {
			*v.moves() = keptMoves
			v.places = keptPlaces
		}
	}
}
`},
}

// Library makes the library below dir and returns its path.
func Library(ctx context.Context, dir string) (string, error) {
	top, err := repo.Root()
	if err != nil {
		return "", err
	}
	src := filepath.Join(dir, "source")
	for _, d := range []string{"nocgo", "translate", "patcher", "relay", "tools", "ldscripts", "go.mod", "go.sum"} {
		if err := copyTree(filepath.Join(top, d), filepath.Join(src, d)); err != nil {
			return "", err
		}
	}
	for _, e := range edits {
		if err := e.apply(src); err != nil {
			return "", err
		}
	}
	gen := exec.CommandContext(ctx, "go", "run", "-trimpath", "./gen")
	gen.Dir = filepath.Join(src, "relay")
	if said, err := gen.CombinedOutput(); err != nil {
		return "", fmt.Errorf("generate the faulty library: %w\n%s", err, said)
	}
	out := filepath.Join(dir, "libsvcrelay.so")
	link := exec.CommandContext(ctx, "aarch64-linux-gnu-ld", "-shared", "-soname", "libsvcrelay.so", "-L", "ldscripts", "-T", "libsvcrelay.ld", "--hash-style=gnu",
		"--build-id=sha1", "--eh-frame-hdr", "-z", "max-page-size=65536", "-z", "noexecstack", "-z", "text", "-z", "nodelete", "--no-undefined",
		"--orphan-handling=error", "--strip-debug", "-o", out, "relay/libsvcrelay.o")
	link.Dir = src
	if said, err := link.CombinedOutput(); err != nil {
		return "", fmt.Errorf("link the faulty library: %w\n%s", err, said)
	}
	return out, nil
}

func (e edit) apply(src string) error {
	file := filepath.Join(src, e.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	re := regexp.MustCompile(e.find)
	if !re.Match(text) {
		return fmt.Errorf("%s has nothing like %s: the fault does not fit the source any more; adapt tests/equiv/broken", e.file, e.find)
	}
	return os.WriteFile(file, re.ReplaceAllLiteral(text, []byte(e.put)), 0o644)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, "_test.go") {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		out := to + strings.TrimPrefix(p, from)
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		return os.WriteFile(out, data, 0o644)
	})
}
