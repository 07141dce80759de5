// timed runs a program with its output in files and reports how long it took and how it ended:
//
//   timed OUT ERR PROGRAM [ARG...]      prints "timed ns N status S"
//
// It runs inside the guest, so that starting the tracer is not counted.
#include "guest.h"
#include <sys/wait.h>
#include <time.h>

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || dup2(fd, to) < 0) {
		fprintf(stderr, "timed: cannot write %s: %s\n", path, strerror(errno));
		_exit(126);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	int status;

	if (argc < 4) {
		fputs("usage: timed OUT ERR PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid_t pid = fork();
	if (pid < 0) {
		perror("timed: fork");
		return 2;
	}
	if (pid == 0) {
		redirect(argv[1], 1);
		redirect(argv[2], 2);
		execvp(argv[3], argv + 3);
		fprintf(stderr, "timed: cannot run %s: %s\n", argv[3], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			perror("timed: waitpid");
			return 2;
		}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("timed ns %ld status %d\n", (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
