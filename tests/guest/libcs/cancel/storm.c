// Cancellations and signals at every moment of a thread that makes calls all the time.
#include "case.h"
#include <sys/time.h>

enum { rounds = 25 };

static atomic_long cleaned, wrong;
static long left;

static void count(void *n) { ++*(atomic_long *)n; }

static void look(void)
{
	struct stat st;
	if (stat("file", &st) != 0 || st.st_size != 4 || stat("missing", &st) != -1 || errno != ENOENT)
		wrong++;
}

// carefully can be cancelled in open only, so that no descriptor may be lost.
static void *carefully(void *arg)
{
	pthread_cleanup_push(count, &cleaned);
	for (;;) {
		int fd = open("file", O_RDONLY);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		look();
		if (fd < 0)
			wrong++;
		close(fd);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	}
	pthread_cleanup_pop(0);
	return arg;
}

// simply can be cancelled in close too, which then keeps its descriptor.
static void *simply(void *arg)
{
	pthread_cleanup_push(count, &cleaned);
	for (;;) {
		int fd = open("file", O_RDONLY);
		look();
		if (fd < 0)
			wrong++;
		close(fd);
	}
	pthread_cleanup_pop(0);
	return arg;
}

// creating makes files whose names are there already if an open is made twice.
static void *creating(void *arg)
{
	char name[32];
	static atomic_int serial;
	pthread_cleanup_push(count, &cleaned);
	for (;;) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		snprintf(name, sizeof name, "made%d", serial++);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		wrong += fd < 0;
		close(fd);
		unlink(name);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	}
	pthread_cleanup_pop(0);
	return arg;
}

static void looking(void)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		look();
}

static void opening(void)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		close(open("file", O_RDONLY));
}

// at_once is cancelled asynchronously, in the middle of calls that may be, or between two of them. An unwinder finds a
// handler for a place in a call only, which a function that has one must not leave.
static void *at_once(void (*f)(void))
{
	void (*volatile call)(void) = f; // to the compiler it may raise something
	pthread_cleanup_push(count, &cleaned);
	call();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *at_once_stat(void *arg) { return arg ? arg : at_once(looking); }
static void *at_once_open(void *arg) { return arg ? arg : at_once(opening); }

static void cancel_all(const char *name, void *(*body)(void *), int lossless)
{
	int lost, cancelled = 0;
	make("file", "text");
	for (int i = 0; i < rounds; i++) {
		pthread_t t;
		void *r;
		int before = descriptors();
		if (pthread_create(&t, NULL, body, NULL) != 0)
			break;
		// From the thread's start into its first rounds, in steps much shorter than a call.
		struct timespec moment = {0, 100000 + 17919L * i};
		nanosleep(&moment, NULL);
		pthread_cancel(t);
		pthread_join(t, &r);
		cancelled += r == PTHREAD_CANCELED;
		lost = descriptors() - before;
		left += lost;
		wrong += lost < 0 || lost > 1 || (lost && lossless);
		for (int fd = 3; lost > 0 && fd < descriptor_limit; fd++)
			if (fcntl(fd, F_GETFD) != -1)
				close(fd);
	}
	tell("cancelled %d, cleaned up %ld, wrong %ld", cancelled, cleaned, wrong);
	// Not part of the line: it depends on the moments.
	fprintf(stderr, "%s left %ld of %d\n", name, left, rounds);
}

static sigjmp_buf back;
static atomic_int handled;

static void look_in_handler(int sig)
{
	int e = errno;
	(void)sig;
	look();
	close(open("file", O_RDONLY));
	handled++;
	errno = e;
}

static void jump(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(back, 1);
}

static void signals(void (*f)(int), int flags)
{
	struct sigaction a = {.sa_handler = f, .sa_flags = flags};
	struct itimerval t = {{0, 1700}, {0, 1700}}, off = {{0, 0}, {0, 0}};
	make("file", "text");
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	for (volatile int i = 0; i < 40 || handled < 10; i++) {
		if (f == jump && sigsetjmp(back, 1) != 0)
			continue;
		look();
		int fd = open("file", O_RDONLY);
		if (fd < 0 && errno != EINTR)
			wrong++;
		close(fd);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	tell("handled %d, wrong %ld", handled >= 10, wrong);
}

static const char *name(int i)
{
	static const char *const names[] = {"storm-open", "storm-open-stat-close", "storm-creating", "storm-asynchronous-stat",
					    "storm-asynchronous-open", "storm-signals", "storm-signals-restarting", "storm-jumps", NULL};
	return names[i];
}

static void run(int i)
{
	switch (i) {
	case 0: cancel_all(name(i), carefully, 0); break;
	case 1: cancel_all(name(i), simply, 0); break;
	case 2: cancel_all(name(i), creating, 0); break;
	case 3: cancel_all(name(i), at_once_stat, 1); break;
	case 4: cancel_all(name(i), at_once_open, 0); break;
	case 5: signals(look_in_handler, 0); break;
	case 6: signals(look_in_handler, SA_RESTART); break;
	case 7: signals(jump, 0); break;
	}
}

const struct kind storm_kind = {name, run};
