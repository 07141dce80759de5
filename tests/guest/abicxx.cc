// abicxx throws from signal handlers that came in the middle of relayed calls: the caller's destructors must run, and
// later calls must be as ever. Like abi it writes "NAME ok ..." or "NAME FAIL ..."; it works in the current directory.
//
//   abicxx COUNT [SUFFIX]     COUNT: how often it throws, and how many threads it cancels; SUFFIX is added to NAME
//
// It is also made as a library, whose main another program calls (abilate.c).
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace {

enum place { elsewhere, library, page, stub, places };
const char *const names[places] = {"elsewhere", "the library", "the page", "stubs"};
uintptr_t lib_lo, lib_hi, stub_lo[16], stub_hi[16];
int nstubs, failures;
const char *suffix = "";

void find_places()
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], perm[8], name[256];
	unsigned long lo, hi;
	while (f && fgets(line, sizeof line, f)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &lo, &hi, perm, name) < 3 || perm[2] != 'x')
			continue;
		if (strstr(name, "libsvcrelay"))
			lib_lo = lib_lo ? lib_lo : lo, lib_hi = hi; // it may be in several parts
		else if (!name[0] && lo != 0xffff00000 && nstubs < 16)
			stub_lo[nstubs] = lo, stub_hi[nstubs++] = hi;
	}
	if (f)
		fclose(f);
}

place where(uintptr_t pc)
{
	if (pc >= lib_lo && pc < lib_hi)
		return library;
	if (pc >= 0xffff00000 && pc < 0xffff01000)
		return page;
	for (int i = 0; i < nstubs; i++)
		if (pc >= stub_lo[i] && pc < stub_hi[i])
			return stub;
	return elsewhere;
}

void fail(const char *name, const char *what, long a, long b)
{
	printf("%s%s FAIL %s: %ld, %ld\n", name, suffix, what, a, b);
	failures++;
}

struct interruption { place from; };

volatile sig_atomic_t may_throw, ended;
volatile long thrown[places], lost[places], lost_at, thrown_at;
long destroyed, caught;
timer_t timer;
long span = 100000;

struct witness {
	~witness() { destroyed++; }
};

// The C library's headers say that these throw nothing.
int (*volatile do_stat)(const char *, struct stat *) = reinterpret_cast<int (*)(const char *, struct stat *)>(stat);
int (*volatile do_open)(const char *, int, ...) = reinterpret_cast<int (*)(const char *, int, ...)>(open);

__attribute__((noinline)) void call_with_witness(const char *path)
{
	witness w;
	struct stat st;
	may_throw = 1;
	int r = do_stat(path, &st);
	may_throw = 0;
	if (r != 0 || st.st_size != 5)
		fail("exceptions", "stat", r, errno);
}

_Unwind_Reason_Code look_for_main(_Unwind_Context *c, void *found)
{
	uintptr_t ip = _Unwind_GetIP(c), from = reinterpret_cast<uintptr_t>(call_with_witness);
	if (ip > from && ip < from + 512)
		*static_cast<int *>(found) = 1;
	return _URC_NO_REASON;
}

void handler(int, siginfo_t *, void *p)
{
	place w = where(static_cast<ucontext_t *>(p)->uc_mcontext.pc);
	if (!may_throw || (lib_lo && w == elsewhere))
		return;
	int found = 0;
	_Unwind_Backtrace(look_for_main, &found);
	if (!found) { // throwing would end the program
		lost[w]++;
		if (w == library)
			lost_at = static_cast<ucontext_t *>(p)->uc_mcontext.pc - lib_lo;
		return;
	}
	may_throw = 0;
	thrown[w]++;
	thrown_at = static_cast<ucontext_t *>(p)->uc_mcontext.pc - (w == library ? lib_lo : 0);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
	throw interruption{w};
}

long now()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

void soon()
{
	static unsigned step = 1;
	step = step * 1103515245 + 12345;
	itimerspec one = {{0, 0}, {0, 1 + static_cast<long>(step >> 3) % span}};
	timer_settime(timer, 0, &one, nullptr);
}

// What is thrown by a handler passes through the relay to the caller, whose destructors run.
void exceptions(int count)
{
	struct sigaction sa = {};
	sa.sa_sigaction = handler;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &sa, nullptr);
	sigevent ev = {};
	ev.sigev_notify = SIGEV_SIGNAL;
	ev.sigev_signo = SIGUSR1;
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	struct stat st;
	for (int i = 0; i < 50; i++) {
		long begin = now();
		stat("cxx-link", &st);
		long took = now() - begin + 500;
		if (i == 0 || took * 3 / 2 < span)
			span = took * 3 / 2;
	}
	long calls = 0;
	while (caught < count && calls < 400L * count + 20000) {
		calls++;
		try {
			soon();
			call_with_witness(calls % 2 ? "cxx-link" : "cxx-file");
		} catch (const interruption &) {
			caught++;
		}
	}
	timer_delete(timer);
	if (caught < count)
		fail("exceptions", "caught, calls", caught, calls);
	if (destroyed != calls)
		fail("exceptions", "destructors, calls", destroyed, calls);
	for (int w = library; w < places; w++)
		if (lost[w])
			fail("exceptions", names[w], lost[w], w == library ? lost_at : 0);
	if (!failures)
		printf("exceptions%s ok %ld caught: %ld from the library, %ld from the page, %ld from stubs\n", suffix, caught, thrown[library], thrown[page], thrown[stub]);
}

volatile int running;

void *endless(void *)
{
	witness w;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	for (;;) {
		struct stat st;
		running = 1;
		do_stat("cxx-link", &st);
	}
	return nullptr;
}

void *opening(void *)
{
	witness w;
	for (;;) {
		running = 1;
		close(do_open("cxx-link", O_RDONLY));
	}
	return nullptr;
}

// A thread that is cancelled inside a relay is unwound: its destructors run.
void cancellation(int count)
{
	int before = failures;
	destroyed = 0;
	for (int i = 0; i < count; i++) {
		pthread_t t;
		void *result = nullptr;
		running = 0;
		if (pthread_create(&t, nullptr, i % 2 ? opening : endless, nullptr) != 0) {
			fail("cancellation", "pthread_create", errno, i);
			return;
		}
		while (!running)
			usleep(100);
		usleep(rand() % 2000);
		pthread_cancel(t);
		pthread_join(t, &result);
		if (result != PTHREAD_CANCELED)
			fail("cancellation", "a thread was not cancelled", i, 0);
	}
	if (destroyed != count)
		fail("cancellation", "destructors, threads", destroyed, count);
	if (failures == before)
		printf("cancellation%s ok %d threads\n", suffix, count);
}

} // namespace

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100;
	suffix = argc > 2 ? argv[2] : "";
	setvbuf(stdout, nullptr, _IOLBF, 4096);
	int fd = open("cxx-file", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, "text\n", 5) != 5 || (symlink("cxx-file", "cxx-link") != 0 && errno != EEXIST)) {
		perror("cxx-file");
		return 3;
	}
	close(fd);
	find_places();
	std::set_terminate([] {
		fail("exceptions", "what was thrown at this place was not caught", thrown_at, thrown[library] + thrown[page] + thrown[stub]);
		_exit(1);
	});
	alarm(120);
	exceptions(count);
	cancellation(count / 4 + 2);
	return failures != 0;
}
