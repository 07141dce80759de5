// Checks with handlers that look into the interrupted context and change it: faults of the program's own, answers that a
// handler replaces, and a filter whose traps a handler answers, as sandboxes do it.
#include "abi.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

static void on(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
	sigaction(sig, &sa, NULL);
}

static volatile sig_atomic_t faults, unexpected;
static volatile uintptr_t expected_address, fault_pc;
static volatile int expected_code;

extern const char fault_here[];

// inspect believes only a fault at the one instruction, with all that the kernel says of it and registers as the program
// had them, and goes on behind it.
static void inspect(int sig, siginfo_t *si, void *p)
{
	mcontext_t *m = &((ucontext_t *)p)->uc_mcontext;
	struct stat st;
	faults++;
	fault_pc = m->pc;
	if (sig != SIGSEGV || m->pc != (uintptr_t)fault_here || (uintptr_t)si->si_addr != expected_address || si->si_code != expected_code ||
	    m->fault_address != expected_address || m->regs[19] != 0x1919191919191919 || m->regs[20] != 0x2020202020202020 || m->regs[9] != expected_address) {
		signal(SIGSEGV, SIG_DFL); // none of the program's: it ends by it
		signal(SIGBUS, SIG_DFL);
		return;
	}
	int kept = errno;
	if (stat(BASE "/link", &st) != 0 || st.st_size != 5 || access("missing", F_OK) == 0)
		unexpected++;
	errno = kept;
	m->regs[10] = 0x77; // what the load would have given
	m->pc += 4;
}

// touch loads from an address that faults.
__attribute__((noinline)) static uint64_t touch(uintptr_t at)
{
	uint64_t got;
	expected_address = at;
	__asm__ volatile("mov x9, %1\n\t"
	                 "ldr x19, =0x1919191919191919\n\t"
	                 "ldr x20, =0x2020202020202020\n"
	                 ".global fault_here\nfault_here:\n\t"
	                 "ldr x10, [x9]\n\t"
	                 "mov %0, x10"
	                 : "=r"(got)
	                 : "r"(at)
	                 : "x9", "x10", "x19", "x20", "memory");
	return got;
}

// Faults of the program are seen by its handler as ever, between relayed calls; and no call with a bad pointer ever raises one.
static void segv(void)
{
	static const int nrs[] = {79, 56, 48, 78, 291, 8, 9, 11, 12, 34, 35, 36, 37, 38, 276, 53, 54, 88, 45, 43, 5, 6, 14, 15, 17, 33, 49, 160, 437, 439, 27, 264, 95, 221};
	char *page = mmap(NULL, 0x20000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction act;
	sigset_t mask, now;
	int calls = 0, made = 0, share = scaled(100) < 100 ? 4 : 1;
	sigaltstack(&ss, NULL);
	on(SIGSEGV, inspect, SA_ONSTACK);
	on(SIGBUS, inspect, SA_ONSTACK);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	const uintptr_t places[] = {0, 8, (uintptr_t)page + 0x123 * 8, 0xffff00000 + 0x100000, 0x0000fffffffffff8};
	for (unsigned k = 0; k < sizeof nrs / sizeof *nrs; k++) {
		for (unsigned i = k % share; i < 5; i += share) {
			uintptr_t p = places[i];
			for (int arg = 0; arg < 5; arg++) {
				long a[5] = {AT_FDCWD, (long)BASE "/none/x", (long)BASE "/none/x", 64, 64};
				if (nrs[k] == 95) // of no child
					a[0] = 1, a[1] = getpid();
				a[arg] = (long)p;
				if (syscall(nrs[k], a[0], a[1], a[2], a[3], a[4], 0) >= 0)
					calls++;
				made++;
			}
		}
		if (faults != (int)k)
			fatal("call %d raised a fault", nrs[k]);
		uintptr_t at = k & 1 ? (uintptr_t)page + 8 * (rnd() % 512) : 8;
		expected_code = k & 1 ? SEGV_ACCERR : SEGV_MAPERR;
		if (touch(at) != 0x77 || faults != (int)k + 1)
			bad("the handler's value did not arrive");
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	sigaction(SIGSEGV, NULL, &act);
	if (unexpected || memcmp(&mask, &now, 8) != 0 || act.sa_sigaction != inspect)
		bad("%d wrong answers in the handler; handler and mask are as they were: %d", (int)unexpected, act.sa_sigaction == inspect);
	note(" %d faults, %d calls with bad pointers, %d took them", (int)faults, made, calls);
}

static volatile sig_atomic_t replaced, came;
static volatile long replacement;

// replace changes x0 and nothing else, where a call has just been interrupted.
static void replace(int sig, siginfo_t *si, void *p)
{
	mcontext_t *m = &((ucontext_t *)p)->uc_mcontext;
	(void)sig, (void)si;
	came++;
	if ((long)m->regs[0] == -EINTR && *(uint32_t *)(m->pc - 4) == 0xd4000001) {
		replaced++;
		m->regs[0] = (unsigned long)replacement;
	}
}

// soon has a child send signals until it is ended.
static pid_t soon(void)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		usleep(10000);
		if (kill(parent, SIGUSR1) != 0)
			_exit(0);
	}
}

// A handler that replaces the EINTR of a call that waits by another answer: that is what the caller gets.
static void result_changed(void)
{
	on(SIGUSR1, replace, 0);
	pid_t pid = soon();
	for (int i = 0; i < 6; i++) {
		static const char *const names[] = {"open", "openat", "a wait for a child", "waitid", "a plain open", "open into an error"};
		doing = names[i];
		long before = replaced, got = 0;
		replacement = i == 5 ? -EXDEV : 1000 + i;
		for (int tries = 0; replaced == before && tries < 50; tries++) { // a signal may come before the call waits
			errno = 0;
			siginfo_t info;
			switch (i) {
			case 0: got = open("fifo", O_RDONLY); break;
			case 1: got = syscall(SYS_openat, AT_FDCWD, BASE "/fifo", O_WRONLY, 0); break;
			case 2: got = waitpid(pid, NULL, 0); break;
			case 3: got = waitid(P_PID, pid, &info, WEXITED); break;
			case 4: got = sys6(SYS_openat, AT_FDCWD, (long)"fifo", O_RDONLY, 0, 0, 0); break;
			case 5: got = open(BASE "/fifo", O_RDONLY); break;
			}
		}
		if (replaced == before)
			bad("%s was not interrupted; %d signals", names[i], (int)came);
		else if (i == 5 ? got != -1 || errno != EXDEV : i == 3 ? got != 1003 : got != replacement)
			bad("%s gave %ld, %s", names[i], got, strerror(errno));
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static volatile sig_atomic_t traps, strange;
static const char trapped_path[] = BASE "/link";

// broker answers trapped calls, as the brokers of sandboxes do: it reads number, arguments and place, and sets x0.
static void broker(int sig, siginfo_t *si, void *p)
{
	mcontext_t *m = &((ucontext_t *)p)->uc_mcontext;
	(void)sig;
	traps++;
	if ((si->si_syscall != SYS_faccessat && si->si_syscall != SYS_readlinkat) || (uintptr_t)si->si_call_addr != m->pc || m->regs[8] != (unsigned)si->si_syscall ||
	    (int)m->regs[0] != AT_FDCWD || m->regs[1] != (uintptr_t)trapped_path || *(uint32_t *)(m->pc - 4) != 0xd4000001)
		strange++;
	m->regs[0] = si->si_syscall == SYS_faccessat ? (unsigned long)-ENOTTY : 3;
}

// with_filter makes calls before and after a filter of the program's own. It gives the number of wrong answers, -1 if there
// are no filters.
static int with_filter(int by_seccomp)
{
	struct sock_filter p[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog prog = {sizeof p / sizeof *p, p};
	struct stat st;
	char text[16];
	int wrong = 0;
	on(SIGSYS, broker, 0);
	for (int i = 0; i < 3; i++)
		wrong += access(trapped_path, R_OK) != 0 || readlink(trapped_path, text, sizeof text) != 4 || stat(trapped_path, &st) != 0;
	if (by_seccomp ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) != 0
	               : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		return -1;
	for (int i = 0; i < 10; i++) {
		errno = 0;
		wrong += access(trapped_path, R_OK) != -1 || errno != ENOTTY || traps != 2 * i + 1;
		wrong += readlink(trapped_path, text, sizeof text) != 3 || traps != 2 * i + 2;
		wrong += stat(trapped_path, &st) != 0 || st.st_size != 5;
	}
	return wrong + strange;
}

// A filter that comes after calls were relayed: traps show the program's arguments, and the handler's answer is the
// call's. The program may have promised before not to gain privileges (PRoot has, for all): then nothing else announces it.
static void trapped(void)
{
	int made = 0;
	for (int by_seccomp = 0; by_seccomp < 2; by_seccomp++) {
		int status = -1;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			int wrong = with_filter(by_seccomp);
			_exit(wrong < 0 ? 255 : wrong);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			bad("filter %d: the program ended with %#x", by_seccomp, status);
		else if (WEXITSTATUS(status) != 255 && ++made && status != 0)
			bad("filter %d: %d wrong answers or strange traps", by_seccomp, WEXITSTATUS(status));
	}
	if (!made)
		none("no filters");
	note(" %d filters", made);
}

static volatile sig_atomic_t asked;

static void not_asked(int sig, siginfo_t *si, void *p)
{
	(void)sig;
	asked = si->si_syscall;
	((ucontext_t *)p)->uc_mcontext.regs[0] = (unsigned long)-ENOSYS;
}

// confine makes calls that the filter allows, on the thread's own stack, and ends the process: with the number of a call that
// nobody made, 0 for none.
static void *confine(void *with_stacks)
{
	// What the calls below do not need, and a relay might.
	static const int others[] = {SYS_rt_sigprocmask, SYS_process_vm_readv, SYS_process_vm_writev, SYS_unshare, SYS_getrusage, SYS_sigaltstack};
	enum { all = sizeof others / sizeof *others };
	const int n = with_stacks ? all - 1 : all;
	stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sock_filter p[all + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	for (int i = 0; i < n; i++)
		p[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)others[i], n - i, 0);
	p[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	p[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	struct sock_fprog prog = {n + 3, p};
	struct stat st;
	char text[16];
	int wrong = 0;
	for (int i = 0; i < 6; i++) {
		wrong += stat(trapped_path, &st) != 0 || st.st_size != 5 || access("missing", F_OK) == 0 || readlink(trapped_path, text, sizeof text) != 4;
		int fd = open(trapped_path, O_RDONLY);
		wrong += fd < 0 || close(fd) != 0 || open("missing", O_RDONLY) >= 0 || errno != ENOENT;
		wrong += with_stacks && sigaltstack(&ss, NULL) != 0;
		if (i == 2 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0))
			_exit(255);
	}
	_exit(wrong ? 254 : asked % 250);
	return NULL;
}

static void *stays(void *unused)
{
	for (;;)
		pause();
	return unused;
}

// A filter that knows what the program calls: nothing else is called from then on, on whatever stack, by one thread or beside
// others.
static void confined(void)
{
	on(SIGSYS, not_asked, 0);
	for (int where = 0; where < 4; where++) {
		int status = -1;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			if (where > 0)
				pthread_create(&t, NULL, where == 2 ? stays : confine, where == 3 ? &t : NULL);
			if (where == 0 || where == 2)
				confine(NULL);
			for (;;)
				pause();
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			bad("%d: the program ended with %#x", where, status);
		else if (WEXITSTATUS(status) == 255)
			none("no filters");
		else if (status != 0)
			bad("%d: call %d was made, or answers were wrong (254)", where, WEXITSTATUS(status));
	}
}

const struct check fault_checks[] = {{"segv", segv, 0}, {"result-changed", result_changed, 0}, {"trapped", trapped, 0}, {"confined", confined, 0}, {NULL, NULL, 0}};
