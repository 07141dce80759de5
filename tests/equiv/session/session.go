// Package session runs comparisons in the test VM: it puts the program that compares, the executor and the libraries
// into a VM and brings back the report.
package session

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

const (
	dir = "/opt/equiv" // in the VM
	in  = "bookworm"   // the guest whose C library the executor has
)

// Tools are the built files that a session puts into the VM.
type Tools struct {
	Dist    string // directory with svcrelay-arm64 and the libraries
	Library string // libsvcrelay.so; default: the one in Dist
	PRoot   string // another PRoot; default: the rig's
	Kernel  string // default 6.12, whose tmpfs has user attributes
	ICount  bool   // see rig.Job
}

// Run runs one request in one VM.
func Run(ctx context.Context, tools Tools, req cases.Request) (*cases.Reply, error) {
	tmp, err := os.MkdirTemp("", "svcrelay-equiv-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	job, err := tools.job(ctx, tmp)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(req.Seconds+180) * time.Second
	if err := product.AddProgram(&job, tmp, "tests/equiv/vm", dir, req, limit); err != nil {
		return nil, err
	}
	job.Timeout = limit + 2*time.Minute
	res, err := rig.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	out, err := product.Reply(res)
	if err != nil {
		return nil, err
	}
	reply := &cases.Reply{}
	return reply, json.Unmarshal(out, reply)
}

func (t Tools) job(ctx context.Context, tmp string) (rig.Job, error) {
	job := rig.Job{Kernel: t.Kernel, Guests: []string{in}, KeepOn: true, ICount: t.ICount}
	if job.Kernel == "" {
		job.Kernel = "6.12"
	}
	if err := product.Add(&job, t.Dist); err != nil {
		return job, err
	}
	top, err := repo.Root()
	if err != nil {
		return job, err
	}
	cc, err := toolchain.For(ctx, in)
	if err != nil {
		return job, err
	}
	sources, err := filepath.Glob(filepath.Join(top, "tests/equiv/guest/*.c"))
	if err != nil {
		return job, err
	}
	executor := filepath.Join(tmp, "equiv")
	if err := cc.Compile(ctx, executor, sources, "-pthread"); err != nil {
		return job, err
	}
	job.Files[dir+"/equiv"] = rig.File{HostPath: executor}
	for at, other := range map[string]string{guest.Root(in) + product.Library: t.Library, rig.PRootPath: t.PRoot} {
		if other != "" {
			job.Files[at] = rig.File{HostPath: other}
		}
	}
	return job, nil
}
