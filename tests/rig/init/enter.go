package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"svcrelay/tests/rig/protocol"
)

// enter runs in a mount namespace of its own: it mounts what a root needs inside a guest, changes to it and becomes
// the command. The guest's tree itself stays without mounts, as PRoot's own commands see it.
func enter(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("this program is the test VM's init: it is not run by hand")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var c protocol.Command
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	if c.Root != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("make mounts private: %w", err)
		}
		if err := mountAll(c.Root); err != nil {
			return err
		}
		if err := unix.Chroot(c.Root); err != nil {
			return fmt.Errorf("change root to %s: %w", c.Root, err)
		}
	}
	if err := os.Chdir(orDefault(c.Dir, "/")); err != nil {
		return err
	}
	os.Clearenv()
	for _, kv := range c.Env {
		for i := range kv {
			if kv[i] == '=' {
				os.Setenv(kv[:i], kv[i+1:])
				break
			}
		}
	}
	program, err := exec.LookPath(c.Argv[0])
	if err != nil {
		return err
	}
	if c.UID != 0 || c.GID != 0 {
		if err := unix.Setgroups(nil); err != nil {
			return fmt.Errorf("drop groups: %w", err)
		}
		if err := unix.Setresgid(c.GID, c.GID, c.GID); err != nil {
			return fmt.Errorf("become group %d: %w", c.GID, err)
		}
		if err := unix.Setresuid(c.UID, c.UID, c.UID); err != nil {
			return fmt.Errorf("become user %d: %w", c.UID, err)
		}
	}
	if err := unix.Exec(program, c.Argv, c.Env); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
