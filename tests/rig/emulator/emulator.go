// Package emulator provides an emulator that is newer than the machine's own, for what processors have that the latter
// does not know. The rest is left to the machine's own, which everybody has.
package emulator

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/tree"
)

// suite has QEMU 11: the guarded control stack came with 10.2.
const suite = "forky"

// User returns the path of a user-mode emulator of arm64. It is a static program.
func User(ctx context.Context) (string, error) {
	const program = "usr/bin/qemu-aarch64"
	dir, err := unpacked(ctx, "user", debian.Set{Suite: suite, Names: []string{"qemu-user"}, Only: "qemu-user", Host: true},
		func(name string) bool { return name == program })
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, program), nil
}

// System returns how a system emulator of arm64 is started: its own dynamic linker, which is told where its libraries are,
// and the program.
func System(ctx context.Context) ([]string, error) {
	const program = "usr/bin/qemu-system-aarch64"
	dir, err := unpacked(ctx, "system", debian.Set{Suite: suite, Names: []string{"qemu-system-arm"}, Only: "qemu-system-arm|lib.*|zlib1g", Host: true},
		func(name string) bool { return name == program || strings.Contains(path.Base(name), ".so") })
	if err != nil {
		return nil, err
	}
	loaders, err := filepath.Glob(filepath.Join(dir, "usr/lib/*/ld-linux-*.so.*"))
	if err != nil || len(loaders) != 1 {
		return nil, fmt.Errorf("emulator: dynamic linkers %v, %v", loaders, err)
	}
	libraries, err := filepath.Glob(filepath.Join(dir, "usr/lib/*-linux-gnu"))
	if err != nil || len(libraries) != 1 {
		return nil, fmt.Errorf("emulator: libraries in %v, %v", libraries, err)
	}
	return []string{loaders[0], "--library-path", libraries[0], filepath.Join(dir, program)}, nil
}

// unpacked gives the directory with some of the files of a set.
func unpacked(ctx context.Context, what string, set debian.Set, keep func(name string) bool) (string, error) {
	debs, err := debian.Fetch(ctx, set)
	if err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	unlock, err := cache.Lock("emulator-" + what)
	if err != nil {
		return "", err
	}
	defer unlock()
	root, err := cache.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "emulators", what+"-"+debian.Digest(debs))
	_, err = cache.Make(dir, func(tmp string) error {
		t := tree.New()
		for _, deb := range debs {
			if err := t.AddDeb(deb.Path, keep); err != nil {
				return err
			}
		}
		return t.WriteDir(tmp)
	})
	if err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	return dir, nil
}
