package nocgo

// System call numbers of Linux on arm64 (include/uapi/asm-generic/unistd.h).
const (
	SysSetxattr       = 5
	SysLsetxattr      = 6
	SysFsetxattr      = 7
	SysGetxattr       = 8
	SysLgetxattr      = 9
	SysListxattr      = 11
	SysLlistxattr     = 12
	SysRemovexattr    = 14
	SysLremovexattr   = 15
	SysFremovexattr   = 16
	SysGetcwd         = 17
	SysEventfd2       = 19
	SysEpollCreate1   = 20
	SysDup3           = 24
	SysFcntl          = 25
	SysInotifyInit1   = 26
	SysInotifyAdd     = 27
	SysMknodat        = 33
	SysMkdirat        = 34
	SysUnlinkat       = 35
	SysSymlinkat      = 36
	SysLinkat         = 37
	SysRenameat       = 38
	SysUmount2        = 39
	SysMount          = 40
	SysPivotRoot      = 41
	SysStatfs         = 43
	SysTruncate       = 45
	SysFaccessat      = 48
	SysChdir          = 49
	SysFchdir         = 50
	SysChroot         = 51
	SysFchmod         = 52
	SysFchmodat       = 53
	SysFchownat       = 54
	SysFchown         = 55
	SysOpenat         = 56
	SysClose          = 57
	SysPipe2          = 59
	SysGetdents64     = 61
	SysQuotactl       = 60
	SysRead           = 63
	SysWrite          = 64
	SysPread64        = 67
	SysPwrite64       = 68
	SysSignalfd4      = 74
	SysReadlinkat     = 78
	SysNewfstatat     = 79
	SysFstat          = 80
	SysTimerfdCreate  = 85
	SysUtimensat      = 88
	SysAcct           = 89
	SysExit           = 93
	SysExitGroup      = 94
	SysWaitid         = 95
	SysCapset         = 91
	SysUnshare        = 97
	SysSigaltstack    = 132
	SysRtSigprocmask  = 135
	SysClone          = 220
	SysRtSigreturn    = 139
	SysSetregid       = 143
	SysSetgid         = 144
	SysSetreuid       = 145
	SysSetuid         = 146
	SysSetresuid      = 147
	SysGetresuid      = 148
	SysSetresgid      = 149
	SysGetresgid      = 150
	SysSetfsuid       = 151
	SysSetfsgid       = 152
	SysGetgroups      = 158
	SysSetgroups      = 159
	SysUname          = 160
	SysGetrusage      = 165
	SysPrctl          = 167
	SysPtrace         = 117
	SysGetpid         = 172
	SysGetppid        = 173
	SysGetuid         = 174
	SysGeteuid        = 175
	SysGetgid         = 176
	SysGetegid        = 177
	SysGettid         = 178
	SysSocketpair     = 199
	SysBind           = 200
	SysAccept         = 202
	SysConnect        = 203
	SysGetsockname    = 204
	SysGetpeername    = 205
	SysAccept4        = 242
	SysMunmap         = 215
	SysMmap           = 222
	SysSwapon         = 224
	SysSwapoff        = 225
	SysMprotect       = 226
	SysWait4          = 260
	SysNameToHandle   = 264
	SysPrlimit64      = 261
	SysFanotifyMark   = 263
	SysSetns          = 268
	SysProcessVMReadv = 270
	SysRenameat2      = 276
	SysSeccomp        = 277
	SysExecve         = 221
	SysMadvise        = 233
	SysExecveat       = 281
	SysStatx          = 291
	SysClone3         = 435
	SysOpenat2        = 437
	SysFaccessat2     = 439
	SysFchmodat2      = 452

	SysFtruncate       = 46
	SysTgkill          = 131
	SysSocket          = 198
	SysProcessVMWritev = 271
	SysMemfdCreate     = 279
)

// Flags and values of those calls.
const (
	AtFdcwd           = ^uintptr(99) // -100
	AtSymlinkNofollow = 0x100
	AtRemovedir       = 0x200
	AtSymlinkFollow   = 0x400
	AtNoAutomount     = 0x800
	AtEmptyPath       = 0x1000

	ORdonly    = 0
	OAccmode   = 3
	OCreat     = 0x40
	OExcl      = 0x80
	OTrunc     = 0x200
	ODirectory = 0x4000
	ONofollow  = 0x8000
	OCloexec   = 0x80000
	OPath      = 0x200000
	OTmpfile   = 0x400000 // the bit of its own; O_TMPFILE is this and O_DIRECTORY

	ProtRead  = 1
	ProtWrite = 2
	ProtExec  = 4

	MapPrivate        = 0x02
	MapFixed          = 0x10
	MapAnonymous      = 0x20
	MapFixedNoreplace = 0x100000

	RusageThread = 1
)

// Limits of the kernel's path handling, in bytes.
const (
	PathMax = 4096 // with the final NUL
	NameMax = 255
)
