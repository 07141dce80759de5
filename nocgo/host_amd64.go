//go:build !freestanding

package nocgo

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

var hostNumbers = map[uintptr]uintptr{
	SysSetxattr:       unix.SYS_SETXATTR,
	SysLsetxattr:      unix.SYS_LSETXATTR,
	SysFsetxattr:      unix.SYS_FSETXATTR,
	SysGetxattr:       unix.SYS_GETXATTR,
	SysLgetxattr:      unix.SYS_LGETXATTR,
	SysListxattr:      unix.SYS_LISTXATTR,
	SysLlistxattr:     unix.SYS_LLISTXATTR,
	SysRemovexattr:    unix.SYS_REMOVEXATTR,
	SysLremovexattr:   unix.SYS_LREMOVEXATTR,
	SysFremovexattr:   unix.SYS_FREMOVEXATTR,
	SysStatfs:         unix.SYS_STATFS,
	SysUtimensat:      unix.SYS_UTIMENSAT,
	SysGetcwd:         unix.SYS_GETCWD,
	SysFcntl:          unix.SYS_FCNTL,
	SysMknodat:        unix.SYS_MKNODAT,
	SysMkdirat:        unix.SYS_MKDIRAT,
	SysUnlinkat:       unix.SYS_UNLINKAT,
	SysSymlinkat:      unix.SYS_SYMLINKAT,
	SysLinkat:         unix.SYS_LINKAT,
	SysRenameat:       unix.SYS_RENAMEAT,
	SysRenameat2:      unix.SYS_RENAMEAT2,
	SysFaccessat:      unix.SYS_FACCESSAT,
	SysFaccessat2:     unix.SYS_FACCESSAT2,
	SysChdir:          unix.SYS_CHDIR,
	SysFchdir:         unix.SYS_FCHDIR,
	SysFchmod:         unix.SYS_FCHMOD,
	SysFchmodat:       unix.SYS_FCHMODAT,
	SysFchown:         unix.SYS_FCHOWN,
	SysFchownat:       unix.SYS_FCHOWNAT,
	SysOpenat:         unix.SYS_OPENAT,
	SysOpenat2:        unix.SYS_OPENAT2,
	SysClose:          unix.SYS_CLOSE,
	SysRead:           unix.SYS_READ,
	SysWrite:          unix.SYS_WRITE,
	SysPread64:        unix.SYS_PREAD64,
	SysPwrite64:       unix.SYS_PWRITE64,
	SysReadlinkat:     unix.SYS_READLINKAT,
	SysNewfstatat:     unix.SYS_NEWFSTATAT,
	SysFstat:          unix.SYS_FSTAT,
	SysRtSigprocmask:  unix.SYS_RT_SIGPROCMASK,
	SysGetrusage:      unix.SYS_GETRUSAGE,
	SysPrctl:          unix.SYS_PRCTL,
	SysGetpid:         unix.SYS_GETPID,
	SysGetppid:        unix.SYS_GETPPID,
	SysGettid:         unix.SYS_GETTID,
	SysPipe2:          unix.SYS_PIPE2,
	SysGetuid:         unix.SYS_GETUID,
	SysGeteuid:        unix.SYS_GETEUID,
	SysGetgid:         unix.SYS_GETGID,
	SysGetegid:        unix.SYS_GETEGID,
	SysGetresuid:      unix.SYS_GETRESUID,
	SysGetresgid:      unix.SYS_GETRESGID,
	SysGetgroups:      unix.SYS_GETGROUPS,
	SysMunmap:         unix.SYS_MUNMAP,
	SysMmap:           unix.SYS_MMAP,
	SysMprotect:       unix.SYS_MPROTECT,
	SysStatx:          unix.SYS_STATX,
	SysTruncate:       unix.SYS_TRUNCATE,
	SysProcessVMReadv: unix.SYS_PROCESS_VM_READV,
	SysWait4:          unix.SYS_WAIT4,
	SysPrlimit64:      unix.SYS_PRLIMIT64,

	SysInotifyAdd:      unix.SYS_INOTIFY_ADD_WATCH,
	SysFtruncate:       unix.SYS_FTRUNCATE,
	SysTgkill:          unix.SYS_TGKILL,
	SysUname:           unix.SYS_UNAME,
	SysSocket:          unix.SYS_SOCKET,
	SysBind:            unix.SYS_BIND,
	SysAccept:          unix.SYS_ACCEPT,
	SysConnect:         unix.SYS_CONNECT,
	SysGetsockname:     unix.SYS_GETSOCKNAME,
	SysGetpeername:     unix.SYS_GETPEERNAME,
	SysAccept4:         unix.SYS_ACCEPT4,
	SysNameToHandle:    unix.SYS_NAME_TO_HANDLE_AT,
	SysProcessVMWritev: unix.SYS_PROCESS_VM_WRITEV,
	SysMemfdCreate:     unix.SYS_MEMFD_CREATE,
}

func hostNumber(nr uintptr) (uintptr, bool) {
	n, ok := hostNumbers[nr]
	return n, ok
}

// hostOpenFlags converts the open flags whose values differ between arm64 and x86-64:
// O_DIRECTORY, O_NOFOLLOW, O_DIRECT and O_LARGEFILE.
func hostOpenFlags(flags uintptr) uintptr {
	const (
		armDirectory, armNofollow, armDirect, armLargefile = 0x4000, 0x8000, 0x10000, 0x20000
		x86Directory, x86Nofollow, x86Direct, x86Largefile = 0x10000, 0x20000, 0x4000, 0x8000
	)
	out := flags &^ (armDirectory | armNofollow | armDirect | armLargefile)
	for _, f := range [...][2]uintptr{
		{armDirectory, x86Directory}, {armNofollow, x86Nofollow}, {armDirect, x86Direct}, {armLargefile, x86Largefile},
	} {
		if flags&f[0] != 0 {
			out |= f[1]
		}
	}
	return out
}

var hostStats = sync.Pool{New: func() any { return new(unix.Stat_t) }}

// hostStat issues a call that fills a struct stat. The host's is longer than arm64's (144 bytes, not 128) and
// laid out differently, so the kernel fills one here and the caller gets a copy.
func hostStat(buf uintptr, call func(buf uintptr) uintptr) uintptr {
	// From the pool, so that it is not on this stack, which may move while its address is a number.
	h := hostStats.Get().(*unix.Stat_t)
	defer hostStats.Put(h)
	if r := call(uintptr(unsafe.Pointer(h))); Failed(r) {
		return r
	}
	out := &Stat{
		Dev: h.Dev, Ino: h.Ino, Mode: h.Mode, Nlink: uint32(h.Nlink), UID: h.Uid, GID: h.Gid, Rdev: h.Rdev,
		Size: h.Size, Blksize: int32(h.Blksize), Blocks: h.Blocks,
		Atime: [2]int64{h.Atim.Sec, h.Atim.Nsec}, Mtime: [2]int64{h.Mtim.Sec, h.Mtim.Nsec}, Ctime: [2]int64{h.Ctim.Sec, h.Ctim.Nsec},
	}
	// The caller's buffer may be any address: only the kernel can write there without a fault.
	local := []unix.Iovec{{Base: (*byte)(unsafe.Pointer(out)), Len: uint64(unsafe.Sizeof(*out))}}
	remote := []unix.RemoteIovec{{Base: buf, Len: int(unsafe.Sizeof(*out))}}
	if n, err := unix.ProcessVMWritev(unix.Getpid(), local, remote, 0); err != nil || n != int(unsafe.Sizeof(*out)) {
		return Fail(EFAULT)
	}
	return 0
}
