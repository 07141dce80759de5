package abi

import "strings"

// A machine is one boot; each of its guests is a cell.
type machine struct {
	kernel, cpu string
	alone       string // the guest that also runs under PRoot without the library
}

// guests are the C libraries: glibc 2.31, 2.36, 2.41, 2.43 and musl.
var guests = []string{"bullseye", "bookworm", "trixie", "forky", "musl"}

// libcs names them for people.
var libcs = map[string]string{"bullseye": "2.31", "bookworm": "2.36", "trixie": "2.41", "forky": "2.43", "musl": "musl"}

// machines are the boots of the matrix.
var machines = []machine{
	{kernel: "6.1", cpu: "cortex-a76", alone: "bookworm"},
	{kernel: "6.1", cpu: "max"},
	{kernel: "5.10", cpu: "cortex-a76"},
	{kernel: "5.10", cpu: "max"},
	{kernel: "6.12", cpu: "cortex-a76"},
	{kernel: "6.12", cpu: "max"},
	{kernel: "6.12-16k", cpu: "cortex-a76"},
	{kernel: "6.12-16k", cpu: "max"},
	{kernel: "7.2", cpu: "cortex-a76"},
	{kernel: "7.2", cpu: "max"},
}

// checks are what the program must have said something about.
var checks = []string{"registers", "stack-end", "stack-depth", "stack-growth", "errno", "memory", "tagged", "mte", "sve", "sme",
	"storm", "jump-out", "moved-away", "small-stacks", "disarmed-stacks", "local-stack", "contexts", "interrupted", "unwinding",
	"threads", "busy-parent", "exec-storm", "leaks", "cancelled", "no-descriptors", "robust-lists",
	"clones", "segv", "result-changed", "trapped", "confined", "straddle", "freed", "raced", "leftovers", "backtrace", "debugger", "starts",
	"exceptions", "cancellation", "exceptions-static", "cancellation-static", "exceptions-late", "cancellation-late"}

// needs says whether a check must be made in a cell with the library, not only tried. With musl there are no contexts,
// and no C++ library for the test.
func (c *Cell) needs(check string) bool {
	if c.Libc == "musl" {
		return check != "contexts" && check != "backtrace" && check != "sve" && check != "sme" && check != "mte" &&
			!strings.HasPrefix(check, "exceptions") && !strings.HasPrefix(check, "cancellation")
	}
	switch check {
	case "sve", "mte":
		return c.CPU == "max"
	case "exceptions-static", "cancellation-static":
		return c.Libc != "2.31"
	case "sme": // 5.10 does not know it; in Debian's 6.1 and 6.12 it is not built, as broken
		return c.CPU == "max" && c.Kernel == "7.2"
	}
	return true
}
