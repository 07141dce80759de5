// equiv performs a script of operations and writes every result to its log, so that two ways of running programs can
// be compared.
//
//   equiv DEVICE < SCRIPT 1<> LOG
//
// DEVICE is the device number of the file system whose inode numbers are compared. Each line of the script is
//
//   ACTOR [>SLOT] OPERATION ARGUMENT...
//
// Actor 0 is the program itself; "fork N" and "thread N" start others, "exit" ends one, "wait N" waits for a
// process. They take turns: a line runs when the one before it is done, whoever runs it. What starts nobody leaves
// lines without an actor, which are passed over.
#include "equiv.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { max_lines = 1 << 16, script_room = 16 << 20, futex_wait = 0, futex_wake = 1 };

struct shared *shared;
int slots[max_slots];
uint64_t world_dev;
long long started;

static struct line *lines;
static int nlines;
static pthread_t threads[max_actors];

static void parse(char *s)
{
	for (char *next; s && *s; s = next) {
		next = strchr(s, '\n');
		if (next)
			*next++ = 0;
		struct line *l = &lines[nlines];
		memset(l, 0, sizeof *l);
		l->number = nlines;
		l->slot = -1;
		if (*s < '0' || *s > '9' || nlines == max_lines)
			continue;
		l->actor = strtoul(s, &s, 10) % max_actors;
		while (*s) {
			while (*s == ' ')
				s++;
			if (!*s)
				break;
			char *word = s;
			int quoted = 0;
			for (; *s && (quoted || *s != ' '); s++)
				if (*s == '\\' && s[1])
					s++;
				else if (*s == '"')
					quoted = !quoted;
			if (*s)
				*s++ = 0;
			if (*word == '>' && !l->op)
				l->slot = atoi(word + 1);
			else if (!l->op)
				l->op = word;
			else if (l->nargs < max_args)
				l->args[l->nargs++] = word;
		}
		if (l->op) {
			l->index = find_op(l->op);
			nlines++;
		}
	}
}

static char *read_script(void)
{
	char *text = malloc(script_room);
	long n = 0, r;
	while ((r = svc(SYS_read, 0, (long)text + n, script_room - 1 - n, 0, 0, 0)) > 0)
		n += r;
	text[n] = 0;
	return text;
}

static void ring(int actor)
{
	__atomic_add_fetch(&shared->bell[actor], 1, __ATOMIC_SEQ_CST);
	svc(SYS_futex, (long)&shared->bell[actor], futex_wake, 1 << 30, 0, 0, 0);
}

// stop makes a call without a path at which PRoot stops.
static void stop(void) { svc(SYS_faccessat, AT_FDCWD, 0, 0, 0, 0, 0); }

// passes_proot says whether an operation may be a call that PRoot 5.4.0 does not know: faccessat makes a faccessat2 for flags.
static int passes_proot(const char *op)
{
	return strcmp(op, "faccessat") == 0 || strcmp(op, "sys_faccessat2") == 0 || strcmp(op, "sys_openat2") == 0 || strcmp(op, "sys_fchmodat2") == 0;
}

static void advance(int me)
{
	int turn = shared->turn + 1;
	while (turn < nlines && !shared->alive[lines[turn].actor])
		turn++;
	// Under a faked root PRoot lends rights to a thread, and takes some of them back only when the thread stops the next time. What
	// another sees meanwhile depends on which calls PRoot was asked for: so let it stop before another has its turn.
	if (me != no_actor && turn < nlines && lines[turn].actor != me)
		stop();
	__atomic_store_n(&shared->turn, turn, __ATOMIC_SEQ_CST);
	// At the end those of the own process come last: when its first actor wakes, it ends and takes this thread with it.
	for (int own = 0; own < 2; own++)
		for (int i = 0; i < max_actors; i++)
			if (i != me && (turn >= nlines || i == lines[turn].actor) && own == (me != no_actor && shared->process[i] == shared->process[me]))
				ring(i);
}

// settle waits until the actor that ended last is no more: a thread's number is free, a process has only its status left. What is in
// /proc of it, and open there, depends on that.
static void settle(int me)
{
	int who = __atomic_exchange_n(&shared->leaving, 0, __ATOMIC_SEQ_CST);
	struct timespec pause = {.tv_nsec = 200000};
	if (who == 0 || who == me)
		return;
	if (shared->process[who] != who) {
		int pid = shared->pids[shared->process[who]];
		for (int n = 0; n < 10000 && svc(SYS_tgkill, pid, shared->tids[who], 0, 0, 0, 0) == 0; n++)
			svc(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		return;
	}
	struct pollfd end = {.fd = svc(SYS_pidfd_open, shared->tids[who], 0, 0, 0, 0, 0), .events = POLLIN};
	struct timespec limit = {.tv_sec = 2};
	if (end.fd >= 0) {
		svc(SYS_ppoll, (long)&end, 1, (long)&limit, 0, 0, 0);
		svc(SYS_close, end.fd, 0, 0, 0, 0, 0);
	}
}

// await waits for the actor's next line and returns it, or NULL at the end.
static struct line *await(int me)
{
	for (;;) {
		int bell = __atomic_load_n(&shared->bell[me], __ATOMIC_SEQ_CST);
		int turn = __atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST);
		if (turn >= nlines)
			return NULL;
		if (lines[turn].actor == me) {
			settle(me);
			return &lines[turn];
		}
		svc(SYS_futex, (long)&shared->bell[me], futex_wait, bell, 0, 0, 0);
	}
}

static __thread sigjmp_buf back;
static __thread volatile int inside;

static __thread int self;

static void fault(int sig)
{
	if (inside)
		siglongjmp(back, sig);
	put(" fault %d outside\n", sig);
	for (int i = 0; i < max_actors; i++)
		if (shared->process[i] == shared->process[self])
			shared->alive[i] = 0;
	advance(no_actor);
	_exit(4);
}

// waits says whether an operation may open a pipe that nobody else has open, and wait for somebody: creat, and openat2 where
// Termux's fork makes an openat of it, without flags if the size that it was given is too small for them.
static int waits(const char *op) { return strcmp(op, "creat") == 0 || strcmp(op, "sys_openat2") == 0; }

// interruptible lets such an operation end, after a second, with EINTR. No other operation waits. The signal
// is blocked in all threads but the one that does the operation. It comes every second: the first may be too early.
static void interruptible(int on)
{
	uint64_t set = 1ull << (SIGALRM - 1);
	struct itimerval t = {.it_value.tv_sec = on, .it_interval.tv_sec = on};
	svc(SYS_rt_sigprocmask, on ? SIG_UNBLOCK : SIG_BLOCK, (long)&set, 0, sizeof set, 0, 0);
	svc(SYS_setitimer, ITIMER_REAL, (long)&t, 0, 0, 0, 0);
}

static void alarmed(int sig) { (void)sig; }

// catch leaves the signal deliverable while it is handled: the handler jumps out without giving the mask back.
static void catch(int sig)
{
	struct sigaction a = {.sa_handler = fault, .sa_flags = SA_NODEFER | SA_RESTART};
	sigaction(sig, &a, NULL);
}

static void act(int me);

static void *start_thread(void *p)
{
	act((int)(long)p);
	return NULL;
}

static void start(const struct line *l, int me, int who)
{
	if (who <= 0 || who >= max_actors || shared->alive[who]) {
		put(" no\n");
		return;
	}
	shared->alive[who] = 1;
	if (strcmp(l->op, "thread") == 0) {
		shared->process[who] = shared->process[me];
		shared->pids[who] = shared->tids[who] = 0;
		if (pthread_create(&threads[who], NULL, start_thread, (void *)(long)who) != 0)
			shared->alive[who] = 0;
		else
			pthread_detach(threads[who]);
		while (shared->alive[who] && !__atomic_load_n(&shared->tids[who], __ATOMIC_SEQ_CST))
			sched_yield(); // what is written from here on has its id by name
		put(" = %d\n", shared->alive[who]);
		return;
	}
	shared->process[who] = who;
	pid_t pid = fork();
	if (pid == 0) {
		act(who);
		exit(0); // and not _exit: statistics are written by destructors
	}
	if (pid < 0)
		shared->alive[who] = 0;
	else
		shared->pids[who] = pid;
	put(" = %d\n", pid > 0);
}

// run performs one line.
static void run(const struct line *l, int me)
{
	struct arg args[max_args];
	const char *outs;
	int opens = 0;

	for (int i = 0; i < l->nargs; i++)
		if (!make_arg(me, i, l->args[i], &args[i])) {
			put(" bad argument %s\n", l->args[i]);
			return;
		}
	for (int i = 0; i < l->nargs; i++)
		seal(&args[i], 1);
	int sig = sigsetjmp(back, 0); // saving the mask would be a system call; see catch
	long ret = 0;
	int err = 0;
	if (sig == 0) {
		inside = 1;
		if (is_special(l)) {
			special(l, args);
			inside = 0;
			put("\n");
			return;
		}
		if (passes_proot(l->op)) // rights that PRoot lent for the call before would show, if it was asked for that one
			stop();
		int timed = waits(l->op);
		if (timed)
			interruptible(1);
		long before = stops();
		ret = call(l, args, &outs, &opens);
		err = errno;
		count(l, stops() - before);
		if (timed)
			interruptible(0);
	}
	inside = 0;
	for (int i = 0; i < l->nargs; i++)
		seal(&args[i], 0);
	if (sig != 0) {
		put(" fault %d\n", sig);
		return;
	}
	if (outs == NULL) {
		put(" no such operation\n");
		return;
	}
	put(" = %ld", ret);
	if (ret < 0)
		put(" errno %d", err);
	for (int i = 0; i < l->nargs && outs[i]; i++)
		put_out(outs[i], args, i, ret, err);
	if (opens && ret >= 0) {
		if (l->slot >= 0 && l->slot < max_slots) {
			if (slots[l->slot] >= 0)
				close(slots[l->slot]);
			slots[l->slot] = ret;
		} else
			close(ret);
	}
	put("\n");
}

// leave ends an actor, and with a process its threads.
static int leave(int me)
{
	if (me == 0) {
		put(" no\n");
		return 0;
	}
	int process = shared->process[me] == me;
	for (int i = 0; i < max_actors; i++)
		if (i == me || (process && shared->process[i] == me))
			shared->alive[i] = 0;
	put(" = 0\n");
	return 1;
}

static void act(int me)
{
	struct line *l;
	self = me;
	__atomic_store_n(&shared->tids[me], svc(SYS_gettid, 0, 0, 0, 0, 0, 0), __ATOMIC_SEQ_CST);
	make_arena(me);
	while ((l = await(me))) {
		long who = l->nargs ? atol(l->args[0]) : -1;
		put("%d %s", l->number, l->op);
		if (strcmp(l->op, "fork") == 0 || strcmp(l->op, "thread") == 0)
			start(l, me, who);
		else if (strcmp(l->op, "wait") == 0) {
			int status = 0;
			long r = -2;
			if (who > 0 && who < max_actors && !shared->alive[who] && shared->pids[who])
				r = waitpid(shared->pids[who], &status, 0) > 0;
			put(" = %ld status %x\n", r, status);
		} else if (strcmp(l->op, "exit") == 0) {
			if (leave(me)) {
				int process = shared->process[me] == me;
				__atomic_store_n(&shared->leaving, me, __ATOMIC_SEQ_CST);
				advance(me);
				if (process)
					exit(0);
				return;
			}
		} else
			run(l, me);
		advance(me);
	}
	if (shared->process[me] != me && me != 0)
		for (;;)
			svc(SYS_futex, (long)&shared->turn, futex_wait, shared->turn, 0, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	world_dev = strtoull(argv[1], NULL, 0);
	lines = calloc(max_lines + 1, sizeof *lines);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lines == NULL || shared == MAP_FAILED)
		return 3;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	started = now.tv_sec;
	for (int i = 0; i < max_slots; i++)
		slots[i] = -1;
	shared->alive[0] = 1;
	shared->pids[0] = getpid();
	open_log();
	parse(read_script());
	shared->turn = -1;
	advance(no_actor);
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	struct sigaction wake = {.sa_handler = alarmed}; // and no SA_RESTART
	sigaction(SIGALRM, &wake, NULL);
	interruptible(0);
	catch(SIGSEGV);
	catch(SIGBUS);
	catch(SIGILL);
	act(0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	put("end\n");
	put_counts();
	struct timespec done;
	clock_gettime(CLOCK_REALTIME, &done);
	put("count milliseconds %ld 0\n", (done.tv_sec - now.tv_sec) * 1000 + (done.tv_nsec - now.tv_nsec) / 1000000);
	close_log();
	exit(0);
}
