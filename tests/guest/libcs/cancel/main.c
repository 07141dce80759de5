// cancel runs the cases of the cancellation suite, each in a process of its own, and prints a line for each:
//
//   cancel DIR [NAME...]       NAME: only the cases with this in their name
//
// A case that has not ended after its time is killed, with all its processes, and its line says "hung".
#include "case.h"
#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { limit_ms = 2000 };

void tell(const char *format, ...)
{
	char line[512];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(line, sizeof line - 2, format, args);
	va_end(args);
	if (n > (int)sizeof line - 3)
		n = sizeof line - 3;
	line[n++] = ';';
	line[n++] = ' ';
	if (syscall(SYS_write, 1, line, n) != n) // write would be a cancellation point
		_exit(99);
}

void nap(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

int descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < descriptor_limit; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

void make(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tell("cannot write %s: errno %d", path, errno);
	close(fd);
}

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// listen_to copies the output of a case, until it ends or the time is over.
static int listen_to(int fd, char *text, int size)
{
	long until = now() + limit_ms;
	int n = 0;
	for (;;) {
		struct pollfd p = {fd, POLLIN, 0};
		long left = until - now();
		int r = left > 0 ? poll(&p, 1, left) : 0;
		if (r < 0 && errno == EINTR)
			continue;
		ssize_t got = r > 0 ? read(fd, text + n, size - 1 - n) : 0;
		text[n += got > 0 ? got : 0] = 0;
		if (r == 0)
			return 0;
		if (got <= 0)
			return 1;
	}
}

static void run(const struct kind *k, int number)
{
	char text[8192];
	int out[2], status = 0;
	const char *name = k->name(number);
	if (mkdir(name, 0777) != 0 || pipe(out) != 0) {
		printf("case %s: cannot begin: %s\n", name, strerror(errno));
		return;
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		if (chdir(name) != 0)
			_exit(98);
		k->run(number);
		exit(0);
	}
	setpgid(pid, pid);
	close(out[1]);
	int ended = listen_to(out[0], text, sizeof text);
	close(out[0]);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		printf("case %s hung after: %s\n", name, text);
	else if (WIFEXITED(status))
		printf("case %s: %sexit %d\n", name, text, WEXITSTATUS(status));
	else
		printf("case %s: %ssignal %d\n", name, text, WTERMSIG(status));
}

static int wanted(const char *name, char **only)
{
	for (; *only; only++)
		if (strstr(name, *only))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct kind *const kinds[] = {&blocked_kind, &pending_kind, &order_kind, &storm_kind, &exit_kind};
	if (argc < 2 || chdir(argv[1]) != 0) {
		fputs("usage: cancel DIR [NAME...]\n", stderr);
		return 2;
	}
	// glibc loads it when the first thread is cancelled: once here for all cases, that each takes less time.
	dlopen("libgcc_s.so.1", RTLD_NOW);
	for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; kinds[k]->name(i); i++)
			if (argc == 2 || wanted(kinds[k]->name(i), argv + 2))
				run(kinds[k], i);
	puts("all cases done");
	return 0;
}
