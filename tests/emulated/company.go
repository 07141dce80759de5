// Package emulated is for tests that run compiled parts of the library under the user-mode emulator, which is not a kernel.
package emulated

import (
	"fmt"
	"path/filepath"

	"svcrelay/tests/rig/repo"
)

// alone is a company.go that takes the process to have no other threads and its memory to be its own.
const alone = `package translate

func (v *View) company(s *Scratch) bool { return false }

func (v *View) TrustCount(addr uintptr) {}
`

// Overlay is what asmgen compiles in place of files of the tree, by their names: the emulator has threads of its own, which the
// translator would notice, and makes no copies between processes, which it would need then.
func Overlay() (map[string][]byte, error) {
	top, err := repo.Root()
	if err != nil {
		return nil, fmt.Errorf("what the emulator needs: %w", err)
	}
	return map[string][]byte{filepath.Join(top, "translate/company.go"): []byte(alone)}, nil
}
