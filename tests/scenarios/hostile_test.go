package scenarios

import (
	"testing"

	"svcrelay/tests/rig"
)

// TestSameInHostileStarts runs a few workloads where something that the library needs is refused to PRoot and to the guest
// alike, so that nothing but the refusal is strange, or where the address space or the program is unusual.
func TestSameInHostileStarts(t *testing.T) {
	refuse := func(args ...string) []string { return append([]string{toolDir + "/refuse"}, args...) }
	inside := func(args ...string) []string { return append([]string{progDir + "/refuse"}, args...) }
	// shell begins with a line of the VM's shell.
	shell := func(line string) []string { return []string{"/bin/sh", "-c", line + ` && exec "$@"`, "sh"} }
	few := []string{"few", "listing"}
	compareSettings(t, rig.Job{Guests: []string{"bookworm"}, MemoryMB: 3072}, []setting{
		{name: "a filter around PRoot", outside: refuse("call", "9999", "38"), wanted: active, workloads: few},
		{name: "mmap at the trampoline refused, also to PRoot", outside: refuse("trampoline", "12"), workloads: few},
		{name: "mprotect for execution refused, also to PRoot", outside: refuse("execute", "13"), workloads: few},
		{name: "pwrite64 refused, also to PRoot", outside: refuse("call", "68", "1"), workloads: few},
		{name: "getrusage refused, also to PRoot", outside: refuse("call", "165", "38"), workloads: few},
		{name: "process_vm_readv refused, also to PRoot", outside: refuse("call", "270", "1"), wanted: either, workloads: few},
		{name: "process_vm_writev refused, also to PRoot", outside: refuse("call", "271", "1"), wanted: either, workloads: few},
		{name: "statx refused, also to PRoot", outside: refuse("call", "291", "38"), wanted: active, workloads: few},
		{name: "openat2 refused, also to PRoot", outside: refuse("call", "437", "38"), wanted: active, workloads: few},
		{name: "memfd_create refused, also to PRoot", outside: refuse("call", "279", "38"), wanted: either, workloads: few},
		{name: "linkat refused, also to PRoot", outside: refuse("call", "37", "1"), wanted: active, workloads: few},
		{name: "a program with privileges", wrap: inside("privileges"), workloads: few},
		{name: "a static program before", wrap: []string{progDir + "/static"}, wanted: active, workloads: []string{"few", "cwd", "listing"}},
		{name: "a program where the trampoline would be", wanted: active, workloads: []string{"fixed"}},
		{name: "a huge library between", preload: byVariable, before: progDir + "/libhuge.so", wanted: active, workloads: []string{"few", "mutate"}},
		{name: "no room near the C library", preload: byVariable, before: progDir + "/libcrowd.so", wanted: active, workloads: few},
		{name: "no room near the C library, which is far away", preload: byVariable, before: progDir + "/libhuge.so:" + progDir + "/libcrowd.so", workloads: few},
		{name: "a read-only /tmp", outside: shell("{ mkdir -p /readonly; mountpoint -q /readonly || mount -t tmpfs -o ro none /readonly; }"),
			options: with("-b", "/readonly:/tmp"), wanted: active, workloads: []string{"few", "listing", "true"}},
		{name: "an unreadable /tmp", outside: shell("mkdir -p -m 0 /unreadable"), uid: 1000, options: with("-b", "/unreadable:/tmp"), wanted: active, workloads: few},
		{name: "a file for /tmp", options: with("-b", "/etc/hostname:/tmp!"), wanted: either, workloads: few},
	})
}

// TestSameWhereMemoryIsProtected boots a kernel that lets no process write to text through /proc/self/mem: it is written in
// another way.
func TestSameWhereMemoryIsProtected(t *testing.T) {
	compareSettings(t, rig.Job{Kernel: "6.12", KernelOptions: "proc_mem.force_override=never", Guests: []string{"bookworm"}}, []setting{
		{name: "nobody may write to text", wanted: active, workloads: []string{"few", "listing", "true"}},
		{name: "nobody may write to text, root identity", options: with("-0"), wanted: active, workloads: []string{"few"}},
	})
}
