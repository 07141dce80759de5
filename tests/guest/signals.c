// signals interrupts calls with handlers that make calls of their own, on a small alternate stack, and leaves
// some of them by siglongjmp; the registers the calls must keep are checked all the while.
//
//   signals
#include "guest.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 // glibc 2.31 does not know it; the kernel has told since 4.18
#endif

static sigjmp_buf back;
static volatile sig_atomic_t hits, jumps, may_jump, wrong;
static const char file[] = "/c/rel-dir/file";

static void handler(int sig)
{
	struct stat st;
	(void)sig;
	int kept = errno;
	hits++;
	if (stat(file, &st) != 0 || stat("/c/missing/x", &st) != -1)
		wrong++;
	int fd = open(file, O_RDONLY);
	if (fd < 0)
		wrong++;
	close(fd);
	errno = kept;
	if (may_jump && hits % 7 == 0) {
		jumps++;
		siglongjmp(back, 1);
	}
}

int main(void)
{
	struct stat st;
	struct itimerval once = {{0, 0}, {0, 0}};
	long size = (long)getauxval(AT_MINSIGSTKSZ) + 2048;
	stack_t alternate = {0};
	struct sigaction act = {0};

	if (size < 8192)
		size = 8192;
	alternate.ss_size = (size + 4095) & ~4095L;
	// A page that nobody may touch lies on either side of the alternate stack.
	char *area = mmap(NULL, alternate.ss_size + 2 * 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	alternate.ss_sp = area + 65536;
	mprotect(alternate.ss_sp, alternate.ss_size, PROT_READ | PROT_WRITE);
	sigaltstack(&alternate, NULL);
	act.sa_handler = handler;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &act, NULL);

	for (volatile int phase = 0; phase < 2; phase++) {
		for (volatile int i = 0; i < 200; i++) {
			// One signal at a time, at a moment that wanders: where a call takes longer than the timer's
			// period, a periodic one would leave no time for anything but its handler.
			if (i % 4 == 0) {
				once.it_value.tv_usec = 20 + i * 37 % 400;
				setitimer(ITIMER_REAL, &once, NULL);
			}
			double a = i * 1.5, b = i + 0.25;
			sigsetjmp(back, 1);
			may_jump = phase;
			errno = 0;
			if (stat(file, &st) != 0 && errno != EINTR)
				wrong++;
			if (stat("/c/no/such", &st) != -1 || errno != ENOENT)
				wrong++;
			int fd = open(file, O_RDONLY);
			may_jump = 0;
			if (fd < 0)
				wrong++;
			close(fd);
			if (!phase && (a != i * 1.5 || b != i + 0.25))
				wrong++;
		}
		may_jump = 0;
		once.it_value.tv_usec = 0;
		setitimer(ITIMER_REAL, &once, NULL);
		// A jump out of open may lose a descriptor, as it does without a library.
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	}
	printf("handlers ran %d jumps %d wrong %d\n", hits > 0, jumps > 0, (int)wrong);
	return wrong != 0;
}
