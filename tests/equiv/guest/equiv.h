// What the parts of the executor share. See actors.c for what the program does.
#ifndef EQUIV_H
#define EQUIV_H

#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

enum {
	max_actors = 12,  // processes and threads together
	max_slots = 24,   // names for descriptors
	max_args = 6,
	max_inodes = 1 << 14,
	max_ops = 256,
	fill = 0xa5,      // what buffers are full of before a call
	no_actor = -1,
};

// One line of the script.
struct line {
	int number;   // in the script, from 0
	int actor;
	int slot;     // where the descriptor that it opens goes, or -1
	char *op;
	int index;    // of the operation, see find_op
	int nargs;
	char *args[max_args];
};

// What an argument became: its value and, if it is memory, where.
struct arg {
	long value;
	char *base;         // the memory around it, NULL if there is none
	size_t around;      // how much
	char *start;        // the buffer itself
	size_t size;
	int buffer;         // filled with the canary
	int readonly;
};

// What all processes share.
struct shared {
	int turn;           // the line that is to run
	int bell[max_actors]; // each actor sleeps on its own: waking all would take longer than most operations
	int alive[max_actors];
	int process[max_actors]; // the actor whose process a thread belongs to
	int pids[max_actors];
	int tids[max_actors];
	int leaving;        // the actor that ended last, until somebody has seen that it is gone
	size_t log;         // how much of the log is used
	int inodes;
	struct { char name[24]; int calls, without; } counts[max_ops];
	struct { uint64_t dev, ino; } inode[max_inodes];
};

extern struct shared *shared;
extern int slots[max_slots];
extern uint64_t world_dev;
extern long long started; // seconds

// svc makes a system call at a place of its own, outside libc: for what the executor needs for itself.
static inline long svc(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d,
		x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}

// args.c
void make_arena(int actor);
int make_arg(int actor, int index, const char *token, struct arg *out);
void seal(struct arg *arg, int sealed);

// calls.c
long call(const struct line *l, const struct arg *args, const char **outs, int *opens);
int find_op(const char *name);
int is_special(const struct line *l);
void special(const struct line *l, const struct arg *args);

// log.c
void open_log(void);
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_bytes(const char *text, size_t n, int cut);
void put_out(char kind, const struct arg *args, int index, long ret, int err);
void count(const struct line *l, long stops);
void put_counts(void);
long stops(void);
void close_log(void);

#endif
