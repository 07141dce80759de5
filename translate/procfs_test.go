package translate

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"svcrelay/nocgo"
)

// Ordinary files of /proc are answered where it is the host's, for the thread that asks.
func TestProcFiles(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := tree(t, "root/proc/x", "out/meminfo", "root/a")
	g := configure(t, dir+"/root", "/proc|"+dir+"/out/meminfo:/proc/loadavg", 1000)
	thread := fmt.Sprintf("/proc/%d", nocgo.HostSyscall(nocgo.SysGettid, 0, 0, 0, 0, 0, 0))
	for _, name := range []string{"status", "maps", "stat", "cmdline", "environ"} {
		g.is("/proc/self/"+name, thread+"/"+name)
	}
	g.is("/proc/meminfo", "/proc/meminfo")
	g.is("/proc/cpuinfo", "/proc/cpuinfo")
	for _, p := range []string{"/proc/self/auxv", "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/projid_map", "/proc/self/setgroups", "/proc/self/mountinfo",
		"/proc/self/exe", "/proc/self/fd", "/proc/self/fd/0", "/proc/self/cwd", "/proc/self/", "/proc/self", "/proc/mounts", "/proc/net",
		"/proc/loadavg", "/proc/self/status/", "/proc/self/status/.", "/proc/self/./status", "/proc//meminfo", "/proc/sys/kernel/ostype",
		"/proc/self/ns/mnt", "/proc/nothing", "/proc/1/status"} {
		if _, _, why := g.stat(p); why == Answered {
			t.Errorf("%s is answered", p)
		}
	}
	r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/proc/self/comm"), nocgo.OCloexec}})
	if why != Answered || nocgo.Failed(r) {
		t.Fatalf("open: %d %v", int64(r), why)
	}
	f := os.NewFile(r, "comm")
	defer f.Close()
	if text, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r)); !strings.HasSuffix(text, "/comm") {
		t.Errorf("opened %s", text)
	}
	const list = nocgo.ODirectory | nocgo.OCloexec | 0x800
	for flags, want := range map[uintptr]Reason{list: Answered, nocgo.OCloexec: Answered, list | nocgo.OPath: Proc, list | 1: Proc, nocgo.OCreat: Proc,
		list | nocgo.ONofollow: Proc} {
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/proc/self/fd"), flags}})
		if why != want || nocgo.Failed(r) {
			t.Errorf("descriptors, flags %#x: %d %v", flags, int64(r), why)
		}
		if why != Answered || nocgo.Failed(r) {
			continue
		}
		if text, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", r)); text != fmt.Sprintf("/proc/%d/fd", nocgo.HostSyscall(nocgo.SysGettid, 0, 0, 0, 0, 0, 0)) {
			t.Errorf("opened %s", text)
		}
		unix.Close(int(r))
	}
	for _, binds := range []string{"", "/proc:/elsewhere", dir + "/out:/proc"} {
		g := configure(t, dir+"/root", binds, 1000)
		for _, p := range []string{"/proc/self/status", "/proc/meminfo"} {
			g.declines(p, Proc)
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/proc/self/fd"), list}})
		if why == Answered && r != nocgo.Fail(nocgo.ENOENT) {
			t.Errorf("descriptors with %q: %d", binds, int64(r))
		}
	}
}

func (g *guest) readlink(path string, size int) (text, whole string, r uintptr, why Reason) {
	b := buffer(900)
	for i := range b {
		b[i] = 0x5a
	}
	r, why = g.v.Handle(g.s, &Call{Nr: nocgo.SysReadlinkat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(path), addr(b), uintptr(size)}})
	if why == Answered && !nocgo.Failed(r) {
		text = string(b[:r])
	}
	return text, string(b), r, why
}

// The program's path is asked for once; what the kernel had written stays in the buffer behind it.
func TestProcProgram(t *testing.T) {
	dir := tree(t, "root/a")
	const program = "/usr/bin/program"
	asked := 0
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		asked++
		return uintptr(copy((*[4096]byte)(nocgo.Ptr(a2))[:a3], program))
	}
	t.Cleanup(func() { nocgo.HostPlain = nocgo.HostSyscall })
	loader, _ := os.Readlink("/proc/self/exe")
	g := configure(t, dir+"/root", "/proc", 1000)
	for size := 1; size < 800; size += 1 + size/40 {
		text, whole, _, why := g.readlink("/proc/self/exe", size)
		if size <= len(program)+1 || size < 8 {
			if why == Answered {
				t.Errorf("%d bytes: answered %q", size, text)
			}
			continue
		}
		want := program + "\x00"
		if k := min(size, len(loader)); k > len(want) {
			want += loader[len(want):k]
		}
		want += strings.Repeat("\x5a", 900-len(want))
		if why != Answered || text != program || whole != want {
			t.Fatalf("%d bytes: %q %v\n%q\n%q", size, text, why, whole[:200], want[:200])
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if _, _, r, why := configure(t, dir+"/root", "", 1000).readlink("/proc/self/exe", 100); why == Answered && r != nocgo.Fail(nocgo.ENOENT) {
		t.Error("answered without a /proc")
	}
}

// The text of a descriptor is what both models of PRoot make of the kernel's.
func TestProcDescriptors(t *testing.T) {
	dir := tree(t, "root/d/file", "root/bound/", "out/e/other", "beside/x")
	binds := []string{"/proc", dir + "/out:/bound/with-a-long-name-for-it"}
	g := configure(t, dir+"/root", strings.Join(binds, "|"), 1000)
	r, w, _ := os.Pipe()
	defer r.Close()
	defer w.Close()
	open := []*os.File{r}
	for _, name := range []string{"root", "root/d/file", "out/e/other", "out", "beside/x"} {
		f, err := os.Open(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
	}
	gone := dir + "/root/gone"
	f, _ := os.Create(gone)
	os.Remove(gone)
	defer f.Close()
	open = append(open, f)
	answered := 0
	for _, f := range open {
		path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
		kernel, _ := os.Readlink(path)
		for _, termux := range []bool{false, true} {
			m := &model{termux: termux, root: dir + "/root", hosts: []bound{{dir + "/out", "/bound/with-a-long-name-for-it"}, {"/proc", "/proc"}}}
			shown, ok := m.fromHost(kernel, "", false)
			if !ok {
				shown = kernel
			}
			for size := 1; size < 300; size++ {
				text, whole, r, why := g.readlink(path, size)
				if why != Answered {
					if size > len(kernel)+2 && size > len(shown)+2 && len(kernel) >= 8 {
						t.Errorf("%s with %d bytes: %v", kernel, size, why)
					}
					continue
				}
				answered++
				b := []byte(strings.Repeat("\x5a", 900))
				n := copy(b[:size], kernel)
				if shown != kernel {
					n = len(shown)
					copy(b, shown+"\x00")
				}
				if text != string(b[:n]) || whole != string(b) {
					t.Fatalf("%s with %d bytes: %d %q, want %q", kernel, size, int64(r), text, b[:n])
				}
			}
		}
	}
	if answered < 1000 {
		t.Errorf("only %d answered", answered)
	}
	for path, want := range map[string]Reason{"/proc/self/fd/99999": Answered, "/proc/self/fd/0x": Proc, "/proc/self/fd/": Proc,
		"/proc/self/fd/1234567890": Proc, "/proc/self/fd/1/": Proc, "/proc/self/fdinfo": Proc} {
		if _, _, r, why := g.readlink(path, 100); why != want || want == Answered && r != nocgo.Fail(nocgo.ENOENT) {
			t.Errorf("%s: %d %v", path, int64(r), why)
		}
	}
}

// C libraries change modes through the link of a descriptor that they have opened.
func TestProcDescriptorMode(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := tree(t, "root/d/file", "root/d/poor", "root/d/.l2s.file0001.0001", "root/d/more/x")
	root := dir + "/root"
	if err := os.Chmod(root+"/d/poor", 0o400); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Modes{0, Upstream, Identity | Upstream, HardLinks | Upstream, Identity | HardLinks | Upstream} {
		g := configure(t, root, "/proc", 1000)
		if m&Identity != 0 {
			fake(t, g)
		}
		asked := 0
		nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
			asked++
			return nocgo.Fail(nocgo.EINTR)
		}
		g.v.modes = m
		change := func(name string, mode uintptr) (uintptr, os.FileMode) {
			fd, err := unix.Open(root+name, nocgo.OPath|nocgo.ONofollow, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			asked = 0
			r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFchmodat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring(fmt.Sprintf("/proc/self/fd/%d", fd)), mode}})
			if why != Answered {
				t.Errorf("modes %#x: %s: %v", m, name, why)
			}
			st, err := os.Lstat(root + name)
			if err != nil {
				t.Fatal(err)
			}
			return r, st.Mode().Perm()
		}
		for _, mode := range []uintptr{0o640, 0o444, 0o755} {
			os.Chmod(root+"/d/file", 0o600)
			if r, got := change("/d/file", mode); r != 0 || asked != 0 || uintptr(got) != mode {
				t.Errorf("modes %#x: %d, asked %d times, mode %o instead of %o", m, int64(r), asked, got, mode)
			}
		}
		g.stat("/d/more/x")
		if r, got := change("/d/more", 0o700); r != 0 || asked != 0 || got != 0o700 {
			t.Errorf("modes %#x, directory: %d, asked %d times, mode %o", m, int64(r), asked, got)
		}
		if g.v.gen == g.s.gen {
			t.Errorf("modes %#x: what was known of a directory that closes is not forgotten", m)
		}
		os.Chmod(root+"/d/more", 0o755)
		if change("/d/poor", 0o400); (asked != 0) != (m&Identity != 0) {
			t.Errorf("modes %#x: PRoot was asked %d times about a file on which it lends rights", m, asked)
		}
		if change("/d/.l2s.file0001.0001", 0o600); (asked != 0) != (m&HardLinks != 0) {
			t.Errorf("modes %#x: PRoot was asked %d times about what it makes hard links of", m, asked)
		}
		r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysFchmodat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/proc/self/fd/99999"), 0o600}})
		if r != nocgo.Fail(nocgo.EINTR) || why != Answered {
			t.Errorf("modes %#x, no descriptor: %d, %v", m, int64(r), why)
		}
	}
}

// A thread that has another number for itself than in /proc is in a name space of its own: what PRoot calls it is not known.
func TestOwnNumbers(t *testing.T) {
	dir := tree(t, "root/")
	g := configure(t, dir+"/root", "/proc", 1000)
	nocgo.HostRaw = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr {
		if nr == nocgo.SysGettid {
			return 1
		}
		return nocgo.HostSyscall(nr, a0, a1, a2, a3, a4, a5)
	}
	nocgo.HostPlain = func(nr, a0, a1, a2, a3, a4, a5 uintptr) uintptr { return 0 }
	defer func() { nocgo.HostRaw, nocgo.HostPlain = nocgo.HostSyscall, nocgo.HostSyscall }()
	g.declines("/proc/self/status", Proc)
	if r, why := g.v.Handle(g.s, &Call{Nr: nocgo.SysOpenat, Arg: [6]uintptr{nocgo.AtFdcwd, cstring("/proc/self/fd"), nocgo.ODirectory}}); why != Proc {
		t.Errorf("descriptors: %d %v", int64(r), why)
	}
	g.asks(nocgo.SysFchmodat, Proc, nocgo.AtFdcwd, cstring("/proc/self/fd/0"), 0o600)
}
