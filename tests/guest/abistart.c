// Checks of programs that start under hard conditions: each is started by a process that has made it so, looks at itself, and
// says what it found. Where the library cannot work it must have left nothing.
#include "abi.h"
#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <stddef.h>
#include <sys/time.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

extern char **environ;

#define REPORT "relays %d page %d code %d descriptors %d answers %d text %d heap %d\n"

// start_report is what such a program does: it says what it found on the descriptor that it was given.
int start_report(int fd, const char *dir)
{
	char line[512], perm[8], name[256] = "";
	unsigned long lo, hi;
	int page = 0, code = 0, writable = 0, fds = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &lo, &hi, perm, name) < 3)
			continue;
		page += lo <= 0xffff00000 && hi > 0xffff00000;
		code += perm[2] == 'x' && !name[0];
		writable += perm[1] == 'w' && perm[2] == 'x';
	}
	if (f)
		fclose(f);
	for (int i = 0; i < 64; i++)
		fds += fcntl(i, F_GETFD) != -1;
	struct stat st;
	char text[16];
	int right = stat(BASE "/link", &st) == 0 && st.st_size == 5 && stat(BASE "/missing", &st) == -1 && errno == ENOENT && access(BASE "/file", F_OK) == 0 &&
		readlink(BASE "/link", text, sizeof text) == 4 && (!*dir || (stat(dir, &st) == 0 && st.st_size == 5));
	char *volatile heap = malloc(100);
	strcpy(heap, BASE "/link"); // the pointers may have tags
	struct stat *volatile there = malloc(sizeof *there);
	right = right && stat(heap, there) == 0 && there->st_size == 5 && readlink(heap, heap, 100) == 4 && memcmp(heap, "file", 4) == 0;
	int n = snprintf(line, sizeof line, REPORT, nsites > 0, page, code, fds, right, writable, (int)((uintptr_t)heap >> 56));
	return write(fd, line, n) == n ? 0 : 4;
}

// A condition changes the process that is about to start the program.
struct condition {
	const char *name;
	int (*make)(void); // 0 if it can be made
	enum { either, working, idle } wanted;
};

static int limit(int what, rlim_t n) { return setrlimit(what, &(struct rlimit){n, n}); }

static int refuse(unsigned nr, unsigned action)
{
	struct sock_filter p[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof p / sizeof *p, p};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int nothing(void) { return 0; }
static int no_cache(void) { return setenv("PROOT_FP_SVC_CACHE", "0", 1); }
static int any_filter(void) { return refuse(9999, SECCOMP_RET_ALLOW); }
static int no_getrusage(void) { return refuse(SYS_getrusage, SECCOMP_RET_ERRNO | ENOSYS); }
static int no_readv(void) { return refuse(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM); }
static int no_writev(void) { return refuse(SYS_process_vm_writev, SECCOMP_RET_ERRNO | EPERM); }
static int no_pwrite(void) { return refuse(SYS_pwrite64, SECCOMP_RET_ERRNO | EIO); }
static int no_pread(void) { return refuse(SYS_pread64, SECCOMP_RET_TRACE | 0); }
static int small_files(void) { return limit(RLIMIT_FSIZE, 0); }
static int few_descriptors(void) { return limit(RLIMIT_NOFILE, 6); }
static int no_core(void) { return limit(RLIMIT_CORE, RLIM_INFINITY); }
static int no_locked(void) { return limit(RLIMIT_MEMLOCK, 0); }
static int no_data(void) { return limit(RLIMIT_DATA, 1 << 20); }
static int some_space(void) { return limit(RLIMIT_AS, 64 << 20); }
static int little_space(void) { return limit(RLIMIT_AS, 9 << 20); }
static int less_space(void) { return limit(RLIMIT_AS, 6 << 20); }
static int small_stack(void) { return limit(RLIMIT_STACK, 96 << 10); }
static int all_stack(void) { return limit(RLIMIT_STACK, RLIM_INFINITY); } // and the older layout of the address space
static int no_signals(void) { return limit(RLIMIT_SIGPENDING, 0); }
static int no_random(void) { return personality(ADDR_NO_RANDOMIZE) < 0; }
static int compat_layout(void) { return personality(ADDR_COMPAT_LAYOUT) < 0; }
static int read_executes(void) { return personality(READ_IMPLIES_EXEC) < 0; }
static int zero_page(void) { return personality(MMAP_PAGE_ZERO) < 0; }
static int no_mask(void) { return umask(0777), 0; }
static int bind_now(void) { return setenv("LD_BIND_NOW", "1", 1); }
static int not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0); }

static int all_blocked(void)
{
	sigset_t all;
	sigfillset(&all);
	return sigprocmask(SIG_SETMASK, &all, NULL);
}

static int all_ignored(void)
{
	for (int s = 1; s < 32; s++)
		if (s != SIGCHLD)
			signal(s, SIG_IGN);
	return 0;
}

static int alarmed(void)
{
	signal(SIGALRM, SIG_IGN);
	return setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
}

static int no_standard(void)
{
	close(0), close(1), close(2);
	return 0;
}

static int other_user(void) { return setgid(1000) || setuid(1000); }
static int below(void) { return chdir(BASE "/dir"); }

static int no_directory(void)
{
	return mkdir("gone", 0755) || chdir("gone") || rmdir("../gone");
}

static int big_environment(void)
{
	static char text[100000];
	memset(text, 'x', sizeof text - 1);
	for (int i = 0; i < 8; i++) {
		char name[8] = {'B', 'I', 'G', (char)('A' + i), 0};
		if (setenv(name, text, 1) != 0)
			return 1;
	}
	return 0;
}

static int tagged_heap(void)
{
	return !(getauxval(AT_HWCAP2) & (1 << 18)) || setenv("GLIBC_TUNABLES", "glibc.mem.tagging=3", 1);
}

static int stopped_timer(void) { return limit(RLIMIT_CPU, 60); }

static const struct condition conditions[] = {
	{"nothing", nothing, working},
	{"no site cache", no_cache, working},
	{"a filter that allows all", any_filter, idle},
	{"getrusage refused", no_getrusage, idle},
	{"process_vm_readv refused", no_readv, idle},
	{"process_vm_writev refused", no_writev, idle},
	{"pwrite64 refused", no_pwrite, idle},
	{"a filter with a tracer's answer", no_pread, idle},
	{"files of no size", small_files, working},
	{"few descriptors", few_descriptors, either},
	{"cores without limit", no_core, working},
	{"no locked memory", no_locked, working},
	{"little data", no_data, either},
	{"some address space", some_space, working},
	{"little address space", little_space, either},
	{"less address space", less_space, either},
	{"a small stack", small_stack, either},
	{"a stack without limit", all_stack, working},
	{"no pending signals", no_signals, working},
	{"addresses without chance", no_random, working},
	{"libraries from below", compat_layout, working},
	{"reading is executing", read_executes, either},
	{"a page at zero", zero_page, working},
	{"a mask of all", no_mask, working},
	{"symbols at once", bind_now, working},
	{"not dumpable", not_dumpable, either},
	{"all signals blocked", all_blocked, working},
	{"all signals ignored", all_ignored, working},
	{"a running timer", alarmed, working},
	{"no standard descriptors", no_standard, working},
	{"another user", other_user, either},
	{"another directory", below, working},
	{"no directory", no_directory, working},
	{"much environment", big_environment, working},
	{"a heap with tags", tagged_heap, either},
	{"a limit of time", stopped_timer, working},
};

// How the program is named when it is started.
enum way { plainly, by_link, by_linker, ways };
static const char *const way_names[] = {"", ", by a link", ", by the dynamic linker"};

static const char *linker(void)
{
	static const char *const names[] = {"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"};
	for (int i = 0; i < 2; i++)
		if (access(names[i], X_OK) == 0)
			return names[i];
	return NULL;
}

// exactly starts the program under a condition and reads what it says, on standard error too.
static int exactly(const struct condition *c, enum way w, char *said, int room)
{
	int report[2], errors[2], status, n, len = 0;
	char number[12], noise[512];
	const char *file = w == by_link ? BASE "/abi-link" : self;
	if (pipe(report) != 0 || pipe(errors) != 0)
		fatal("pipe: %s", strerror(errno));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(report[1], 3);
		dup2(errors[1], 4);
		for (int i = 5; i < 64; i++)
			close(i);
		dup2(4, 2);
		if (c->make() != 0)
			_exit(99);
		close(4);
		snprintf(number, sizeof number, "3");
		const char *relative = c->make == below ? "../file" : c->make == no_directory ? "" : "file";
		if (w == by_linker)
			execl(linker(), linker(), file, "start", number, relative, NULL);
		else
			execl(file, "abi", "start", number, relative, NULL);
		_exit(98);
	}
	close(report[1]);
	close(errors[1]);
	while (len < room - 1 && (n = (int)read(report[0], said + len, room - 1 - len)) > 0)
		len += n;
	said[len] = 0;
	n = (int)read(errors[0], noise, sizeof noise - 1);
	if (n > 0 && !(c->wanted == either && strncmp(noise, "ERROR: ld.so", 12) == 0)) { // there was no room for the library itself
		noise[n] = 0;
		bad("%s%s: it says %s", c->name, way_names[w], noise);
	}
	close(report[0]);
	close(errors[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static void judge(const struct condition *c, enum way w)
{
	static int again;
	char said[200];
	int relays, page, code, fds, right, writable, heap;
	doing = c->name;
	int status = exactly(c, w, said, sizeof said);
	if (status == 99 || (c->make == tagged_heap && status == 256 + SIGSEGV))
		return; // it cannot be made here: without a heap of brk's, as under PRoot, glibc has no tags for it, and faults
	if (status != 0 || sscanf(said, REPORT, &relays, &page, &code, &fds, &right, &writable, &heap) != 7) {
		// With too little of something no program starts, with or without a library: says PRoot's loader, or the dynamic linker.
		if (c->wanted != either || (status != 127 && status != 1 && status != 98 && status != 182))
			bad("%s%s: it ended with %d: %s", c->name, way_names[w], status, said);
		return;
	}
	if (!right)
		bad("%s%s: wrong answers", c->name, way_names[w]);
	if (c->make != read_executes && (relays ? page != 1 : page + code != 0))
		bad("%s%s: relays %d, but pages of ours %d, %d", c->name, way_names[w], relays, page, code);
	if (writable && c->make != read_executes)
		bad("%s%s: %d mappings are writable and executable", c->name, way_names[w], writable);
	if (fds != (c->make == no_standard ? 2 : 5)) // with one for the search for sites
		bad("%s%s: %d descriptors", c->name, way_names[w], fds);
	if (c->make == alarmed && relayed && !relays && again++ < 20) {
		judge(c, w); // each signal is a stop, so the library may not be sure that its own calls are none
		return;
	}
	if (relayed && c->wanted == working && w != by_linker && !relays) // the linker may not tell libraries of the program then
		bad("%s%s: not at work", c->name, way_names[w]);
	if (relays && (!relayed || c->wanted == idle))
		bad("%s%s: at work", c->name, way_names[w]);
	if (heap)
		note(" a heap with tag %d", heap);
}

// cell is a number that differs between kernels, processors and C libraries.
static unsigned cell(void)
{
	struct utsname u;
	unsigned n = (unsigned)getauxval(AT_HWCAP) * 7 + (unsigned)sysconf(_SC_PAGESIZE) / 4096;
	uname(&u);
	for (const char *p = u.release; *p; p++)
		n = n * 31 + (unsigned char)*p;
#ifdef __GLIBC__
	for (const char *p = gnu_get_libc_version(); *p; p++)
		n = n * 31 + (unsigned char)*p;
#endif
	return n;
}

static void starts(void)
{
	unlink("abi-link");
	if (symlink(self, "abi-link") != 0)
		bad("a link to the program: %s", strerror(errno));
	int made = 0, n = sizeof conditions / sizeof *conditions;
	// With little time, other ones in every cell: all together they are all.
	int share = scaled(100) < 100 ? 6 : 1, first = (int)(cell() % (unsigned)share);
	for (int i = 0; i < n; i++) {
		if (i % share != first && conditions[i].make != tagged_heap)
			continue;
		judge(&conditions[i], plainly);
		made++;
	}
	for (int w = by_link; w < ways; w++)
		if ((w != by_linker || linker()) && (share == 1 || w == by_link + first % 2)) {
			judge(&conditions[0], w);
			made++;
		}
	unlink("abi-link");
	note(" %d starts", made);
}

const struct check start_checks[] = {{"starts", starts, 0}, {NULL, NULL, 0}};
