package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const crossRoot = "/usr/aarch64-linux-gnu"

// TestScan scans the rootfs-like folder of the cross compiler's C library.
func TestScan(t *testing.T) {
	var out, errs bytes.Buffer
	if code := command([]string{"scan", "--json", "--rootfs", crossRoot}, &out, &errs); code != 0 {
		t.Fatalf("exit status %d: %s", code, errs.String())
	}
	names := []string{}
	for d := json.NewDecoder(&out); d.More(); {
		var r struct {
			File, BuildID string
			SVC           int
			Unpatched     []struct{ Why string }
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(r.File))
		stub := strings.HasPrefix(filepath.Base(r.File), "libpthread") || strings.HasPrefix(filepath.Base(r.File), "librt") // everything has moved to libc.so.6
		if r.BuildID == "" || r.SVC == 0 && !stub {
			t.Errorf("%+v", r)
		}
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "ld-linux-aarch64.so.1") || !strings.Contains(got, "libc.so.6") {
		t.Errorf("scanned %s", got)
	}
}

// TestScanRefuses gives files that are not to be scanned; the others still are.
func TestScanRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := command([]string{"scan", text, crossRoot + "/lib/libc.so.6"}, &out, &errs)
	if code != exitFailure || !strings.Contains(errs.String(), text) || !strings.Contains(out.String(), "svc instructions") {
		t.Errorf("exit status %d\n%s\n%s", code, out.String(), errs.String())
	}
	if code := command([]string{"scan"}, &out, &errs); code != exitUsage {
		t.Errorf("without a file: exit status %d", code)
	}
	if code := command([]string{"scan", "--rootfs", t.TempDir()}, &out, &errs); code != exitFailure {
		t.Errorf("an empty rootfs: exit status %d", code)
	}
}

// TestScanLibraryRefuses asks for the figures of files that have none.
func TestScanLibraryRefuses(t *testing.T) {
	var out, errs bytes.Buffer
	libc := crossRoot + "/lib/libc.so.6"
	if code := command([]string{"scan", "--library", libc}, &out, &errs); code != exitFailure || !strings.Contains(errs.String(), libc) {
		t.Errorf("exit status %d: %s", code, errs.String())
	}
	for _, more := range [][]string{{libc}, {"--rootfs", "/"}} {
		if code := command(append([]string{"scan", "--library", libc}, more...), &out, &errs); code != exitUsage {
			t.Errorf("with %q: exit status %d", more, code)
		}
	}
}

// TestScanJSON looks at the names and shapes that programs rely on.
func TestScanJSON(t *testing.T) {
	var out, errs bytes.Buffer
	libc := crossRoot + "/lib/libc.so.6"
	if code := command([]string{"scan", "--json", libc}, &out, &errs); code != 0 {
		t.Fatalf("exit status %d: %s", code, errs.String())
	}
	type share struct{ Total, Patched *int }
	type site struct {
		Offset               *uint64
		Symbol, Syscall, Why *string
	}
	var r struct {
		File, BuildID, Version *string
		SVC                    *int
		Path, Dispatchers      *share
		Calls                  map[string]share
		Patched, Unpatched     []site
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if *r.File != libc || *r.BuildID == "" || *r.Version == "" || *r.SVC == 0 || *r.Path.Total == 0 || *r.Path.Patched > *r.Path.Total ||
		*r.Dispatchers.Total == 0 || *r.Dispatchers.Patched > *r.Dispatchers.Total || *r.Calls["openat"].Total == 0 || len(r.Patched) == 0 {
		t.Errorf("%.1000s", out.String())
	}
	for _, s := range r.Unpatched {
		if *s.Offset == 0 || *s.Symbol == "" || *s.Syscall == "" || *s.Why == "" {
			t.Errorf("%+v", s)
		}
	}
}
