// Package launch decides how a PRoot is started: with the shim and a configuration for its guests, or, where that
// would not be safe or not be of use, as if svcrelay were not there.
package launch

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svcrelay/cmd/svcrelay/internal/beside"
	"svcrelay/cmd/svcrelay/internal/prootargs"
	"svcrelay/cmd/svcrelay/internal/view"
	"svcrelay/relay"
)

// ShimName is the file name of the shim. The shim finds itself in LD_PRELOAD by that name.
const ShimName = "libsvcrelay-tracer.so"

// Request is what the user asks for.
type Request struct {
	// Program is PRoot, as a path or as a name to look up in PATH, and Args are its arguments.
	Program string
	Args    []string
	// Shim is the file to preload; empty: look beside this program.
	Shim string
	// GuestPreload becomes LD_PRELOAD in the guest.
	GuestPreload string
	// Environ is the environment of this program.
	Environ []string
}

// Plan is how PRoot is started.
type Plan struct {
	Path string
	Argv []string
	Env  []string
	// Off is why guests run without the fast path; empty: with it.
	Off string
	// Trouble is true where Off is something to be put right, and not a choice of the user's.
	Trouble bool
	// View is what guests were told, nil where Off is set.
	View *view.View

	modes string // what guests are told of other options
}

// changesAnswers names the modes in which PRoot answers the calls that the fast path answers differently.
var changesAnswers = map[prootargs.Mode]string{
	prootargs.Qemu:   "guest programs are run by an emulator",
	prootargs.Ashmem: "it fakes the size of shared memory files",
	prootargs.Python: "a script may change every answer",
}

// maxBinds is the length of the longest list of bindings that is told to guests: the library has room for no more, and
// the kernel takes no variable longer than 128 KiB.
const maxBinds = 24 << 10

// variables are those that svcrelay sets. Inherited ones belong to an outer PRoot, if to any.
var variables = []string{"PROOT_FASTPATH", "PROOT_FP_KEY", "PROOT_FP_ROOT", "PROOT_FP_BINDS", "PROOT_FP_MODES", guestPreload}

// userLAnd is how the files begin that Termux's fork makes for hard links if it was built for the app UserLAnd. Every
// build has .proot-meta-file. in it, the name of its files for owners and rights, but only that one makes any.
const userLAnd = ".proot.l2s."

const guestPreload = "SVCRELAY_GUEST_LD_PRELOAD"

// Make looks at PRoot and its arguments. An error means that PRoot cannot be started at all.
func Make(r Request) (*Plan, error) {
	env := environment(r.Environ)
	path, err := lookUp(r.Program, env.value("PATH"))
	if err != nil {
		return nil, err
	}
	p := &Plan{Path: path, Argv: append([]string{r.Program}, r.Args...)}
	for _, name := range variables {
		env.remove(name)
	}

	shim, err := p.prepare(r, env)
	if err != nil {
		p.Off = err.Error()
		p.View = nil
		env.set("PROOT_FP_OFF", "1")
		p.Env = env
		return p, nil
	}
	var key [16]byte
	rand.Read(key[:])
	word := relay.RunKey + hex.EncodeToString(key[:])
	env.set("PROOT_FASTPATH", word)
	env.set("PROOT_FP_KEY", word)
	env.set("PROOT_FP_ROOT", p.View.Root)
	env.set("PROOT_FP_BINDS", p.View.BindsValue())
	env.set("PROOT_FP_MODES", p.modes)
	if r.GuestPreload != "" {
		env.set(guestPreload, r.GuestPreload)
	}
	if old := env.value("LD_PRELOAD"); old != "" {
		shim += ":" + old
	}
	env.set("LD_PRELOAD", shim)
	p.Env = env
	return p, nil
}

// prepare finds out whether guests may have the fast path, and where the shim is. An error is the reason why not.
func (p *Plan) prepare(r Request, env environment) (string, error) {
	program, trouble := inspect(p.Path)
	var line prootargs.Line
	if trouble == nil {
		line = prootargs.Detect(program)
	}
	if name := filepath.Base(r.Program); len(name) >= 4 && strings.EqualFold(name[:4], "care") {
		return "", errors.New("a PRoot under the name of care has other options")
	}
	c, err := prootargs.Parse(r.Args, line, env.lookup)
	if err != nil {
		return "", fmt.Errorf("PRoot's options: %w", err)
	}
	for _, m := range c.Modes {
		if why := changesAnswers[m]; why != "" {
			return "", fmt.Errorf("PRoot's option %s: %s", m, why)
		}
	}
	switch {
	case c.Has(prootargs.InfoAndEnd) || len(r.Args) == 0:
		return "", errors.New("PRoot only prints something")
	case env.has("PROOT_NO_SECCOMP"):
		return "", errors.New("PROOT_NO_SECCOMP is set: PRoot stops at every system call")
	case env.value("PROOT_FP_OFF") != "":
		return "", errors.New("PROOT_FP_OFF is set")
	case env.value("PROOT_F2FS_WORKAROUND") == "1":
		return "", errors.New("PROOT_F2FS_WORKAROUND is set: files must not be looked up by name")
	case c.Has(prootargs.Kernel) && env.has("PROOT_FORCE_KOMPAT"):
		return "", errors.New("PROOT_FORCE_KOMPAT is set: PRoot replaces system calls by older ones")
	}
	if trouble != nil {
		p.Trouble = true
		return "", trouble
	}
	if bytes.Contains(program, []byte(userLAnd)) && (c.Has(prootargs.RootID) || c.Has(prootargs.ChangeID) || c.Has(prootargs.LinkSymlink)) {
		return "", errors.New("this PRoot was built for UserLAnd: it keeps owners and rights in files of its own")
	}
	if r.GuestPreload != "" && c.Has(prootargs.SysVIPC) {
		return "", errors.New("--guest-preload does not go with PRoot's --sysvipc, whose helper would load the library too; use svcrelay install")
	}
	if p.View, err = view.Resolve(c.Bindings, line); err != nil {
		return "", err
	}
	if len(p.View.BindsValue()) > maxBinds {
		return "", fmt.Errorf("the list of its %d bindings is longer than the library has room for", len(p.View.Binds))
	}
	if mixesCase(p.View.Root, line, env) {
		return "", errors.New("the rootfs is on an f2fs that may mix up upper and lower case; PRoot works around that")
	}
	shim, err := findShim(r.Shim)
	if err != nil {
		p.Trouble = true
		return "", err
	}
	p.modes = modeWords(c, line)
	return shim, nil
}

// modeWords are the words of PROOT_FP_MODES: the line of descent and the modes, in the order of the command line.
func modeWords(c *prootargs.Config, line prootargs.Line) string {
	var words []string
	if line != prootargs.Unknown {
		words = append(words, strings.ToLower(line.String()))
	}
	for _, m := range c.Modes {
		words = append(words, string(m))
	}
	return strings.Join(words, ",")
}

// findShim gives the absolute path of the shim: the file that was named, or the one beside svcrelay.
func findShim(file string) (string, error) {
	if file == "" {
		var err error
		if file, err = beside.Find(ShimName, "--tracer"); err != nil {
			return "", err
		}
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("the shim %s: %w", file, err)
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("the shim: %w", err)
	case !st.Mode().IsRegular():
		return "", fmt.Errorf("the shim %s is not a file", path)
	case filepath.Base(path) != ShimName:
		return "", fmt.Errorf("the shim %s must be named %s: it finds itself in LD_PRELOAD by that name", path, ShimName)
	case strings.ContainsAny(path, ": "):
		return "", fmt.Errorf("the shim %s has a colon or a space in its path, which separate libraries in LD_PRELOAD; move it or name another with --tracer", path)
	}
	return path, nil
}

// environment is a list of NAME=value.
type environment []string

func (e environment) lookup(name string) (string, bool) {
	for _, s := range e {
		if v, ok := strings.CutPrefix(s, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func (e environment) has(name string) bool { _, ok := e.lookup(name); return ok }

func (e environment) value(name string) string { v, _ := e.lookup(name); return v }

func (e *environment) remove(name string) {
	*e = slices.DeleteFunc(slices.Clone(*e), func(s string) bool { return strings.HasPrefix(s, name+"=") })
}

func (e *environment) set(name, value string) {
	e.remove(name)
	*e = append(*e, name+"="+value)
}
