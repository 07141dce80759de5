package debian

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPickMirror(t *testing.T) {
	line := func(f ...string) string { return strings.Join(f, "|") + "\n" }
	security := line("Packages", "Debian", "Debian-Security", "bookworm-security", "http://a.example/debian-security/")
	known := line("Packages", "Debian", "Debian", "bookworm", "http://a.example/debian/")
	unknown := line("Packages", "$(ORIGIN)", "$(LABEL)", "bookworm-security", "http://a.example/debian-security/") +
		line("Packages", "$(ORIGIN)", "$(LABEL)", "bookworm", "http://b.example/debian/")
	ubuntu := line("Packages", "Ubuntu", "Ubuntu", "noble", "http://c.example/ubuntu/")
	for _, c := range []struct {
		name, targets string
		debian        bool
		want          string
	}{
		{"known origin", security + known, true, "http://a.example/debian"},
		{"no lists yet", unknown, true, "http://b.example/debian"},
		{"no lists yet, not Debian", unknown, false, ""},
		{"Ubuntu", ubuntu, false, ""},
		{"Ubuntu with Debian besides", ubuntu + known, false, "http://a.example/debian"},
		{"installation disc", line("Packages", "Debian", "Debian", "bookworm", "cdrom:[x]/"), true, ""},
		{"nothing", "", true, ""},
	} {
		if got := pickMirror(c.targets, c.debian); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDebootstrapMirror(t *testing.T) {
	dir := t.TempDir()
	text := "case $ARCH in\n  amd64)\n    default_mirror \"http://d.example/debian/\"\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "sid"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := fromDebootstrap(dir); got != "http://d.example/debian" {
		t.Errorf("mirror %q", got)
	}
	if got := fromDebootstrap(t.TempDir()); got != "" {
		t.Errorf("mirror %q from nothing", got)
	}
}

func TestParseURI(t *testing.T) {
	f, ok := parseURI("'http://a.example/pool/libattr1_2.5.1-4_arm64.deb' libattr1_1%3a2.5.1-4_arm64.deb 21888 SHA256:ab")
	if !ok || f.Name != "libattr1_1:2.5.1-4_arm64.deb" || f.Package() != "libattr1" || f.Size != 21888 || f.SHA256 != "ab" {
		t.Errorf("parsed %+v, %v", f, ok)
	}
	for _, line := range []string{"", "Reading lists", "'http://x' a 1 MD5Sum:00", "'http://x' a b SHA256:00"} {
		if f, ok := parseURI(line); ok {
			t.Errorf("%q was taken for %+v", line, f)
		}
	}
}

func TestManifestNeedsItsFiles(t *testing.T) {
	dir := t.TempDir()
	manifest, file := filepath.Join(dir, "m.json"), filepath.Join(dir, "f")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entry := `[{"Name":"f","Path":"` + file + `","Size":3,"SHA256":"x"}]`
	write(manifest, entry)
	write(file, "abc")
	if files, ok := load(manifest); !ok || len(files) != 1 {
		t.Errorf("a good manifest gave %v, %v", files, ok)
	}
	write(file, "ab")
	if _, ok := load(manifest); ok {
		t.Error("a shortened file was taken for whole")
	}
	write(manifest, "{")
	if _, ok := load(manifest); ok {
		t.Error("a broken manifest was taken")
	}
}
