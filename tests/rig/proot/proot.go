// Package proot builds the unmodified PRoot release that the tests run under, from Debian's source package.
package proot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/toolchain"
)

// Version is the PRoot release, and origSum the SHA-256 of its source archive.
const (
	Version = "5.4.0"
	origSum = "29248aac2a7ce10c3bd5ee5602742ec33b2532310ff9cf73b79f3c133e5a5f68"
)

const buildFormat = "2"

// Program returns the path of PRoot for arm64, linked against the libraries of guest.HostLayer. Debian's own
// arm64 package cannot be used: it is built without the seccomp accelerator. SVCRELAY_PROOT names another one, to run any
// test by hand under it.
func Program(ctx context.Context) (string, error) {
	if other := os.Getenv("SVCRELAY_PROOT"); other != "" {
		_, err := os.Stat(other)
		return other, err
	}
	orig, err := debian.Fetch(ctx, debian.Set{Suite: "forky", Names: []string{"proot"}, Only: `proot_.*\.orig\.tar\.gz`, Source: true})
	if err != nil {
		return "", fmt.Errorf("PRoot's source: %w", err)
	}
	if len(orig) != 1 || orig[0].SHA256 != origSum {
		return "", fmt.Errorf("PRoot's source: the archive has %s, not release %s with SHA-256 %s", orig[0].Name, Version, origSum)
	}
	cc, err := toolchain.For(ctx, "bookworm")
	if err != nil {
		return "", err
	}
	key := Version + "-" + buildFormat + "-" + filepath.Base(cc.Sysroot)
	out, err := cache.Keep("proot", "proot", key, func(tmp string) error { return build(ctx, cc, orig[0].Path, tmp) })
	if err != nil {
		return "", fmt.Errorf("build PRoot %s: %w", Version, err)
	}
	return out, nil
}

func build(ctx context.Context, cc *toolchain.Toolchain, orig, out string) error {
	debian.Progress("building PRoot %s for arm64", Version)
	dir, err := os.MkdirTemp("", "svcrelay-proot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if said, err := exec.CommandContext(ctx, "tar", "xzf", orig, "-C", dir, "--strip-components=1").CombinedOutput(); err != nil {
		return fmt.Errorf("unpack the source: %w\n%s", err, said)
	}
	args := []string{"-C", filepath.Join(dir, "src"), "-j2", "proot", "V=1",
		// Settings that would otherwise be taken from whatever this machine has.
		"HAS_SWIG=", "HAS_PYTHON_CONFIG=", "GIT=false", "VERSION="}
	for name, tool := range map[string]string{"CC": "gcc", "STRIP": "strip", "OBJCOPY": "objcopy", "OBJDUMP": "objdump"} {
		args = append(args, name+"="+toolchain.Prefix+tool)
	}
	cmd := exec.CommandContext(ctx, "make", args...)
	// In the environment, not as arguments: the makefile appends to these.
	cmd.Env = append(os.Environ(), "LC_ALL=C",
		"CPPFLAGS="+strings.Join(cc.CompileFlags(), " "),
		"LDFLAGS="+strings.Join(append([]string{"--sysroot=" + cc.Sysroot}, cc.LinkFlags()...), " ")+" -ltalloc")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("make: %w\n%s", err, lastLines(string(said), 30))
	}
	text, err := os.ReadFile(filepath.Join(dir, "src", "build.h"))
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`(?m)^#define HAVE_SECCOMP_FILTER`).Match(text) {
		return fmt.Errorf("its makefile did not find seccomp filters to work; build.h says:\n%s", text)
	}
	program, err := os.ReadFile(filepath.Join(dir, "src", "proot"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, program, 0o755)
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
