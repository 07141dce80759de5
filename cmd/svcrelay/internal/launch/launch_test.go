package launch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svcrelay/relay"
)

// fakeProot writes a file that looks like a dynamically linked arm64 program, with text in it.
func fakeProot(t *testing.T, machine elf.Machine, segment elf.ProgType, text string) string {
	t.Helper()
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	b, err := binary.Append(nil, binary.LittleEndian, &h)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = binary.Append(b, binary.LittleEndian, &elf.Prog64{Type: uint32(segment), Align: 1}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "proot")
	if err := os.WriteFile(file, append(b, text...), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func upstream(t *testing.T) string {
	return fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "\x00--netcoop\x00")
}

func shim(t *testing.T) string {
	file := filepath.Join(t.TempDir(), ShimName)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMakeOn(t *testing.T) {
	rootfs := t.TempDir()
	proot, library := upstream(t), shim(t)
	p, err := Make(Request{
		Program: proot, Args: []string{"-r", rootfs, "-b", "/dev", "-b", rootfs + ":/mnt", "-k", "6.1", "ls", "-0"}, Shim: library, GuestPreload: "/x.so",
		Environ: []string{"A=1", "LD_PRELOAD=/old.so", "PROOT_FP_KEY=old", "PROOT_FP_MODES=x", "PROOT_FP_TTL_MS=5", "PROOT_FASTPATH=old", "Z=2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Off != "" || p.Trouble {
		t.Fatal(p.Off)
	}
	if want := []string{proot, "-r", rootfs, "-b", "/dev", "-b", rootfs + ":/mnt", "-k", "6.1", "ls", "-0"}; p.Path != proot || !slices.Equal(p.Argv, want) {
		t.Errorf("%s %q", p.Path, p.Argv)
	}
	env := environment(p.Env)
	key := env.value("PROOT_FP_KEY")
	if len(key) != len(relay.RunKey)+32 || !strings.HasPrefix(key, relay.RunKey) || env.value("PROOT_FASTPATH") != key {
		t.Errorf("key %q, %q", key, env.value("PROOT_FASTPATH"))
	}
	want := []string{"A=1", "PROOT_FP_TTL_MS=5", "Z=2", "PROOT_FASTPATH=" + key, "PROOT_FP_KEY=" + key, "PROOT_FP_ROOT=" + rootfs,
		"PROOT_FP_BINDS=/dev:/dev|" + rootfs + ":/mnt", "PROOT_FP_MODES=upstream,kernel-release", "SVCRELAY_GUEST_LD_PRELOAD=/x.so", "LD_PRELOAD=" + library + ":/old.so"}
	if !slices.Equal(p.Env, want) {
		t.Errorf("environment %q\nwant        %q", p.Env, want)
	}
	q, err := Make(Request{Program: proot, Args: []string{"-r", rootfs, "sh"}, Shim: library})
	if err != nil || q.Off != "" {
		t.Fatal(err, q.Off)
	}
	if again := environment(q.Env).value("PROOT_FP_KEY"); again == key {
		t.Error("the same key twice")
	}
	if v := environment(q.Env).value("LD_PRELOAD"); v != library {
		t.Errorf("LD_PRELOAD %q", v)
	}
}

// What guests are told of the options besides bindings.
func TestMakeModes(t *testing.T) {
	rootfs, library := t.TempDir(), shim(t)
	up, termux := upstream(t), fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "\x00--sysvipc\x00")
	for _, c := range []struct {
		proot string
		args  string
		want  string
	}{
		{up, "-r " + rootfs + " sh -0", "upstream"},
		{up, "-0 -r " + rootfs + " sh", "upstream,root-id"},
		{up, "-S " + rootfs + " sh", "upstream,root-id"},
		{up, "-i 1:1 -p 80:8080 -l -r " + rootfs + " sh", "upstream,change-id,ports,link2symlink"},
		{termux, "--kill-on-exit --link2symlink --sysvipc --kernel-release=6.17.0-PRoot-Distro -L --change-id=0:0 --rootfs=" + rootfs + " --cwd=/root -H sh",
			"termux,kill-on-exit,link2symlink,sysvipc,kernel-release,fix-symlink-size,change-id,hidden-files"},
	} {
		p, err := Make(Request{Program: c.proot, Args: strings.Fields(c.args), Shim: library})
		if err != nil || p.Off != "" {
			t.Fatal(err, p.Off)
		}
		if got := environment(p.Env).value("PROOT_FP_MODES"); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// Every build of Termux's fork names the files that only UserLAnd's makes.
func TestMakeTermux(t *testing.T) {
	termux := fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "\x00--sysvipc\x00.proot-meta-file.\x00.l2s.\x00")
	p, err := Make(Request{Program: termux, Args: []string{"-0", "-l", "-r", t.TempDir(), "sh"}, Shim: shim(t), Environ: []string{"A=1"}})
	if err != nil || p.Off != "" {
		t.Errorf("off: %q, error %v", p.Off, err)
	}
}

func TestMakeOff(t *testing.T) {
	rootfs, library := t.TempDir(), shim(t)
	up := upstream(t)
	termux := fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "\x00--sysvipc\x00")
	userland := fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "\x00--sysvipc\x00.proot-meta-file.\x00.proot.l2s.\x00")
	other := fakeProot(t, elf.EM_AARCH64, elf.PT_INTERP, "")
	script := filepath.Join(t.TempDir(), "proot")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	care := filepath.Join(t.TempDir(), "CARE-x")
	if err := os.Symlink(up, care); err != nil {
		t.Fatal(err)
	}
	suid := upstream(t)
	if err := os.Chmod(suid, 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	many := []string{"-r", rootfs}
	for i := range 700 {
		many = append(many, "-b", fmt.Sprintf("/dev:/%s/%d", strings.Repeat("x", 200), i))
	}
	for _, c := range []struct {
		name    string
		proot   string
		args    []string
		env     []string
		off     string
		trouble bool
	}{
		{"UserLAnd", userland, []string{"-0", "sh"}, nil, "UserLAnd", false},
		{"emulator", up, []string{"-q", "qemu", "sh"}, nil, "emulator", false},
		{"unknown option", up, []string{"-0", "-X"}, nil, `"-X" is not known`, false},
		{"unknown kind", other, []string{"-p", "1:2"}, nil, "different things", false},
		{"help", up, []string{"-h"}, nil, "only prints", false},
		{"nothing", up, nil, nil, "only prints", false},
		{"no seccomp", up, []string{"-r", rootfs, "sh"}, []string{"PROOT_NO_SECCOMP="}, "PROOT_NO_SECCOMP", false},
		{"off", up, []string{"-r", rootfs, "sh"}, []string{"PROOT_FP_OFF=1"}, "PROOT_FP_OFF", false},
		{"workaround", termux, []string{"-r", rootfs, "sh"}, []string{"PROOT_F2FS_WORKAROUND=1"}, "F2FS", false},
		{"old kernel", up, []string{"-k", "6.1", "sh"}, []string{"PROOT_FORCE_KOMPAT=1"}, "KOMPAT", false},
		{"no rootfs", up, []string{"-r", "/nowhere", "sh"}, nil, "rootfs /nowhere", false},
		{"script", script, []string{"-r", rootfs, "sh"}, nil, "script around PRoot", true},
		{"static", fakeProot(t, elf.EM_AARCH64, elf.PT_LOAD, ""), []string{"sh"}, nil, "statically linked", true},
		{"machine", fakeProot(t, elf.EM_X86_64, elf.PT_INTERP, ""), []string{"sh"}, nil, "not an arm64", true},
		{"set-user-ID", suid, []string{"sh"}, nil, "set-user-ID", true},
		{"many bindings", up, append(many, "sh"), nil, "700 bindings", false},
		{"care", care, []string{"-r", rootfs, "sh"}, nil, "care", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := append([]string{"A=1", "LD_PRELOAD=/old.so", "PROOT_FP_ROOT=/outer", "PROOT_FASTPATH=outer"}, c.env...)
			p, err := Make(Request{Program: c.proot, Args: c.args, Shim: library, Environ: env})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.Off, c.off) || p.Off == "" || p.Trouble != c.trouble {
				t.Errorf("off: %q, %v", p.Off, p.Trouble)
			}
			want := []string{"A=1", "LD_PRELOAD=/old.so"}
			for _, e := range c.env {
				if !strings.HasPrefix(e, "PROOT_FP_OFF=") {
					want = append(want, e)
				}
			}
			want = append(want, "PROOT_FP_OFF=1")
			if !slices.Equal(p.Env, want) || !slices.Equal(p.Argv[1:], c.args) {
				t.Errorf("environment %q\nwant        %q\narguments %q", p.Env, want, p.Argv)
			}
		})
	}
	p, err := Make(Request{Program: termux, Args: []string{"--sysvipc", "-r", rootfs, "sh"}, Shim: library, GuestPreload: "/x.so"})
	if err != nil || !strings.Contains(p.Off, "--guest-preload") {
		t.Errorf("%v, %q", err, p.Off)
	}
}

func TestFindShim(t *testing.T) {
	good := shim(t)
	spaced := filepath.Join(t.TempDir(), "a b")
	renamed := filepath.Join(t.TempDir(), "shim.so")
	if err := os.Mkdir(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	spaced = filepath.Join(spaced, ShimName)
	for _, f := range []string{spaced, renamed} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Dir(good))
	for _, file := range []string{good, ShimName, "./" + ShimName} {
		if got, err := findShim(file); err != nil || filepath.Base(got) != ShimName || !filepath.IsAbs(got) {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	for file, want := range map[string]string{
		"": "--tracer FILE", "/nowhere/" + ShimName: "no such file", renamed: "must be named", spaced: "a space", filepath.Dir(good): "not a file",
	} {
		if got, err := findShim(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", file, got, err, want)
		}
	}
}

func TestLookUp(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]fs.FileMode{"a/proot": 0o644, "b/proot": 0o755, "here": 0o755, "plain": 0o644} {
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, path, want, err string }{
		{"proot", dir + "/a:" + dir + "/b", dir + "/b/proot", ""},
		{"proot", dir + "/a", "", "permission denied"},
		{"proot", "/nowhere", "", "is PRoot installed?"},
		{"here", "/nowhere::/x", "./here", ""},
		{"./here", "", "./here", ""},
		{"./plain", "", "", "permission denied"},
		{"./a", "", "", "permission denied"},
		{"./none", "", "", "no such file"},
		{"", "", "", "empty"},
	} {
		got, err := lookUp(c.name, c.path)
		if got = strings.TrimSpace(got); err == nil && got != c.want || c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q in %q: %q, %v, want %q, %q", c.name, c.path, got, err, c.want, c.err)
		}
	}
}
