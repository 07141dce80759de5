// Package repo finds the source tree and builds its programs, whatever directory a test runs in.
package repo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Root returns the directory of go.mod.
var Root = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w; is Go installed and on PATH?", err)
	}
	mod := strings.TrimSpace(string(out))
	if mod == "" || mod == os.DevNull {
		return "", fmt.Errorf("not inside the svcrelay source tree: run from a folder of the clone")
	}
	return filepath.Dir(mod), nil
})

// BuildARM64 compiles a package of the tree (named from its root) as a static linux/arm64 program at out.
func BuildARM64(pkg, out string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./"+pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build ./%s for linux/arm64: %w\n%s", pkg, err, said.String())
	}
	return nil
}
