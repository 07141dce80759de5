package tracer

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"svcrelay/nocgo"
)

// block lays out an environment as the kernel does: strings behind each other, and an array of addresses.
type block struct {
	text []byte
	envp []uintptr
}

func newBlock(env ...string) *block {
	b := &block{text: []byte(strings.Join(env, "\x00") + "\x00\xee")}
	at := 0
	for _, e := range env {
		b.envp = append(b.envp, uintptr(unsafe.Pointer(&b.text[at])))
		at += len(e) + 1
	}
	b.envp = append(b.envp, 0, 0xdead)
	return b
}

func (b *block) address() uintptr { return uintptr(unsafe.Pointer(&b.envp[0])) }

func (b *block) strings() []string {
	var out []string
	for _, p := range b.envp[:slices.Index(b.envp, 0)] {
		n := uintptr(0)
		for nocgo.Load8(p+n) != 0 {
			n++
		}
		out = append(out, strings.Clone(unsafe.String((*byte)(nocgo.Ptr(p)), n)))
	}
	return out
}

func TestCleanEnviron(t *testing.T) {
	const self = "/opt/svcrelay/libsvcrelay-tracer.so"
	for _, c := range []struct {
		name      string
		env, want []string
	}{
		{"nothing", nil, nil},
		{"no LD_PRELOAD", []string{"A=1", "B=2"}, []string{"A=1", "B=2"}},
		{"alone", []string{"A=1", "LD_PRELOAD=" + self, "B=2"}, []string{"A=1", "B=2"}},
		{"alone, without a directory", []string{"LD_PRELOAD=libsvcrelay-tracer.so"}, nil},
		{"first", []string{"LD_PRELOAD=" + self + ":/b.so", "B=2"}, []string{"LD_PRELOAD=/b.so", "B=2"}},
		{"last", []string{"LD_PRELOAD=/a.so:" + self}, []string{"LD_PRELOAD=/a.so"}},
		{"middle", []string{"LD_PRELOAD=/a.so:" + self + ":/b.so"}, []string{"LD_PRELOAD=/a.so:/b.so"}},
		{"spaces", []string{"LD_PRELOAD=/a.so " + self + " /b.so:/c.so"}, []string{"LD_PRELOAD=/a.so /b.so:/c.so"}},
		{"twice", []string{"LD_PRELOAD=" + self + ":/a.so:/other/libsvcrelay-tracer.so"}, []string{"LD_PRELOAD=/a.so"}},
		{"two variables", []string{"LD_PRELOAD=" + self, "A=1", "LD_PRELOAD=/a.so:" + self}, []string{"A=1", "LD_PRELOAD=/a.so"}},
		{"stray separators", []string{"LD_PRELOAD=:" + self + ": "}, nil},
		{"other names", []string{"LD_PRELOAD=/x/notlibsvcrelay-tracer.so:/x/libsvcrelay-tracer.so.1:/x/libsvcrelay-tracer.so/y:/libsvcrelay.so"},
			[]string{"LD_PRELOAD=/x/notlibsvcrelay-tracer.so:/x/libsvcrelay-tracer.so.1:/x/libsvcrelay-tracer.so/y:/libsvcrelay.so"}},
		{"other variables", []string{"XLD_PRELOAD=" + self, "LD_PRELOADX=" + self, "LD_PRELOAD", "LD_PRE", ""},
			[]string{"XLD_PRELOAD=" + self, "LD_PRELOADX=" + self, "LD_PRELOAD", "LD_PRE", ""}},
		{"for the guest", []string{"A=1", "SVCRELAY_GUEST_LD_PRELOAD=/g.so", "LD_PRELOAD=" + self + ":/a.so", "B=2"},
			[]string{"A=1", "LD_PRELOAD=/g.so", "B=2"}},
		{"nothing for the guest", []string{"SVCRELAY_GUEST_LD_PRELOAD=", "LD_PRELOAD=" + self}, []string{"SVCRELAY_GUEST_LD_PRELOAD="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBlock(c.env...)
			CleanEnviron(b.address())
			if got := b.strings(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if b.text[len(b.text)-1] != 0xee || b.envp[len(b.envp)-1] != 0xdead {
				t.Error("something behind the block was written to")
			}
			runtime.KeepAlive(b)
		})
	}
}

// TestCleanEnvironUntouched checks that a list without the shim keeps its bytes, apart from separators in front.
func TestCleanEnvironUntouched(t *testing.T) {
	for _, v := range []string{"::/a.so", "/a.so::/b.so", " /a.so :"} {
		b := newBlock("LD_PRELOAD=" + v)
		CleanEnviron(b.address())
		got := b.strings()
		want := strings.TrimLeft(v, ": ")
		if len(got) != 1 || strings.TrimLeft(strings.TrimPrefix(got[0], "LD_PRELOAD="), ": ") != want {
			t.Errorf("%q became %q", v, got)
		}
	}
}

func FuzzCleanEnviron(f *testing.F) {
	f.Add("/opt/libsvcrelay-tracer.so:/b.so")
	f.Add(": libsvcrelay-tracer.so  x")
	f.Fuzz(func(t *testing.T, list string) {
		if strings.ContainsRune(list, 0) {
			return
		}
		split := func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == ' ' })
		}
		var want []string
		for _, e := range split(list) {
			if e[strings.LastIndexByte(e, '/')+1:] != libraryName {
				want = append(want, e)
			}
		}
		b := newBlock("A=1", "LD_PRELOAD="+list, "B=2")
		CleanEnviron(b.address())
		got := b.strings()
		if got[0] != "A=1" || got[len(got)-1] != "B=2" {
			t.Fatalf("%q became %q", list, got)
		}
		var left []string
		if len(got) == 3 {
			left = split(strings.TrimPrefix(got[1], "LD_PRELOAD="))
		}
		if !slices.Equal(left, want) {
			t.Errorf("%q became %q, want %q", list, left, want)
		}
		runtime.KeepAlive(b)
	})
}
