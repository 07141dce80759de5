// Functions of the C library that look at files.
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct function {
	const char *name;
	int (*call)(void); // whether the answer was right
};

// functions ends with one that has no name.
extern const struct function functions[];

// prepare makes the files that the functions look at in dir, and finds the library beside the program. Not 0: errno says
// what failed.
int prepare(const char *program, const char *dir);

#endif
