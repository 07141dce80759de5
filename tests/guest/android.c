// android runs a program under a filter like that of Android's apps, or tells what calls answer there.
//
//   android filter API PROGRAM [ARG...]   API: SDK number of the release whose policy is imitated
//   android answers                       results of the calls that differ between releases
//
// A call that apps may not make is SIGSYS on Android, and PRoot for phones then makes its result ENOSYS. Here the C
// library's own attempts get ENOSYS at once, since PRoot 5.4.0 knows nothing of that signal; anything else, and all
// that comes from the trampoline page, is SIGSYS and ends the process.
#include "guest.h"
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define WORD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define HIGH_WORD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field) + 4)
#define RET(what) BPF_STMT(BPF_RET | BPF_K, (what))

enum { nr_clone3 = 435, nr_close_range = 436, nr_openat2 = 437, nr_faccessat2 = 439, nr_pidfd_getfd = 438, nr_fchmodat2 = 452, nr_rseq = 293, android12 = 31, android15 = 35 };

// allowed is the policy: everything classic but identities and administration, and few calls that are younger.
static int allowed(int nr, int api)
{
	static const short never[] = {39, 40, 41, 51, 89, 99, 104, 105, 106, 142, 143, 144, 145, 146, 147, 149, 151, 152, 159, 161, 162, 170, 171,
	                              180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 217, 218, 219,
	                              224, 225, 235, 236, 237, 238, 239, 264, 265, 272, 273, 280, 282};
	for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
		if (nr == never[i])
			return 0;
	switch (nr) {
	case nr_clone3:
		return api >= android15;
	case nr_close_range:
		return api > android12 + 1;
	case 424: // pidfd_send_signal
	case 434: // pidfd_open
	case nr_pidfd_getfd:
		return 1;
	}
	return nr <= 291; // statx
}

// tried are calls that a C library or Go tries and does without.
static const short tried[] = {99, nr_rseq, nr_clone3, nr_close_range, nr_openat2, nr_faccessat2, nr_fchmodat2, 441, 449, 143, 144, 145, 146, 147, 149, 159};

static void install(int api)
{
	static struct sock_filter p[1200];
	unsigned n = 0;
#define ADD(...) (p[n++] = (struct sock_filter)__VA_ARGS__)
	ADD(WORD(nr));
	for (int first = 0; first < 512;) {
		if (!allowed(first, api)) {
			first++;
			continue;
		}
		int last = first;
		while (last + 1 < 512 && allowed(last + 1, api))
			last++;
		ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2));
		ADD(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0));
		ADD(RET(SECCOMP_RET_ALLOW));
		first = last + 1;
	}
	ADD(HIGH_WORD(instruction_pointer));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xf, 0, 4));
	ADD(WORD(instruction_pointer));
	ADD(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfffff000));
	ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xfff00000, 0, 1));
	ADD(RET(SECCOMP_RET_TRAP));
	ADD(WORD(nr));
	for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++) {
		ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, tried[i], 0, 1));
		ADD(RET(SECCOMP_RET_ERRNO | ENOSYS));
	}
	ADD(RET(SECCOMP_RET_TRAP));
	struct sock_fprog prog = {n, p};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0) {
		perror("android: filter");
		exit(2);
	}
}

static void *nothing(void *arg) { return arg; }

static void answers(void)
{
	struct stat st;
	pthread_t t;
	struct { unsigned long flags, mode, resolve; } how = {O_RDONLY, 0, 0};
	char buf[256];
	errno = 0;
	say("faccessat2", syscall(nr_faccessat2, AT_FDCWD, "/etc", F_OK, 0));
	say("faccessat2 of nothing", syscall(nr_faccessat2, AT_FDCWD, NULL, F_OK, AT_SYMLINK_NOFOLLOW));
	say("clone3", syscall(nr_clone3, NULL, 0));
	say("openat2", syscall(nr_openat2, -1, NULL, &how, sizeof how));
	say("fchmodat2", syscall(nr_fchmodat2, -1, NULL, 0644, 0));
	say("close_range", syscall(nr_close_range, 900, 901, 0));
	say("access", access("/etc", R_OK));
	say("faccessat", faccessat(AT_FDCWD, "/etc", R_OK, AT_EACCESS));
	say("stat", stat("/etc", &st));
	int fd = open("/etc", O_RDONLY);
	say("open", fd < 0 ? -1 : 0);
	say("fstatat", fstatat(fd, ".", &st, 0));
	say("readlink", readlink("/proc/self/exe", buf, sizeof buf) > 0 ? 0 : -1);
	say("fork", ({ pid_t pid = fork(); if (pid == 0) _exit(0); pid < 0 ? -1 : 0; }));
	say("thread", pthread_create(&t, NULL, nothing, NULL) == 0 ? pthread_join(t, NULL) : -1);
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "filter") == 0) {
		install(atoi(argv[2]));
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		return 127;
	}
	if (argc == 2 && strcmp(argv[1], "answers") == 0) {
		answers();
		return 0;
	}
	fputs("usage: android filter API PROGRAM [ARG...] | android answers\n", stderr);
	return 2;
}
