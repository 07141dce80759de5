//go:build linux

// Command init is the first and only program of the test VM: it runs the job it finds in its initramfs, writes the
// report and the wanted files to a disk and powers the machine off. Started again with arguments it is the helper
// that changes root for a command.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"svcrelay/tests/rig/protocol"
)

func main() {
	if os.Getpid() != 1 {
		if err := enter(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "rig:", err)
			os.Exit(127)
		}
	}
	if err := serve(); err != nil {
		say("failed: %v", err)
	}
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		say("power off: %v", err)
	}
	select {}
}

// say writes a line to the console.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "rig: "+format+"\n", args...) }

func serve() error {
	if err := mountAll(""); err != nil {
		return err
	}
	if console, err := os.OpenFile("/dev/console", os.O_RDWR, 0); err == nil {
		for fd := range 3 {
			unix.Dup3(int(console.Fd()), fd, 0)
		}
	}
	text, err := os.ReadFile(protocol.JobPath)
	if err != nil {
		return err
	}
	var job protocol.Job
	if err := json.Unmarshal(text, &job); err != nil {
		return fmt.Errorf("%s: %w", protocol.JobPath, err)
	}
	// Loaded last thing before the results are written, the disk's interrupts would disturb no measurement; but a
	// driver that does not load must be known before an hour of work is lost.
	if err := loadModules(job.Modules); err != nil {
		return err
	}
	disk, err := openDisk()
	if err != nil {
		return err
	}
	defer disk.Close()
	report := runAll(job)
	return writeResults(disk, report, job.Return)
}
