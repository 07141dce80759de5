package main

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	var out bytes.Buffer
	o := filepath.Join(t.TempDir(), "hot.o")
	const hash = "svcrelay/tools/asmgen/testdata/hot.Hash"
	if err := run([]string{"-S", "-o", o, "-e", hash + "=hot_hash", "./testdata/hot"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hot_hash: " + hash, "testdata/hot/hot.go:", "mul x", "hot_hash\t" + hash + "\tstack 0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the listing lacks %q:\n%s", want, out.String())
		}
	}
	f, err := elf.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == "hot_hash" && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			return
		}
	}
	t.Errorf("no global symbol hot_hash in %v", syms)
}

func TestCommandErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"name the packages":   nil,
		"no entry points":     {"./testdata/hot"},
		"no such function":    {"-e", "x.Y=z", "./testdata/hot"},
		"no required module":  {"example.invalid/nothing"},
		"unknown flag: --zzz": {"--zzz"},
	} {
		if err := run(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
}
