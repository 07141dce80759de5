// Package beside finds the files that belong to svcrelay where svcrelay itself is.
package beside

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find gives the path of the file called name: in svcrelay's own directory, or in the lib directory next to it.
// The option is what names the file otherwise, for the message if it is nowhere.
func Find(name, option string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("where svcrelay itself is: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return find(filepath.Dir(self), name, option)
}

func find(dir, name, option string) (string, error) {
	var looked []string
	for _, place := range []string{".", "../lib/svcrelay", "../lib"} {
		file := filepath.Join(dir, place, name)
		switch _, err := os.Stat(file); {
		case err == nil:
			return file, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		looked = append(looked, file)
	}
	return "", fmt.Errorf("%s is not beside svcrelay (looked for %s); name it with %s FILE", name, strings.Join(looked, ", "), option)
}
