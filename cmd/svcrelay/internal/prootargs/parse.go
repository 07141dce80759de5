// Package prootargs reads PRoot's command line as PRoot does. PRoot has its own parser, with rules of its own:
// a short option's value is the next argument (or follows in the same argument after a space), a long one's
// follows an equals sign and nowhere else, "--" means nothing, and the first argument that does not begin with
// a dash begins the guest's command.
package prootargs

import (
	"bytes"
	"fmt"
	"strings"
)

// Line is one of the two lines of descent of PRoot, whose options differ.
type Line int

// The lines.
const (
	Unknown Line = iota
	Upstream
	Termux
)

func (l Line) String() string { return [...]string{"unknown", "upstream", "Termux"}[l] }

// Detect tells from the program's bytes which line it belongs to: option names are in it as C strings.
func Detect(program []byte) Line {
	has := func(option string) bool { return bytes.Contains(program, []byte("\x00"+option+"\x00")) }
	upstream, termux := has("--netcoop"), has("--sysvipc")
	switch {
	case upstream && !termux:
		return Upstream
	case termux && !upstream:
		return Termux
	}
	return Unknown
}

// Mode is something other than the view of paths that an option changes.
type Mode string

// The modes.
const (
	RootID       Mode = "root-id"
	ChangeID     Mode = "change-id"
	LinkSymlink  Mode = "link2symlink"
	Qemu         Mode = "qemu"
	SymlinkSize  Mode = "fix-symlink-size"
	Kernel       Mode = "kernel-release"
	HiddenFiles  Mode = "hidden-files"
	SysVIPC      Mode = "sysvipc"
	Ashmem       Mode = "ashmem-memfd"
	Ports        Mode = "ports"
	Python       Mode = "python"
	KillOnExit   Mode = "kill-on-exit"
	InfoAndEnd   Mode = "help" // PRoot prints something and ends
	mixedMode    Mode = "mixed-mode"
	noChangeMode Mode = ""
)

// Binding is one request to show a host path in the guest.
type Binding struct {
	Host string
	// Guest is where; PRoot uses the text of Host where HasGuest is false.
	Guest    string
	HasGuest bool
	// Recommended is true for those that come with -R and -S, whose absence PRoot does not mention.
	Recommended bool
}

// Config is what a command line asks for.
type Config struct {
	// Bindings are in the order of the command line. The rootfs is a binding of "/"; where none is given,
	// PRoot takes "/" itself.
	Bindings []Binding
	// Modes are those given, each once, in the order of their first appearance.
	Modes []Mode
	// Command is the guest's command, empty for PRoot's default.
	Command []string
}

// Has says whether a mode was given.
func (c *Config) Has(m Mode) bool {
	for _, have := range c.Modes {
		if have == m {
			return true
		}
	}
	return false
}

func (c *Config) mode(m Mode) {
	if m != noChangeMode && !c.Has(m) {
		c.Modes = append(c.Modes, m)
	}
}

// option is one option with all its names.
type option struct {
	names []string // short ones take their value after a space, long ones after an equals sign
	value bool
	// separated is true for the one long option that takes its value like a short one.
	separated bool
	lines     []Line // where it exists; empty: everywhere
	apply     func(p *parser, value string)
}

type parser struct {
	Config
	getenv func(string) (string, bool)
}

func setMode(m Mode) func(*parser, string) { return func(p *parser, _ string) { p.mode(m) } }

var both []Line

var options = []option{
	{[]string{"-r", "--rootfs"}, true, false, both, (*parser).rootfs},
	{[]string{"-b", "--bind", "-m", "--mount"}, true, false, both, (*parser).bind},
	{[]string{"-q", "--qemu"}, true, false, both, setMode(Qemu)},
	{[]string{"--mixed-mode"}, true, true, []Line{Upstream}, setMode(mixedMode)},
	{[]string{"-w", "--pwd", "--cwd"}, true, false, both, setMode(noChangeMode)},
	{[]string{"--kill-on-exit"}, false, false, both, setMode(KillOnExit)},
	{[]string{"-v", "--verbose"}, true, false, both, setMode(noChangeMode)},
	{[]string{"-V", "--version", "--about"}, false, false, both, setMode(InfoAndEnd)},
	{[]string{"-h", "--help", "--usage"}, false, false, both, setMode(InfoAndEnd)},
	{[]string{"-k", "--kernel-release"}, true, false, both, setMode(Kernel)},
	{[]string{"-0", "--root-id"}, false, false, both, setMode(RootID)},
	{[]string{"-i", "--change-id"}, true, false, both, setMode(ChangeID)},
	{[]string{"-p", "--port"}, true, false, []Line{Upstream}, setMode(Ports)},
	{[]string{"-p"}, false, false, []Line{Termux}, setMode(Ports)},
	{[]string{"-n", "--netcoop"}, false, false, []Line{Upstream}, setMode(Ports)},
	{[]string{"-P"}, true, false, []Line{Upstream}, setMode(Python)},
	{[]string{"-l", "--link2symlink"}, false, false, both, setMode(LinkSymlink)},
	{[]string{"--sysvipc"}, false, false, []Line{Termux}, setMode(SysVIPC)},
	{[]string{"--ashmem-memfd"}, false, false, []Line{Termux}, setMode(Ashmem)},
	{[]string{"-H"}, false, false, []Line{Termux}, setMode(HiddenFiles)},
	{[]string{"-L"}, false, false, []Line{Termux}, setMode(SymlinkSize)},
	{[]string{"-R"}, true, false, both, (*parser).rootfsAndHost},
	{[]string{"-S"}, true, false, both, (*parser).rootfsAsRoot},
}

func (o *option) in(l Line) bool {
	if len(o.lines) == 0 || l == Unknown {
		return true
	}
	for _, have := range o.lines {
		if have == l {
			return true
		}
	}
	return false
}

// Parse reads the arguments behind PRoot's own name. What PRoot would refuse is an error, and so is an option
// that the lines read differently where the line is not known.
func Parse(args []string, line Line, getenv func(string) (string, bool)) (*Config, error) {
	p := &parser{getenv: getenv}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") {
			p.Command = args[i:]
			return &p.Config, nil
		}
		o, name, err := find(arg, line)
		if err != nil {
			return nil, err
		}
		rest := arg[len(name):]
		separator := byte('=')
		if len(name) == 2 || o.separated {
			separator = ' '
		}
		switch {
		case !o.value:
			if rest != "" {
				return nil, fmt.Errorf("option %s takes no value", name)
			}
			o.apply(p, "")
		case rest != "":
			if rest[0] != separator {
				return nil, fmt.Errorf("option %s and its value must be separated by %q", name, separator)
			}
			o.apply(p, rest[1:])
		case separator != ' ':
			return nil, fmt.Errorf("option %s needs a value, as in %s=VALUE", name, name)
		case i+1 == len(args):
			return nil, fmt.Errorf("option %s needs a value", name)
		default:
			i++
			o.apply(p, args[i])
		}
	}
	return &p.Config, nil
}

// find looks an argument up as PRoot does: the first name that the argument begins with.
func find(arg string, line Line) (*option, string, error) {
	var found *option
	var foundName string
	for i := range options {
		o := &options[i]
		if !o.in(line) {
			continue
		}
		for _, name := range o.names {
			if !strings.HasPrefix(arg, name) {
				continue
			}
			if found != nil && found.value != o.value {
				return nil, "", fmt.Errorf("option %s means different things to different PRoots, and this one's kind is not known", name)
			}
			if found == nil {
				found, foundName = o, name
			}
		}
	}
	if found == nil {
		return nil, "", fmt.Errorf("option %q is not known", arg)
	}
	return found, foundName, nil
}

func (p *parser) rootfs(value string) {
	p.Bindings = append(p.Bindings, Binding{Host: value, Guest: "/", HasGuest: true})
}

func (p *parser) bind(value string) {
	host, guest, has := strings.Cut(value, ":")
	p.Bindings = append(p.Bindings, Binding{Host: host, Guest: guest, HasGuest: has})
}

// The host paths that -R and -S show in the guest besides the rootfs itself, which is shown under its own name.
var (
	forUsers = []string{"/etc/host.conf", "/etc/hosts", "/etc/hosts.equiv", "/etc/mtab", "/etc/netgroup", "/etc/networks",
		"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/localtime",
		"/dev/", "/sys/", "/proc/", "/tmp/", "/run/", "/var/run/dbus/system_bus_socket"}
	forPackages = []string{"/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf",
		"/dev/", "/sys/", "/proc/", "/tmp/", "/run/shm"}
)

func (p *parser) rootfsAndHost(value string) {
	p.rootfs(value)
	p.recommended(forUsers, value)
}

func (p *parser) rootfsAsRoot(value string) {
	p.mode(RootID)
	p.rootfs(value)
	p.recommended(forPackages, value)
}

func (p *parser) recommended(paths []string, rootfs string) {
	home, ok := p.getenv("HOME")
	if !ok {
		home = "$HOME"
	}
	for _, path := range append(append([]string(nil), paths...), home, rootfs) {
		p.Bindings = append(p.Bindings, Binding{Host: path, Recommended: true})
	}
}
