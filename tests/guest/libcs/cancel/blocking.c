// The calls that block.
#include "blocking.h"
#include "case.h"
#include <poll.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#ifndef F_OFD_SETLKW
#define F_OFD_SETLKW 38 // musl shows it to nobody who asks for POSIX only
#endif

enum { openat2_number = 437 };

static char fifo_path[4096];
static int directory = -1, listener = -1, held = -1, ends[2] = {-1, -1};
static pid_t child;
static sem_t semaphore;
static char reaped;

// done closes a descriptor by a call at which no thread is cancelled.
static long done(long fd)
{
	if (fd < 0)
		return -1;
	syscall(SYS_close, fd);
	return 0;
}

static void prepare_fifo(void)
{
	if (getcwd(fifo_path, sizeof fifo_path - 5) == NULL || mkfifo("fifo", 0600) != 0 || symlink("fifo", "link") != 0)
		tell("no fifo: errno %d", errno);
	strcat(fifo_path, "/fifo");
	directory = open(".", O_RDONLY | O_DIRECTORY);
}

static void release_fifo(void) { held = open("fifo", O_RDWR | O_NONBLOCK); }
static long fifo_read(void) { return done(open(fifo_path, O_RDONLY)); }
static long fifo_write(void) { return done(open(fifo_path, O_WRONLY | O_CLOEXEC)); }
static long fifo_link(void) { return done(open("link", O_RDONLY)); }
static long fifo_at(void) { return done(openat(directory, "fifo", O_RDONLY)); }
static long fifo_creat(void) { return done(creat("fifo", 0600)); }
static long fifo_syscall(void) { return done(syscall(SYS_openat, AT_FDCWD, fifo_path, O_RDONLY, 0)); }

static long fifo_openat2(void)
{
	unsigned long how[3] = {O_RDONLY, 0, 0};
	return done(syscall(openat2_number, AT_FDCWD, fifo_path, how, sizeof how));
}

static long fifo_fopen(void)
{
	FILE *f = fopen(fifo_path, "r");
	return f ? done(fileno(f)) : -1;
}

static struct sockaddr_un address = {AF_UNIX, "socket"};

static void prepare_socket(void)
{
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 0) != 0)
		tell("no socket: errno %d", errno);
}

// prepare_full fills the queue of a socket, so that the next to connect waits.
static void prepare_full(void)
{
	prepare_socket();
	for (int i = 0; i < 8; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
			done(fd);
			break;
		}
	}
}

static void release_accept(void)
{
	held = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(held, (struct sockaddr *)&address, sizeof address);
}

static void release_connect(void)
{
	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
		done(fd);
}

static long call_accept(void)
{
	struct sockaddr_un from;
	socklen_t size = sizeof from;
	return done(accept(listener, (struct sockaddr *)&from, &size));
}

static long call_accept4(void) { return done(accept4(listener, NULL, NULL, SOCK_CLOEXEC)); }

static long call_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	long r = connect(fd, (struct sockaddr *)&address, sizeof address);
	int e = errno;
	done(fd);
	errno = e;
	return r;
}

void holder(const char *file, int how)
{
	int ready[2];
	char c;
	make("locked", "x");
	if (pipe(ready) != 0)
		return;
	child = fork();
	if (child == 0) {
		close(1); // or the case would not be over before this process is
		struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		int fd = open(file, O_RDWR);
		c = how == by_fcntl ? fcntl(fd, F_SETLK, &all) == 0 : how == by_flock ? flock(fd, LOCK_EX) == 0 : 1;
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &c, 1) != 1 || !c)
		tell("no holder");
	done(ready[0]);
	done(ready[1]);
	held = open(file, O_RDWR);
}

static void prepare_lock(void) { holder("locked", by_fcntl); }
static void prepare_flock(void) { holder("locked", by_flock); }
static void prepare_child(void) { holder("locked", by_nothing); }
static void release_child(void) { kill(child, SIGKILL); }

static long call_lock(void)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return fcntl(held, F_SETLKW, &all);
}

static long call_ofd_lock(void)
{
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	return fcntl(held, F_OFD_SETLKW, &all);
}

static long call_lockf(void) { return lockf(held, F_LOCK, 0); }
static long call_flock(void) { return flock(held, LOCK_EX); }

static long ours(pid_t p)
{
	reaped |= p == child;
	return p == child ? 0 : -1;
}

static long call_wait(void) { return ours(wait(NULL)); }
static long call_waitpid(void) { return ours(waitpid(child, NULL, 0)); }

static long call_wait4(void)
{
	struct rusage u;
	return ours(wait4(child, NULL, 0, &u));
}

static long call_waitid(void)
{
	siginfo_t info;
	return waitid(P_PID, child, &info, WEXITED) == 0 ? ours(info.si_pid) : -1;
}

static void prepare_pipe(void)
{
	if (pipe(ends) != 0 || sem_init(&semaphore, 0, 0) != 0)
		tell("no pipe: errno %d", errno);
}

static void release_pipe(void)
{
	if (write(ends[1], "x", 1) != 1)
		tell("no byte: errno %d", errno);
}

static long call_read(void)
{
	char c;
	return read(ends[0], &c, 1) == 1 ? 0 : -1;
}

static long call_poll(void)
{
	struct pollfd p = {ends[0], POLLIN, 0};
	return poll(&p, 1, -1) == 1 ? 0 : -1;
}

static void release_semaphore(void) { sem_post(&semaphore); }
static long call_semaphore(void) { return sem_wait(&semaphore); }

const struct blocking blocking[] = {
	{"open-read", prepare_fifo, fifo_read, release_fifo, 0},
	{"open-write", prepare_fifo, fifo_write, release_fifo, 1},
	{"open-link", prepare_fifo, fifo_link, release_fifo, 0},
	{"openat", prepare_fifo, fifo_at, release_fifo, 0},
	{"creat", prepare_fifo, fifo_creat, release_fifo, 1},
	{"fopen", prepare_fifo, fifo_fopen, release_fifo, 1},
	{"syscall-openat", prepare_fifo, fifo_syscall, release_fifo, 0},
	{"syscall-openat2", prepare_fifo, fifo_openat2, release_fifo, 1},
	{"accept", prepare_socket, call_accept, release_accept, 1},
	{"accept4", prepare_socket, call_accept4, release_accept, 1},
	{"connect", prepare_full, call_connect, release_connect, 0},
	{"setlkw", prepare_lock, call_lock, release_child, 1},
	{"ofd-setlkw", prepare_lock, call_ofd_lock, release_child, 1},
	{"lockf", prepare_lock, call_lockf, release_child, 1},
	{"flock", prepare_flock, call_flock, release_child, 1},
	{"wait", prepare_child, call_wait, release_child, 1},
	{"waitpid", prepare_child, call_waitpid, release_child, 0},
	{"wait4", prepare_child, call_wait4, release_child, 1},
	{"waitid", prepare_child, call_waitid, release_child, 1},
	{"read", prepare_pipe, call_read, release_pipe, 1},
	{"poll", prepare_pipe, call_poll, release_pipe, 1},
	{"sem_wait", prepare_pipe, call_semaphore, release_semaphore, 1},
	{NULL, NULL, NULL, NULL, 0},
};

void tidy(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		pid_t p = reaped ? child : waitpid(child, NULL, 0);
		tell("child %s", reaped ? "was waited for" : p == child ? "was left" : "is lost");
	}
	if (held >= 0)
		done(held);
	held = -1;
}
