package prootargs

import (
	"reflect"
	"strings"
	"testing"
)

func noEnv(string) (string, bool) { return "", false }

func homeIs(home string) func(string) (string, bool) {
	return func(name string) (string, bool) { return home, name == "HOME" }
}

func root(path string) Binding        { return Binding{Host: path, Guest: "/", HasGuest: true} }
func same(path string) Binding        { return Binding{Host: path} }
func pair(host, guest string) Binding { return Binding{Host: host, Guest: guest, HasGuest: true} }

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name     string
		args     []string
		line     Line
		bindings []Binding
		modes    []Mode
		command  []string
	}{
		{"nothing", nil, Upstream, nil, nil, nil},
		{"only a command", []string{"ls", "-r", "/x"}, Upstream, nil, nil, []string{"ls", "-r", "/x"}},
		{"empty argument begins the command", []string{"-r", "/x", "", "-0"}, Upstream, []Binding{root("/x")}, nil, []string{"", "-0"}},
		{"separated", []string{"-r", "/x", "-b", "/a:/b", "-w", "/", "sh"}, Upstream, []Binding{root("/x"), pair("/a", "/b")}, nil, []string{"sh"}},
		{"attached", []string{"--rootfs=/x", "--bind=/a:/b", "--mount=/c", "--cwd=/", "--pwd=/", "sh"}, Termux,
			[]Binding{root("/x"), pair("/a", "/b"), same("/c")}, nil, []string{"sh"}},
		{"a short option and its value in one argument", []string{"-r /x", "-b /a:/b", "sh"}, Upstream, []Binding{root("/x"), pair("/a", "/b")}, nil, []string{"sh"}},
		{"a value that looks like an option", []string{"-w", "-0", "-b", "--help"}, Upstream, []Binding{same("--help")}, nil, nil},
		{"empty values", []string{"--rootfs=", "-b", "", "-r "}, Upstream, []Binding{root(""), same(""), root("")}, nil, nil},
		{"an equals sign in a value", []string{"--rootfs==x", "--bind=a=b:c=d"}, Upstream, []Binding{root("=x"), pair("a=b", "c=d")}, nil, nil},
		{"colons", []string{"-b", ":", "-b", "a:", "-b", ":b", "-m", "a:b:c"}, Upstream, []Binding{pair("", ""), pair("a", ""), pair("", "b"), pair("a", "b:c")}, nil, nil},
		{"not dereferenced", []string{"-b", "/a:/b!"}, Upstream, []Binding{pair("/a", "/b!")}, nil, nil},
		{"several roots", []string{"-r", "/x", "-b", "/y:/"}, Upstream, []Binding{root("/x"), root("/y")}, nil, nil},
		{"identity", []string{"-0", "-i", "1:2"}, Upstream, nil, []Mode{RootID, ChangeID}, nil},
		{"identity, long", []string{"--root-id", "--change-id=0:0", "--root-id"}, Termux, nil, []Mode{RootID, ChangeID}, nil},
		{"links", []string{"-l", "--link2symlink"}, Upstream, nil, []Mode{LinkSymlink}, nil},
		{"kernel", []string{"-k", `\Linux\localhost\6.2\`, "--kernel-release=5.0", "sh"}, Termux, nil, []Mode{Kernel}, []string{"sh"}},
		{"emulator", []string{"--qemu=qemu-arm -strace", "-q", "x"}, Upstream, nil, []Mode{Qemu}, nil},
		{"verbose", []string{"-v", "1", "--verbose=-1", "sh"}, Upstream, nil, nil, []string{"sh"}},
		{"information", []string{"-V"}, Upstream, nil, []Mode{InfoAndEnd}, nil},
		{"help", []string{"--usage"}, Termux, nil, []Mode{InfoAndEnd}, nil},
		{"ports upstream", []string{"-p", "80:8080", "--port=1:2", "-n", "--netcoop", "sh"}, Upstream, nil, []Mode{Ports}, []string{"sh"}},
		{"ports in Termux", []string{"-p", "80:8080"}, Termux, nil, []Mode{Ports}, []string{"80:8080"}},
		{"mixed mode", []string{"--mixed-mode", "false", "sh"}, Upstream, nil, []Mode{mixedMode}, []string{"sh"}},
		{"mixed mode in one argument", []string{"--mixed-mode false", "sh"}, Upstream, nil, []Mode{mixedMode}, []string{"sh"}},
		{"python", []string{"-P", "x.py", "sh"}, Upstream, nil, []Mode{Python}, []string{"sh"}},
		{"Termux's own", []string{"-L", "-H", "--sysvipc", "--kill-on-exit", "--ashmem-memfd"}, Termux, nil,
			[]Mode{SymlinkSize, HiddenFiles, SysVIPC, KillOnExit, Ashmem}, nil},
		{"proot-distro", []string{"--kill-on-exit", "--link2symlink", "--sysvipc", `--kernel-release=\Linux\l\6\`, "-L", "--change-id=0:0",
			"--rootfs=/data/r", "--cwd=/root", "--bind=/dev", "--bind=/proc/self/fd:/dev/fd", "/usr/bin/env", "-i", "sh"}, Termux,
			[]Binding{root("/data/r"), same("/dev"), pair("/proc/self/fd", "/dev/fd")},
			[]Mode{KillOnExit, LinkSymlink, SysVIPC, Kernel, SymlinkSize, ChangeID}, []string{"/usr/bin/env", "-i", "sh"}},
		{"any line", []string{"-L", "-n", "-r", "/x"}, Unknown, []Binding{root("/x")}, []Mode{SymlinkSize, Ports}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.args, c.line, noEnv)
			if err != nil {
				t.Fatal(err)
			}
			want := &Config{c.bindings, c.modes, c.command}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		line Line
		err  string
	}{
		{[]string{"--"}, Upstream, "not known"},
		{[]string{"-"}, Upstream, "not known"},
		{[]string{"-x"}, Upstream, "not known"},
		{[]string{"--rootfs", "/x"}, Upstream, "--rootfs=VALUE"},
		{[]string{"-r/x"}, Upstream, `separated by ' '`},
		{[]string{"-r=/x"}, Upstream, `separated by ' '`},
		{[]string{"--rootfs /x"}, Upstream, `separated by '='`},
		{[]string{"--rootfsx"}, Upstream, `separated by '='`},
		{[]string{"-00"}, Upstream, "takes no value"},
		{[]string{"--root-id=0"}, Upstream, "takes no value"},
		{[]string{"-0 "}, Upstream, "takes no value"},
		{[]string{"-b"}, Upstream, "needs a value"},
		{[]string{"-0", "--bind"}, Upstream, "--bind=VALUE"},
		{[]string{"-rb", "/x"}, Upstream, "separated"},
		{[]string{"--mixed-mode=x"}, Upstream, `separated by ' '`},
		{[]string{"-L"}, Upstream, "not known"},
		{[]string{"--sysvipc"}, Upstream, "not known"},
		{[]string{"-n"}, Termux, "not known"},
		{[]string{"--port=1:2"}, Termux, "not known"},
		{[]string{"-p", "1:2"}, Unknown, "different things"},
	} {
		got, err := Parse(c.args, c.line, noEnv)
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, %v, want an error with %q", c.args, got, err, c.err)
		}
	}
}

func TestRecommended(t *testing.T) {
	hosts := func(args ...string) (string, *Config) {
		c, err := Parse(args, Upstream, homeIs("/home/me"))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, b := range c.Bindings {
			if isRoot := b == root("/x"); !isRoot && (b.HasGuest || !b.Recommended) {
				t.Errorf("%q: %+v", args, b)
			}
			out = append(out, b.Host)
		}
		return strings.Join(out, " "), c
	}
	r, c := hosts("-R", "/x")
	if want := "/x /etc/host.conf /etc/hosts /etc/hosts.equiv /etc/mtab /etc/netgroup /etc/networks /etc/passwd /etc/group /etc/nsswitch.conf " +
		"/etc/resolv.conf /etc/localtime /dev/ /sys/ /proc/ /tmp/ /run/ /var/run/dbus/system_bus_socket /home/me /x"; r != want {
		t.Errorf("-R: %s", r)
	}
	if len(c.Modes) != 0 || c.Bindings[0] != root("/x") {
		t.Errorf("-R: %+v", c)
	}
	s, c := hosts("-S", "/x")
	if want := "/x /etc/host.conf /etc/hosts /etc/nsswitch.conf /etc/resolv.conf /dev/ /sys/ /proc/ /tmp/ /run/shm /home/me /x"; s != want {
		t.Errorf("-S: %s", s)
	}
	if !c.Has(RootID) {
		t.Error("-S without root's identity")
	}
	n, err := Parse([]string{"-R", "/x"}, Upstream, noEnv)
	if err != nil || n.Bindings[len(n.Bindings)-2].Host != "$HOME" {
		t.Errorf("without HOME: %+v, %v", n, err)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		text string
		want Line
	}{
		{"\x7fELF..\x00-r\x00--netcoop\x00", Upstream},
		{"\x7fELF..\x00--sysvipc\x00--rootfs\x00", Termux},
		{"\x7fELF..\x00--sysvipc\x00--netcoop\x00", Unknown},
		{"#!/bin/sh\nexec proot --sysvipc", Unknown},
		{"", Unknown},
	} {
		if got := Detect([]byte(c.text)); got != c.want {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}
