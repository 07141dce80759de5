/* calls DIRECTORY makes path calls from the main thread, a thread, a small stack and a signal handler, and prints results. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static char *dir;

static void show(const char *what, long r, struct stat *st)
{
	int e = errno;
	char line[256];
	int n = snprintf(line, sizeof line, "%s %d %d %o %ld\n", what, r < 0 ? -1 : 0, r < 0 ? e : 0, st && r == 0 ? st->st_mode : 0,
			 st && r == 0 ? (long)st->st_ino : 0);
	if (write(1, line, n) != n)
		abort();
}

static void calls(const char *where)
{
	struct stat st;
	char buf[64];
	int fd, d;
	(void)!write(1, where, strlen(where));
	show("stat", stat("/usr/bin", &st), &st);
	show("missing", stat("/usr/bin/not-there", &st), &st);
	show("not a directory", stat("/etc/passwd/x", &st), &st);
#ifdef __GLIBC__ /* musl itself looks at both */
	show("bad path", stat((char *)8, &st), &st);
	show("bad buffer", stat("/usr/bin", (struct stat *)16), NULL);
#endif
	show("link", lstat("/proc/self", &st), NULL);
	show("open", fd = open("/etc/passwd", O_RDONLY), NULL);
	close(fd);
	show("create", fd = open(dir, O_RDWR | O_TMPFILE, 0600), NULL);
	if (fd >= 0)
		close(fd);
	show("directory", d = open("/usr", O_RDONLY | O_DIRECTORY), NULL);
	show("relative", fstatat(d, "bin", &st, 0), &st);
	show("descriptor", fstatat(d, "", &st, AT_EMPTY_PATH), &st);
	show("access", faccessat(d, "lib", R_OK, 0), NULL);
	show("readlink", readlinkat(d, "bin", buf, sizeof buf), NULL);
	close(d);
	show("closed", fstatat(d, "bin", &st, 0), &st);
}

static void *thread(void *arg)
{
	calls(arg);
	return NULL;
}

static void handler(int sig)
{
	(void)sig;
	calls("handler\n");
}

#ifdef __GLIBC__ /* musl has no makecontext */
static ucontext_t home, away;

static void on_small_stack(void) { calls("makecontext\n"); }
#endif

int main(int argc, char **argv)
{
	pthread_t t;
	pthread_attr_t a;
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t ss = {.ss_sp = stack, .ss_size = 24576};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	int status;
	dir = argc > 1 ? argv[1] : "/tmp";
	calls("main\n");
	pthread_create(&t, NULL, thread, "thread\n");
	pthread_join(t, NULL);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 131072);
	pthread_create(&t, &a, thread, "small thread\n");
	pthread_join(t, NULL);
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
#ifdef __GLIBC__
	getcontext(&away);
	away.uc_stack.ss_sp = stack + 32768;
	away.uc_stack.ss_size = 16384;
	away.uc_link = &home;
	makecontext(&away, on_small_stack, 0);
	swapcontext(&home, &away);
#endif
	if (fork() == 0) {
		calls("child\n");
		_exit(0);
	}
	wait(&status);
	if (chdir("/usr") != 0)
		return 1;
	calls("elsewhere\n");
	return 0;
}
