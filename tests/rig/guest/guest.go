// Package guest assembles root file systems from Debian packages, as layers of an initramfs: the guests that
// PRoot runs, and the small system of the VM itself that PRoot runs on.
package guest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/tree"
)

// Dir is the directory in the VM that holds the guests by name.
const Dir = "/guests"

// layerFormat is part of every layer's name: raise it when layers come out differently from the same packages.
const layerFormat = "3"

type definition struct {
	suite string
	names []string
	only  string   // as in debian.Set
	keep  []string // of what is otherwise dropped
	owner int      // user and group of every file
}

var minimal = []string{"bash", "coreutils", "dash", "findutils"}

var guests = map[string]definition{
	"bookworm": {suite: "bookworm", names: []string{"bash", "coreutils", "dash", "findutils", "tar", "grep", "sed", "python3"}},
	"bullseye": {suite: "bullseye", names: minimal},
	"debugger": {suite: "bookworm", names: []string{"bash", "coreutils", "dash", "gdb-minimal"}},
	"trixie":   {suite: "trixie", names: minimal},
	"forky":    {suite: "forky", names: minimal},
	"sid":      {suite: "sid", names: minimal},
	"musl":     {suite: "bookworm", names: []string{"musl", "busybox-static"}, only: "musl|busybox-static"},
	"musl-sid": {suite: "sid", names: []string{"musl", "busybox-static"}, only: "musl|busybox-static"},
	"programs": {suite: "bookworm", keep: []string{"usr/share/perl5"}, owner: 1000, names: []string{"bash", "coreutils", "dash", "findutils", "tar", "gzip", "grep",
		"sed", "diffutils", "debianutils", "libc-bin", "dpkg", "apt", "git", "nodejs", "gcc", "libc6-dev", "make", "perl", "python3", "python3-venv", "rsync", "sqlite3"}},
}

// host is what the VM's own root holds beside PRoot: a shell and tools that need no library, and PRoot's libraries.
var host = definition{suite: "bookworm", names: []string{"libc6", "libtalloc2", "busybox-static"}, only: "libc6|libgcc-s1|libtalloc2|busybox-static"}

// dropped are parts of packages that no test looks at.
var dropped = []string{"usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
	"usr/share/zoneinfo", "usr/share/bash-completion", "usr/share/doc-base", "usr/share/bug", "usr/share/terminfo",
	"usr/lib/aarch64-linux-gnu/gconv", "lib/aarch64-linux-gnu/gconv", "usr/share/perl5", "usr/share/i18n"}

// Names returns the guests that Layer knows.
func Names() []string { return slices.Sorted(maps.Keys(guests)) }

// Root returns the path of a guest's root inside the VM.
func Root(name string) string { return path.Join(Dir, name) }

// Layer returns a cpio archive with the guest at Root(name).
func Layer(ctx context.Context, name string) (string, error) {
	def, ok := guests[name]
	if !ok {
		return "", fmt.Errorf("no guest %q: there are %s", name, strings.Join(Names(), ", "))
	}
	return layer(ctx, name, def, Root(name))
}

// HostLayer returns a cpio archive with the VM's own root.
func HostLayer(ctx context.Context) (string, error) { return layer(ctx, "host", host, "/") }

// OutlineOf returns the file that describes a layer's directories and symlinks, see tree.AddBelow.
func OutlineOf(layer string) string { return layer + ".outline" }

func layer(ctx context.Context, name string, def definition, at string) (string, error) {
	debs, err := debian.Fetch(ctx, debian.Set{Suite: def.suite, Names: def.names, Only: def.only})
	if err != nil {
		return "", fmt.Errorf("guest %s: %w", name, err)
	}
	unlock, err := cache.Lock("guest-" + name)
	if err != nil {
		return "", err
	}
	defer unlock()
	root, err := cache.Root()
	if err != nil {
		return "", err
	}
	out := filepath.Join(root, "layers", name+"-"+layerFormat+"-"+debian.Digest(debs)+".cpio")
	out, err = cache.Make(out, func(tmp string) error {
		debian.Progress("assembling %s from %d packages", name, len(debs))
		t, err := assemble(debs, def)
		if err != nil {
			return err
		}
		outline, err := t.Outline(at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(OutlineOf(out), outline, 0o644); err != nil {
			return err
		}
		f, err := os.Create(tmp)
		if err != nil {
			return err
		}
		defer f.Close()
		return t.WriteCPIO(f, at)
	})
	if err != nil {
		return "", fmt.Errorf("guest %s: %w", name, err)
	}
	return out, nil
}

func assemble(debs []debian.File, def definition) (*tree.Tree, error) {
	t, err := tree.Skeleton()
	if err != nil {
		return nil, err
	}
	for _, deb := range debs {
		if err := t.AddDeb(deb.Path, def.wants); err != nil {
			return nil, err
		}
	}
	if err := finish(t); err != nil {
		return nil, err
	}
	for _, p := range t.Paths() {
		if n := t.Get(p); def.owner != 0 {
			n.UID, n.GID = def.owner, def.owner
		}
	}
	return t, nil
}

// wants says whether a file of a package becomes part of the guest.
func (def definition) wants(name string) bool {
	for _, d := range dropped {
		if (name == d || strings.HasPrefix(name, d+"/")) && !slices.Contains(def.keep, d) {
			return false
		}
	}
	return true
}

// finish does the little of the packages' install scripts that programs rely on: /bin/sh and busybox's names.
func finish(t *tree.Tree) error {
	for _, shell := range []string{"dash", "bash", "busybox"} {
		if _, err := t.Lookup("bin/" + shell); err == nil {
			if _, err := t.Lookup("bin/sh"); err != nil {
				if err := t.Symlink("bin/sh", shell); err != nil {
					return err
				}
			}
			break
		}
	}
	if _, err := t.Lookup("bin/busybox"); err != nil {
		return nil
	}
	for _, applet := range []string{"cat", "chmod", "cp", "date", "dd", "echo", "env", "find", "grep", "head", "hexdump",
		"id", "kill", "ln", "ls", "mkdir", "mount", "mv", "ps", "pwd", "readlink", "rm", "rmdir", "sed", "seq", "sleep",
		"sort", "stat", "tail", "tar", "test", "time", "touch", "true", "umount", "uname", "wc", "xargs", "cmp", "diff",
		"false", "od", "tee", "timeout", "tr", "cut", "awk", "chroot", "sha256sum", "md5sum", "du", "mknod", "mkfifo"} {
		if _, err := t.Lookup("bin/" + applet); err != nil {
			if err := t.Symlink("bin/"+applet, "busybox"); err != nil {
				return err
			}
		}
	}
	return nil
}
