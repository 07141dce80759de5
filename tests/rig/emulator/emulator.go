// Package emulator provides an emulator that is newer than the machine's own, for what processors have that the latter
// does not know. The rest is left to the machine's own, which everybody has.
package emulator

import (
	"context"
	"fmt"
	"path/filepath"

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
