package launch

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lookUp finds a program as execvp does. The permission bits decide, and not faccessat2, which Android forbids.
func lookUp(name, path string) (string, error) {
	if name == "" {
		return "", errors.New("the name of PRoot is empty")
	}
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	var denied error
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		file := dir + "/" + name
		err := executable(file)
		if err == nil {
			return file, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("%s: %w in PATH; is PRoot installed?", name, fs.ErrNotExist)
}

func executable(file string) error {
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case st.IsDir() || st.Mode()&0o111 == 0:
		return &fs.PathError{Op: "run", Path: file, Err: fs.ErrPermission}
	}
	return nil
}

// inspect reads PRoot and says whether a library can be preloaded into it.
func inspect(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return nil, fmt.Errorf("%s is set-user-ID or set-group-ID: no library can be preloaded into it", path)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return nil, fmt.Errorf("%s is not a program file but perhaps a script around PRoot; name PRoot itself", path)
	}
	if f.Machine != elf.EM_AARCH64 || f.Class != elf.ELFCLASS64 {
		return nil, fmt.Errorf("%s is not an arm64 program", path)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return program, nil
		}
	}
	return nil, fmt.Errorf("%s is statically linked: no library can be preloaded into it; use a dynamically linked PRoot", path)
}
