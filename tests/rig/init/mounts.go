package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"svcrelay/tests/rig/protocol"
)

// mountAll puts the kernel's file systems below root, "" being the VM's own.
func mountAll(root string) error {
	mounts := []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"devpts", "/dev/pts"}, {"tmpfs", "/dev/shm"},
	}
	for _, m := range mounts {
		at := root + m.at
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, at, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("mount %s at %s: %w", m.kind, at, err)
		}
	}
	for link, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, root+"/dev/"+link); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

func loadModules(names []string) error {
	for _, name := range names {
		f, err := os.Open(filepath.Join(protocol.ModuleDir, name))
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("load module %s: %w", name, err)
		}
	}
	return nil
}

// openDisk waits for the disk that the driver is about to find.
func openDisk() (*os.File, error) {
	for range 500 {
		f, err := os.OpenFile(protocol.OutputDisk, os.O_WRONLY, 0)
		if err == nil {
			return f, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s did not appear", protocol.OutputDisk)
}
