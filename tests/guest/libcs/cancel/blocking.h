// Calls that block until something is done about it.
#ifndef BLOCKING_H
#define BLOCKING_H

struct blocking {
	const char *name;
	void (*prepare)(void);
	long (*call)(void);    // gives -1 with errno, or 0; leaves no descriptor open
	void (*release)(void); // lets it end; may be called in a signal handler
	int few;               // only the treatments that tell most: another call has them all
};

extern const struct blocking blocking[];

// tidy ends what a case's preparations have started, and tells what is there to be told of it.
void tidy(void);

// holder starts a process that locks a file in its own way and then sleeps.
void holder(const char *file, int how);

enum { by_nothing, by_fcntl, by_flock };

#endif
