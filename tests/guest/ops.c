// ops times the four calls of the benchmark: a line per call with the number of calls, the nanoseconds they
// took on the monotonic clock, and the voluntary context switches (one for every stop at the tracer).
//
//   ops [CALLS]
#include "guest.h"
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <time.h>

#define FILE_THERE "/lib/aarch64-linux-gnu/libc.so.6"
#define FILE_MISSING "/lib/aarch64-linux-gnu/libmissing.so.6"

static long calls = 5000;

struct mark {
	long ns, switches;
};

static struct mark mark(void)
{
	struct timespec t;
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (struct mark){t.tv_sec * 1000000000L + t.tv_nsec, u.ru_nvcsw};
}

static void report(const char *name, struct mark from)
{
	struct timespec t;
	struct rusage u;
	clock_gettime(CLOCK_MONOTONIC, &t);
	getrusage(RUSAGE_THREAD, &u);
	// getrusage itself is no traced call, but the two are kept outside each other's measurement all the same.
	printf("op %s calls %ld ns %ld switches %ld\n", name, calls, t.tv_sec * 1000000000L + t.tv_nsec - from.ns, u.ru_nvcsw - from.switches);
}

static void wrong(const char *what)
{
	fprintf(stderr, "ops: %s: unexpected result (errno %d)\n", what, errno);
	exit(1);
}

int main(int argc, char **argv)
{
	// The directories and the names in them that the dirfd loop goes round.
	static const struct { const char *dir, *names[3]; } around[] = {
		{"/lib/aarch64-linux-gnu", {"libc.so.6", "libdl.so.2", "libpthread.so.0"}},
		{"/usr/bin", {"find", "tar", "env"}},
		{"/etc", {"passwd", "group", "debian_version"}},
		{"/", {"usr", "etc", "var"}},
	};
	enum { ndirs = sizeof around / sizeof *around };
	int fds[ndirs];
	struct stat st;
	struct mark m;

	if (argc > 1)
		calls = atol(argv[1]);
	printf("glibc %s\n", gnu_get_libc_version());

	m = mark();
	for (long i = 0; i < calls; i++)
		if (stat(FILE_THERE, &st) != 0)
			wrong("stat " FILE_THERE);
	report("stat", m);

	m = mark();
	for (long i = 0; i < calls; i++)
		if (stat(FILE_MISSING, &st) == 0 || errno != ENOENT)
			wrong("stat " FILE_MISSING);
	report("stat-missing", m);

	m = mark();
	for (long i = 0; i < calls; i++) {
		int fd = open(FILE_THERE, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || close(fd) != 0)
			wrong("open and close " FILE_THERE);
	}
	report("open-close", m);

	for (int i = 0; i < ndirs; i++)
		if ((fds[i] = open(around[i].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
			wrong(around[i].dir);
	m = mark();
	for (long i = 0; i < calls; i++)
		if (fstatat(fds[i % ndirs], around[i % ndirs].names[i / ndirs % 3], &st, 0) != 0)
			wrong("fstatat");
	report("fstatat-dirfd", m);
	return 0;
}
