// Package rig runs jobs in a virtual arm64 machine that needs no acceleration: a Debian kernel, Debian guests, an
// unmodified PRoot, and whatever files and commands a test adds. A job takes a few seconds; with ICount its times
// count instructions and repeat on any machine.
package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"svcrelay/tests/rig/cache"
	"svcrelay/tests/rig/emulator"
	"svcrelay/tests/rig/protocol"
	"svcrelay/tests/rig/qemu"
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
	Newer    bool            // with a newer emulator than the machine's own: max has GCS, too
	CPUs     int             // default 1; only without ICount
	ICount   bool            // one instruction is one nanosecond
	Guests   []string        // see guest.Names; each is at guest.Root(name)
	Files    map[string]File // by absolute path in the VM
	Commands []Command
	KeepOn   bool              // run the rest after a command that failed
	Return   []string          // globs of VM paths (files, or directories with all that is in them) to bring back
	Timeout  time.Duration     // of this machine's time; default 5 minutes
	MemoryMB int               // default 2048
	Said     func(line string) // if not nil, called with every line of the VM's console, soon after it was written

	KernelOptions string // on the kernel's command line, besides what the machine needs
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
	Took     time.Duration // from starting the machine to its end, in this machine's time
}

// PRootPath is where PRoot is in the VM.
const PRootPath = "/usr/bin/proot"

// Run boots the VM, runs the job and returns its results. A command that fails is no error of Run: see
// Result.Status. No more VMs run at a time on
// a machine than slots allow, whatever process asks for them.
func Run(ctx context.Context, job Job) (*Result, error) {
	job.defaults()
	b, err := prepare(ctx, job)
	if err != nil {
		return nil, err
	}
	var program []string
	if job.Newer {
		if program, err = emulator.System(ctx); err != nil {
			return nil, err
		}
	}
	scratch, err := os.MkdirTemp("", "svcrelay-job-")
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	defer os.RemoveAll(scratch)
	last := filepath.Join(scratch, "job.cpio")
	if err := b.writeJob(last, job, scratch); err != nil {
		return nil, err
	}
	slot, unlock, err := cache.LockAny(ctx, slots()...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// A directory for each slot, emptied while its lock is held: a killed test leaves nothing for long.
	dir, err := freshDir(slot)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	m := qemu.Machine{Program: program, Image: b.kernel.Image, Initrds: append(b.archives, last), CPU: job.CPU, CPUs: job.CPUs, ICount: job.ICount,
		MemoryMB: job.MemoryMB, Timeout: job.Timeout, Said: job.Said, Options: job.KernelOptions}
	start := time.Now()
	disk, console, err := m.Boot(ctx, dir)
	if err != nil {
		return nil, err
	}
	res, err := readResults(disk)
	if err != nil {
		return nil, fmt.Errorf("the VM's results: %w; its console ends:\n%s", err, qemu.Tail(console))
	}
	res.Console, res.Took = console, time.Since(start)
	return res, nil
}

// slots names the places for VMs: one for each core, two at the most. A VM keeps one core busy.
func slots() []string {
	if runtime.NumCPU() < 2 {
		return []string{"vm"}
	}
	return []string{"vm", "vm-2"}
}

// Prepare fetches and builds everything a job needs, without running it.
func Prepare(ctx context.Context, job Job) error {
	job.defaults()
	_, err := prepare(ctx, job)
	return err
}

func freshDir(name string) (string, error) {
	root, err := cache.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("rig: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("rig: %w", err)
	}
	return dir, nil
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
