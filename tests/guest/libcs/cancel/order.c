// In which order things happen: nested states, handlers, ends of threads.
#include "case.h"
#include <sys/syscall.h>

static atomic_int step;

// at tells that a place was reached, and when.
static void at(const char *what) { tell("%d %s", ++step, what); }

static void mark(void *what) { at(what); }

// touch makes calls that are answered or declined, cancellation points among them.
static void touch(void)
{
	struct stat st;
	int fd = open("file", O_RDONLY);
	if (fd < 0 || stat("file", &st) != 0 || open("missing", O_RDONLY) != -1)
		tell("calls fail: errno %d", errno);
	close(fd);
}

static void touch_and_mark(void *what)
{
	touch();
	at(what);
}

static const char *state(int s) { return s == PTHREAD_CANCEL_ENABLE ? "enabled" : s == PTHREAD_CANCEL_DISABLE ? "disabled" : "?"; }
static const char *type(int t) { return t == PTHREAD_CANCEL_DEFERRED ? "deferred" : t == PTHREAD_CANCEL_ASYNCHRONOUS ? "asynchronous" : "?"; }

static void show_state(void)
{
	int s, t;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &s);
	pthread_setcancelstate(s, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &t);
	pthread_setcanceltype(t, NULL);
	tell("%s %s", state(s), type(t));
}

static void *nested(void *arg)
{
	int outer, inner, kind;
	pthread_cleanup_push(mark, "cleanup");
	show_state();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &outer);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &inner);
	tell("%s, %s", state(outer), state(inner));
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &kind);
	show_state();
	touch();
	show_state();
	pthread_cancel(pthread_self());
	touch();
	at("pending, outside both");
	pthread_setcancelstate(inner, NULL);
	touch();
	pthread_testcancel();
	at("inner restored");
	pthread_setcanceltype(kind, NULL);
	pthread_setcancelstate(outer, NULL);
	at("outer restored");
	touch();
	at("not reached");
	pthread_cleanup_pop(0);
	return arg;
}

static void *testcancel(void *arg)
{
	pthread_cleanup_push(mark, "cleanup");
	pthread_testcancel();
	at("nothing pending");
	touch();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	touch();
	at("disabled");
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	struct stat st;
	if (stat("file", &st) == 0 && syscall(SYS_faccessat, AT_FDCWD, "file", R_OK) == 0)
		at("stat is no cancellation point");
	pthread_testcancel();
	at("not reached");
	pthread_cleanup_pop(0);
	return arg;
}

static void *handlers(void *arg)
{
	pthread_cleanup_push(touch_and_mark, "first pushed");
	pthread_cleanup_push(touch_and_mark, "second pushed");
	pthread_cleanup_push(mark, "third pushed, popped");
	touch();
	pthread_cleanup_pop(1);
	pthread_cleanup_push(mark, "not to run");
	pthread_cleanup_pop(0);
	pthread_cancel(pthread_self());
	touch();
	at("not reached");
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return arg;
}

static void leave(void *what)
{
	at(what);
	touch();
	pthread_exit("from the handler");
}

static void *exit_in_handler(void *arg)
{
	pthread_cleanup_push(touch_and_mark, "outer");
	pthread_cleanup_push(leave, "inner");
	pthread_cancel(pthread_self());
	touch();
	at("not reached");
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return arg;
}

static void *plain_exit(void *arg)
{
	(void)arg;
	pthread_cleanup_push(touch_and_mark, "outer");
	pthread_cleanup_push(leave, "inner");
	touch();
	pthread_exit("from the thread");
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
}

static pthread_key_t key;

static void destroy(void *what)
{
	touch();
	at(what);
}

static void *specific(void *arg)
{
	pthread_setspecific(key, "destructor");
	pthread_cleanup_push(touch_and_mark, "cleanup");
	pthread_cancel(pthread_self());
	touch();
	pthread_cleanup_pop(0);
	return arg;
}

static void *twice(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_cancel(pthread_self());
	touch();
	pthread_cleanup_push(touch_and_mark, "cleanup");
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	touch();
	pthread_cleanup_pop(0);
	return arg;
}

// deep is cancelled many frames down.
static int deep(int n)
{
	char name[16];
	int r = 0;
	pthread_cleanup_push(mark, n % 8 ? "" : "frame");
	snprintf(name, sizeof name, "file");
	if (n == 0) {
		pthread_cancel(pthread_self());
		close(open(name, O_RDONLY));
	} else {
		r = deep(n - 1) + name[0];
	}
	pthread_cleanup_pop(0);
	return r;
}

static void *deep_down(void *arg)
{
	deep(16);
	return arg;
}

static const struct {
	const char *name;
	void *(*body)(void *);
} orders[] = {
	{"nested-states", nested}, {"testcancel-order", testcancel}, {"handler-order", handlers}, {"exit-in-handler", exit_in_handler},
	{"exit-in-handler-of-exit", plain_exit}, {"specific-data", specific}, {"cancelled-twice", twice}, {"deep", deep_down}, {NULL, NULL},
};

static const char *name(int i) { return orders[i].name; }

static void run(int i)
{
	pthread_t t;
	void *r;
	make("file", "text");
	pthread_key_create(&key, destroy);
	int e = pthread_create(&t, NULL, orders[i].body, "the end");
	if (e == 0)
		e = pthread_join(t, &r);
	tell("%d %s", e, r == PTHREAD_CANCELED ? "cancelled" : (char *)r);
	touch();
}

const struct kind order_kind = {name, run};
