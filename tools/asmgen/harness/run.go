package harness

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"svcrelay/tools/asmgen/asm"
	"svcrelay/tools/asmgen/compile"
	"svcrelay/tools/asmgen/obj"
)

// Arg is one scalar argument. A pointer's value is an offset in the arena.
type Arg struct {
	Value   uint64
	Pointer bool
}

// Pointer says that the eight bytes at At in the arena hold the address of To in the arena.
type Pointer struct{ At, To int }

// Call is one call to make.
type Call struct {
	Entry    string
	Args     []Arg
	Arena    []byte // contents before the call; a multiple of 8 bytes
	Pointers []Pointer
}

// Result is what one call left.
type Result struct {
	// Aborted: the call ended in the abort path with Code.
	Aborted bool
	Code    uint64
	// Regs are x0-x7 after a normal return.
	Regs [8]uint64
	// Broken tells which promise the call broke, empty if none.
	Broken string
	// Depth is how far below the caller's sp the call wrote.
	Depth int
	// Arena is the memory after the call.
	Arena []byte
	// ArenaBase is the address that the arena had.
	ArenaBase uint64
}

// Bases are the load addresses at which tests run programs.
var Bases = []uint64{0x400000, 0x5555550000, 0x7fff00000}

// Run makes the calls in one process with the program, and functions that it
// may refer to, loaded at base.
func Run(p *compile.Program, base uint64, calls []Call, extra ...asm.Func) ([]Result, error) {
	o := obj.New()
	for _, f := range extra {
		o.AddFunc(f, "", obj.Global)
	}
	o.AddProgram(p, obj.Global)
	stacks := map[string]int{}
	for _, e := range p.Entries {
		stacks[e.Name] = e.Stack
	}
	if err := addCalls(o, calls, stacks); err != nil {
		return nil, err
	}
	exe, err := o.Link(base, "_start")
	if err != nil {
		return nil, err
	}
	arenaBase, _ := o.Address(arenaSym)
	dir, err := os.MkdirTemp("", "asmgen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "calls")
	if err := os.WriteFile(file, exe, 0o755); err != nil {
		return nil, err
	}
	out, runErr := execute(file)
	var rs []Result
	for i, c := range calls {
		if len(out) < outHead+len(c.Arena) {
			return rs, fmt.Errorf("harness: call %d, of %s, did not come back: %w", i, c.Entry, errors.Join(runErr, errors.New("the program's output ends there")))
		}
		r := Result{ArenaBase: arenaBase, Arena: bytes.Clone(out[outHead : outHead+len(c.Arena)])}
		status := binary.LittleEndian.Uint64(out)
		r.Depth = int(binary.LittleEndian.Uint64(out[8:]))
		for j := range r.Regs {
			r.Regs[j] = binary.LittleEndian.Uint64(out[16+8*j:])
		}
		if status&aborted != 0 {
			r.Aborted, r.Code = true, r.Regs[0]
		}
		r.Broken = broken(status, r.Depth, stacks[c.Entry])
		rs = append(rs, r)
		out = out[outHead+len(c.Arena):]
	}
	if runErr != nil {
		return rs, fmt.Errorf("harness: after all calls: %w", runErr)
	}
	return rs, nil
}

// broken names the promises that a call did not keep.
func broken(status uint64, depth, stack int) string {
	var s string
	for _, r := range preserved {
		if status>>r&1 != 0 {
			s += fmt.Sprintf("%v changed; ", r)
		}
	}
	if status&brokenSP != 0 {
		s += "sp is not what it was; "
	}
	if depth > stack {
		s += fmt.Sprintf("the stack was written %d bytes deep, %d were promised; ", depth, stack)
	}
	return s
}

// execute runs the program under qemu-user, with its output in a file.
func execute(file string) ([]byte, error) {
	out, err := os.Create(file + ".out")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var stderr bytes.Buffer
	cmd := exec.Command(qemu(), file)
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err = cmd.Wait()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	data, readErr := os.ReadFile(file + ".out")
	return data, errors.Join(err, readErr)
}

// qemu is the name of the emulator: distributions install one or the other.
func qemu() string {
	for _, name := range []string{"qemu-aarch64", "qemu-aarch64-static"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return "qemu-aarch64"
}
