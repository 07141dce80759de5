// Package kernel provides Debian's arm64 kernels by version, and the modules the rig needs to return results.
package kernel

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/protocol"
	"svcrelay/tests/rig/tree"
)

type source struct{ suite, pkg string }

// sources says which suite brings which kernel.
var sources = map[string]source{
	"5.10":     {"bullseye", "linux-image-arm64"},
	"6.1":      {"bookworm", "linux-image-arm64"},
	"6.12":     {"trixie", "linux-image-arm64"},
	"6.12-16k": {"trixie", "linux-image-arm64-16k"},
	"7.2":      {"forky", "linux-image-arm64"},
}

// wanted modules, in loading order. Those a kernel has built in are not in its packages.
var wanted = []string{"virtio", "virtio_ring", "virtio_mmio", "virtio_blk"}

// Kernel is one kernel, ready to boot.
type Kernel struct {
	Image   string   // path of the Image file
	Layer   string   // path of a cpio archive with the modules at protocol.ModuleDir
	Modules []string // their file names in loading order
}

// Names returns the kernels that Get knows.
func Names() []string { return slices.Sorted(maps.Keys(sources)) }

// Get fetches and unpacks a kernel.
func Get(ctx context.Context, name string) (*Kernel, error) {
	src, ok := sources[name]
	if !ok {
		return nil, fmt.Errorf("no kernel %q: there are %s", name, strings.Join(Names(), ", "))
	}
	debs, err := debian.Fetch(ctx, debian.Set{Suite: src.suite, Names: []string{src.pkg}, Only: "linux-(image|binary|modules)-[0-9].*"})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	dir, err := cache.Keep("kernel-"+name, "kernels", name+"-"+debian.Digest(debs), func(tmp string) error { return unpack(debs, tmp) })
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	k := &Kernel{Image: filepath.Join(dir, "Image"), Layer: filepath.Join(dir, "modules.cpio")}
	list, err := os.ReadFile(filepath.Join(dir, "modules"))
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	k.Modules = strings.Fields(string(list))
	return k, nil
}

// unpack writes Image, modules.cpio and the list of modules into dir.
func unpack(debs []debian.File, dir string) error {
	all := tree.New()
	for _, deb := range debs {
		err := all.AddDeb(deb.Path, func(name string) bool {
			return strings.HasPrefix(name, "boot/vmlinuz-") || strings.Contains(name, "vmlinuz") || strings.Contains(path.Base(name), "virtio")
		})
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	modules, found := tree.New(), []string{}
	image := false
	for _, p := range all.Paths() {
		n := all.Get(p)
		if n.Kind == tree.File && strings.HasPrefix(path.Base(p), "vmlinuz") {
			if err := os.WriteFile(filepath.Join(dir, "Image"), n.Data, 0o644); err != nil {
				return err
			}
			image = true
		}
	}
	if !image {
		return fmt.Errorf("no vmlinuz in the packages")
	}
	for _, want := range wanted {
		for _, p := range all.Paths() {
			name, _, isModule := strings.Cut(path.Base(p), ".ko")
			if !isModule || name != want {
				continue
			}
			data, err := expand(p, all.Get(p).Data)
			if err != nil {
				return err
			}
			if err := modules.WriteFile(want+".ko", data, 0o644); err != nil {
				return err
			}
			found = append(found, want+".ko")
		}
	}
	var layer bytes.Buffer
	if err := modules.WriteCPIO(&layer, protocol.ModuleDir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "modules.cpio"), layer.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "modules"), []byte(strings.Join(found, "\n")), 0o644)
}

// expand undoes a module's compression.
func expand(name string, data []byte) ([]byte, error) {
	var tool string
	switch path.Ext(name) {
	case ".ko":
		return data, nil
	case ".xz":
		tool = "xz"
	case ".zst":
		tool = "zstd"
	default:
		return nil, fmt.Errorf("%s: compressed in a way the rig does not know", name)
	}
	cmd := exec.Command(tool, "-dc")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %s -dc: %w; is %s installed?", name, tool, err, tool)
	}
	return out, nil
}
