// bti is a program whose own code is protected by branch target identification. It checks that the protection is on,
// and makes calls from protected code, also in a signal handler and in a second thread:
//
//   bti DIR        DIR: an empty directory
//
// The line about stops is for the library only: without it there are some.
#include "../../guest.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static sigjmp_buf back;
static int wrong;

static void illegal(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void look(void)
{
	struct stat st;
	int fd = open("file", O_RDONLY);
	wrong += fd < 0 || fstat(fd, &st) != 0 || st.st_size != 4 || close(fd) != 0;
	wrong += stat("file", &st) != 0 || st.st_size != 4;
	wrong += stat("missing", &st) != -1 || errno != ENOENT;
	wrong += access("file", R_OK) != 0;
	fd = syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY, 0);
	wrong += fd < 0 || close(fd) != 0;
}

static void handler(int sig)
{
	(void)sig;
	look();
}

static void *thread(void *arg)
{
	look();
	return arg;
}

// protected says whether the page of an address is guarded.
static int protected(const void *code)
{
	char line[512];
	unsigned long from, to, at = (unsigned long)code;
	int here = 0, is = 0;
	FILE *f = fopen("/proc/self/smaps", "r");
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from <= at && at < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			is = strstr(line, " bt") != NULL;
	}
	if (f)
		fclose(f);
	return is;
}

// enforced says whether a branch to an instruction that is no target for it is refused.
static int enforced(void)
{
	if (sigsetjmp(back, 1) != 0)
		return 1;
	__asm__ volatile("adr x16, 1f\n br x16\n nop\n1: nop\n" ::: "x16");
	return 0;
}

static long stops(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = illegal};
	pthread_t t;
	if (argc != 2 || chdir(argv[1]) != 0)
		return 2;
	write_file("file", "text");
	sigaction(SIGILL, &a, NULL);
	printf("own code protected %d, C library's %d, enforced %d\n", protected(main), protected(stat), enforced());
	look();
	long before = stops();
	look();
	printf("stops %s\n", stops() == before ? "none" : "some");
	a.sa_handler = handler;
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	if (pthread_create(&t, NULL, thread, NULL) != 0 || pthread_join(t, NULL) != 0)
		wrong++;
	printf("wrong %d\n", wrong);
	return wrong != 0;
}
