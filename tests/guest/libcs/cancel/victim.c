// The thread that is cancelled.
#include "case.h"

static void note(void *p)
{
	struct victim *v = p;
	v->cleaned++;
}

static void *body(void *p)
{
	struct victim *v = p;
	pthread_setcancelstate(v->state, NULL);
	pthread_setcanceltype(v->type, NULL);
	pthread_cleanup_push(note, v);
	v->begun = 1;
	while (v->wait && !v->go)
		;
	errno = 0;
	v->result = v->call();
	v->error = errno;
	v->returned = 1;
	if (v->test) {
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return v;
}

void start(struct victim *v)
{
	int e = pthread_create(&v->thread, NULL, body, v);
	if (e != 0) {
		tell("pthread_create: %d", e);
		exit(97);
	}
	while (!v->begun)
		nap(1);
}

int over(struct victim *v, long ms)
{
	for (; ms > 0 && !v->cleaned && !v->returned; ms -= 5)
		nap(5);
	return v->cleaned || v->returned;
}

void finish(struct victim *v)
{
	void *r = NULL;
	pthread_join(v->thread, &r);
	if (v->returned)
		tell("returned %ld errno %d", v->result < 0 ? -1L : v->result, v->result < 0 ? v->error : 0);
	tell("%s, cleaned up %d", r == PTHREAD_CANCELED ? "cancelled" : r == v ? "ended" : "ended otherwise", v->cleaned);
}
