package relay

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"svcrelay/translate"
)

// fill puts a file's content in buffer.
func fill(s string) int { return copy(buffer[:], s) }

func TestStatus(t *testing.T) {
	n := fill("Name:\tx TracerPid: 9\nUmask:\t0022\nTracerPid:\t4711\nThreads:\t1\nBroken\nEmpty:\t\nSeccomp_filters:\t2")
	for _, c := range []struct {
		name string
		want uint64
		ok   bool
	}{
		{"TracerPid", 4711, true}, {"Threads", 1, true}, {"Seccomp_filters", 2, true}, {"Umask", 22, true},
		{"Seccomp", 0, false}, {"Broken", 0, false}, {"Empty", 0, false}, {"Tracer", 0, false}, {"", 0, false},
	} {
		if v, ok := status(n, c.name); v != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v", c.name, v, ok)
		}
	}
}

func TestProcFiles(t *testing.T) {
	procPath(0, "status")
	n, ok := slurp()
	if !ok {
		t.Fatal("/proc/self/status cannot be read")
	}
	if v, ok := status(n, "Pid"); !ok || v != uint64(os.Getpid()) {
		t.Errorf("Pid: %d, %v", v, ok)
	}
	procPath(uint64(os.Getpid()), "cmdline")
	if n, ok := slurp(); !ok || !strings.HasPrefix(string(buffer[:n]), os.Args[0]+"\x00") {
		t.Errorf("cmdline: %q, %v", buffer[:n], ok)
	}
	procPath(1<<63, "environ")
	if _, ok := slurp(); ok {
		t.Error("a process that cannot be was read")
	}
	runtime.LockOSThread() // the count is one thread's
	defer runtime.UnlockOSThread()
	calm := false
	for i := 0; i < 100 && !calm; i++ {
		calm = quiet(switches())
	}
	if !calm {
		t.Error("system calls of a test make voluntary context switches")
	}
	notCounted()
	if first := usage[nvcsw]; first < 1<<62 {
		t.Errorf("%d stands for no count", first)
	} else if notCounted(); usage[nvcsw] == first {
		t.Error("two questions without an answer seem to have the same")
	}
	if quiet(switches() + 1000) {
		t.Error("another number of switches is not noticed")
	}
}

func TestSameView(t *testing.T) {
	conf = config{key: RunKey + "k", root: "/r", binds: "/a|/b:/c", modes: "root-id,kernel-release"}
	defer func() { conf = config{} }()
	env := func(v ...string) int { return fill(strings.Join(v, "\x00") + "\x00") }
	const key, root, binds = "PROOT_FASTPATH=" + RunKey + "k", "PROOT_FP_ROOT=/r", "PROOT_FP_BINDS=/a|/b:/c"
	const modes = "PROOT_FP_MODES=root-id,kernel-release"
	if !sameView(env("PATH=/bin", "", "", key, root, binds, modes), 1) {
		t.Error("refused the same view")
	}
	for _, v := range [][]string{
		{}, {root, binds}, {key + "k", root, binds}, {"PROOT_FASTPATH=", root, binds}, {key, root}, {key, binds},
		{key, root + "/", binds}, {key, root, binds + "|"}, {key, root, binds, modes, "PROOT_NO_SECCOMP=1"},
		{key, root, binds, modes, "PROOT_FP_ROOT=/s"}, {"XPROOT_FASTPATH=k", root, binds},
		{key, root, binds, modes, "PROOT_FP_OFF=1"}, {key, root, binds, "PROOT_FP_MODES=root"}, {key, root, binds},
		{key, root, binds, "PROOT_FP_MODES=root-id"}, {key, root, binds, "PROOT_FP_MODES=kernel-release,root-id"}, {key, "PROOT_FP_MODES=root-id,kernel-release"}, {key, root, binds, modes, "PROOT_FP_PATCH_SVC=0"},
		{key, root, binds, modes, "PROOT_FP_NEW=1"},
	} {
		if sameView(env(v...), 1) {
			t.Errorf("believed %q", v)
		}
	}
	// Whoever else made the variables may not know how PRoot was started.
	conf.key = "k"
	if sameView(env("PROOT_FASTPATH=k", root, binds), uint64(os.Getpid())) {
		t.Error("believed a view without asking")
	}
}

func TestOptions(t *testing.T) {
	const id, links, release, ports, hidden = translate.Identity, translate.HardLinks, translate.Release, translate.Ports, translate.HiddenFiles
	for _, c := range []struct {
		args  string
		binds int
		modes translate.Modes
		ok    bool
	}{
		{"proot -r /r -b /a:/b -w / /bin/sh -c x", 1, 0, true},
		{"proot --rootfs=/r --bind=/a -m /b --kill-on-exit /bin/sh -0", 2, 0, true},
		{"proot -r /r -k 6.1 --kernel-release=6.2 --sysvipc -H -b /a sh -0", 1, release | hidden, true},
		{"proot -r /r -0 sh", 0, id, true},
		{"proot -r /r -i 1:1 -b /a sh", 1, id, true},
		{"proot --link2symlink -L -p --change-id=0:0 --rootfs=/r sh -l", 0, links | ports | id, true},
		{"proot -r /r -l --root-id sh", 0, links | id, true},
		{"proot -S /r sh", 0, 0, false},
		{"proot -r /r -q qemu sh", 0, 0, false},
		{"proot -r", 0, 0, true},
		{"proot", 0, 0, true},
	} {
		n := fill(strings.ReplaceAll(c.args, " ", "\x00") + "\x00")
		if binds, modes, ok := options(n); ok != c.ok || ok && (binds != c.binds || modes != c.modes) {
			t.Errorf("%s: %d, %#x, %v", c.args, binds, modes, ok)
		}
	}
}

func TestReadModes(t *testing.T) {
	for s, want := range map[string]translate.Modes{
		"":         0,
		"upstream": translate.Upstream,
		"termux,kill-on-exit,link2symlink,sysvipc,kernel-release,fix-symlink-size,change-id": translate.Termux | translate.HardLinks |
			translate.Release | translate.Identity,
		"root-id,ports,hidden-files": translate.Identity | translate.Ports | translate.HiddenFiles,
	} {
		if m, ok := readModes(s); !ok || m != want {
			t.Errorf("%s: %#x, %v", s, m, ok)
		}
	}
	for _, s := range []string{"x", ",", "root-id,,ports", "root-id, ports", "Root-id", "root-id,qemu", "ashmem-memfd", "help", "python"} {
		if m, ok := readModes(s); ok {
			t.Errorf("%q was understood as %#x", s, m)
		}
	}
}

// TestAsk asks a process whose guest view is the host's.
func TestAsk(t *testing.T) {
	dir := t.TempDir()
	if !alike(dir, dir) || !alike("/", "/") || !alike("/no/such/place", "/x") {
		t.Error("a place differs from itself")
	}
	for _, p := range [][2]string{{dir, "/"}, {"/", "/no/such/place"}, {"", "/"}, {"/", "relative"}, {"/" + strings.Repeat("x", 5000), "/"}} {
		if alike(p[0], p[1]) {
			t.Errorf("%q is %q", p[0], p[1])
		}
	}
}

// A configuration that is copied out of the tracer's environment survives the next file that is read.
func TestRead(t *testing.T) {
	n := fill("PATH=/bin\x00PROOT_FP_ROOT=/r\x00\x00PROOT_FP_BINDS=/a|/b:/c\x00PROOT_FP_MODES=termux,root-id\x00PROOT_FP_KEY=" + RunKey + "k\x00PROOT_FP_TTL_MS=7")
	c := config{}
	c.read(n)
	used = 0
	root, binds, key, none := keep(c.root), keep(c.binds), keep(c.key), keep(c.log)
	fill(strings.Repeat("x", n))
	if root != "/r" || binds != "/a|/b:/c" || key != RunKey+"k" || none != "" || c.mode != translate.Termux|translate.Identity || c.ttl != 7 {
		t.Errorf("%q, %q, %q, %q, %#x, %d", root, binds, key, none, c.mode, c.ttl)
	}
	if keep(strings.Repeat("x", len(words))); used >= 0 {
		t.Error("more was kept than there is room for")
	}
	for _, c := range []struct {
		config
		silent bool
	}{
		{config{}, true}, {config{stats: true, log: "/l", ttl: 5}, true}, {config{off: true}, false}, {config{unknown: true}, false},
		{config{root: "/"}, false}, {config{key: "k"}, false}, {config{binds: "/a"}, false}, {config{modes: "x"}, false},
	} {
		if c.config.silent() != c.silent {
			t.Errorf("%+v", c.config)
		}
	}
	if stops() {
		t.Error("a process that nobody traces stops")
	}
}
