package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"svcrelay/tests/equiv/cases"
)

// outside are files that are not made afresh for a run, but that a script can reach as root: the kernel's, and with a call that
// PRoot 5.4.0 does not know, such as fchmodat2, those that the VM has by the names that the guest uses.
var outside = []string{"/", "/etc", "/etc/passwd", "/lib", "/lib/*", "/usr", "/usr/lib", "/usr/bin", "/usr/bin/*", "/tmp", "/dev", "/dev/*", "/opt", "/opt/equiv", "/opt/equiv/*", "/opt/svcrelay", "/opt/svcrelay/*",
	"/world", "/proc", "/proc/version", "/proc/stat", "/sys", "/sys/fs", "/sys/fs/*"}

// frozen are the files of the VM without which PRoot does not start, and the directories on the way to them. A script that runs
// as root can come to them through /proc, or where PRoot itself takes the text of a link of the guest for a path of its own.
// Neither way may remove, replace or add anything there that the other finds.
var frozen = []string{"/", "/etc", "/etc/*", "/usr", "/usr/bin", "/usr/bin/*", "/usr/lib", "/usr/lib/*", "/usr/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu/*",
	"/opt", "/opt/equiv", "/opt/equiv/*", "/opt/svcrelay", "/opt/svcrelay/*"}

// freeze makes what is frozen immutable, until the VM ends.
func freeze() error {
	if err := os.MkdirAll(cases.Top, 0o755); err != nil {
		return err
	}
	for _, pattern := range frozen {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			st, err := os.Lstat(p)
			if err != nil || !st.IsDir() && !st.Mode().IsRegular() {
				continue
			}
			if err := protect(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// rights are whose a file is and who may use it.
type rights struct {
	mode, uid, gid uint32
}

func rightsOf(path string) (rights, error) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return rights{st.Mode &^ unix.S_IFMT, st.Uid, st.Gid}, err
}

// readOutside notes the rights of what is outside, before any run.
func readOutside() map[string]rights {
	all := map[string]rights{}
	for _, pattern := range outside {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if r, err := rightsOf(p); err == nil {
				all[p] = r
			}
		}
	}
	return all
}

// reset gives what is outside its owners and rights back.
func reset(all map[string]rights) error {
	for path, want := range all {
		if have, err := rightsOf(path); err != nil || have == want {
			continue
		}
		if err := errors.Join(unix.Chown(path, int(want.uid), int(want.gid)), unix.Chmod(path, want.mode)); err != nil {
			return fmt.Errorf("reset %s: %w", path, err)
		}
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC) // all such descriptors share one file
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// Newer kernels let nobody change it.
	if err := errors.Join(unix.Fchown(fd, 0, 0), unix.Fchmod(fd, 0o600)); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("reset the file of inotify: %w", err)
	}
	return nil
}
