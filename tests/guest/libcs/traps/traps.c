// traps counts how often PRoot stops this program in functions that look at ordinary files, while there is one thread,
// while there is another one that does nothing, and in a second thread:
//
//   traps DIR        DIR: an empty directory; beside this program lies libplugin.so
//
// It prints a line for each function and each of these ways. One stop is one voluntary context switch of the thread.
// The first call of a function is not counted: it may load and remember things.
#include "functions.h"
#include <pthread.h>
#include <sys/resource.h>

enum { calls = 3 };

static long stops(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void measure(const char *way)
{
	for (const struct function *f = functions; f->name; f++) {
		int good = f->call();
		long before = stops();
		for (int i = 0; i < calls; i++)
			good &= f->call();
		long n = stops() - before;
		printf("cell %s %s: %ld stops in %d calls, %s\n", f->name, way, n, calls, good ? "right" : "WRONG");
	}
}

static int quiet[2];

static void *idle(void *arg)
{
	char c;
	if (read(quiet[0], &c, 1) < 0) // for as long as the program runs
		perror("read");
	return arg;
}

static void *second(void *arg)
{
	measure("second-thread");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc != 2 || prepare(argv[0], argv[1]) != 0 || pipe(quiet) != 0) {
		fprintf(stderr, "usage: traps DIR (errno %d)\n", errno);
		return 2;
	}
	measure("one-thread");
	if (pthread_create(&t, NULL, idle, NULL) != 0)
		return 2;
	measure("two-threads");
	if (pthread_create(&t, NULL, second, NULL) != 0 || pthread_join(t, NULL) != 0)
		return 2;
	puts("all cells done");
	return 0;
}
