// Checks with those who look at a process from its stack: backtrace(3) in a handler, and a debugger that stops it, follows
// the frame records and steps through a call.
#include "abi.h"
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

__attribute__((noinline)) static int looked_at(const char *path, struct stat *st)
{
	int r = stat(path, st);
	__asm__ volatile("" ::: "memory");
	return r;
}

static int in_caller(uintptr_t pc) { return pc > (uintptr_t)looked_at && pc <= (uintptr_t)looked_at + 96; }

#ifdef __GLIBC__
static volatile long seen[4], found[4];
static volatile uintptr_t lost_at;

static void look(int sig, siginfo_t *si, void *p)
{
	void *frames[64];
	enum where w = where_is(((ucontext_t *)p)->uc_mcontext.pc);
	int n = backtrace(frames, 64), there = 0;
	(void)sig, (void)si;
	seen[w]++;
	for (int i = 0; i < n; i++)
		there |= in_caller((uintptr_t)frames[i]);
	found[w] += there;
	if (!there && w == in_library)
		lost_at = ((ucontext_t *)p)->uc_mcontext.pc - library_base();
}

// What libc's own backtrace finds from a handler that came in the middle of a relay.
static void backtraces(void)
{
	void *frames[8];
	struct stat st;
	timer_t timer;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct sigaction sa = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
	int wanted = scaled(500);
	if (!relayed)
		none("no relays");
	if (backtrace(frames, 8) == 0)
		none("this guest has no library to unwind with");
	sigaction(SIGUSR1, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0)
		fatal("timer_create: %s", strerror(errno));
	long span = 1000000000; // a little more than a call takes
	for (int i = 0; i < 50; i++) {
		struct timespec a, b;
		struct itimerspec never = {{0, 0}, {1000, 0}};
		timer_settime(timer, 0, &never, NULL);
		clock_gettime(CLOCK_MONOTONIC, &a);
		looked_at(BASE "/link", &st);
		clock_gettime(CLOCK_MONOTONIC, &b);
		long took = ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec) * 3 / 2 + 1000;
		span = took < span ? took : span;
	}
	for (int i = 0; seen[in_library] < wanted && i < 400 * wanted + 20000; i++) {
		struct itimerspec one = {{0, 0}, {0, 1 + (long)(rnd() % (uint64_t)span)}};
		timer_settime(timer, 0, &one, NULL);
		if (looked_at(BASE "/link", &st) != 0 || st.st_size != 5)
			bad("stat: %s", strerror(errno));
	}
	timer_delete(timer);
	if (seen[in_library] < wanted || seen[in_library] - found[in_library] > 2 + wanted / 8) // the entry's first instructions are not described
		bad("the caller was found %ld of %ld times from the library; not from %#lx", found[in_library], seen[in_library], (long)lost_at);
	if (found[in_page] < seen[in_page])
		bad("the caller was found %ld of %ld times from the page", found[in_page], seen[in_page]);
	note(" library %ld/%ld, page %ld/%ld, stubs %ld/%ld", found[1], seen[1], found[2], seen[2], found[3], seen[3]);
}
#else
static void backtraces(void) { none("no backtrace in this libc"); }
#endif

// debugged is the program that a debugger looks at: it makes calls, and gets a signal now and then.
static void debugged(void)
{
	struct stat st;
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
		_exit(2);
	raise(SIGSTOP);
	for (int i = 0;; i++) {
		// One signal at a time: the debugger's steps may take longer than any period.
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 1 + (long)(rnd() % 150)}}, NULL);
		if (looked_at(i & 1 ? BASE "/link" : "link", &st) != 0 || st.st_size != 5)
			_exit(3);
	}
}

// What the kernel shows of a stopped program; musl has no name for it.
struct shown {
	uint64_t regs[31], sp, pc, pstate;
};

static int registers_of(pid_t pid, struct shown *r)
{
	struct iovec v = {r, sizeof *r};
	return ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &v) == 0;
}

// walk follows the frame records of a stopped program, as debuggers without further information and profilers do.
static int walk(pid_t pid, uintptr_t fp)
{
	for (int i = 0; i < 32 && fp; i++) {
		errno = 0;
		uintptr_t up = (uintptr_t)ptrace(PTRACE_PEEKDATA, pid, (void *)fp, NULL);
		uintptr_t ret = (uintptr_t)ptrace(PTRACE_PEEKDATA, pid, (void *)(fp + 8), NULL);
		if (errno)
			return 0;
		ret &= 0xffffffffffff; // without a signature
		if (in_caller(ret) || (ret > (uintptr_t)debugged && ret <= (uintptr_t)debugged + 512))
			return 1;
		if (up <= fp)
			return 0;
		fp = up;
	}
	return 0;
}

// stops_at says whether a stopped program is about to make a call at which PRoot stops it, too.
static int stops_at(pid_t pid, uintptr_t pc)
{
	const uint32_t svc = 0xd4000001;
	return where_is(pc) != in_page && (uint32_t)ptrace(PTRACE_PEEKDATA, pid, (void *)pc, NULL) == svc;
}

// A debugger stops the program in the middle of its calls, finds the caller, and steps on until the call has come back, or until
// it is made: PRoot takes the end of a call that is stepped over for its beginning (docs/abi.md).
static void debugger(void)
{
	int status, stops = 0, inside = 0, walked = 0, stepped = 0, returned = 0, wanted = 12 + scaled(200);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		debugged();
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fatal("the program did not stop: %#x", status);
	while (stops < wanted) {
		struct shown r;
		doing = "the program to stop";
		if (ptrace(PTRACE_CONT, pid, NULL, 0) != 0)
			fatal("PTRACE_CONT: %s", strerror(errno));
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			fatal("the program ended with %#x after %d stops", status, stops);
		stops++;
		if (WSTOPSIG(status) != SIGALRM)
			bad("stopped by signal %d", WSTOPSIG(status));
		if (!registers_of(pid, &r))
			fatal("no registers: %s", strerror(errno));
		enum where w = where_is(r.pc);
		if (w != elsewhere) {
			inside++;
			walked += walk(pid, r.regs[29]);
		}
		if (stops % 12)
			continue;
		doing = "steps"; // until the caller has the answer
		int far = 0, away = !in_caller(r.pc);
		for (; far < 3000 && !stops_at(pid, r.pc); far++) {
			if (ptrace(PTRACE_SINGLESTEP, pid, NULL, 0) != 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
				fatal("after %d steps: %#x, %s; the last was at %#lx with x8 %ld", far, status, strerror(errno), (long)r.pc, (long)r.regs[8]);
			if (!registers_of(pid, &r))
				fatal("no registers: %s", strerror(errno));
			away |= !in_caller(r.pc);
			if (away && in_caller(r.pc))
				break;
		}
		stepped++;
		returned += far < 3000;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (returned < stepped)
		bad("of %d calls that were stepped through %d came back or were made", stepped, returned);
	int records = 1;
#ifndef __GLIBC__
	records = 0; // musl's functions need not have any
#endif
	if (records && inside - walked > 2 + inside / 8)
		bad("the caller was found %d of %d times", walked, inside);
	note(" %d stops, %d inside of relays, %d walked, %d calls stepped through", stops, inside, walked, stepped);
}

const struct check debug_checks[] = {{"backtrace", backtraces, 0}, {"debugger", debugger, 0}, {NULL, NULL, 0}};
