// prctl: what the shim's prctl does for a program that is not traced.
#include "page.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void say(const char *what, long r)
{
	printf("%s: %ld", what, r);
	if (r == -1)
		printf(" errno %d", errno);
	putchar('\n');
	fflush(stdout);
}

// install installs a filter in a child, which then asks for getppid and getuid from libc and from the page.
static void install(const char *what, struct sock_filter *f, unsigned n)
{
	struct sock_fprog p = {n, f};
	struct sock_filter copy[n];
	memcpy(copy, f, sizeof copy);
	fflush(stdout);
	if (fork() == 0) {
		say(what, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p));
		if (memcmp(copy, f, sizeof copy) != 0)
			puts("the program was changed in place");
		say("  getppid from libc", syscall(SYS_getppid) > 0 ? 1 : -1);
		say("  getppid from the page", call_from(TRAMPOLINE, SYS_getppid, 0, 0, 0, 0) > 0 ? 1 : 0);
		say("  getpgid from libc", syscall(SYS_getpgid, 0) >= 0 ? 1 : -1);
		say("  getpgid from the page", call_from(TRAMPOLINE, SYS_getpgid, 0, 0, 0, 0) >= 0 ? 1 : 0);
		say("  getsid from libc", syscall(SYS_getsid, 0) >= 0 ? 1 : -1);
		say("  filters installed", prctl(PR_GET_SECCOMP));
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

int main(void)
{
	char name[16] = "";
	struct sock_filter proot[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0),
		BPF_STMT(BPF_JMP | BPF_JA, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE + 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
	};
	struct sock_filter other[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
		BPF_STMT(BPF_LD | BPF_IMM, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO + 7),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog bad = {3, (void *)8};

	page_at(TRAMPOLINE);
	say("set name", prctl(PR_SET_NAME, "shimmed"));
	say("get name", prctl(PR_GET_NAME, name));
	printf("name: %s\n", name);
	errno = 0;
	say("unknown option", prctl(0x7ffffff0, 1, 2, 3, 4));
	say("no such bad argument", prctl(PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0));
	say("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	say("have no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	say("filter at an address that is not there", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (void *)16));
	say("filter with instructions that are not there", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &bad));
	bad.len = 0;
	say("empty filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &bad));
	install("PRoot's filter", proot, COUNT(proot));
	install("another filter", other, COUNT(other));
	printf("LD_PRELOAD: %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "unset");
	printf("SVCRELAY_GUEST_LD_PRELOAD: %s\n", getenv("SVCRELAY_GUEST_LD_PRELOAD") ? getenv("SVCRELAY_GUEST_LD_PRELOAD") : "unset");
	return 0;
}
