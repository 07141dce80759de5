package relay

import (
	"testing"
	"unsafe"
)

// stackOf lays out what the kernel puts on a new program's stack and gives its words and the address of argv.
func stackOf(args, env []string, auxv ...uintptr) (words []uintptr, argv uintptr) {
	words = append(words, uintptr(len(args)))
	for _, list := range [][]string{args, env} {
		for _, s := range list {
			b := append([]byte(s), make([]byte, 16)...)
			words = append(words, uintptr(unsafe.Pointer(&b[0])))
			kept = append(kept, b)
		}
		words = append(words, 0)
	}
	words = append(words, auxv...)
	return words, uintptr(unsafe.Pointer(&words[1]))
}

var kept [][]byte // keeps the strings of stackOf alive

var goodAuxv = []uintptr{atPhdr, 0x400040, atPhnum, 9, atPagesz, 4096, atSecure, 0, 0, 0}

func TestStart(t *testing.T) {
	words, argv := stackOf([]string{"a", "b"}, []string{"X=1", "PROOT_FP_ROOT=/r"}, goodAuxv...)
	var p process
	if !p.start(2, argv, argv+24) {
		t.Fatal("refused a good stack")
	}
	if p.phdr != 0x400040 || p.phnum != 9 || p.page != 4096 || p.secure || p.stack != argv-8 {
		t.Errorf("%+v", p)
	}
	// The upper half of the register that argc comes in means nothing.
	if p = (process{}); !p.start(2|0xdead<<32, argv, argv+24) {
		t.Error("refused an argc with garbage above it")
	}
	for name, a := range map[string][3]uintptr{
		"nothing":     {0, 0, 0},
		"argc":        {3, argv, argv + 32},
		"envp":        {2, argv, argv + 16},
		"unaligned":   {2, argv + 4, argv + 28},
		"unmapped":    {2, 0x7000_0000_0000, 0x7000_0000_0018},
		"non-address": {2, ^uintptr(7), 16},
		"huge":        {0x7fffffff, argv, argv + 8*0x80000000},
	} {
		p = process{}
		if p.start(a[0], a[1], a[2]) {
			t.Errorf("%s: believed", name)
		}
	}
	words[len(words)-10] = 99 // no AT_PHDR
	if p = (process{}); p.start(2, argv, argv+24) {
		t.Error("believed a stack without AT_PHDR")
	}
	_, argv = stackOf([]string{"a"}, nil, atPhdr, 0x400040, atPhnum, 9, atPagesz, 4096, atSecure, 1, 0, 0)
	if p = (process{}); !p.start(1, argv, argv+16) || !p.secure {
		t.Error("AT_SECURE is not seen")
	}
}

func TestConfig(t *testing.T) {
	load := func(env ...string) config {
		_, argv := stackOf(nil, env, goodAuxv...)
		p := process{envp: argv + 8}
		var c config
		c.load(&p)
		return c
	}
	good := []string{"PATH=/bin", "PROOT_FP_ROOT=/r", "PROOT_FP_KEY=k", "PROOT_FP_BINDS=/a:/b|/c"}
	c := load(good...)
	if !c.wanted() || c.root != "/r" || c.key != "k" || c.binds != "/a:/b|/c" || c.ttl != defaultTTL {
		t.Errorf("%+v", c)
	}
	for _, v := range []string{"OFF=1", "OFF=0", "PATCH_SVC=0", "PATCH_SVC=x", "TTL_MS=x", "TTL_MS=-1", "TTL_MS=99999999999999999999",
		"ROOT=", "ROOT=relative", "KEY=", "MODES=root", "WHATEVER=1"} {
		if c := load(append(good, "PROOT_FP_"+v)...); c.wanted() {
			t.Errorf("still wanted with %s", v)
		}
	}
	for _, v := range []string{"OFF=", "PATCH_SVC=1", "PATCH_SVC=", "TTL_MS=0", "TTL_MS=", "ANDROID_API=x", "SVC_CACHE=0", "MODES=", "STATS=1", "LOG=/x", "NOVALUE"} {
		if c := load(append(good, "PROOT_FP_"+v)...); !c.wanted() {
			t.Errorf("not wanted with %s", v)
		}
	}
	if c := load(); c.wanted() {
		t.Error("wanted by an empty environment")
	}
	if c := load(good[:2]...); c.wanted() {
		t.Error("wanted without a key")
	}
	if c := load(append(good, "PROOT_FP_TTL_MS=17", "PROOT_FP_ANDROID_API=34")...); c.ttl != 17 || c.api != 34 {
		t.Errorf("%+v", c)
	}
}

func TestSearch(t *testing.T) {
	stack := make([]uintptr, 1024)
	words, _ := stackOf([]string{"a"}, []string{"X=1"}, goodAuxv...)
	base := uintptr(unsafe.Pointer(&stack[0]))
	at := 500 + int(base>>3&1) // the kernel aligns it to 16
	copy(stack[at:], words)
	arg := make([]byte, 16)
	stack[at+1] = base + 8*1000 // strings lie above
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&stack[1000])), 16), arg)
	for i := range at { // what looks like a count and a pointer, but is not the start
		stack[i] = uintptr(i % 7)
		if i%2 == 1 {
			stack[i] = base + 8*900
		}
	}
	var p process
	if !p.search(base) || p.stack != base+8*uintptr(at) {
		t.Errorf("%+v, want stack %#x", p, base+8*uintptr(at))
	}
	clear(stack)
	if p = (process{}); p.search(base) {
		t.Error("found a start in zeros")
	}
}
