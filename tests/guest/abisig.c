// Checks with signals: storms, nested calls, small stacks, jumps out of relays, unwinding from inside.
#include "abi.h"
#include <setjmp.h>
#include <sys/auxv.h>
#include <time.h>
#include <unwind.h>
#ifdef __GLIBC__
#include <pthread.h>
#endif

static volatile sig_atomic_t hits, jumps, may_jump, wrong_in_handler;
static volatile long at_pc[4];
static sigjmp_buf back;
static timer_t timer;

static void on(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
	sigaction(sig, &sa, NULL);
}

static uintptr_t pc_of(void *context) { return ((ucontext_t *)context)->uc_mcontext.pc; }

static long span; // what a call takes, in nanoseconds

// next arms the timer for one signal, to come during the call that follows.
static void next(void)
{
	struct itimerspec one = {{0, 0}, {0, 1 + (long)(rnd() % (uint64_t)span)}};
	timer_settime(timer, 0, &one, NULL);
}

// tries is how many calls may be made until so many signals came inside of relays: few do on a busy machine.
static int tries(int wanted) { return 400 * wanted + 20000; }

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

// start_timer makes the timer and finds out how long its signals should wait: up to a little more than a call takes.
static void start_timer(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct stat st;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0)
		bad("timer_create: %s", strerror(errno));
	long best = 1000000000;
	for (int i = 0; i < 50; i++) {
		struct itimerspec never = {{0, 0}, {1000, 0}};
		timer_settime(timer, 0, &never, NULL);
		long begin = now();
		stat(BASE "/link", &st);
		long took = now() - begin;
		if (took < best)
			best = took;
	}
	span = best * 3 / 2 + 1000;
}

static void path_calls(void)
{
	struct stat st;
	int kept = errno;
	if (stat(BASE "/file", &st) != 0 || st.st_size != 5 || stat("missing", &st) != -1 || errno != ENOENT)
		wrong_in_handler++;
	int fd = open("link", O_RDONLY);
	if (fd < 0)
		wrong_in_handler++;
	close(fd);
	errno = kept;
}

static volatile sig_atomic_t depth, deepest;

// calling_handler makes calls of its own every eighth time, and lets a further signal come into these, which does the same.
static void calling_handler(int sig, siginfo_t *si, void *p)
{
	(void)sig, (void)si;
	at_pc[where_is(pc_of(p))]++;
	hits++;
	if ((hits % 8 == 0 || depth > 0) && depth < 3) {
		if (++depth > deepest)
			deepest = depth;
		next();
		path_calls();
		depth--;
	}
}

// one_round makes calls and looks at every answer. With signals set, each may be interrupted.
static void one_round(int dir, int signals)
{
	struct stat st;
	char link[64];
#define soon() (signals ? next() : (void)0)
	errno = 0;
	soon();
	if (stat(BASE "/link", &st) != 0 || st.st_size != 5)
		bad("stat: %s", strerror(errno));
	soon();
	if (fstatat(dir, "missing", &st, 0) != -1 || errno != ENOENT)
		bad("stat of a missing file: %s", strerror(errno));
	soon();
	if (readlink("link", link, sizeof link) != 4 || memcmp(link, "file", 4) != 0)
		bad("readlink: %s", strerror(errno));
	soon();
	if (access(BASE "/file", R_OK) != 0)
		bad("access: %s", strerror(errno));
	soon();
	int fd = open("file", O_RDONLY);
	char text[8];
	if (fd < 0 || read(fd, text, 8) != 5)
		bad("open: %s", strerror(errno));
	close(fd);
}

// 10,000 signals while calls are made, on a stack of their own, every eighth with calls and a further signal.
static void storm(void)
{
	sigset_t mask, now;
	struct sigaction act;
	stack_t ss = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
	int dir = open(BASE, O_RDONLY), wanted = scaled(10000);
	sigaltstack(&ss, NULL);
	on(SIGUSR1, calling_handler, SA_RESTART | SA_NODEFER | SA_ONSTACK);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	start_timer();
	// On a busy machine few come when they should: then it takes more.
	while (hits < wanted || (relayed && hits < 20 * wanted && (at_pc[in_library] + at_pc[in_page]) * 20 < wanted))
		one_round(dir, 1);
	timer_delete(timer);
	sigprocmask(SIG_BLOCK, NULL, &now);
	sigaction(SIGUSR1, NULL, &act);
	if (memcmp(&mask, &now, 8) != 0)
		bad("the mask changed");
	const int restorer = 0x04000000; // SA_RESTORER: musl sets it and shows it
	if (act.sa_sigaction != calling_handler || (act.sa_flags & ~restorer) != (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK))
		bad("the handler changed, or its flags are %#x", (unsigned)act.sa_flags);
	if (wrong_in_handler)
		bad("%d wrong answers in the handler", (int)wrong_in_handler);
	if (relayed && (at_pc[in_library] + at_pc[in_page]) * 20 < wanted)
		bad("only %ld signals came inside a relay", at_pc[in_library] + at_pc[in_page]);
	if (wanted > 1000 && deepest < 2)
		bad("no handler was interrupted");
	note(" %d signals: %ld in the library, %ld in the page, %ld in stubs; %d deep", (int)hits, at_pc[in_library], at_pc[in_page], at_pc[in_stub],
	     (int)deepest);
}

static void jumping_handler(int sig, siginfo_t *si, void *p)
{
	(void)sig, (void)si;
	enum where w = where_is(pc_of(p));
	at_pc[w]++;
	hits++;
	if (may_jump && (w != elsewhere || !relayed)) {
		jumps++;
		siglongjmp(back, 1);
	}
}

// Relays left by siglongjmp leave nothing behind that a later call would find.
static void jump_out(void)
{
	int dir = open(BASE, O_RDONLY), wanted = scaled(1000);
	on(SIGUSR1, jumping_handler, 0);
	start_timer();
	for (volatile int i = 0; jumps < wanted && i < tries(wanted); i++) {
		if (sigsetjmp(back, 1) != 0)
			continue;
		struct stat st;
		next();
		may_jump = 1; // no descriptor is lost: these open nothing
		int r = stat(i % 3 ? BASE "/file" : "link", &st);
		may_jump = 0;
		if (r != 0 || st.st_size != 5)
			bad("stat: %s", strerror(errno));
		if (i % 16 == 0)
			one_round(dir, 0);
	}
	timer_delete(timer);
	if (jumps < wanted)
		bad("only %d jumps; %d signals", (int)jumps, (int)hits);
	note(" %d jumps", (int)jumps);
}

static ucontext_t retreat;
static volatile int retreats;

static void moving_handler(int sig, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;
	(void)sig, (void)si;
	enum where w = where_is(uc->uc_mcontext.pc);
	hits++;
	if (may_jump && (w != elsewhere || !relayed)) {
		retreats++;
		memcpy(uc->uc_mcontext.regs, retreat.uc_mcontext.regs, sizeof retreat.uc_mcontext.regs);
		uc->uc_mcontext.sp = retreat.uc_mcontext.sp;
		uc->uc_mcontext.pc = retreat.uc_mcontext.pc;
	}
}

static void marking_handler(int sig, siginfo_t *si, void *p)
{
	(void)sig, (void)si;
	memcpy(&retreat.uc_mcontext, &((ucontext_t *)p)->uc_mcontext, sizeof retreat.uc_mcontext);
	retreat.uc_mcontext.pc = ((ucontext_t *)p)->uc_mcontext.pc += 4;
}

// A handler may change pc and all registers: back to a brk that was passed before.
static void moved_away(void)
{
	int wanted = scaled(300);
	on(SIGUSR1, moving_handler, 0);
	on(SIGTRAP, marking_handler, 0);
	start_timer();
	for (volatile int i = 0; retreats < wanted && i < tries(wanted); i++) {
		__asm__ volatile("brk #0" ::: "memory", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15");
		may_jump = 0;
		if (retreats >= wanted)
			break;
		struct stat st;
		next();
		may_jump = 1;
		int r = stat(BASE "/link", &st);
		may_jump = 0;
		if (r != 0 || st.st_size != 5)
			bad("stat: %s", strerror(errno));
	}
	timer_delete(timer);
	if (retreats < wanted)
		bad("only %d; %d signals", retreats, (int)hits);
	note(" %d times", retreats);
}

static char *guarded(size_t size)
{
	size_t room = (size + 0xffff) & ~0xfffful;
	char *p = mmap(NULL, room + 0x20000, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p + 0x10000, room, PROT_READ | PROT_WRITE);
	return p + 0x10000;
}

static char *volatile alternate;
static volatile sig_atomic_t off_stack;

static void small_handler(int sig, siginfo_t *si, void *p)
{
	struct stat st;
	(void)sig, (void)si, (void)p;
	hits++;
	if ((char *)&st < alternate || (char *)&st >= alternate + 0x10000)
		off_stack++;
	if (stat(BASE "/link", &st) != 0 || stat("missing", &st) != -1 || access("file", R_OK) != 0)
		wrong_in_handler++;
}

// nothing_below looks whether the bytes below an alternate stack, at low + 0x3010, are as they were.
static void nothing_below(const char *low, long least, long extra)
{
	for (int i = 0; i < 0x3010; i++)
		if (low[i] != 0x3c) {
			bad("with an alternate stack of %ld + %ld bytes %d bytes below it were written", least, extra, 0x3010 - i);
			return;
		}
}

static void handlers_well(void)
{
	if (wrong_in_handler)
		bad("%d wrong answers", (int)wrong_in_handler);
	if (off_stack)
		bad("%d handlers ran elsewhere", (int)off_stack);
}

// Alternate stacks from the smallest on, with what the handler itself takes, right above a page that nobody may touch; and below them, in the same page,
// bytes that are not theirs.
static void small_stacks(void)
{
	long least = getauxval(51); // AT_MINSIGSTKSZ
	if (least < 5120) // the kernel's own constant
		least = 5120;
	char *low = guarded(0x20000);
	on(SIGUSR2, small_handler, SA_ONSTACK);
	for (long extra = 1024; extra <= 16384; extra += extra < 6144 ? 256 : 2048) {
		stack_t ss = {.ss_sp = low, .ss_size = least + extra}, plain = {.ss_sp = low + 0x3010, .ss_size = least + extra};
		alternate = low;
		sigaltstack(&ss, NULL);
		raise(SIGUSR2);
		memset(low, 0x3c, 0x3010);
		sigaltstack(&plain, NULL);
		raise(SIGUSR2);
		nothing_below(low, least, extra);
	}
	handlers_well();
	note(" %d handlers", (int)hits);
}

// Alternate stacks that are none while a handler runs on them (SS_AUTODISARM): below them are bytes that are not theirs.
static void disarmed_stacks(void)
{
	const int disarms = 1u << 31;
	long least = getauxval(51); // AT_MINSIGSTKSZ
	if (least < 5120) // the kernel's own constant
		least = 5120;
	char *low = guarded(0x20000);
	on(SIGUSR2, small_handler, SA_ONSTACK);
	for (long extra = 1024; extra <= 6144; extra += 256) {
		stack_t ss = {.ss_sp = low + 0x3010, .ss_size = least + extra, .ss_flags = disarms};
		alternate = low;
		memset(low, 0x3c, 0x3010);
		if (sigaltstack(&ss, NULL) != 0)
			none("no such stacks");
		raise(SIGUSR2);
		nothing_below(low, least, extra);
	}
	handlers_well();
}

// An alternate stack in a local variable of main's stack.
static void local_stack(void)
{
	enum { below = 0x2000 };
	char local[0x10000] __attribute__((aligned(16)));
	long least = getauxval(51); // AT_MINSIGSTKSZ
	if (least < 5120) // the kernel's own constant
		least = 5120;
	on(SIGUSR2, small_handler, SA_ONSTACK);
	for (int extra = 1024; extra <= 4096; extra += 256) {
		stack_t ss = {.ss_sp = local + below, .ss_size = least + extra};
		memset(local, 0x3c, below);
		alternate = local;
		sigaltstack(&ss, NULL);
		raise(SIGUSR2);
		for (int i = 0; i < below; i++)
			if (local[i] != 0x3c) {
				bad("with an alternate stack of %ld + %d bytes %d bytes below it were written", least, extra, below - i);
				break;
			}
		ss.ss_flags = SS_DISABLE;
		sigaltstack(&ss, NULL);
	}
	handlers_well();
}

#ifdef __GLIBC__
static ucontext_t outside, inside;
static int dir_for_contexts;

static void in_context(void)
{
	for (int i = 0; i < 50; i++)
		one_round(dir_for_contexts, 0);
}

// Contexts on stacks of 8 KiB, with a page behind them that nobody may touch, and with somebody else's bytes.
static void contexts(void)
{
	char *low = guarded(0x10000);
	dir_for_contexts = open(BASE, O_RDONLY);
	for (int shifted = 0; shifted < 2; shifted++) {
		char *base = low + (shifted ? 0x4000 : 0);
		memset(low, 0x3c, 0x4000);
		getcontext(&inside);
		inside.uc_stack.ss_sp = base;
		inside.uc_stack.ss_size = 8192;
		inside.uc_link = &outside;
		makecontext(&inside, in_context, 0);
		swapcontext(&outside, &inside);
		for (int i = 0; shifted && i < 0x4000; i++)
			if (low[i] != 0x3c) {
				bad("%d bytes below a stack of 8 KiB were written", 0x4000 - i);
				break;
			}
	}
}
#else
static void contexts(void) { none("no contexts in this libc"); }
#endif

static void quiet_handler(int sig, siginfo_t *si, void *p) { (void)sig, (void)si, (void)p, hits++; }

// in_a_while starts a child that sends us signals, n of them or until we end it, and then does what it is told.
static pid_t in_a_while(int n, int (*then)(void))
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	for (int i = 0; i != n; i++) {
		usleep(50000);
		if (kill(parent, SIGUSR1) != 0)
			_exit(1);
	}
	usleep(50000);
	_exit(then());
}

static int nothing(void) { return 0; }

static int open_to_write(void) { return open("fifo", O_WRONLY) < 0; }

// waits opens what nobody has opened to write, through the C library or by a plain call: a descriptor, or what is wrong.
static int waits(int plain)
{
	if (plain)
		return (int)sys6(SYS_openat, AT_FDCWD, (long)"fifo", O_RDONLY, 0, 0, 0);
	int fd = open("fifo", O_RDONLY);
	return fd < 0 ? -errno : fd;
}

// gives_up is what an open says that signals interrupt.
static int gives_up(int plain)
{
	on(SIGUSR1, quiet_handler, 0);
	pid_t pid = in_a_while(-1, nothing); // again and again: one may come before the open waits
	int fd = waits(plain);
	on(SIGUSR1, quiet_handler, SA_RESTART);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

// goes_on is what one says that is restarted: 0 for a descriptor.
static int goes_on(int plain)
{
	int status, before = hits;
	pid_t pid = in_a_while(4, open_to_write);
	int fd = waits(plain);
	if (fd < 0)
		kill(pid, SIGKILL); // nobody will ever read
	else
		close(fd);
	if (waitpid(pid, &status, 0) != pid || (fd >= 0 && status != 0))
		bad("the child that opened the other end: %#x", status);
	if (hits == before)
		bad("no signal came");
	return fd < 0 ? fd : 0;
}

// An open that waits: interrupted without SA_RESTART, goes on with it. PRoot itself may spoil the
// second: the signal's frame is written over the end of the path that it left below sp, if the kernel puts it there.
static void interrupted(void)
{
	doing = "an open that is interrupted";
	int fd = gives_up(0);
	if (fd != -EINTR)
		bad("an interrupted open gave %d", fd);
	doing = "a plain open that is restarted";
	int own = goes_on(1);
	doing = "an open that is restarted";
	fd = goes_on(0);
	if (fd != 0 && fd != own)
		bad("an open that is restarted gave %d, a plain call %d", fd, own);
	if (own)
		note(" PRoot's restarted open gives %s, a relay's %s", strerror(-own), fd ? strerror(-fd) : "a descriptor");
}

static uintptr_t lost[16];
static int lost_count;

struct trail {
	int frames, victim, main;
	uintptr_t last;
};
static long seen_in[4], seen_ok[4], walked_ok[4];

__attribute__((noinline)) static int victim(const char *path, struct stat *st)
{
	int r = stat(path, st);
	__asm__ volatile("" ::: "memory");
	return r;
}

static void unwinding(void);

static int inside_of(uintptr_t ip, void (*from)(void)) { return ip >= (uintptr_t)from && ip < (uintptr_t)from + 2048; }

static _Unwind_Reason_Code step(struct _Unwind_Context *c, void *p)
{
	struct trail *t = p;
	uintptr_t ip = _Unwind_GetIP(c);
	t->frames++;
	t->last = ip;
	if (ip > (uintptr_t)victim && ip < (uintptr_t)victim + 96)
		t->victim++;
	if (inside_of(ip, unwinding))
		t->main++;
	return _URC_NO_REASON;
}

// arrived says whether the way led to the caller.
static int arrived(const struct trail *t)
{
#ifdef __GLIBC__
	return t->victim == 1 && t->main == 1;
#else
	// musl describes none of its functions: the way ends in the one with the site. Before it are the handler, what the
	// handler returns to, and a function of the library.
	return t->frames > 3 && where_is(t->last) == elsewhere;
#endif
}

static void unwinding_handler(int sig, siginfo_t *si, void *p)
{
	(void)sig, (void)si;
	ucontext_t *uc = p;
	enum where w = where_is(uc->uc_mcontext.pc);
	hits++;
	if (w != elsewhere) {
		struct trail t = {0};
		_Unwind_Backtrace(step, &t);
		seen_in[w]++;
		if (arrived(&t))
			seen_ok[w]++;
		else if (w == in_library)
			lost[lost_count++ % 16] = uc->uc_mcontext.pc;
		// Along the frame records, as profilers do.
		uintptr_t *fp = (uintptr_t *)uc->uc_mcontext.regs[29];
		for (int i = 0; i < 32; i++) {
			if ((uintptr_t)fp % 8 || (uintptr_t)fp - uc->uc_mcontext.sp >= 0x8000)
				break; // no record: musl's functions have none, and use x29 for other things
			if (inside_of(fp[1] & 0xffffffffffff, unwinding)) { // without a signature
				walked_ok[w]++;
				break;
			}
			if ((uintptr_t *)fp[0] <= fp)
				break;
			fp = (uintptr_t *)fp[0];
		}
	}
}

// From a signal inside a relay the caller is found, by unwinding and along the frame records.
__attribute__((noinline)) static void unwinding(void)
{
	if (!relayed)
		none("no relays");
	int wanted = scaled(200);
	on(SIGUSR1, unwinding_handler, 0);
	start_timer();
	struct stat st;
	for (volatile int i = 0; seen_in[in_library] < wanted && i < tries(wanted); i++) {
		next();
		if (victim(BASE "/link", &st) != 0)
			bad("stat: %s", strerror(errno));
	}
	timer_delete(timer);
	if (seen_in[in_library] < wanted || lost_count > 2 + wanted / 8) // the entry's first instructions are not described
		bad("unwound %ld of %ld times from the library, %d signals", seen_ok[in_library], seen_in[in_library], (int)hits);
	if (seen_ok[in_page] < seen_in[in_page])
		bad("unwound %ld of %ld times from the page", seen_ok[in_page], seen_in[in_page]);
	for (int i = 0; i < lost_count && i < 16; i++)
		note(" lost at %#lx of the library", (long)(lost[i] - library_base()));
	if (seen_in[in_library] - walked_ok[in_library] > 2 + wanted / 10) // nor do these have a record
		bad("walked %ld of %ld times from the library", walked_ok[in_library], seen_in[in_library]);
	note(" library %ld/%ld walked %ld, page %ld/%ld walked %ld, stubs %ld/%ld walked %ld", seen_ok[1], seen_in[1], walked_ok[1], seen_ok[2], seen_in[2],
	     walked_ok[2], seen_ok[3], seen_in[3], walked_ok[3]);
}

const struct check signal_checks[] = {
	{"storm", storm, 400}, {"jump-out", jump_out, 0}, {"moved-away", moved_away, 0}, {"small-stacks", small_stacks, 0},
	{"disarmed-stacks", disarmed_stacks, 0}, {"local-stack", local_stack, 0}, {"contexts", contexts, 0}, {"interrupted", interrupted, 0}, {"unwinding", unwinding, 0}, {NULL, NULL, 0},
};
