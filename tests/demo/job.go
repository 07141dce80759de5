package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"svcrelay/tests/corpus"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// Where the programs are, and what the fourth of them does.
const (
	testDir  = "/opt/demo" // in the guest
	imports  = "import argparse, asyncio, email, http.client, json, logging, pathlib, subprocess, tempfile, unittest"
	showMods = "; import sys; print(len(sys.modules)); [print(n, getattr(m, '__file__', None)) for n, m in sorted(sys.modules.items())]"
)

// The columns of the table. Each is a way of running something in the guest.
const (
	native = "native"
	proot  = "proot"
	relay  = "relay"
)

var columns = []string{native, proot, relay}

type program struct {
	name string
	argv []string
}

var programs = []program{
	{"find", []string{"find", corpus.DemoDir}},
	{"ls -lR", []string{"ls", "-lR", corpus.DemoDir}},
	// No --sort: the order of the files is the file system's, which must look the same in every column.
	{"tar c", []string{"tar", "--format=gnu", "-c", "-f", "-", "-C", path.Dir(corpus.DemoDir), path.Base(corpus.DemoDir)}},
	{"python3 -c import", []string{"python3", "-c", imports + showMods}},
}

// guestEnv is what programs get, the same in every column. The hash seed is fixed: python's own choice would
// change the number of instructions from run to run.
var guestEnv = []string{"PATH=/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb", "PYTHONHASHSEED=0"}

func makeJob(ctx context.Context, s settings, tmp string) (rig.Job, error) {
	root := guest.Root(s.guest)
	job := rig.Job{Kernel: s.kernel, ICount: true, Guests: []string{s.guest}, Files: map[string]rig.File{}, KeepOn: true}
	tr, err := corpus.Demo()
	if err != nil {
		return job, err
	}
	corpus.AddTo(job.Files, tr, root+corpus.DemoDir)
	for _, name := range []string{"ops", "timed"} {
		if err := product.Compile(ctx, &job, tmp, s.guest, name+".c", testDir+"/"+name); err != nil {
			return job, err
		}
	}
	if !s.without {
		if err := product.Add(&job, s.dist); err != nil {
			return job, err
		}
	}
	job.Files[root+"/var/preload"] = rig.File{Data: []byte(product.Library + "\n"), Mode: 0o644}

	// Debian compiles python's modules when the package is installed; here the first run does.
	add := func(c rig.Command) { job.Commands = append(job.Commands, c) }
	add(rig.Command{Name: "compile", Root: root, Env: guestEnv, Argv: []string{"python3", "-c", imports}})
	add(rig.Command{Name: "version", Argv: []string{rig.PRootPath, "--version"}})
	for _, column := range columns {
		if column == relay && !s.without {
			// Dropping the library into the guest is all that svcrelay needs there.
			add(rig.Command{Name: "install", Argv: []string{"/bin/cp", root + "/var/preload", root + "/etc/ld.so.preload"}})
			add(s.in(relay, "sites", []string{"PROOT_FP_STATS=1"}, "/bin/true"))
		}
		add(s.in(column, column+" ops", nil, testDir+"/ops", fmt.Sprint(s.calls)))
		for _, p := range programs {
			out := outputPath(column, p.name)
			add(s.in(column, column+" "+p.name, nil, append([]string{testDir + "/timed", out, out + ".err"}, p.argv...)...))
		}
	}
	job.Return = []string{root + "/tmp/demo.*"}
	return job, nil
}

// in returns the command that runs argv in one column's way.
func (s settings) in(column, name string, env []string, argv ...string) rig.Command {
	c := rig.Command{Name: name, Env: append(append([]string{}, guestEnv...), env...)}
	switch {
	case column == native:
		c.Root, c.Argv = guest.Root(s.guest), argv
	case column == proot || s.without:
		c.Argv = append(rig.PRootArgs(s.guest, nil), argv...)
	default:
		c.Argv = append([]string{product.Command, "run", "--"}, append(rig.PRootArgs(s.guest, nil), argv...)...)
	}
	return c
}

// outputPath returns the file in the guest that a program's standard output goes to in one column.
func outputPath(column, program string) string {
	return "/tmp/demo." + column + "." + strings.Fields(program)[0]
}
