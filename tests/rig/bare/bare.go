//go:build linux

// Package bare runs programs of a guest without PRoot, for comparison: in the VM, with mounts of their own and as any user.
package bare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Guest is where a program runs, and as whom.
type Guest struct {
	Root string
	Dir  string // in the guest
	UID  int    // user and group
}

// word is the first argument of a program that was started by Command.
const word = "run-without-proot"

// Command is this program once more, to become one of the guest: see Main.
func Command(ctx context.Context, g Guest, args ...string) *exec.Cmd {
	text, _ := json.Marshal(g) // there is nothing in it that cannot be written
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{word, string(text)}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS}
	return cmd
}

// Main must be called at the beginning of a program that uses Command. It does nothing, unless the program was started by it:
// then mount makes the mounts that the guest needs, of which nobody else knows, and says by Command's arguments what is to run.
func Main(mount func(args []string) (argv []string, err error)) {
	if len(os.Args) < 3 || os.Args[1] != word {
		return
	}
	fmt.Fprintln(os.Stderr, "without PRoot:", become(os.Args[2], os.Args[3:], mount))
	os.Exit(127)
}

func become(guest string, args []string, mount func([]string) ([]string, error)) error {
	var g Guest
	if err := json.Unmarshal([]byte(guest), &g); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mounts its own: %w", err)
	}
	argv, err := mount(args)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return unix.Chroot(g.Root) },
		func() error { return unix.Chdir(g.Dir) },
		func() error { return unix.Setgroups(nil) },
		func() error { return unix.Setresgid(g.UID, g.UID, g.UID) },
		func() error { return unix.Setresuid(g.UID, g.UID, g.UID) },
	} {
		if err := step(); err != nil {
			return fmt.Errorf("enter %+v: %w", g, err)
		}
	}
	return fmt.Errorf("%s: %w", argv[0], unix.Exec(argv[0], argv, os.Environ()))
}
