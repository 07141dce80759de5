// refuse runs a program under a limit or a filter that makes one thing impossible.
//
//   refuse call NUMBER ERRNO PROGRAM [ARG...]       the system call fails with ERRNO
//   refuse trampoline ERRNO PROGRAM [ARG...]        mmap at the trampoline's address fails
//   refuse execute ERRNO PROGRAM [ARG...]           mprotect that asks for execution fails
//   refuse nothing PROGRAM [ARG...]                 a filter that allows everything
//   refuse limit RESOURCE VALUE PROGRAM [ARG...]    setrlimit
//   refuse privileges PROGRAM [ARG...]              it starts as one that changes its user, as the kernel sees it (AT_SECURE)
#include "guest.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define WORD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define HIGH_WORD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define FAIL(e) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (e))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void filter(struct sock_filter *program, unsigned short n)
{
	struct sock_fprog prog = {n, program};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0) {
		perror("refuse: filter");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char **rest = argv + 2;
	const char *how = argc > 2 ? argv[1] : "";

	if (strcmp(how, "call") == 0 && argc > 4) {
		struct sock_filter p[] = {WORD(nr), SKIP_UNLESS(atoi(argv[2]), 1), FAIL(atoi(argv[3])), ALLOW};
		filter(p, sizeof p / sizeof *p);
		rest = argv + 4;
	} else if (strcmp(how, "trampoline") == 0 && argc > 3) {
		struct sock_filter p[] = {
			WORD(nr), SKIP_UNLESS(SYS_mmap, 5), WORD(args[0]), SKIP_UNLESS(0xfff00000, 3), HIGH_WORD(args[0]), SKIP_UNLESS(0xf, 1),
			FAIL(atoi(argv[2])), ALLOW};
		filter(p, sizeof p / sizeof *p);
		rest = argv + 3;
	} else if (strcmp(how, "execute") == 0 && argc > 3) {
		struct sock_filter p[] = {
			WORD(nr), SKIP_UNLESS(SYS_mprotect, 3), WORD(args[2]),
			BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1), FAIL(atoi(argv[2])), ALLOW};
		filter(p, sizeof p / sizeof *p);
		rest = argv + 3;
	} else if (strcmp(how, "nothing") == 0) {
		struct sock_filter p[] = {ALLOW};
		filter(p, 1);
	} else if (strcmp(how, "privileges") == 0) {
		if (setresuid(1000, 0, 0) != 0) {
			perror("refuse: setresuid");
			return 2;
		}
		argv[1] = (char *)"with-privileges";
		execv("/proc/self/exe", argv);
	} else if (strcmp(how, "with-privileges") == 0) {
		if (!getauxval(AT_SECURE)) {
			fputs("refuse: not AT_SECURE\n", stderr);
			return 2;
		}
	} else if (strcmp(how, "limit") == 0 && argc > 4) {
		struct rlimit l = {strtoul(argv[3], NULL, 0), strtoul(argv[3], NULL, 0)};
		if (setrlimit(atoi(argv[2]), &l) != 0) {
			perror("refuse: setrlimit");
			return 2;
		}
		rest = argv + 4;
	} else {
		fputs("usage: refuse call|trampoline|execute|nothing|limit|privileges ... PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	execvp(rest[0], rest);
	perror(rest[0]);
	return 127;
}
