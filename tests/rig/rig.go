// Package rig runs jobs in a virtual arm64 machine that needs no acceleration: a Debian kernel, Debian guests, an
// unmodified PRoot, and whatever files and commands a test adds. A job takes a few seconds; with ICount its times
// count instructions and repeat on any machine.
package rig

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/debian"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/kernel"
	"svcrelay/tests/rig/proot"
	"svcrelay/tests/rig/protocol"
	"svcrelay/tests/rig/qemu"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/tree"
)

// Command is one program to run in the VM, Outcome what became of it.
type (
	Command = protocol.Command
	Outcome = protocol.Outcome
)

// File is one file to add to the VM: Data, or the contents of HostPath, or a symlink to Link.
type File struct {
	Data     []byte
	HostPath string
	Link     string
	Mode     uint32 // permission bits; default 0755
	UID, GID int
}

// Job describes one boot of the VM. The zero value of each field but Commands is a sensible choice.
type Job struct {
	Kernel   string          // see kernel.Names; default 6.1
	CPU      string          // default cortex-a76; max has SVE, SME, BTI, PAC, MTE
	CPUs     int             // default 1; only without ICount
	ICount   bool            // one instruction is one nanosecond
	Guests   []string        // see guest.Names; each is at guest.Root(name)
	Files    map[string]File // by absolute path in the VM
	Commands []Command
	KeepOn   bool          // run the rest after a command that failed
	Return   []string      // globs of VM paths (files, or directories with all that is in them) to bring back
	Timeout  time.Duration // of this machine's time; default 5 minutes
	MemoryMB int           // default 2048
}

// Result is what came back.
type Result struct {
	Kernel   string // uname -r
	PageSize int
	Status   int       // of the first command that failed, else 0
	Outcomes []Outcome // of the commands that ran, in order
	Files    map[string][]byte
	Links    map[string]string // symlinks among the returned files
	Console  string
}

// PRootPath is where PRoot is in the VM.
const PRootPath = "/usr/bin/proot"

// Run boots the VM, runs the job and returns its results. A command that fails is no error of Run: see
// Result.Status. Only one VM runs at a time on a machine, whatever process asks for it.
func Run(ctx context.Context, job Job) (*Result, error) {
	job.defaults()
	k, layers, err := layers(ctx, job)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "svcrelay-vm-")
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	defer os.RemoveAll(dir)
	last := filepath.Join(dir, "job.cpio")
	if err := writeJob(last, job, k, dir); err != nil {
		return nil, err
	}
	unlock, err := cache.Lock("vm")
	if err != nil {
		return nil, err
	}
	defer unlock()
	m := qemu.Machine{Image: k.Image, Initrds: append(layers, last), CPU: job.CPU, CPUs: job.CPUs, ICount: job.ICount,
		MemoryMB: job.MemoryMB, Timeout: job.Timeout}
	disk, console, err := m.Boot(ctx, dir)
	if err != nil {
		return nil, err
	}
	res, err := readResults(disk)
	if err != nil {
		return nil, fmt.Errorf("the VM's results: %w; its console ends:\n%s", err, qemu.Tail(console))
	}
	res.Console = console
	return res, nil
}

// Prepare fetches and builds everything a job needs, without running it.
func Prepare(ctx context.Context, job Job) error {
	job.defaults()
	_, _, err := layers(ctx, job)
	return err
}

func (job *Job) defaults() {
	if job.Kernel == "" {
		job.Kernel = "6.1"
	}
	if job.CPU == "" {
		job.CPU = "cortex-a76"
	}
	if job.CPUs == 0 || job.ICount {
		job.CPUs = 1
	}
	if job.Timeout == 0 {
		job.Timeout = 5 * time.Minute
	}
	if job.MemoryMB == 0 {
		job.MemoryMB = 2048
	}
}

func layers(ctx context.Context, job Job) (*kernel.Kernel, []string, error) {
	k, err := kernel.Get(ctx, job.Kernel)
	if err != nil {
		return nil, nil, err
	}
	host, err := guest.HostLayer(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := []string{host, k.Layer}
	for _, name := range job.Guests {
		layer, err := guest.Layer(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, layer)
	}
	if _, err := proot.Program(ctx); err != nil {
		return nil, nil, err
	}
	return k, out, nil
}

// writeJob makes the last layer: init, PRoot, the job and its files.
func writeJob(out string, job Job, k *kernel.Kernel, scratch string) error {
	t := tree.New()
	init := filepath.Join(scratch, "init")
	if err := repo.BuildARM64("tests/rig/init", init); err != nil {
		return err
	}
	pr, err := proot.Program(context.Background())
	if err != nil {
		return err
	}
	described, err := json.Marshal(protocol.Job{Modules: k.Modules, Commands: job.Commands, Return: job.Return, KeepOn: job.KeepOn})
	if err != nil {
		return err
	}
	files := map[string]File{"/init": {HostPath: init}, PRootPath: {HostPath: pr}, protocol.JobPath: {Data: described}}
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

// readResults reads the archive that init wrote.
func readResults(disk string) (*Result, error) {
	f, err := os.Open(disk)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	res := &Result{Files: map[string][]byte{}, Links: map[string]string{}}
	for in := tar.NewReader(f); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("incomplete: the VM stopped before it had written them all")
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		switch {
		case h.Name == protocol.EndName:
			return res, nil
		case h.Name == protocol.ReportName:
			if err := res.report(data); err != nil {
				return nil, err
			}
		case h.Typeflag == tar.TypeSymlink:
			res.Links[strings.TrimPrefix(h.Name, protocol.FilePrefix)] = h.Linkname
		default:
			res.Files[strings.TrimPrefix(h.Name, protocol.FilePrefix)] = data
		}
	}
}

func (res *Result) report(text []byte) error {
	var r protocol.Report
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return err
	}
	res.Kernel, res.PageSize, res.Outcomes = r.Kernel, r.PageSize, r.Outcomes
	for _, o := range r.Outcomes {
		if o.Status != 0 && res.Status == 0 {
			res.Status = o.Status
		}
	}
	return nil
}

// Quiet turns off the progress messages of fetching and building.
func Quiet() { debian.Progress = func(string, ...any) {} }
