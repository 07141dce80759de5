// What happens to calls that block: cancellation of each kind, signals, jumps out of signal handlers.
#include "blocking.h"
#include "case.h"
#include <sys/time.h>

static const struct blocking *b;
static sigjmp_buf back;
static atomic_int handled;
static int release_at; // the handler's call at which it lets the blocked call end

static void handler(int sig)
{
	int e = errno;
	(void)sig;
	if (++handled == release_at)
		b->release();
	errno = e;
}

// busy makes calls of its own, relayed ones among them.
static void busy(int sig)
{
	int e = errno;
	struct stat st;
	(void)sig;
	int fd = open("file", O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0 || stat("file", &st) != 0 || stat("missing", &st) != -1 || errno != ENOENT)
		tell("calls in the handler fail");
	close(fd);
	handled++;
	errno = e;
}

static void jump(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(back, 1);
}

static void on(int sig, void (*f)(int), int flags)
{
	struct sigaction a = {.sa_handler = f, .sa_flags = flags};
	sigaction(sig, &a, NULL);
}

static struct victim v;

// begin starts the victim and waits until it blocks.
static void begin(void)
{
	start(&v);
	tell(over(&v, 20) ? "did not block" : "blocks");
}

// end lets the call end if nothing else has ended it.
static void end(long ms, const char *otherwise)
{
	if (!over(&v, ms)) {
		tell("%s", otherwise);
		b->release();
	}
	finish(&v);
}

static void deferred(void)
{
	begin();
	pthread_cancel(v.thread);
	end(300, "not cancelled");
}

static void asynchronous(void)
{
	v.type = PTHREAD_CANCEL_ASYNCHRONOUS;
	deferred();
}

static void disabled(void)
{
	v.state = PTHREAD_CANCEL_DISABLE;
	begin();
	pthread_cancel(v.thread);
	v.test = 1;
	end(30, "still blocks");
}

static void pending(void)
{
	v.wait = 1;
	start(&v);
	pthread_cancel(v.thread);
	v.go = 1;
	end(300, "not cancelled");
}

static void pending_disabled(void)
{
	v.state = PTHREAD_CANCEL_DISABLE;
	v.test = 1;
	pending();
}

static void interrupted(void)
{
	on(SIGUSR1, handler, 0);
	begin();
	pthread_kill(v.thread, SIGUSR1);
	end(100, "still blocks");
	tell("handled %d", handled);
}

static void restarted(void)
{
	on(SIGUSR1, handler, SA_RESTART);
	begin();
	pthread_kill(v.thread, SIGUSR1);
	end(30, "still blocks");
	tell("handled %d", handled);
}

static void restarted_cancelled(void)
{
	make("file", "text");
	on(SIGUSR1, busy, SA_RESTART);
	begin();
	for (int i = 0; i < 3; i++) {
		pthread_kill(v.thread, SIGUSR1);
		for (int t = 0; t < 200 && handled == i && !over(&v, 0); t++)
			nap(1);
	}
	nap(10);
	tell("handled %d", handled);
	pthread_cancel(v.thread);
	end(300, "not cancelled");
}

// out_of_it makes the call and leaves it by a jump.
static long out_of_it(void)
{
	struct stat st;
	if (sigsetjmp(back, 1) == 0)
		return b->call();
	return stat(".", &st) == 0 && open("missing", O_RDONLY) == -1 && errno == ENOENT ? 1 : -1;
}

static void jumped_cancelled(void)
{
	on(SIGUSR1, jump, 0);
	v.call = out_of_it;
	v.test = 0;
	begin();
	pthread_kill(v.thread, SIGUSR1);
	end(100, "still blocks");
	tell("handled %d", handled);
}

// after sends a signal to this process after so many milliseconds, and then again and again.
static void after(long ms)
{
	struct itimerval t = {{0, ms * 1000}, {0, ms * 1000}};
	setitimer(ITIMER_REAL, &t, NULL);
}

static void alone(void (*f)(int), int flags)
{
	on(SIGALRM, f, flags);
	release_at = 3;
	after(20);
	errno = 0;
	long r = out_of_it();
	int e = errno;
	after(0);
	tell("returned %ld errno %d, handled %d", r, r < 0 ? e : 0, handled);
}

static void alone_interrupted(void) { alone(handler, 0); }
static void alone_restarted(void) { alone(handler, SA_RESTART); }
static void alone_jumped(void) { alone(jump, 0); }

static const struct {
	const char *name;
	void (*run)(void);
} treatments[] = {
	// These few are for all calls.
	{"deferred", deferred},
	{"asynchronous", asynchronous},
	{"disabled", disabled},
	{"interrupted", interrupted},
	// These are for the calls with them all.
	{"pending", pending},
	{"restarted-cancelled", restarted_cancelled},
	{"pending-disabled", pending_disabled},
	{"restarted", restarted},
	{"jumped", jumped_cancelled},
	{"alone-interrupted", alone_interrupted},
	{"alone-restarted", alone_restarted},
	{"alone-jumped", alone_jumped},
};

enum { few = 4, ways = sizeof treatments / sizeof *treatments };

// pick finds the call and the treatment of a case. It gives the treatment, or -1 after the last case.
static int pick(int i)
{
	for (b = blocking; b->name != NULL; b++) {
		int n = b->few ? few : ways;
		if (i < n)
			return i;
		i -= n;
	}
	return -1;
}

static const char *name(int i)
{
	static char text[80];
	int t = pick(i);
	if (t < 0)
		return NULL;
	snprintf(text, sizeof text, "%s-%s", b->name, treatments[t].name);
	return text;
}

static void run(int i)
{
	int t = pick(i);
	b->prepare();
	v.call = b->call;
	int before = descriptors();
	treatments[t].run();
	tidy();
	tell("descriptors %+d", descriptors() - before);
}

const struct kind blocked_kind = {name, run};
