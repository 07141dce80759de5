// debuggee is what a debugger runs: it makes calls that have a path, with a timer that interrupts them, and ends by saying how
// often its handler came in the middle of something that is not its own.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <ucontext.h>

static volatile int count;
static volatile uintptr_t where;

__attribute__((noinline)) void reached(uintptr_t pc)
{
	where = pc;
	count++;
}

static void handler(int sig, siginfo_t *si, void *p)
{
	uintptr_t pc = ((ucontext_t *)p)->uc_mcontext.pc;
	(void)sig, (void)si;
	if (pc - (uintptr_t)reached > 8192)
		reached(pc);
}

__attribute__((noinline)) static int look(const char *path)
{
	struct stat st;
	int r = stat(path, &st);
	__asm__ volatile("" ::: "memory"); // this frame stays
	return r;
}

__attribute__((noinline)) static int work(const char *path, int n)
{
	int bad = 0;
	for (int i = 0; i < n; i++) {
		struct itimerval t = {{0, 0}, {0, 1 + i % 60}};
		setitimer(ITIMER_REAL, &t, NULL);
		bad += look(path);
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	(void)argc;
	sigaction(SIGALRM, &sa, NULL);
	int bad = work(argv[0], 200);
	printf("reached %d bad %d\n", count, bad);
	return 0;
}
