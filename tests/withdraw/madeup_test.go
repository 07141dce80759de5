package withdraw

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svcrelay/tests/rig"
	"svcrelay/tests/rig/guest"
	"svcrelay/tests/rig/product"
)

// TestMadeUp runs a program that closes numbers which Termux's fork may have kept, where the host refuses to bind sockets that
// ask for network interfaces, as Android does: what it sees must be the same with the library, which still closes files itself.
func TestMadeUp(t *testing.T) {
	rig.NeedVM(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	const program, refuse, bind = "/opt/madeup", "/opt/refuse", "200"
	job := rig.Job{Kernel: "6.1", ICount: true, KeepOn: true, Guests: []string{"bookworm"}, Timeout: 5 * time.Minute}
	dir := t.TempDir()
	if err := errors.Join(product.Add(&job, ""), product.Compile(ctx, &job, dir, "bookworm", "madeup.c", program),
		product.Compile(ctx, &job, dir, "bookworm", "refuse.c", refuse)); err != nil {
		t.Fatal(err)
	}
	root := guest.Root("bookworm")
	proot := []string{rig.PRootPath, "-r", root, "-w", "/", "-b", "/proc", "-b", "/dev", "-b", "/sys"}
	const outside = "/opt/svcrelay/refuse" // the machine has bookworm's libraries, too
	job.Files[outside] = rig.File{HostPath: filepath.Join(dir, "bookworm-refuse")}
	for _, start := range [][]string{proot, product.Run(proot)} {
		argv := append([]string{outside, "call", bind, "13"}, append(start, program)...)
		job.Commands = append(job.Commands, rig.Command{Name: start[0], Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 20 * time.Second})
	}
	res, err := rig.Run(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	without, with := res.Outcomes[0], res.Outcomes[1]
	told := func(o rig.Outcome) string {
		return strings.ReplaceAll(strings.ReplaceAll(string(o.Stdout), "others stopped\n", ""), "others answered\n", "")
	}
	if told(without) != told(with) || without.Status != 0 || with.Status != 0 || !strings.Contains(string(with.Stdout), "executed\n") {
		t.Errorf("without the library (status %d, %s):\n%s%s\nwith it (status %d, %s):\n%s%s", without.Status, without.Problem, without.Stdout,
			without.Stderr, with.Status, with.Problem, with.Stdout, with.Stderr)
	}
	if !strings.Contains(string(with.Stdout), "others answered\n") {
		t.Errorf("files are not closed by the library:\n%s", with.Stdout)
	}
}
