// Package qemu boots the test VM once and waits for it to power off.
package qemu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Machine is what is booted.
type Machine struct {
	Program  []string // how the emulator is started, if not the machine's own
	Image    string   // kernel
	Initrds  []string
	CPU      string // as qemu names it: cortex-a76, max
	CPUs     int    // more than one only without ICount
	ICount   bool   // one instruction is one nanosecond of the VM's time
	MemoryMB int
	Options  string            // for the kernel, besides its own
	Timeout  time.Duration     // of this machine's time
	Said     func(line string) // if not nil, called with every line of the console, soon after it was written
}

// outputSize is how large the disk for results is; it is a sparse file.
const outputSize = 1 << 30

// Boot runs the machine in dir, a scratch directory, and returns the path of the disk it wrote and the console.
func (m Machine) Boot(ctx context.Context, dir string) (disk, console string, err error) {
	initrd, disk, log := filepath.Join(dir, "initrd"), filepath.Join(dir, "disk"), filepath.Join(dir, "console")
	if err := concat(initrd, m.Initrds); err != nil {
		return "", "", fmt.Errorf("initramfs: %w", err)
	}
	if err := os.WriteFile(disk, nil, 0o644); err != nil {
		return "", "", err
	}
	if err := os.Truncate(disk, outputSize); err != nil {
		return "", "", err
	}
	bounded, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	program := m.Program
	if len(program) == 0 {
		program = []string{"qemu-system-aarch64"}
	}
	cmd := exec.CommandContext(bounded, program[0], append(program[1:len(program):len(program)], m.args(initrd, disk, log)...)...)
	cmd.WaitDelay = 5 * time.Second
	// A test that is killed takes its VM along. The signal comes when the thread that started it ends: keep that.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stop := listen(log, m.Said)
	said, err := cmd.CombinedOutput()
	stop()
	text, _ := os.ReadFile(log)
	console = string(text)
	switch {
	case errors.Is(bounded.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
		err = fmt.Errorf("the VM was still running after %v and was killed; its console ends:\n%s", m.Timeout, Tail(console))
	case ctx.Err() != nil:
		err = fmt.Errorf("the VM was killed: %w; its console ends:\n%s", ctx.Err(), Tail(console))
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("qemu-system-aarch64: %w; install the package qemu-system-arm", err)
	case err != nil:
		err = fmt.Errorf("qemu-system-aarch64: %w: %s\nthe VM's console ends:\n%s", err, said, Tail(console))
	}
	return disk, console, err
}

func (m Machine) args(initrd, disk, log string) []string {
	board, cpu := "virt", m.CPU
	if cpu == "max" {
		cpu += ",pauth-impdef=on" // the architected pointer authentication takes most of an emulator's time
		board += ",mte=on"        // memory that can have tags
	}
	kernel := "console=ttyAMA0 quiet panic=-1 rdinit=/init"
	if !m.ICount {
		// Kernels with address space randomisation keep two sets of page tables, and an emulator forgets all
		// translations with every change between them, twice in a system call: a system call takes four times as long.
		// Where instructions are counted it is left as phones have it.
		kernel += " kpti=0"
	}
	args := []string{"-M", board, "-cpu", cpu, "-m", strconv.Itoa(m.MemoryMB), "-smp", strconv.Itoa(m.CPUs),
		"-nodefaults", "-net", "none", "-display", "none", "-monitor", "none", "-no-reboot",
		"-serial", "file:" + log,
		"-drive", "if=none,id=out,format=raw,file=" + disk, "-device", "virtio-blk-device,drive=out",
		"-kernel", m.Image, "-initrd", initrd,
		"-append", strings.TrimSpace(kernel + " " + m.Options)}
	if m.ICount {
		args = append(args, "-icount", "shift=0,sleep=off")
	}
	return args
}

// Tail returns the last lines of a console, enough for a stack trace of the kernel.
func Tail(console string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(console, "\r", "")), "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

// concat puts files one behind the other; the kernel unpacks concatenated archives in order.
func concat(out string, parts []string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, part := range parts {
		in, err := os.Open(part)
		if err != nil {
			return err
		}
		_, err = f.ReadFrom(in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
