package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/kernel"
	"svcrelay/tests/rig/proot"
	"svcrelay/tests/rig/protocol"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/tree"
)

// base is what a job's initramfs starts with, whatever its files and commands.
type base struct {
	kernel   *kernel.Kernel
	proot    string
	archives []string
	outlines []string
}

// prepare fetches and builds the base of a job.
func prepare(ctx context.Context, job Job) (*base, error) {
	var b base
	var err error
	if b.kernel, err = kernel.Get(ctx, job.Kernel); err != nil {
		return nil, err
	}
	if b.proot, err = proot.Program(ctx); err != nil {
		return nil, err
	}
	host, err := guest.HostLayer(ctx)
	if err != nil {
		return nil, err
	}
	b.archives = []string{host, b.kernel.Layer}
	b.outlines = []string{guest.OutlineOf(host)}
	for _, name := range job.Guests {
		layer, err := guest.Layer(ctx, name)
		if err != nil {
			return nil, err
		}
		b.archives = append(b.archives, layer)
		b.outlines = append(b.outlines, guest.OutlineOf(layer))
	}
	return &b, nil
}

// writeJob makes the last layer: init, PRoot, the job and its files.
func (b *base) writeJob(out string, job Job, scratch string) error {
	t := tree.New()
	for _, outline := range b.outlines {
		text, err := os.ReadFile(outline)
		if err != nil {
			return fmt.Errorf("rig: %w", err)
		}
		if err := t.AddBelow(text); err != nil {
			return fmt.Errorf("rig: %s: %w", outline, err)
		}
	}
	init := filepath.Join(scratch, "init")
	if err := repo.BuildARM64("tests/rig/init", init); err != nil {
		return err
	}
	described, err := json.Marshal(protocol.Job{Modules: b.kernel.Modules, Commands: job.Commands, Return: job.Return, KeepOn: job.KeepOn})
	if err != nil {
		return err
	}
	files := map[string]File{"/init": {HostPath: init}, PRootPath: {HostPath: b.proot}, protocol.JobPath: {Data: described}}
	for name, f := range job.Files {
		files[name] = f
	}
	for name, f := range files {
		if err := addFile(t, name, f); err != nil {
			return fmt.Errorf("rig: file %s: %w", name, err)
		}
	}
	w, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("rig: %w", err)
	}
	defer w.Close()
	return t.WriteCPIO(w, "/")
}

func addFile(t *tree.Tree, name string, f File) error {
	if !filepath.IsAbs(name) {
		return errors.New("the path must be absolute")
	}
	n := &tree.Node{Kind: tree.File, Mode: f.Mode, UID: f.UID, GID: f.GID, Data: f.Data}
	if n.Mode == 0 {
		n.Mode = 0o755
	}
	switch {
	case f.Link != "":
		n.Kind, n.Target = tree.Symlink, f.Link
	case f.HostPath != "":
		data, err := os.ReadFile(f.HostPath)
		if err != nil {
			return err
		}
		n.Data = data
	}
	return t.Add(name, n)
}
