package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSiteCache runs programs one after the other whose /tmp is a directory of the test's: only the first searches, a
// damaged file makes one search again, and all of them patch the same sites.
func TestSiteCache(t *testing.T) {
	lib, exe, dir, tmp := believer(t, nil), program(t), t.TempDir(), t.TempDir()
	sites := map[string]string{} // by what is asked for besides: a release of Android has calls of its own
	run := func(want string, more ...string) {
		t.Helper()
		env := append([]string{"PROOT_FP_ROOT=/", "PROOT_FP_KEY=k", "PROOT_FP_BINDS=" + tmp + ":/tmp", "PROOT_FP_STATS=1"}, more...)
		_, errs := emulate(t, lib, env, exe, dir)
		m := regexp.MustCompile(` errors=0 .* (libc=\d+ ld.so=\d+ of=\d+) scanned=(\d+/\d+)`).FindStringSubmatch(errs)
		if m == nil {
			t.Fatalf("statistics: %q", errs)
		}
		if m[2] != want {
			t.Errorf("%q: searched %s, want %s", more, m[2], want)
		}
		for _, v := range append(more, "") {
			if strings.HasSuffix(v, "CACHE=0") {
				continue
			}
			if sites[v] == "" {
				sites[v] = m[1]
			}
			if m[1] != sites[v] {
				t.Errorf("%q: found %s, before %s", more, m[1], sites[v])
			}
			break
		}
	}
	run("2/2", "PROOT_FP_SVC_CACHE=0")
	if left, _ := filepath.Glob(tmp + "/*"); len(left) > 0 {
		t.Errorf("switched off, it has made %q", left)
	}
	run("2/2")
	run("0/2")
	run("2/2", "PROOT_FP_ANDROID_API=31")
	run("0/2", "PROOT_FP_ANDROID_API=31")
	run("0/2")
	files, err := filepath.Glob(tmp + "/svcrelay-*/*")
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1] ^= 1
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("2/2")
	run("0/2")
}
