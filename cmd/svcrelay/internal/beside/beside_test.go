package beside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	top := t.TempDir()
	bin := filepath.Join(top, "bin")
	for _, dir := range []string{"bin", "lib/svcrelay"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := find(bin, "x.so", "--library"); err == nil || !strings.Contains(err.Error(), "name it with --library FILE") {
		t.Error(err)
	}
	for _, place := range []string{"lib/x.so", "lib/svcrelay/x.so", "bin/x.so"} { // the later, the better
		file := filepath.Join(top, place)
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := find(bin, "x.so", "--library"); err != nil || got != file {
			t.Errorf("%s: %s, %v", place, got, err)
		}
	}
	if _, err := Find("no-such-file.so", "--library"); err == nil {
		t.Error("a file that is nowhere was found")
	}
}
