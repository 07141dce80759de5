package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Mirror returns the address of a Debian archive. It is never written down in this tree: it is
// $SVCRELAY_DEBIAN_MIRROR, or where the machine's own apt gets Debian from, or (a machine that is not Debian)
// the default that the package debootstrap carries.
var Mirror = sync.OnceValues(findMirror)

func findMirror() (string, error) {
	if m := os.Getenv("SVCRELAY_DEBIAN_MIRROR"); m != "" {
		return strings.TrimSuffix(m, "/"), nil
	}
	if m := fromApt(); m != "" {
		return m, nil
	}
	if m := fromDebootstrap("/usr/share/debootstrap/scripts"); m != "" {
		return m, nil
	}
	return "", fmt.Errorf("no Debian mirror known: apt's sources name none; run apt-get update, " +
		"install the package debootstrap, or set SVCRELAY_DEBIAN_MIRROR to a mirror's address")
}

// fromApt asks apt for its package indexes and takes the first of Debian's main archive. Without downloaded
// lists apt does not know the origin; then a Debian machine's plain suites are taken.
func fromApt() string {
	out, err := exec.Command("apt-get", "indextargets", "--format",
		"$(CREATED_BY)|$(ORIGIN)|$(LABEL)|$(RELEASE)|$(REPO_URI)").Output()
	if err != nil {
		return ""
	}
	return pickMirror(string(out), isDebian("/etc/os-release"))
}

func pickMirror(targets string, debianHost bool) string {
	guess := ""
	for _, line := range strings.Split(targets, "\n") {
		f := strings.Split(line, "|")
		if len(f) != 5 || f[0] != "Packages" || !strings.HasPrefix(f[4], "http") {
			continue
		}
		uri := strings.TrimSuffix(f[4], "/")
		switch {
		case f[1] == "Debian" && f[2] == "Debian":
			return uri
		case debianHost && guess == "" && strings.HasPrefix(f[1], "$(") && !strings.ContainsAny(f[3], "-/"):
			guess = uri
		}
	}
	return guess
}

func isDebian(osRelease string) bool {
	text, err := os.ReadFile(osRelease)
	return err == nil && regexp.MustCompile(`(?m)^ID="?debian"?$`).Match(text)
}

func fromDebootstrap(scripts string) string {
	text, err := os.ReadFile(filepath.Join(scripts, "sid"))
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`(?m)^\s*default_mirror\s+"?(https?://[^\s"]+)`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimSuffix(string(m[1]), "/")
}

// keyring returns the file with Debian's archive keys.
func keyring() (string, error) {
	for _, path := range []string{os.Getenv("SVCRELAY_DEBIAN_KEYRING"),
		"/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("Debian's archive keys are missing: install the package debian-archive-keyring")
}

// apt runs a program of apt with the suite's private configuration.
func (s *suite) apt(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"-c", s.conf}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s (suite %s): %w\n%s", filepath.Base(program), strings.Join(args, " "), s.name, err, tail(said.String(), 2000))
	}
	return out, nil
}

func tail(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = "..." + s[len(s)-n:]
	}
	return s
}
