// started is a library whose constructor starts a second thread, which stays.
#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t t;
	pthread_create(&t, 0, wait_for_ever, 0);
}
