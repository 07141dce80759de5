// Package product puts what the source tree builds into a job of the test VM, and says how guests are started with it.
package product

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

// Where things are: the command and the shim in the VM, the library in each guest.
const (
	Command = "/opt/svcrelay/svcrelay"
	Shim    = "/opt/svcrelay/libsvcrelay-tracer.so"
	Library = "/usr/lib/libsvcrelay.so"
)

// Add adds the command and the shim to a job, and the library to each of its guests. They come from the directory dist;
// an empty name stands for dist/ of the source tree.
func Add(job *rig.Job, dist string) error {
	if dist == "" {
		top, err := repo.Root()
		if err != nil {
			return err
		}
		dist = filepath.Join(top, "dist")
	}
	files := map[string]string{Command: "svcrelay-arm64", Shim: "libsvcrelay-tracer.so"}
	for _, g := range job.Guests {
		files[guest.Root(g)+Library] = "libsvcrelay.so"
	}
	if job.Files == nil {
		job.Files = map[string]rig.File{}
	}
	for at, name := range files {
		file := filepath.Join(dist, name)
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%w; build it with ./build.sh", err)
		}
		job.Files[at] = rig.File{HostPath: file}
	}
	return nil
}

// Compile compiles C files of tests/guest for a guest and adds the program to the job, in the guest, at a path. The source is
// a file's name or a pattern for several. The directory tmp must be there until the job has run; it keeps one program of each
// name.
func Compile(ctx context.Context, job *rig.Job, tmp, name, source, at string, flags ...string) error {
	top, err := repo.Root()
	if err != nil {
		return err
	}
	cc, err := toolchain.For(ctx, name)
	if err != nil {
		return err
	}
	sources, err := filepath.Glob(filepath.Join(top, "tests/guest", source))
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("tests/guest/%s: no such file, %v", source, err)
	}
	out := filepath.Join(tmp, name+"-"+filepath.Base(at))
	if err := cc.Compile(ctx, out, sources, flags...); err != nil {
		return err
	}
	if job.Files == nil {
		job.Files = map[string]rig.File{}
	}
	job.Files[guest.Root(name)+at] = rig.File{HostPath: out}
	return nil
}

// Run returns the arguments that run argv with the library in a guest that is entered by proot, PRoot's command line.
func Run(proot []string, argv ...string) []string {
	args := append([]string{Command, "run", "--"}, proot...)
	return append(append(args, "/usr/bin/env", "LD_PRELOAD="+Library), argv...)
}
