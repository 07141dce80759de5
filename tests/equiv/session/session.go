// Package session runs comparisons in the test VM: it puts the program that compares, the executor and the libraries
// into a VM and brings back the report.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svcrelay/tests/equiv/cases"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

const (
	dir   = "/opt/equiv" // in the VM
	guest = "bookworm"
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
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(req.Seconds+180) * time.Second
	job.Files[dir+"/request.json"] = rig.File{Data: text}
	job.Commands = []rig.Command{{Name: "equiv", Argv: []string{dir + "/vm"}, Timeout: limit}}
	job.Return = []string{"/tmp/equiv.json"}
	job.Timeout = limit + 2*time.Minute
	res, err := rig.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	out, ok := res.Files["/tmp/equiv.json"]
	if !ok || res.Status != 0 {
		return nil, fmt.Errorf("the comparison in the VM ended with status %d: %s%s%s", res.Status, res.Outcomes[0].Problem, res.Outcomes[0].Stdout, res.Outcomes[0].Stderr)
	}
	reply := &cases.Reply{}
	return reply, json.Unmarshal(out, reply)
}

func (t Tools) job(ctx context.Context, tmp string) (rig.Job, error) {
	job := rig.Job{Kernel: t.Kernel, Guests: []string{guest}, Files: map[string]rig.File{}, KeepOn: true, ICount: t.ICount}
	if job.Kernel == "" {
		job.Kernel = "6.12"
	}
	top, err := repo.Root()
	if err != nil {
		return job, err
	}
	if t.Dist == "" {
		t.Dist = filepath.Join(top, "dist")
	}
	if t.Library == "" {
		t.Library = filepath.Join(t.Dist, "libsvcrelay.so")
	}
	if err := repo.BuildARM64("tests/equiv/vm", filepath.Join(tmp, "vm")); err != nil {
		return job, err
	}
	cc, err := toolchain.For(ctx, guest)
	if err != nil {
		return job, err
	}
	sources, err := filepath.Glob(filepath.Join(top, "tests/equiv/guest/*.c"))
	if err != nil {
		return job, err
	}
	if err := cc.Compile(ctx, filepath.Join(tmp, "equiv"), sources, "-pthread"); err != nil {
		return job, err
	}
	for to, from := range map[string]string{
		"vm": filepath.Join(tmp, "vm"), "equiv": filepath.Join(tmp, "equiv"), "libsvcrelay.so": t.Library,
		"svcrelay": filepath.Join(t.Dist, "svcrelay-arm64"), "libsvcrelay-tracer.so": filepath.Join(t.Dist, "libsvcrelay-tracer.so"),
	} {
		if _, err := os.Stat(from); err != nil {
			return job, fmt.Errorf("%w; build it with ./build.sh", err)
		}
		job.Files[dir+"/"+to] = rig.File{HostPath: from}
	}
	if t.PRoot != "" {
		job.Files[rig.PRootPath] = rig.File{HostPath: t.PRoot}
	}
	return job, nil
}
