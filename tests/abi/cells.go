package abi

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
	"svcrelay/tests/rig/repo"
	"svcrelay/tests/rig/toolchain"
)

// Where the programs are in a guest.
const (
	program = "/opt/abi"
	thrower = "/opt/abicxx"
	runner  = "/opt/abilate"
)

// Cell is one guest on one machine, with the library or under PRoot alone.
type Cell struct {
	Kernel   string  `json:"kernel"`
	PageSize int     `json:"page_size"` // in bytes
	CPU      string  `json:"cpu"`
	Libc     string  `json:"libc"`
	Library  bool    `json:"library"`
	Relays   int     `json:"relays"` // sites of the C library and the dynamic linker that are branches
	Seconds  float64 `json:"seconds"`
	Source   string  `json:"source"` // tells versions of the library and the checks apart
	Checks   []Check `json:"checks"`
}

// Check is what one check said.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, none (cannot be made there) or FAIL
	Detail string `json:"detail,omitempty"`

	Seconds float64 `json:"seconds"` // of the VM's time
}

// sources are the parts of the program.
var sources = []string{"abi.c", "abigate.c", "abigate.S", "abiregs.c", "abisig.c", "abifind.c", "abiproc.c",
	"abiclone.c", "abifault.c", "abimem.c", "abidebug.c", "abistep.c", "abistart.c"}

// job puts the program and the library into the guests. Their /tmp keeps no times of access (see fresh): those of two
// reads differ.
func job(ctx context.Context, kernel, cpu string, in []string, tmp string) (rig.Job, error) {
	j := rig.Job{Kernel: kernel, CPU: cpu, Guests: in, KeepOn: true, Timeout: 20 * time.Minute}
	if err := product.Add(&j, ""); err != nil {
		return j, err
	}
	top, err := repo.Root()
	if err != nil {
		return j, err
	}
	for _, g := range in {
		cc, err := toolchain.For(ctx, g)
		if err != nil {
			return j, err
		}
		out, files := filepath.Join(tmp, g), []string{}
		for _, s := range sources {
			files = append(files, filepath.Join(top, "tests/guest", s))
		}
		extra := []string{"-pthread", "-mbranch-protection=standard", "-lgcc_eh"} // signed return addresses, where the processor knows them
		if g == "bullseye" {
			extra = append(extra, "-lrt")
		}
		if err := cc.Compile(ctx, out, files, extra...); err != nil {
			return j, err
		}
		if err := throwers(ctx, &j, g, top, tmp, cc); err != nil {
			return j, err
		}
		j.Files[guest.Root(g)+program] = rig.File{HostPath: out}
		j.Commands = append(j.Commands, fresh(g))
	}
	return j, nil
}

// unwinders are the ways in which a program comes to the library that unwinds stacks: it is there from the start, it is a part
// of the program, it comes with a library that is loaded later.
var unwinders = []struct {
	suffix string
	flags  []string
}{{"", nil}, {"-static", []string{"-static-libgcc"}}, {"-late", []string{"-shared", "-fPIC", "-Wl,-Bsymbolic"}}}

// throwers makes the program that throws exceptions for each of unwinders.
func throwers(ctx context.Context, j *rig.Job, g, top, tmp string, cc *toolchain.Toolchain) error {
	if g == "musl" {
		return nil // there is no C++ library for it
	}
	for _, u := range unwinders {
		if u.suffix == "-static" && g == "bullseye" {
			continue // the compiler's own part wants glibc 2.35
		}
		out := filepath.Join(tmp, g+"-cxx"+u.suffix)
		flags := append([]string{"-fnon-call-exceptions", "-mbranch-protection=standard", "-pthread", "-lrt"}, u.flags...)
		if err := cc.CompileCXX(ctx, out, filepath.Join(top, "tests/guest/abicxx.cc"), flags...); err != nil {
			return err
		}
		j.Files[guest.Root(g)+thrower+u.suffix] = rig.File{HostPath: out}
	}
	out := filepath.Join(tmp, g+"-runner")
	if err := cc.Compile(ctx, out, []string{filepath.Join(top, "tests/guest/abilate.c")}, "-ldl"); err != nil {
		return err
	}
	j.Files[guest.Root(g)+runner] = rig.File{HostPath: out}
	return nil
}

// fresh gives a guest an empty /tmp.
func fresh(g string) rig.Command {
	dir := guest.Root(g) + "/tmp"
	return rig.Command{Name: "prepare " + g, Argv: rig.Shell("mkdir -p " + dir + " && mount -t tmpfs -o noatime,mode=1777 none " + dir)}
}

// env is what programs get.
var env = []string{"PATH=/usr/bin:/bin", "ABI_TIMES=1"}

// with is the command that runs a program with a library; lib is its place in the guest.
func with(g, lib string, argv ...string) rig.Command {
	return rig.Command{Name: g + " with " + lib, Argv: product.RunWith(lib, rig.PRootArgs(g, nil), argv...), Timeout: 5 * time.Minute, Env: env}
}

// alone is the command that runs a program under PRoot only.
func alone(g string, argv ...string) rig.Command {
	c := rig.UnderPRoot(g, nil, argv...)
	c.Name, c.Timeout, c.Env = g+" alone", 5*time.Minute, env
	return c
}

// throwing runs the programs that throw exceptions, which work in a directory of their own.
func throwing(count string) []string {
	return rig.Shell("cd /tmp && " + thrower + " " + count + "; " +
		"[ ! -e " + thrower + "-static ] || " + thrower + "-static " + count + " -static; " +
		runner + " " + thrower + "-late " + count + " -late")
}

// read takes the results from what the program wrote. The number of relays is -1 if it says none.
func read(o rig.Outcome) (relays int, results []Check) {
	relays = -1
	for line := range strings.Lines(string(o.Stdout)) {
		line = strings.TrimRight(line, "\n")
		if n, err := fmt.Sscanf(line, "relays %d", &relays); n == 1 && err == nil {
			continue
		}
		var seconds float64
		if n, err := fmt.Sscanf(line, "    %f s", &seconds); n == 1 && err == nil && len(results) > 0 {
			results[len(results)-1].Seconds = seconds
			continue
		}
		f := strings.SplitN(line, " ", 3)
		if strings.HasPrefix(line, " ") || len(f) < 2 {
			continue // what is wrong, in words
		}
		c := Check{Name: f[0], State: f[1]}
		if len(f) == 3 {
			c.Detail = f[2]
		}
		results = append(results, c)
	}
	return relays, results
}
