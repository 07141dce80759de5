// The check that whoever unwinds a stack finds the caller from every single instruction of a relay. A debugger could stop there,
// but PRoot shows programs with one other answers; so each instruction in turn is replaced by one that the processor does not
// know, and the handler of that signal looks.
#include "abi.h"
#include <pthread.h>
#include <setjmp.h>
#include <unwind.h>

static const uint32_t undefined = 0;
static uint32_t *at, original; // the instruction in question
static volatile int met;       // it was executed
static volatile int frames, in_stat, in_calls;
static volatile uintptr_t last;
static volatile sig_atomic_t looking;
static sigjmp_buf out;

static volatile long seen, crashed, lost; // raise() is said to call nothing here
static uintptr_t odd[12]; // where it went wrong
static int nodd;

// The calls: answered, failing, left to PRoot, one that a thread can be cancelled in, and one whose number the site does not know.
enum { found = 1, missing = 2, left = 4, opened = 8, numbered = 16, all = 31 };

__attribute__((noipa)) static int asked(int what)
{
	struct stat st;
	int r = what == found    ? stat(BASE "/link", &st)
	        : what == missing ? stat("missing", &st)
	        : what == left    ? stat("/proc/self/cwd", &st)
	        : what == opened  ? open(BASE "/link", O_RDONLY)
	                          : (int)syscall(SYS_faccessat, AT_FDCWD, BASE "/link", R_OK);
	__asm__ volatile("" ::: "memory");
	return r;
}

static void calls(int which, uint32_t *from, uint32_t *to);

static int inside(uintptr_t ip, uintptr_t f, size_t size) { return ip > f && ip < f + size; }

static _Unwind_Reason_Code step(struct _Unwind_Context *c, void *p)
{
	uintptr_t ip = _Unwind_GetIP(c);
	(void)p;
	frames++;
	last = ip;
	in_stat += inside(ip, (uintptr_t)asked, 256);
	in_calls += inside(ip, (uintptr_t)calls, 1024);
	return _URC_NO_REASON;
}

// put writes an instruction into text, which everywhere has made writable.
static void put(uint32_t *to, uint32_t w)
{
	*(volatile uint32_t *)to = w;
	__builtin___clear_cache((char *)to, (char *)(to + 1));
}

static void fault(int sig, siginfo_t *si, void *p)
{
	uintptr_t pc = ((ucontext_t *)p)->uc_mcontext.pc;
	if (!looking)
		fatal("signal %d at %#lx of %p, with %#lx of the library replaced", sig, (long)(where_is(pc) == in_library ? pc - library_base() : pc), si->si_addr,
		      (long)at - (long)library_base());
	siglongjmp(out, 1);
}

static void stopped(int sig, siginfo_t *si, void *p)
{
	uintptr_t pc = ((ucontext_t *)p)->uc_mcontext.pc;
	(void)sig, (void)si;
	if (pc != (uintptr_t)at)
		fatal("stopped at %#lx, not %#lx of the library", (long)pc - (long)library_base(), (long)at - (long)library_base());
	put(at, original);
	met = 1;
	frames = in_stat = in_calls = 0;
	last = 0;
	looking = 1;
	if (sigsetjmp(out, 1) == 0)
		_Unwind_Backtrace(step, NULL);
	else
		frames = -1;
	looking = 0;
}

// wanted_frames says whether the way led to the caller; musl describes none of its functions, so that it ends in the one with the site.
static int wanted_frames(void)
{
#ifdef __GLIBC__
	return in_stat == 1 && in_calls >= 1;
#else
	return frames > 3 && where_is(last) == elsewhere;
#endif
}

static uint32_t *text, *slots, *slots_end;
static uint32_t *const page = (uint32_t *)0xffff00000; // the trampoline page
enum { page_size = 4096 };

// entry is more than what is written by hand at the beginning of the library's text.
enum { entry = 512 };

// calls makes calls for each instruction between two addresses.
__attribute__((noipa)) static void calls(int which, uint32_t *from, uint32_t *to)
{
	int share = scaled(100) == 100 ? 1 : from == text ? 8 : from == slots ? 100 : 400; // what is compiled is described by one generator
	for (uint32_t *p = from + (share > to - from ? 0 : (getpid() + rnd()) % share); p < to; p += share)
		for (int what = 1; what < all; what <<= 1) {
			if (!(which & what))
				continue;
			at = p, original = *p, met = 0;
			put(at, undefined);
			int r = asked(what), e = errno;
			if (!met)
				put(at, original);
			if (what == opened && r >= 0)
				r = close(r);
			if (r != (what == missing ? -1 : 0) || (r && e != ENOENT))
				bad("call %d gave %d, %s, stopped at %#lx", what, r, strerror(e), (long)p - (long)library_base());
			if (!met)
				continue;
			seen++;
			crashed += frames < 0;
			lost += frames >= 0 && !wanted_frames();
			if ((frames < 0 || !wanted_frames()) && nodd < 12)
				odd[nodd++] = ((uintptr_t)p - library_base()) | (frames < 0);
		}
}

static void *everything(void *arg)
{
	calls(all, text, text + entry);
	calls(found | left, text + entry, slots);
	calls(all & ~missing, slots, slots_end);
	calls(all, page, page + 2);
	return arg;
}

// poor makes calls where the stack is said to end too soon for a relay; there is room for the handlers.
static void poor(int sig)
{
	(void)sig;
	calls(all, text, text + entry);
}

static char *volatile handler_frame;
static void measure(int sig)
{
	(void)sig;
	handler_frame = __builtin_frame_address(0);
}

// on_stack runs a handler on an alternate stack of so many bytes at the end of a larger piece of memory.
static void on_stack(void (*handler)(int), char *end, size_t size)
{
	if (sigaltstack(&(stack_t){.ss_sp = end - size, .ss_size = size}, NULL) != 0)
		fatal("sigaltstack of %ld bytes: %s", (long)size, strerror(errno));
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
	raise(SIGUSR1);
}

static void everywhere(void)
{
	if (!relayed)
		none("no relays");
	const int rwx = PROT_READ | PROT_WRITE | PROT_EXEC;
	text = (uint32_t *)library_text(&slots, &slots_end);
	if (mprotect(text, (char *)slots_end - (char *)text, rwx) != 0 || mprotect(page, page_size, rwx) != 0)
		none("text cannot be made writable");
	sigaction(SIGILL, &(struct sigaction){.sa_sigaction = stopped, .sa_flags = SA_SIGINFO}, NULL);
	sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, NULL);
	sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, NULL);
	everything(NULL);
	long alone = seen;
	size_t room = 1 << 18;
	char *end = (char *)mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + room;
	on_stack(measure, end, room / 2);
	on_stack(poor, end, end - handler_frame + 2048); // for these functions' own frames: further down the kernel takes it for another stack
	long poorly = seen - alone;
	pthread_t t;
	pthread_create(&t, NULL, everything, NULL);
	pthread_join(t, NULL);
	if (crashed || lost)
		bad("of %ld places unwinding crashed at %ld and lost its way at %ld", seen, crashed, lost);
	for (int i = 0; i < nodd; i++)
		note(" %s at %#lx", odd[i] & 1 ? "crashed" : "lost", (long)odd[i] & ~1);
	note(" %ld places, %ld of them alone, %ld without enough stack", seen, alone, poorly);
	if (scaled(100) == 100 && seen < 1000)
		bad("only %ld places", seen);
}

const struct check step_checks[] = {{"everywhere", everywhere, 300}, {NULL, NULL, 0}};
