// Package toolchain cross-compiles C programs for arm64 against the C library of a chosen Debian suite, since a
// program linked against a newer glibc does not start in an older guest.
package toolchain

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/tree"
)

// Prefix starts the names of the cross tools; on arm64 machines the native tools have these names too.
const Prefix = "aarch64-linux-gnu-"

const sysrootFormat = "2"

// Toolchain compiles for one libc.
type Toolchain struct {
	Sysroot string
	musl    bool
	include string // the compiler's own headers
}

// suites says where each libc's development files come from. The keys are guest names.
var suites = map[string]struct {
	suite string
	musl  bool
}{
	"bullseye": {"bullseye", false},
	"bookworm": {"bookworm", false},
	"trixie":   {"trixie", false},
	"forky":    {"forky", false},
	"sid":      {"sid", false},
	"musl":     {"bookworm", true},
	"musl-sid": {"sid", true},
}

// For returns the toolchain for programs that run in the named guest.
func For(ctx context.Context, guest string) (*Toolchain, error) {
	def, ok := suites[guest]
	if !ok {
		return nil, fmt.Errorf("no toolchain for guest %q", guest)
	}
	out, err := exec.Command(Prefix+"gcc", "-print-file-name=include").Output()
	if err != nil {
		return nil, fmt.Errorf("%sgcc: %w; install the package gcc-aarch64-linux-gnu (on arm64 machines: gcc)", Prefix, err)
	}
	set := debian.Set{Suite: def.suite, Names: []string{"libc6-dev", "libtalloc-dev", "linux-libc-dev"}, Only: "libc6|libc6-dev|linux-libc-dev|libtalloc2|libtalloc-dev|libcrypt1|libcrypt-dev"}
	if def.musl {
		set.Names, set.Only = []string{"musl-dev", "linux-libc-dev"}, "musl|musl-dev|linux-libc-dev"
	}
	debs, err := debian.Fetch(ctx, set)
	if err != nil {
		return nil, fmt.Errorf("toolchain for %s: %w", guest, err)
	}
	dir, err := cache.Keep("sysroot-"+guest, "sysroots", guest+"-"+sysrootFormat+"-"+debian.Digest(debs), func(tmp string) error {
		t, err := tree.Skeleton()
		if err != nil {
			return err
		}
		for _, deb := range debs {
			if err := t.AddDeb(deb.Path, nil); err != nil {
				return err
			}
		}
		if err := t.WriteDir(tmp); err != nil {
			return err
		}
		return relink(tmp)
	})
	if err != nil {
		return nil, fmt.Errorf("toolchain for %s: %w", guest, err)
	}
	return &Toolchain{Sysroot: dir, musl: def.musl, include: strings.TrimSpace(string(out))}, nil
}

// relink makes the absolute links below dir relative: the linker would follow them to the host's own files.
func relink(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return err
		}
		to, err := os.Readlink(path)
		if err != nil || !filepath.IsAbs(to) {
			return err
		}
		to, err = filepath.Rel(filepath.Dir(path), filepath.Join(dir, to))
		if err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Symlink(to, path)
	})
}

// CompileFlags returns the compiler's arguments that select the headers.
func (t *Toolchain) CompileFlags() []string {
	usr := filepath.Join(t.Sysroot, "usr")
	flags := []string{"--sysroot=" + t.Sysroot, "-nostdinc"}
	if t.musl {
		return append(flags, "-isystem", filepath.Join(usr, "include/aarch64-linux-musl"), "-isystem", t.include,
			"-isystem", filepath.Join(usr, "include/aarch64-linux-gnu"), "-isystem", filepath.Join(usr, "include"))
	}
	return append(flags, "-isystem", t.include,
		"-isystem", filepath.Join(usr, "include/aarch64-linux-gnu"), "-isystem", filepath.Join(usr, "include"))
}

// LinkFlags returns the arguments that select start files and libraries, to stand behind the objects.
func (t *Toolchain) LinkFlags() []string {
	if t.musl {
		lib := filepath.Join(t.Sysroot, "usr/lib/aarch64-linux-musl")
		return []string{"-nostdlib", "-pie", "-Wl,-dynamic-linker=/lib/ld-musl-aarch64.so.1", filepath.Join(lib, "Scrt1.o"),
			filepath.Join(lib, "crti.o"), "-L" + lib, "-lc", "-lgcc", filepath.Join(lib, "crtn.o")}
	}
	lib := filepath.Join(t.Sysroot, "usr/lib/aarch64-linux-gnu")
	return []string{"-B" + lib + "/", "-L" + lib}
}

// Compile builds one program from C files.
func (t *Toolchain) Compile(ctx context.Context, out string, sources []string, extra ...string) error {
	args := append(t.CompileFlags(), "-O2", "-mno-outline-atomics", // their start-up code wants a newer glibc than 2.31
		"-Wall", "-Wextra", "-Werror", "-o", out)
	args = append(args, sources...)
	args = append(args, extra...)
	args = append(args, t.LinkFlags()...)
	cmd := exec.CommandContext(ctx, Prefix+"gcc", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w\n%s", strings.Join(sources, " "), err, said)
	}
	return nil
}

// CompileCXX builds one program from a C++ file, for a glibc. It brings the compiler's own C++ library with it, so that
// the guest needs none; what unwinds stacks is the guest's libgcc_s, whose symbols only it knows.
func (t *Toolchain) CompileCXX(ctx context.Context, out, source string, extra ...string) error {
	if t.musl {
		return fmt.Errorf("compile %s: there is no C++ library for musl", source)
	}
	args := []string{"--sysroot=" + t.Sysroot, "-O2", "-mno-outline-atomics", "-Wall", "-Wextra", "-Werror", "-static-libstdc++",
		"-Wl,--allow-shlib-undefined", "-o", out, source}
	args = append(args, extra...)
	cmd := exec.CommandContext(ctx, Prefix+"g++", append(args, t.LinkFlags()...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w (is the package g++-aarch64-linux-gnu, on arm64 machines g++, installed?)\n%s", source, err, said)
	}
	return nil
}
