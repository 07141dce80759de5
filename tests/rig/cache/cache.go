// Package cache keeps what the rig fetches and builds outside the source tree, so that a second run costs seconds.
//
// Everything in it is derived data: removing the directory is always safe.
package cache

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Root returns the cache directory: $SVCRELAY_CACHE, else svcrelay below the user's cache directory.
func Root() (string, error) {
	if dir := os.Getenv("SVCRELAY_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the cache: %w; set SVCRELAY_CACHE to a directory", err)
	}
	return filepath.Join(base, "svcrelay"), nil
}

// Dir returns a directory below Root, made if it does not exist.
func Dir(elem ...string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(append([]string{root}, elem...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w; set SVCRELAY_CACHE to a directory that can be written", err)
	}
	return dir, nil
}

// Lock takes an exclusive lock by name between all processes that share the cache, and returns its release.
// The kernel drops it when the holder dies, so nothing is left stuck.
func Lock(name string) (release func(), err error) {
	dir, err := Dir("locks")
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cache lock %s: %w", name, err)
	}
	how := unix.LOCK_EX | unix.LOCK_NB
	for {
		err = unix.Flock(int(f.Fd()), how)
		if err == unix.EWOULDBLOCK {
			fmt.Fprintf(os.Stderr, "rig: waiting for another process that uses %q\n", name)
			how = unix.LOCK_EX
			continue
		}
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cache lock %s: %w", name, err)
	}
	return func() { f.Close() }, nil
}

// Make returns path if it exists, and otherwise calls build with a temporary name beside it and renames the
// result into place, so that an interrupted build never leaves a half-made file behind. Callers hold a Lock.
func Make(path string, build func(tmp string) error) (string, error) {
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	tmp := path + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	if err := build(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, path); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return path, nil
}

// Keep is Make for FOLDER/NAME below Root, with a lock of the given name held.
func Keep(lock, folder, name string, build func(tmp string) error) (string, error) {
	unlock, err := Lock(lock)
	if err != nil {
		return "", err
	}
	defer unlock()
	root, err := Root()
	if err != nil {
		return "", err
	}
	return Make(filepath.Join(root, folder, name), build)
}
