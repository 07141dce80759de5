// Unwinding out of signal handlers that interrupt relayed calls: exceptions, forced unwinding of a cancelled thread, and
// backtraces. Compile with -fnon-call-exceptions -fasynchronous-unwind-tables. Prints one line per check.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int cleaned, frames, reached;
static volatile bool armed; // no function is being called that may not throw, such as setitimer
static void *mark_low, *mark_high;

struct Cleanup {
	~Cleanup() { cleaned = cleaned + 1; }
};

static void on(int sig, void (*f)(int, siginfo_t *, void *))
{
	struct sigaction a = {};
	a.sa_sigaction = f;
	a.sa_flags = SA_SIGINFO;
	sigaction(sig, &a, nullptr);
}

static void after(int us)
{
	struct itimerval t = {};
	t.it_value.tv_usec = us;
	setitimer(ITIMER_REAL, &t, nullptr);
}

extern char __executable_start, etext;

// own says whether the program's own code was interrupted: for exceptions, the compiler's tables describe only its
// calls, and the linkage table is not described at all.
static bool own(void *context)
{
	char *pc = reinterpret_cast<char *>(static_cast<ucontext_t *>(context)->uc_mcontext.pc);
	return pc >= &__executable_start && pc < &etext;
}

static void throws(int, siginfo_t *, void *context)
{
	if (armed && !own(context)) {
		armed = false;
		throw 42;
	}
	after(700);
}

static void looks(int, siginfo_t *, void *context)
{
	void *at[64];
	int n = backtrace(at, 64);
	bool found = own(context);
	for (int i = 0; i < n; i++)
		found = found || (at[i] >= mark_low && at[i] < mark_high);
	frames = frames + 1;
	reached = reached + found;
}

__attribute__((noinline)) static int blocks(const char *fifo)
{
	Cleanup c;
	int fd = open(fifo, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd;
}
static void *cancelled(void *fifo)
{
	Cleanup c;
	int fd = open(static_cast<const char *>(fifo), O_RDONLY);
	std::printf("not cancelled: %d\n", fd);
	return nullptr;
}

static void *asynchronous(void *fifo)
{
	Cleanup c;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	long fd = syscall(SYS_openat, AT_FDCWD, fifo, O_RDONLY);
	std::printf("not cancelled: %ld\n", fd);
	return nullptr;
}

// busy opens a file until it is cancelled, which may be anywhere in an open.
static void *busy(void *file)
{
	Cleanup c;
	for (;;) {
		int fd = open(static_cast<const char *>(file), O_RDONLY);
		int state;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		close(fd);
		pthread_setcancelstate(state, nullptr);
	}
}

static int cancel(void *(*f)(void *), const char *path, int us)
{
	cleaned = 0;
	pthread_t t;
	pthread_create(&t, nullptr, f, const_cast<char *>(path));
	usleep(us);
	pthread_cancel(t);
	void *r;
	pthread_join(t, &r);
	return r == PTHREAD_CANCELED && cleaned == 1;
}

// storm lets timers interrupt calls that do not block, wherever they are.
__attribute__((noinline)) static void storm(const char *file, int n)
{
	struct stat st;
	for (int i = 0; i < n; i++) {
		after(1 + i % 400);
		while (frames <= i)
			stat(file, &st);
	}
}

__attribute__((noinline)) static int catches(const char *file, int n)
{
	int caught = 0;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	for (volatile int i = 0; i < n; i = i + 1) {
		try {
			Cleanup c;
			after(1000 + 7 * i % 400);
			armed = true;
			for (;;)
				close(open(file, O_RDONLY));
		} catch (int) {
			caught++;
			pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
		}
	}
	return caught;
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	int n = argc > 2 ? std::atoi(argv[2]) : 300;
	char fifo[4096], file[4096];
	std::snprintf(fifo, sizeof fifo, "%s/fifo", dir);
	std::snprintf(file, sizeof file, "%s/file", dir);
	mkfifo(fifo, 0600);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	std::setvbuf(stdout, nullptr, _IONBF, 0);
	mark_low = reinterpret_cast<void *>(storm);
	mark_high = reinterpret_cast<char *>(mark_low) + 256;

	on(SIGALRM, looks);
	storm(file, n);
	std::printf("backtrace %s\n", reached == frames && frames == n ? "ok" : "FAIL");

	on(SIGALRM, throws);
	cleaned = 0;
	int caught = catches(file, n);
	std::printf("exception %s\n", caught == n && cleaned == n ? "ok" : "FAIL");

	cleaned = 0;
	bool thrown = false;
	after(50000);
	armed = true;
	try {
		blocks(fifo);
	} catch (int) {
		thrown = true;
	}
	sigset_t all;
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, nullptr);
	std::printf("blocked %s\n", thrown && cleaned == 1 ? "ok" : "FAIL");

	signal(SIGALRM, SIG_IGN);
	std::printf("cancelled %s\n", cancel(cancelled, fifo, 50000) ? "ok" : "FAIL");
	std::printf("asynchronous %s\n", cancel(asynchronous, fifo, 50000) ? "ok" : "FAIL");
	int good = 0;
	for (int i = 0; i < n; i++)
		good += cancel(busy, file, 1500 + i * 37 % 1000);
	std::printf("anywhere %s\n", good == n ? "ok" : "FAIL");
	return 0;
}
