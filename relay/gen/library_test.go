package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// link makes the library from an object file as build.sh does.
func link(t *testing.T, object string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "libsvcrelay.so")
	cmd := exec.Command("aarch64-linux-gnu-ld", "-shared", "-soname", "libsvcrelay.so", "-L", "../../ldscripts", "-T", "libsvcrelay.ld",
		"--hash-style=gnu", "--build-id=sha1", "--eh-frame-hdr", "-z", "max-page-size=65536", "-z", "noexecstack", "-z", "text",
		"-z", "nodelete", "--no-undefined", "--orphan-handling=error", "--strip-debug", "-o", out, object)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return out
}

// TestReproducible generates twice and compares with what is committed.
func TestReproducible(t *testing.T) {
	for range 2 {
		dir := t.TempDir()
		if err := generate(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"libsvcrelay.o", "libsvcrelay.json"} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what go generate ./relay makes", name)
			}
		}
	}
}
