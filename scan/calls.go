package scan

import (
	"fmt"

	"github.com/elastic/go-seccomp-bpf/arch"

	"svcrelay/nocgo"
)

// callName gives the name of an arm64 system call.
func callName(nr uintptr) string {
	if nr == nocgo.SysNewfstatat {
		return "newfstatat" // the table has its older name
	}
	if name, ok := arch.AARCH64.SyscallNumbers[int(nr)]; ok {
		return name
	}
	return fmt.Sprintf("syscall %d", nr)
}

// pathCalls are the calls that name a file by a path, a Unix socket by an address, or tell where a process is: those
// for which PRoot (5.4.0 or Termux's fork) stops a program because of what the path means. Those that start a program
// are not among them: see neverPatched.
var pathCalls = map[string]bool{
	"openat": true, "openat2": true, "newfstatat": true, "statx": true, "faccessat": true, "faccessat2": true,
	"readlinkat": true, "mkdirat": true, "mknodat": true, "unlinkat": true, "renameat": true, "renameat2": true,
	"symlinkat": true, "linkat": true, "fchmodat": true, "fchmodat2": true, "fchownat": true, "utimensat": true,
	"truncate": true, "statfs": true, "chdir": true, "fchdir": true, "getcwd": true, "chroot": true,
	"getxattr": true, "lgetxattr": true, "listxattr": true, "llistxattr": true, "setxattr": true, "lsetxattr": true,
	"removexattr": true, "lremovexattr": true, "name_to_handle_at": true, "inotify_add_watch": true,
	"bind": true, "connect": true, "accept": true, "accept4": true, "getsockname": true, "getpeername": true,
	"mount": true, "umount2": true, "pivot_root": true, "swapon": true,
	"swapoff": true, "acct": true, "quotactl": true, "fanotify_mark": true,
}

// neverPatched are the calls that must not be made from within a relay, and why.
var neverPatched = map[string]string{
	"execve": "PRoot replaces the program and everything in it", "execveat": "PRoot replaces the program and everything in it",
	"clone": "the new thread or process goes on on another stack", "clone3": "the new thread or process goes on on another stack",
	"rt_sigreturn": "it goes on elsewhere, with other registers",
}
