package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"svcrelay/cmd/svcrelay/internal/prootargs"
)

// Some Android kernels have an f2fs that, once a missing name was looked up, takes names in another case for the
// same. PRoot's Termux line tests for that when it starts, and then never looks a name up that a directory does
// not list. The fast path does look names up, so it must not be used there.

// CreateCommand is the command by which svcrelay starts itself to create a file, for the test.
const CreateCommand = "create-for-test"

const f2fsMagic = 0xf2f52010

// mixesCase says whether PRoot will find such a file system below the rootfs.
func mixesCase(rootfs string, line prootargs.Line, env environment) bool {
	var st unix.Statfs_t
	if line == prootargs.Upstream || env.value("PROOT_F2FS_WORKAROUND") == "0" || unix.Statfs(rootfs, &st) != nil || uint32(st.Type) != f2fsMagic {
		return false
	}
	dir := env.value("PROOT_TMP_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	bad, err := looksUpWrongly(dir, createElsewhere)
	return bad || err != nil // not known is not good enough
}

// looksUpWrongly makes two files whose names differ in case, looks a third such name up, and lets create, which is
// another process, create that.
func looksUpWrongly(dir string, create func(string) error) (bool, error) {
	dir, err := os.MkdirTemp(dir, "svcrelay-case-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"aa", "Aa"} {
		if err := CreateFile(filepath.Join(dir, name)); err != nil {
			return false, err
		}
	}
	third := filepath.Join(dir, "aA")
	if _, err := os.Lstat(third); !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("%s is there", third)
	}
	err = create(third)
	return errors.Is(err, fs.ErrExist), err
}

// CreateFile creates a file that must not be there.
func CreateFile(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// createElsewhere creates a file in another process: svcrelay itself.
func createElsewhere(file string) error {
	p, err := os.StartProcess("/proc/self/exe", []string{"svcrelay", CreateCommand, file}, &os.ProcAttr{})
	if err != nil {
		return err
	}
	st, err := p.Wait()
	switch {
	case err != nil:
		return err
	case st.ExitCode() == int(unix.EEXIST):
		return fs.ErrExist
	case !st.Success():
		return fmt.Errorf("creating %s: %v", file, st)
	}
	return nil
}

// Created is the exit status of CreateCommand for the outcome of CreateFile.
func Created(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, fs.ErrExist):
		return int(unix.EEXIST)
	}
	return 1
}
