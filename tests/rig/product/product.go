// Package product puts what the source tree builds into a job of the test VM, and says how guests are started with it.
package product

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/inside"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

// Where things are: the command and the shim in the VM, the library in each guest.
const (
	Command = inside.Command
	Shim    = inside.Shim
	Library = inside.Library
)

// Built returns the path of a file that ./build.sh makes, in the directory dist; an empty name stands for dist/ of the source
// tree.
func Built(dist, name string) (string, error) {
	if dist == "" {
		top, err := repo.Root()
		if err != nil {
			return "", err
		}
		dist = filepath.Join(top, "dist")
	}
	file := filepath.Join(dist, name)
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%w; build it with ./build.sh", err)
	}
	return file, nil
}

// Add adds the command and the shim to a job, and the library to each of its guests. They come from the directory dist, see
// Built. The library is at Library, or where places say.
func Add(job *rig.Job, dist string, places ...string) error {
	if len(places) == 0 {
		places = []string{Library}
	}
	type file struct {
		name string
		mode uint32
	}
	files := map[string]file{Command: {"svcrelay-arm64", 0o755}, Shim: {"libsvcrelay-tracer.so", 0o644}}
	for _, g := range job.Guests {
		for _, p := range places {
			files[guest.Root(g)+p] = file{"libsvcrelay.so", 0o644}
		}
	}
	if job.Files == nil {
		job.Files = map[string]rig.File{}
	}
	for at, f := range files {
		path, err := Built(dist, f.name)
		if err != nil {
			return err
		}
		job.Files[at] = rig.File{HostPath: path, Mode: f.mode}
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
func Run(proot []string, argv ...string) []string { return RunWith(Library, proot, argv...) }

// RunWith does so with the library that is at a path in the guest.
func RunWith(library string, proot []string, argv ...string) []string {
	args := append([]string{Command, "run", "--"}, proot...)
	return append(append(args, "/usr/bin/env", "LD_PRELOAD="+library), argv...)
}
