package scenarios

import (
	"slices"
	"strings"

	"svcrelay/tests/corpus"
	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// Where things are, in the VM and in a guest.
const (
	toolDir  = "/opt/svcrelay"                // in the VM
	copyPath = "/usr/lib/copy/libsvcrelay.so" // in a guest: a second copy of the library
	progDir  = "/opt/t"                       // in a guest
	workDir  = "/tmp/work"                    // in a guest; empty when a workload starts
	key      = "scenario-key"
)

// launcher is how a guest is entered with the library; without it, plain PRoot or chroot takes its place.
type launcher int

const (
	bySvcrelay launcher = iota // svcrelay run -- proot ...
	byShim                     // PRoot with the shim preloaded and the variables that the setting names
	byPRoot                    // PRoot without the shim, with the variables that the setting names
	byChroot                   // no PRoot
)

// preload is how the library gets into the guest's programs.
type preload int

const (
	byFile     preload = iota // /etc/ld.so.preload
	byVariable                // LD_PRELOAD
)

// wanted is what the library must do in a setting.
type wanted int

const (
	inert  wanted = iota // leave the process exactly as it was
	active               // have patched libc
	either               // no promise, but the same output
)

// setting is one way of running guest programs.
type setting struct {
	name     string
	guest    string // default bookworm
	launcher launcher
	preload  preload
	outer    []string // variables of the launcher, and so of everything
	inner    []string // variables of the guest's program
	options  []string // PRoot's options; default: corpus.Bindings
	wrap     []string // program in the guest that starts the workload
	outside  []string // program in the VM that starts everything
	before   string   // LD_PRELOAD libraries, before (byVariable) or besides (byFile) ours
	dir      string   // the launcher's current directory in the VM
	noW      bool     // no -w option
	uid      int
	wanted   wanted
	// What runs; default is quick.
	workloads []string
}

// workloads by name: what runs in the guest. "state" is always run besides.
var workloads = map[string][]string{
	"paths":         {progDir + "/paths", progDir + "/all.list"},
	"paths-as-user": {progDir + "/paths", "-u", "1000", progDir + "/some.list"},
	"some":          {progDir + "/paths", progDir + "/some.list"},
	"few":           {progDir + "/paths", progDir + "/few.list"},
	"cwd":           {progDir + "/cwd", workDir},
	"mutate":        {progDir + "/mutate", workDir},
	"heard-from":    {progDir + "/mutate", workDir, "heard-from"},
	"threads":       {progDir + "/threads", workDir},
	"signals":       {progDir + "/signals"},
	"shell":         {"/bin/sh", progDir + "/shell.sh", workDir},
	"env":           {"/usr/bin/env"},
	"find":          {"/usr/bin/find", "/c", "/b", "/glue", "/var", "-printf", "%p %y %m %s %l\n"},
	// Directories that bindings are mounted on get new times in every run.
	"ls":      {"/bin/ls", "-lR", "--time-style=+", "/c/dir", "/b", "/glue", "/c/abs-dir/"},
	"tar":     {"/bin/sh", "-c", "tar --format=gnu --mtime=@0 -c -f - /c/dir /b /var 2>&1 | sha256sum"},
	"python":  {"/usr/bin/python3", "-B", "-c", "import json, os; print(list(os.walk('/c/dir')), [os.path.realpath('/c/' + n).replace(str(os.getpid()), 'PID') for n in os.listdir('/c')], json.__file__)"},
	"true":    {"/bin/true"},
	"listing": {"/bin/ls", "-l", "/c/dir/sub", "/etc/passwd", "/etc/skel", "/missing"},
	"fixed":   {progDir + "/paths@fixed", progDir + "/few.list"},
	"state":   {progDir + "/state"},
}

// quick is run where the question is whether the library stays out of the way.
var quick = []string{"few"}

func (s setting) work() []string {
	if s.workloads != nil {
		return s.workloads
	}
	return quick
}

func (s setting) in() string {
	if s.guest == "" {
		return "bookworm"
	}
	return s.guest
}

// prepare empties the work directory; it is the VM's shell, which needs nothing of the guest.
const prepare = `rm -rf "$0" && mkdir -m 777 "$0" && exec "$@"`

// command returns the command that runs a workload of the setting, with the library or without.
func (s setting) command(workload string, with bool) rig.Command {
	root := guest.Root(s.in())
	argv := slices.Clone(s.wrap)
	if inner := s.variables(workload, with); len(inner) > 0 {
		argv = append(append(argv, "/usr/bin/env"), inner...)
	}
	argv = append(argv, workloads[workload]...)
	c := rig.Command{Name: workload, Env: s.environment(workload, with), Dir: s.dir, UID: s.uid, GID: s.uid}
	if s.launcher == byChroot {
		c.Root = root
		c.Argv = append([]string{"/bin/sh", "-c", prepare, workDir}, argv...)
		return c
	}
	c.Argv = append([]string{"/bin/sh", "-c", prepare, root + workDir}, s.outside...)
	if with && s.launcher == bySvcrelay {
		c.Argv = append(c.Argv, product.Command, "run", "--")
	}
	c.Argv = append(append(c.Argv, s.proot(root)...), argv...)
	return c
}

func (s setting) proot(root string) []string {
	args := []string{rig.PRootPath, "-r", root}
	if !s.noW {
		args = append(args, "-w", "/")
	}
	if s.options == nil {
		return append(args, corpus.Bindings()...)
	}
	return append(args, s.options...)
}

// environment returns the launcher's variables. The VM's shell, which comes first, takes no notice of LD_PRELOAD.
func (s setting) environment(workload string, with bool) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb", "PYTHONHASHSEED=0"}
	env = append(env, configuration(s.outer, workload, with)...)
	if with && s.launcher == byShim {
		env = append(env, "LD_PRELOAD="+product.Shim)
	}
	return env
}

// configuration leaves out what only the library reads where there is none, so that many settings share their
// runs without it. A workload that shows the environment gets all.
func configuration(vars []string, workload string, with bool) []string {
	if with || workload == "env" {
		return vars
	}
	return slices.DeleteFunc(slices.Clone(vars), func(v string) bool {
		return strings.HasPrefix(v, "PROOT_FP_") || strings.HasPrefix(v, "PROOT_FASTPATH=")
	})
}

// variables returns the assignments that env(1) makes in the guest.
func (s setting) variables(workload string, with bool) []string {
	vars := slices.Clone(configuration(s.inner, workload, with))
	libs := []string{}
	if with && s.preload == byVariable {
		libs = append(libs, product.Library)
	}
	if s.before != "" { // constructors run from the last library to the first
		libs = append(libs, s.before)
	}
	if len(libs) > 0 {
		vars = append(vars, "LD_PRELOAD="+strings.Join(libs, ":"))
	}
	return vars
}

// outerConfig are the variables of a launcher that configures the fast path itself, correctly for the options.
func outerConfig(root, binds string) []string {
	return []string{"PROOT_FASTPATH=" + key, "PROOT_FP_KEY=" + key, "PROOT_FP_ROOT=" + root, "PROOT_FP_BINDS=" + binds}
}

// bindsVariable is corpus.Bindings as a launcher writes them into PROOT_FP_BINDS.
func bindsVariable() string {
	var list []string
	for i, a := range corpus.Bindings() {
		if i%2 == 1 {
			list = append(list, a)
		}
	}
	return strings.Join(list, "|")
}
