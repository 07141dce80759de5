package translate

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svcrelay/nocgo"
	"svcrelay/tests/emulated"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/obj"
)

// compiled is a running translator made by asmgen, under the user-mode emulator.
type compiled struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// buildCompiled compiles this package and links it with ../tests/guest/translate.c.
func buildCompiled(t *testing.T) string {
	t.Helper()
	overlay, err := emulated.Overlay()
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Config{Patterns: []string{"svcrelay/translate"}, Overlay: overlay, Entries: map[string]string{
		"(*svcrelay/translate.View).Handle": "handle", "(*svcrelay/translate.View).Configure": "configure",
		"(*svcrelay/translate.View).AllowOpenat2": "modern",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range p.Entries {
		if e.Stack > 800 {
			t.Errorf("%s needs %d bytes of stack", e.Name, e.Stack)
		}
	}
	o := obj.New()
	o.AddProgram(p, obj.Global)
	b, err := o.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	object, program := filepath.Join(dir, "translate.o"), filepath.Join(dir, "compiled")
	if err := os.WriteFile(object, b, 0o644); err != nil {
		t.Fatal(err)
	}
	cc := exec.Command("aarch64-linux-gnu-gcc", "-O1", "-static", "-o", program, "../tests/guest/translate.c", object)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cc.Args, err, out)
	}
	return program
}

func startCompiled(t testing.TB, program string, args ...string) *compiled {
	t.Helper()
	c := &compiled{t: t, cmd: exec.Command("qemu-aarch64", append([]string{program}, args...)...)}
	c.in, _ = c.cmd.StdinPipe()
	out, _ := c.cmd.StdoutPipe()
	c.out = bufio.NewReader(out)
	c.cmd.Stderr = os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a line, unless it is empty, and reads one.
func (c *compiled) ask(line string) string {
	if line != "" {
		io.WriteString(c.in, line+"\n")
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the compiled translator is gone after %q: %v", line, err)
	}
	return strings.TrimSpace(answer)
}

// withoutAtime removes the access time from the printed structure of a call: reading a link changes it.
func withoutAtime(nr uintptr, line string) string {
	f := strings.Fields(line)
	if len(f) < 3 {
		return line
	}
	switch nr {
	case nocgo.SysNewfstatat:
		f[2] = f[2][:2*72] + f[2][2*88:]
	case nocgo.SysStatx:
		f[2] = f[2][:2*64] + f[2][2*80:]
	}
	return strings.Join(f, " ")
}

// The compiled translator answers and declines exactly as the same Go does natively.
func TestCompiled(t *testing.T) {
	program := buildCompiled(t)
	for seed := int64(100); seed < 108; seed++ {
		w := newWorld(t, seed, seed%4 != 0)
		ttl, modern, root := uint64(seed%2*1000), seed%3 == 0, w.root
		if w.whole {
			root = "/"
		}
		w.start(ttl)
		nocgo.StoreRelease32(&w.v.track, 0) // the emulated process has another directory
		nocgo.StoreRelease32(&w.v.how, 0)
		if modern {
			w.v.AllowOpenat2()
		}
		c := startCompiled(t, program, root, strings.Join(w.binds, "|"), fmt.Sprint(ttl), map[bool]string{true: "1", false: "0"}[modern])
		if l := c.ask(""); l != "1" {
			t.Fatalf("seed %d: compiled Configure: %s", seed, l)
		}
		var mine []int
		var theirs []string
		for range 200 {
			path := w.guestPath()
			if w.r.Intn(20) == 0 {
				host, e, ok := w.both(-100, path, true)
				if fd, err := syscall.Open(host, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); ok && e == 0 && err == nil {
					mine, theirs = append(mine, fd), append(theirs, c.ask(fmt.Sprintf("0 0 0 0 %x", host)))
				} else if err == nil {
					syscall.Close(fd)
				}
				continue
			}
			at, their := -100, "-100"
			if len(mine) > 0 && w.r.Intn(2) == 0 {
				i := w.r.Intn(len(mine))
				at, their = mine[i], theirs[i]
				path = strings.TrimLeft(path, "/")
				if w.r.Intn(2) > 0 {
					path = path[strings.LastIndexByte(path, '/')+1:]
				}
			}
			if !w.whole && w.r.Intn(3) == 0 {
				w.compareChange(c, at, their, path)
			} else {
				w.compare(c, at, their, path)
			}
		}
		for _, fd := range mine {
			syscall.Close(fd)
		}
		c.in.Close()
		if err := c.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareChange is compare for calls that change something. What they make is removed again; what declines them must not
// have PRoot do them, as there is none.
func (w *world) compareChange(c *compiled, at int, their, path string) {
	w.t.Helper()
	pick := func(v ...uintptr) uintptr { return v[w.r.Intn(len(v))] }
	p, dir := cstring(path), uintptr(at)
	nr := pick(nocgo.SysMkdirat, nocgo.SysMknodat, nocgo.SysSymlinkat, nocgo.SysLinkat, nocgo.SysUtimensat, nocgo.SysTruncate, nocgo.SysStatfs,
		nocgo.SysUnlinkat, nocgo.SysFchownat)
	a2 := uintptr(0)
	call := &Call{Nr: nr}
	switch nr {
	case nocgo.SysMkdirat, nocgo.SysMknodat:
		a2 = pick(0o755, 0o100600)
		call.Arg = [6]uintptr{dir, p, a2}
	case nocgo.SysSymlinkat:
		call.Arg = [6]uintptr{cstring("text"), dir, p}
	case nocgo.SysLinkat:
		a2 = pick(0, nocgo.AtSymlinkFollow)
		call.Arg = [6]uintptr{dir, p, dir, p, a2}
	case nocgo.SysUtimensat:
		a2 = pick(0, nocgo.AtSymlinkNofollow, 1)
		call.Arg = [6]uintptr{dir, p, 0, a2}
	case nocgo.SysTruncate:
		a2 = pick(5, ^uintptr(0))
		call.Arg = [6]uintptr{p, a2}
	case nocgo.SysStatfs:
		call.Arg = [6]uintptr{p, addr(buffer(128))}
	case nocgo.SysUnlinkat: // with flags that are refused at the end
		a2 = 1
		call.Arg = [6]uintptr{dir, p, a2}
	case nocgo.SysFchownat:
		a2 = 1
		call.Arg = [6]uintptr{dir, p, ^uintptr(0), ^uintptr(0), a2}
	}
	var g given
	nocgo.HostRaw = w.watch(&g)
	r, why := w.v.Handle(w.s, call)
	nocgo.HostRaw = nocgo.HostSyscall
	made := ""
	if nr == nocgo.SysMkdirat || nr == nocgo.SysMknodat || nr == nocgo.SysSymlinkat {
		if g.called && g.ret == 0 {
			made = g.paths[0]
			os.Remove(made)
		}
	}
	want := strings.TrimSpace(fmt.Sprintf("%d %d", why, int64(r)))
	got := c.ask(fmt.Sprintf("%d %s %d 0 %x", nr, their, a2, path))
	if made != "" {
		os.Remove(made)
	}
	if got != want {
		w.fail("call %d (%d, %q, %#x)\ncompiled %s\nnative   %s", nr, at, path, a2, got, want)
	}
}

// compare makes one random call with a path, natively and compiled. The descriptor at is called their there.
func (w *world) compare(c *compiled, at int, their, path string) {
	w.t.Helper()
	buf := buffer(6000)
	for i := range buf {
		buf[i] = 0x5a
	}
	pick := func(v ...uintptr) uintptr { return v[w.r.Intn(len(v))] }
	nr := pick(nocgo.SysNewfstatat, nocgo.SysNewfstatat, nocgo.SysOpenat, nocgo.SysOpenat, nocgo.SysFaccessat, nocgo.SysStatx, nocgo.SysReadlinkat,
		nocgo.SysConnect, nocgo.SysInotifyAdd)
	flags := pick(0, nocgo.AtSymlinkNofollow, nocgo.AtNoAutomount, nocgo.AtEmptyPath|nocgo.AtSymlinkNofollow, 0x200)
	call := &Call{Nr: nr, Arg: [6]uintptr{uintptr(at), cstring(path)}}
	var a2, a3 uintptr
	size := 0
	switch nr {
	case nocgo.SysNewfstatat:
		a2, size = flags, 128
		call.Arg[2], call.Arg[3] = addr(buf), a2
	case nocgo.SysReadlinkat:
		a2, size = pick(1, 3, 7, 8, 20, 64, 4096), 300
		call.Arg[2], call.Arg[3] = addr(buf), a2
	case nocgo.SysStatx:
		a2, a3, size = flags, pick(0, 1, 0x7ff, 0x200), 128
		call.Arg[2], call.Arg[3], call.Arg[4] = a2, a3, addr(buf)
	case nocgo.SysFaccessat:
		a2 = pick(0, 1, 2, 4, 6, 7, 8)
		call.Arg[2] = a2
	case nocgo.SysConnect: // a walk, and then no socket
		path = "\x01\x00" + path
		a2 = pick(uintptr(len(path)+1), 110, 2, 111, 20)
		call.Arg[0], call.Arg[1], call.Arg[2] = ^uintptr(0), cstring(path+strings.Repeat("\x00", 110)), a2
		their = "-1"
	case nocgo.SysInotifyAdd:
		a2 = pick(2, 0x2000002)
		call.Arg[0], call.Arg[2] = ^uintptr(0), a2
		their = "-1"
	case nocgo.SysOpenat:
		a2 = pick(0, nocgo.ONofollow, nocgo.ODirectory, nocgo.ODirectory|nocgo.ONofollow, nocgo.OPath, nocgo.OPath|nocgo.ONofollow) | nocgo.OCloexec
		call.Arg[2] = a2
	}
	r, why := w.v.Handle(w.s, call)
	want := strings.TrimSpace(fmt.Sprintf("%d %d %x", why, int64(r), buf[:size]))
	if nr == nocgo.SysOpenat && why == Answered && !nocgo.Failed(r) {
		var st syscall.Stat_t
		syscall.Fstat(int(r), &st)
		syscall.Close(int(r))
		want = fmt.Sprintf("0 opened %d %d", st.Dev, st.Ino)
	}
	got := c.ask(fmt.Sprintf("%d %s %d %d %x", nr, their, a2, a3, path))
	if withoutAtime(nr, got) != withoutAtime(nr, want) {
		w.fail("call %d (%d, %q, %#x, %#x)\ncompiled %s\nnative   %s", nr, at, path, a2, a3, got, want)
	}
}
