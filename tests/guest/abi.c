// abi checks that nothing in a process can tell a relay from the system call it stands for. Every check runs in a
// process of its own and ends in one line: "NAME ok ...", "NAME none REASON" or "NAME FAIL N ...", after lines that
// say what is wrong. The same program under PRoot alone passes, too, apart from checks that look at relays.
//
//   abi [-n PERCENT] [-x] [CHECK...]     -x: all but these; -n: how much of what is repeated often, default 100
#include "abi.h"
#include <stdarg.h>
#include <sys/resource.h>
#include <time.h>

int relayed;
const char *self;
static int wrong;
static char notes[400];

void bad(const char *fmt, ...)
{
	va_list ap;
	if (wrong++ >= 6)
		return;
	va_start(ap, fmt);
	fputs("  ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	size_t n = strlen(notes);
	vsnprintf(notes + n, sizeof notes - n, fmt, ap);
	va_end(ap);
}

static const char *running;

void fatal(const char *fmt, ...)
{
	va_list ap;
	printf("%s FAIL ", running);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

void none(const char *why)
{
	printf("%s none %s\n", running, why);
	fflush(stdout);
	_exit(0);
}

uint64_t rnd(void)
{
	static uint64_t s = 0x9e3779b97f4a7c15ull;
	s ^= s << 13, s ^= s >> 7, s ^= s << 17;
	return s;
}

const char *volatile doing = "";

static void too_long(int sig)
{
	char line[200];
	int n = snprintf(line, sizeof line, "%s FAIL takes too long, %s\n", running, doing);
	(void)sig;
	if (write(1, line, n) < 0)
		_exit(2);
	_exit(1);
}

// crashed says where a check crashed, unless even that is not possible.
static void crashed(int sig, siginfo_t *si, void *p)
{
	static const char *const places[] = {"the program", "the library", "the page", "a stub"};
	const mcontext_t *m = &((ucontext_t *)p)->uc_mcontext;
	enum where w = where_is(m->pc);
	char line[300];
	int n = snprintf(line, sizeof line, "%s FAIL signal %d, code %d, of %p at %#lx of %s, lr %#lx, sp %#lx, x8 %#lx, %s\n", running, sig, si->si_code,
	                 si->si_addr, (long)(m->pc - (w == in_library ? library_base() : 0)), places[w], (long)m->regs[30], (long)m->sp, (long)m->regs[8], doing);
	if (write(1, line, n) < 0)
		_exit(2);
	_exit(1);
}

static int percent = 100;

int scaled(int n)
{
	n = (int)((long)n * percent / 100);
	return n > 0 ? n : 1;
}

static volatile pid_t checking;
static volatile sig_atomic_t stopped;

// stop ends a check that did not end itself, with all that it started.
static void stop(int sig)
{
	(void)sig;
	stopped = 1;
	kill(-checking, SIGKILL);
	kill(checking, SIGKILL);
}

// run makes one check in a child, which has an alarm that says what it is at; if that does not help, another ends it.
static int run(const struct check *c)
{
	int status, seconds = c->seconds && percent >= 100 ? c->seconds : 55;
	fflush(stdout);
	stopped = 0;
	pid_t pid = fork();
	if (pid == 0) {
		running = c->name;
		setpgid(0, 0);
		signal(SIGALRM, too_long);
		sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_RESETHAND}, NULL);
		sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_RESETHAND}, NULL);
		alarm(seconds);
		c->run();
		if (wrong)
			printf("%s FAIL %d%s\n", c->name, wrong, notes);
		else
			printf("%s ok%s\n", c->name, notes);
		fflush(stdout);
		_exit(wrong != 0);
	}
	checking = pid;
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = stop}, NULL);
	alarm(seconds + 5);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			printf("%s FAIL waitpid: %s\n", c->name, strerror(errno));
			return 1;
		}
	alarm(0);
	kill(-pid, SIGKILL); // what a check left running would keep PRoot from ending
	if (stopped) {
		printf("%s FAIL did not end within %d seconds\n", c->name, seconds + 5);
		return 1;
	}
	if (WIFSIGNALED(status)) {
		printf("%s FAIL ended by signal %d\n", c->name, WTERMSIG(status));
		return 1;
	}
	return status != 0;
}

static int chosen(const char *name, int argc, char **argv)
{
	int except = argc > 1 && strcmp(argv[1], "-x") == 0;
	for (int i = 1 + except; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return !except;
	return except || argc == 1;
}

int main(int argc, char **argv)
{
	static const struct check *all[] = {register_checks, signal_checks, process_checks, clone_checks, fault_checks, memory_checks, debug_checks, step_checks, start_checks};
	int failed = 0, timed = getenv("ABI_TIMES") != NULL;

	self = argv[0];
	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		percent = atoi(argv[2]);
		argc -= 2, argv += 2;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc > 1 && strcmp(argv[1], "exec-me") == 0)
		return argc == 2 ? 7 : access(argv[2], F_OK) != 0;
	if (argc == 4 && strcmp(argv[1], "start") == 0) {
		find_sites();
		return start_report(atoi(argv[2]), argv[3]);
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	umask(022);
	mkdir(BASE, 0755);
	chmod(BASE, 0755); // it may be left from another run
	mkdir(BASE "/dir", 0755);
	int fd = open(BASE "/file", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, "text\n", 5) != 5) {
		perror(BASE "/file");
		return 3;
	}
	if (chdir(BASE) != 0) {
		perror("chdir " BASE);
		return 3;
	}
	close(fd);
	unlink("link");
	unlink("dangling");
	unlink("fifo");
	if (symlink("file", "link") != 0 || symlink("nowhere", "dangling") != 0 || mkfifo("fifo", 0644) != 0)
		perror(BASE "/link");
	// Reading a link that was not read since it was changed changes its times.
	struct timespec times[2] = {{time(NULL) + 1000, 0}, {time(NULL), 0}};
	utimensat(AT_FDCWD, "file", times, 0);
	utimensat(AT_FDCWD, "link", times, AT_SYMLINK_NOFOLLOW);
	find_sites();
	relayed = nsites > 0;
	printf("relays %d\n", nsites);
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		for (const struct check *c = all[k]; c->name; c++)
			if (chosen(c->name, argc, argv)) {
				struct timespec a, b;
				clock_gettime(CLOCK_MONOTONIC, &a);
				failed += run(c);
				struct stat st;
				if (stat(".", &st) != 0 || (st.st_mode & 07777) != 0755) { // the next check is to find it as this one did
					printf("    %s left " BASE " with mode %o\n", c->name, (unsigned)st.st_mode & 07777);
					chmod(BASE, 0755);
				}
				clock_gettime(CLOCK_MONOTONIC, &b);
				if (timed)
					printf("    %.2f s\n", (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9);
			}
	fflush(stdout);
	return failed != 0;
}
