package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
	"svcrelay/tests/emulated"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/harness"
	"svcrelay/tools/asmgen/testdata/view"
	"svcrelay/translate"
)

// viewTree makes a rootfs with links of every kind and two directories to bind.
func viewTree(t *testing.T, dir string) (root, binds string) {
	t.Helper()
	root = filepath.Join(dir, "root")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"root/usr/lib/deep/er", "root/etc", "root/home/me", "root/mnt", "data/sub", "tmp"} {
		must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for _, f := range []string{"root/etc/passwd", "root/usr/lib/libc.so", "root/usr/lib/deep/er/f", "data/file", "data/sub/file", "tmp/x"} {
		must(os.WriteFile(filepath.Join(dir, f), []byte(f), 0o644))
	}
	for link, to := range map[string]string{
		"root/lib": "usr/lib", "root/abs": "/usr/lib/deep", "root/up": "../../../etc", "root/loop": "loop", "root/loop1": "loop2",
		"root/loop2": "loop1", "root/dangling": "nowhere", "root/usr/lib/libc.so.6": "libc.so", "root/home/data": "/mnt/data",
		"root/usr/back": "..", "root/todata": "/mnt/data/file", "data/out": "/etc/passwd", "data/in": "sub/file", "root/etc/host": filepath.Join(dir, "data"),
		"root/slash": "usr/lib/", "root/dot": ".",
	} {
		must(os.Symlink(to, filepath.Join(dir, link)))
	}
	return root, fmt.Sprintf("%s:/mnt/data|%s:/tmp|%s", filepath.Join(dir, "data"), filepath.Join(dir, "tmp"), filepath.Join(dir, "data", "sub"))
}

// viewCall is one question to the translator.
type viewCall struct {
	nr    uint16
	dirfd int32
	path  [256]uint8
	a, b  uintptr
}

func randomViewCall(r *rand.Rand, dir string) viewCall {
	parts := []string{
		"usr", "lib", "etc", "passwd", "home", "me", "mnt", "data", "sub", "file", "in", "out", "deep", "er", "f", "abs", "up", "loop", "loop1",
		"dangling", "libc.so", "libc.so.6", "back", "todata", "host", "slash", "dot", "tmp", "x", "..", ".", "", "missing", "proc", strings.Repeat("n", 200),
	}
	p := ""
	if r.Intn(10) > 0 {
		p = "/"
	}
	for i := range r.Intn(6) {
		if i > 0 {
			p += "/"
		}
		p += parts[r.Intn(len(parts))]
	}
	switch r.Intn(12) {
	case 0:
		p += "/"
	case 1:
		p += "/."
	case 2:
		p = filepath.Join(dir, p)
	}
	c := viewCall{dirfd: -100}
	if r.Intn(10) == 0 {
		c.dirfd = int32(r.Intn(3)) - 1
	}
	copy(c.path[:255], p)
	switch r.Intn(5) {
	case 0:
		c.nr, c.a = nocgo.SysNewfstatat, []uintptr{0, nocgo.AtSymlinkNofollow, nocgo.AtEmptyPath, nocgo.AtNoAutomount, 1 << 20}[r.Intn(5)]
	case 1:
		c.nr, c.a = nocgo.SysReadlinkat, uintptr(r.Intn(100))
	case 2:
		c.nr, c.a = nocgo.SysFaccessat, uintptr(r.Intn(8))
	case 3:
		c.nr, c.a, c.b = nocgo.SysStatx, []uintptr{0, nocgo.AtSymlinkNofollow}[r.Intn(2)], 0x7ff
	case 4:
		c.nr, c.a = nocgo.SysOpenat, []uintptr{0, nocgo.ONofollow, nocgo.ODirectory, nocgo.OPath, nocgo.OPath | nocgo.ONofollow}[r.Intn(5)]
	}
	return c
}

// viewAnswer is what the translator says.
type viewAnswer struct {
	ret    uint64
	reason uint64
	buf    string
}

func (c viewCall) answer(ret, reason uint64, buf []byte) viewAnswer {
	// Reading a link changes its access time.
	switch c.nr {
	case nocgo.SysNewfstatat, nocgo.SysOpenat:
		clear(buf[72:88])
	case nocgo.SysStatx:
		clear(buf[64:80])
		clear(buf[144:152]) // the mount: qemu's emulation does not know it
	}
	return viewAnswer{ret, reason, string(buf)}
}

// TestTranslator asks the translator, native and compiled, the same questions
// about the same files.
func TestTranslator(t *testing.T) {
	const pkg = "svcrelay/tools/asmgen/testdata/view"
	overlay, err := emulated.Overlay()
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Config{Patterns: []string{"./testdata/view"}, Overlay: overlay, Entries: map[string]string{pkg + ".Configure": "Configure", pkg + ".Handle": "Handle"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	root, binds := viewTree(t, dir)
	r := rand.New(rand.NewSource(1))
	var questions []viewCall
	for range 3000 {
		questions = append(questions, randomViewCall(r, dir))
	}
	for _, ttl := range []uint64{0, 1 << 30} {
		config := make([]byte, (len(root)+len(binds)+7)&^7)
		copy(config, root+binds)
		calls := []harness.Call{{Entry: "Configure", Arena: config, Args: []harness.Arg{
			{Value: 0, Pointer: true}, {Value: uint64(len(root))}, {Value: uint64(len(root)), Pointer: true}, {Value: uint64(len(binds))}, {Value: ttl}}}}
		var want []viewAnswer
		if !view.Configure(root, binds, ttl) {
			t.Fatal("the configuration is refused")
		}
		answered := 0
		for _, q := range questions {
			var buf [80]uint64
			path := q.path
			ret, why := view.Handle(q.nr, q.dirfd, &path, q.a, q.b, &buf)
			want = append(want, q.answer(uint64(ret), uint64(why), unsafe.Slice((*byte)(unsafe.Pointer(&buf)), unsafe.Sizeof(buf))))
			if why == translate.Answered {
				answered++
			}
			calls = append(calls, harness.Call{Entry: "Handle", Arena: append(append([]byte(nil), q.path[:]...), make([]byte, 640)...), Args: []harness.Arg{
				{Value: uint64(q.nr)}, {Value: uint64(uint32(q.dirfd))}, {Value: 0, Pointer: true}, {Value: uint64(q.a)}, {Value: uint64(q.b)}, {Value: 256, Pointer: true}}})
		}
		rs, err := harness.Run(p, harness.Bases[0], calls)
		if err != nil {
			t.Fatal(err)
		}
		if rs[0].Regs[0]&1 != 1 {
			t.Fatal("the compiled translator refuses the configuration")
		}
		bad := 0
		for i, q := range questions {
			res := rs[i+1]
			got := q.answer(res.Regs[0], res.Regs[1]&0xff, res.Arena[256:])
			if !res.Aborted && got == want[i] && res.Broken == "" {
				continue
			}
			if bad++; bad <= 5 {
				t.Errorf("call %d of %q, flags %#x, ttl %d: native gives %#x (%v), compiled %#x (%v), aborted %v; %s",
					q.nr, strings.TrimRight(string(q.path[:]), "\x00"), q.a, ttl, want[i].ret, translate.Reason(want[i].reason), got.ret, translate.Reason(got.reason), res.Aborted, res.Broken)
				for j := 0; j < 640; j += 8 {
					x, y := binary.LittleEndian.Uint64([]byte(want[i].buf[j:])), binary.LittleEndian.Uint64([]byte(got.buf[j:]))
					if x != y {
						t.Logf("buffer at %d: %#x and %#x", j, x, y)
						break
					}
				}
			}
		}
		if answered < len(questions)/3 {
			t.Errorf("only %d of %d are answered at all", answered, len(questions))
		}
		t.Logf("ttl %d: %d questions, %d answered", ttl, len(questions), answered)
	}
}
