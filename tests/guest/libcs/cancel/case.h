// The cases of the cancellation suite. Each runs in a process and a directory of its own; what it says becomes one
// line of output, which must be the same whatever answers the program's system calls.
#ifndef CASE_H
#define CASE_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A kind of case, and its cases by number: name gives a case's name or NULL after the last, run runs it.
struct kind {
	const char *(*name)(int);
	void (*run)(int);
};

extern const struct kind blocked_kind, pending_kind, order_kind, storm_kind, exit_kind;

// tell adds to the line of the case that runs.
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

// nap sleeps for so many milliseconds, whatever signals come.
void nap(long ms);

// descriptors counts the open ones. The cases use those below descriptor_limit.
enum { descriptor_limit = 64 };
int descriptors(void);

// make creates a file with a text in it.
void make(const char *path, const char *text);

// A thread that is to be cancelled while it makes a call, and what became of it.
struct victim {
	pthread_t thread;
	long (*call)(void); // gives -1 with errno, or what tell_result shows
	int state, type;    // cancellation before the call
	int wait;           // wait for go before the call
	int test;           // cancellation enabled and tested for after the call
	atomic_int begun, go, cleaned, returned;
	long result;
	int error;
};

// start runs a victim's thread and waits until its call is about to begin.
void start(struct victim *);

// over waits a while for the thread to be cancelled or its call to return, and says whether either has happened.
int over(struct victim *, long ms);

// finish joins the thread and tells how it ended.
void finish(struct victim *);

#endif
