// Threads and processes that end while a call is going on.
#include "blocking.h"
#include "case.h"

static const struct blocking *b;

static void *call(void *arg)
{
	(void)arg;
	long r = b->call();
	tell("call gave %ld errno %d", r, r < 0 ? errno : 0);
	return NULL;
}

static void *call_and_exit(void *arg)
{
	call(arg);
	exit(5);
}

static pthread_t blocked(void *(*body)(void *))
{
	pthread_t t;
	pthread_create(&t, NULL, body, NULL);
	nap(20);
	return t;
}

static void *wait_and_release(void *arg)
{
	(void)arg;
	nap(20);
	tell("releasing");
	b->release();
	return NULL;
}

// The process ends while a thread is in the call.
static void process_exits(void)
{
	blocked(call);
	exit(3);
}

static void process_exits_at_once(void)
{
	blocked(call);
	_exit(4);
}

// The main thread ends, the others go on.
static void main_exits(void)
{
	pthread_t t;
	blocked(call_and_exit);
	pthread_create(&t, NULL, wait_and_release, NULL);
	pthread_detach(t);
	pthread_exit(NULL);
}

static void *leave(void *arg)
{
	struct stat st;
	if (stat(".", &st) != 0)
		tell("stat: errno %d", errno);
	pthread_exit(arg);
}

// Other threads come and go while one is in the call.
static void others_exit(void)
{
	pthread_t t = blocked(call), other;
	for (int i = 0; i < 8; i++) {
		pthread_create(&other, NULL, i % 2 ? leave : wait_and_release, NULL);
		if (i % 2 == 0)
			pthread_cancel(other);
		pthread_join(other, NULL);
	}
	b->release();
	pthread_join(t, NULL);
}

static void killed(void)
{
	blocked(call);
	kill(getpid(), SIGKILL);
}

// A fork while another thread is in the call: the child makes calls of its own.
static void forks(void)
{
	struct stat st;
	int status = -1;
	pthread_t t = blocked(call);
	pid_t p = fork();
	if (p == 0) {
		int fd = open("missing", O_RDONLY);
		_exit(fd == -1 && errno == ENOENT && stat(".", &st) == 0 ? 6 : 7);
	}
	waitpid(p, &status, 0);
	tell("child %x", status);
	b->release();
	pthread_join(t, NULL);
}

// A program is started in place of this one while another thread is in the call.
static void executes(void)
{
	blocked(call);
	execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} ends[] = {
	{"process-exits", process_exits}, {"process-exits-at-once", process_exits_at_once}, {"main-thread-exits", main_exits},
	{"others-exit", others_exit}, {"killed", killed}, {"forks", forks}, {"executes", executes},
};

static const char *const calls[] = {"open-read", "accept", "waitpid"};

enum { ways = sizeof ends / sizeof *ends };

static const char *name(int i)
{
	static char text[80];
	if (i / ways >= (int)(sizeof calls / sizeof *calls))
		return NULL;
	snprintf(text, sizeof text, "%s-%s", calls[i / ways], ends[i % ways].name);
	return text;
}

static void run(int i)
{
	for (b = blocking; strcmp(b->name, calls[i / ways]) != 0; b++)
		;
	b->prepare();
	ends[i % ways].run();
	tidy();
}

const struct kind exit_kind = {name, run};
