package main

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What this test program is when it runs itself: PRoot, or svcrelay.
const roleVar = "SVCRELAY_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "svcrelay":
		os.Setenv(roleVar, "proot")
		main()
	case "proot":
		json.NewEncoder(os.Stdout).Encode(started{os.Args, os.Environ()})
		os.Exit(42)
	}
	os.Exit(m.Run())
}

// started is what a PRoot was started with.
type started struct{ Args, Env []string }

// TestRunReplacesItself runs svcrelay as a program of its own with this test as PRoot.
func TestRunReplacesItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "-v", "--", self, "-q", "qemu", "-r", "/", "sh", "-c", "exit 1")
	cmd.Env = []string{roleVar + "=svcrelay", "A=1", "PROOT_FP_KEY=old"}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if status, ok := err.(*exec.ExitError); !ok || status.ExitCode() != 42 {
		t.Fatalf("%v, %s", err, errs.String())
	}
	var got started
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if want := []string{self, "-q", "qemu", "-r", "/", "sh", "-c", "exit 1"}; !slices.Equal(got.Args, want) {
		t.Errorf("arguments %q", got.Args)
	}
	slices.Sort(got.Env)
	if want := []string{"A=1", "PROOT_FP_OFF=1", roleVar + "=proot"}; !slices.Equal(got.Env, want) {
		t.Errorf("environment %q", got.Env)
	}
	if !strings.Contains(errs.String(), "no fast path for this guest: PRoot's option qemu") {
		t.Errorf("messages %q", errs.String())
	}
}

// elfFile writes the beginning of a dynamically linked arm64 ELF file.
func elfFile(t *testing.T, name string) string {
	t.Helper()
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_AARCH64), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	b, err := binary.Append(nil, binary.LittleEndian, &h)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = binary.Append(b, binary.LittleEndian, &elf.Prog64{Type: uint32(elf.PT_INTERP), Align: 1}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, append(b, "\x00--netcoop\x00"...), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRunStartsProot(t *testing.T) {
	proot, shim, rootfs := elfFile(t, "proot"), elfFile(t, "libsvcrelay-tracer.so"), t.TempDir()
	var got started
	replaceProcess = func(path string, argv, env []string) error {
		got = started{append([]string{path}, argv...), env}
		return os.ErrPermission
	}
	defer func() { replaceProcess = defaultReplace }()
	var out, errs strings.Builder
	code := command([]string{"run", "-v", "--tracer", shim, proot, "-r", rootfs, "-b", "/dev", "-b", "/nowhere", "sh", "-v"}, &out, &errs)
	if code != exitCannot || out.String() != "" {
		t.Errorf("status %d, %q", code, out.String())
	}
	if want := []string{proot, proot, "-r", rootfs, "-b", "/dev", "-b", "/nowhere", "sh", "-v"}; !slices.Equal(got.Args, want) {
		t.Errorf("arguments %q", got.Args)
	}
	for _, want := range []string{"PROOT_FP_ROOT=" + rootfs, "PROOT_FP_BINDS=/dev:/dev", "LD_PRELOAD=" + shim} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("%s is not in %q", want, got.Env)
		}
	}
	for _, want := range []string{"leaves out the binding of /nowhere", "/dev is at /dev", "fast path for the guest in " + rootfs} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q is not in %q", want, errs.String())
		}
	}
	errs.Reset()
	command([]string{"run", "--tracer", shim, proot, "-q", "qemu", "sh"}, &out, &errs)
	if strings.Contains(errs.String(), "fast path") {
		t.Errorf("without -v: %q", errs.String())
	}
	errs.Reset()
	command([]string{"run", "--tracer", "/nowhere/libsvcrelay-tracer.so", proot, "-r", rootfs, "sh"}, &out, &errs)
	if !strings.Contains(errs.String(), "no fast path for this guest: the shim") {
		t.Errorf("without the shim: %q", errs.String())
	}
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"", exitUsage, "", "Usage:"},
		{"help", 0, "svcrelay run", ""},
		{"--help", 0, "svcrelay run", ""},
		{"help run", 0, "--guest-preload", ""},
		{"run --help", 0, "--guest-preload", ""},
		{"install -h", 0, "--remove", ""},
		{"version", 0, "svcrelay ", ""},
		{"version x", exitUsage, "", "no arguments"},
		{"nonsense", exitUsage, "", `no command "nonsense"`},
		{"create-for-test " + dir + "/x", 0, "", ""},
		{"create-for-test " + dir + "/x", 17, "", ""},
		{"run", exitUsage, "", "needs the PRoot"},
		{"run -v --", exitUsage, "", "needs the PRoot"},
		{"run --nonsense proot", exitUsage, "", "unknown flag"},
		{"run /nowhere/proot", exitNotFound, "", "/nowhere/proot"},
		{"run " + dir, exitCannot, "", "permission denied"},
		{"install", exitUsage, "", "one rootfs, not 0"},
		{"install a b", exitUsage, "", "one rootfs, not 2"},
		{"install /nowhere", exitFailure, "", "/nowhere does not exist"},
		{"install /", exitFailure, "", "this machine itself"},
		{"install " + dir, exitFailure, "", "--library FILE"},
		{"install --library /etc/passwd " + dir, exitFailure, "", "not an arm64 shared library"},
		{"install --remove " + dir, 0, "Nothing of svcrelay", ""},
	} {
		var out, errs strings.Builder
		code := command(strings.Fields(c.args), &out, &errs)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.errs) || (c.errs == "") != (errs.String() == "") {
			t.Errorf("%q: status %d, out %q, errors %q", c.args, code, out.String(), errs.String())
		}
	}
}

func TestInstall(t *testing.T) {
	library := elfFile(t, "libsvcrelay.so")
	for _, c := range []struct {
		loader, says string
		preload      bool
	}{
		{"ld-linux-aarch64.so.1", "and in its /etc/ld.so.preload", true},
		{"ld-musl-aarch64.so.1", "This rootfs has musl", false},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(dir+"/lib", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/lib/"+c.loader, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		do := func(args ...string) {
			t.Helper()
			out.Reset()
			if code := command(append([]string{"install"}, args...), &out, &errs); code != 0 {
				t.Fatalf("status %d, %s", code, errs.String())
			}
		}
		do("--library", library, dir)
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%q", out.String())
		}
		if _, err := os.Stat(dir + "/usr/local/lib/svcrelay/libsvcrelay.so"); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir + "/etc/ld.so.preload"); (err == nil) != c.preload {
			t.Error(err)
		}
		do("--library", library, dir)
		do("--remove", dir)
		if !strings.Contains(out.String(), "no longer in") {
			t.Errorf("%q", out.String())
		}
	}
}
