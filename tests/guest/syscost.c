// syscost: what one raw system call costs, in nanoseconds per call; with an instruction-counted clock that is
// instructions. Each line is "name ns". Arguments: a directory with a regular file, the file's name in it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static inline long raw(long nr, long a, long b, long c, long d, long e, long f) {
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}
#define SC(nr, a, b, c, d, e) raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define ROUNDS 1000
#define COST(name, code)                                                                   \
	do {                                                                               \
		for (int i = 0; i < 50; i++) { code; }                                     \
		uint64_t start = now();                                                    \
		for (int i = 0; i < ROUNDS; i++) { code; }                                 \
		printf("%-44s %6.0f\n", name, (double)(now() - start) / ROUNDS);           \
		last = 0;                                                                  \
		(void)last;                                                                \
	} while (0)

int main(int argc, char **argv) {
	static char buf[4096], path[4096], proc[64];
	static struct stat st;
	struct timespec ts;
	long ru[32], mask = 0, last = 0;
	if (argc != 3) { fprintf(stderr, "usage: syscost DIR NAME\n"); return 2; }
	int dir = open(argv[1], O_RDONLY | O_DIRECTORY), opath = open(argv[1], O_PATH | O_DIRECTORY);
	snprintf(path, sizeof path, "%s/%s", argv[1], argv[2]);
	int file = open(path, O_RDONLY);
	if (dir < 0 || opath < 0 || file < 0) { perror(path); return 1; }
	snprintf(proc, sizeof proc, "/proc/self/fd/%d", dir);
	printf("%-44s %s\n", "# path", path);

	COST("gettid", SC(178, 0, 0, 0, 0, 0));
	COST("getppid", SC(173, 0, 0, 0, 0, 0));
	COST("rt_sigprocmask(-1, ptr, 0, 8)", SC(135, -1, &mask, 0, 8, 0));
	COST("rt_sigprocmask(0, 0, ptr, 8)", SC(135, 0, 0, &mask, 8, 0));
	COST("rt_sigprocmask(-1, bad, 0, 8)", SC(135, -1, 16, 0, 8, 0));
	COST("clock_gettime(MONOTONIC) svc", SC(113, 1, &ts, 0, 0, 0));
	COST("clock_gettime(MONOTONIC_COARSE) svc", SC(113, 6, &ts, 0, 0, 0));
	COST("clock_gettime(MONOTONIC) vdso", clock_gettime(CLOCK_MONOTONIC, &ts));
	COST("getrusage(SELF)", SC(165, 0, ru, 0, 0, 0));
	COST("getrusage(THREAD)", SC(165, 1, ru, 0, 0, 0));
	COST("fstat(dir)", SC(80, dir, &st, 0, 0, 0));
	COST("fstat(O_PATH dir)", SC(80, opath, &st, 0, 0, 0));
	COST("fstat(file)", SC(80, file, &st, 0, 0, 0));
	COST("newfstatat(dir, \"\", AT_EMPTY_PATH)", SC(79, dir, "", &st, AT_EMPTY_PATH, 0));
	COST("newfstatat(dir, name, NOFOLLOW)", SC(79, dir, argv[2], &st, AT_SYMLINK_NOFOLLOW, 0));
	COST("newfstatat(dir, name, 0)", SC(79, dir, argv[2], &st, 0, 0));
	COST("newfstatat(dir, missing, NOFOLLOW)", SC(79, dir, "no-such-file", &st, AT_SYMLINK_NOFOLLOW, 0));
	COST("newfstatat(AT_FDCWD, path)", SC(79, AT_FDCWD, path, &st, 0, 0));
	COST("newfstatat(AT_FDCWD, path, NOFOLLOW)", SC(79, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW, 0));
	COST("newfstatat(AT_FDCWD, \"/\")", SC(79, AT_FDCWD, "/", &st, 0, 0));
	COST("newfstatat(AT_FDCWD, \".\")", SC(79, AT_FDCWD, ".", &st, 0, 0));
	COST("statx(AT_FDCWD, path, BASIC)", raw(291, AT_FDCWD, (long)path, 0, 0x7ff, (long)buf, 0));
	COST("statx(dir, name, NOFOLLOW, TYPE)", raw(291, dir, (long)argv[2], 0x100, 1, (long)buf, 0));
	COST("faccessat(AT_FDCWD, path, F_OK)", SC(48, AT_FDCWD, path, 0, 0, 0));
	COST("faccessat(dir, name, F_OK)", SC(48, dir, argv[2], 0, 0, 0));
	COST("readlinkat(path) EINVAL", SC(78, AT_FDCWD, path, buf, 4096, 0));
	COST("readlinkat(dir, name) EINVAL", SC(78, dir, argv[2], buf, 4096, 0));
	COST("readlinkat(dir, missing) ENOENT", SC(78, dir, "no-such-file", buf, 4096, 0));
	COST("readlinkat(/proc/self/fd/N)", SC(78, AT_FDCWD, proc, buf, 4096, 0));
	int fds = open("/proc/self/fd", O_PATH | O_DIRECTORY);
	COST("readlinkat(fd of /proc/self/fd, N)", SC(78, fds, proc + 14, buf, 4096, 0));
	COST("readlinkat(/proc/self/exe)", SC(78, AT_FDCWD, "/proc/self/exe", buf, 4096, 0));
	COST("readlinkat(/proc/self/cwd)", SC(78, AT_FDCWD, "/proc/self/cwd", buf, 4096, 0));
	COST("getcwd", SC(17, buf, 4096, 0, 0, 0));
	COST("openat(path)+close", { last = SC(56, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0); SC(57, last, 0, 0, 0, 0); });
	COST("openat(dir, name)+close", { last = SC(56, dir, argv[2], O_RDONLY | O_CLOEXEC, 0, 0); SC(57, last, 0, 0, 0, 0); });
	COST("openat(O_PATH)+close", { last = SC(56, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0, 0); SC(57, last, 0, 0, 0, 0); });
	COST("openat(missing)", SC(56, AT_FDCWD, "/no-such-file", O_RDONLY | O_CLOEXEC, 0, 0));
	COST("close(-1)", SC(57, -1, 0, 0, 0, 0));
	COST("fcntl(F_GETFL)", SC(25, dir, F_GETFL, 0, 0, 0));
	COST("open+read+close /proc/self/status", { last = SC(56, AT_FDCWD, "/proc/self/status", O_RDONLY, 0, 0); SC(63, last, buf, 4096, 0, 0); SC(57, last, 0, 0, 0, 0); });
	int status = open("/proc/self/status", O_RDONLY);
	COST("pread /proc/self/status", raw(67, status, (long)buf, 4096, 0, 0, 0));
	int mem = open("/proc/self/mem", O_RDWR);
	COST("pread /proc/self/mem 256", raw(67, mem, (long)buf, 256, (long)path, 0, 0));
	struct iovec l = {buf, 256}, r = {path, 256};
	COST("process_vm_readv 256", raw(270, getpid(), (long)&l, 1, (long)&r, 1, 0));
	COST("process_vm_writev 256", raw(271, getpid(), (long)&l, 1, (long)&r, 1, 0));
	COST("getpid", SC(172, 0, 0, 0, 0, 0));
	COST("sched_getaffinity", SC(123, 0, 128, buf, 0, 0));
	COST("sigaltstack(0, ptr)", SC(132, 0, buf, 0, 0, 0));
	COST("prctl(PR_GET_DUMPABLE)", SC(167, 3, 0, 0, 0, 0));
	COST("uname", SC(160, buf, 0, 0, 0, 0));
	COST("mincore(1 page)", SC(232, (uintptr_t)buf & ~0xfffUL, 4096, path + 4000, 0, 0));
	COST("faccessat(AT_FDCWD, bad pointer)", SC(48, AT_FDCWD, 16, 0, 0, 0));
	COST("write(-1)", SC(64, -1, buf, 1, 0, 0));
	return 0;
}
