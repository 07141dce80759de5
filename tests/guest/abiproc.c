// Checks with threads and processes, and what is left over after many calls.
#include "abi.h"
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>

static atomic_int stop, wrong_answers, rounds_done;
extern char **environ;

static int answers_right(int dir, int i)
{
	struct stat st;
	char link[16], text[8];
	if (stat(i & 1 ? BASE "/link" : "file", &st) != 0 || st.st_size != 5)
		return 0;
	if (fstatat(dir, "file", &st, 0) != 0 || st.st_size != 5 || stat("missing", &st) != -1 || errno != ENOENT)
		return 0;
	if (readlink(BASE "/link", link, sizeof link) != 4 || access("dir", X_OK) != 0)
		return 0;
	int fd = open("link", O_RDONLY);
	int ok = fd >= 0 && read(fd, text, 8) == 5;
	close(fd);
	return ok;
}

static void *work(void *arg)
{
	int rounds = (int)(intptr_t)arg, dir = open(BASE, O_RDONLY);
	for (int i = 0; i != rounds && !atomic_load(&stop); i++, rounds_done++) {
		if (!answers_right(dir, i))
			wrong_answers++;
		if (rounds < 0) // PRoot serves whom it finds first: let it come to the others
			usleep(scaled(100) < 100 ? 12000 : 3000);
	}
	close(dir);
	return NULL;
}

static int spawn_thread(pthread_t *t, void *(*f)(void *), void *arg, size_t stack)
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, stack);
	return pthread_create(t, &a, f, arg);
}

static void eight_threads(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		if (spawn_thread(&t[i], work, (void *)(intptr_t)scaled(400), i & 1 ? PTHREAD_STACK_MIN : 262144))
			bad("pthread_create");
	for (int k = 0; k < scaled(40); k++) { // and others that come and go
		pthread_t brief;
		if (spawn_thread(&brief, work, (void *)(intptr_t)2, PTHREAD_STACK_MIN) == 0)
			pthread_join(brief, NULL);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	if (wrong_answers)
		bad("%d wrong answers", (int)wrong_answers);
	note(" %d rounds", (int)rounds_done);
}

static int ended(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct cloned {
	int flags, result;
};

static int in_clone(void *arg)
{
	struct cloned *c = arg;
	c->result = answers_right(AT_FDCWD, 1) && answers_right(AT_FDCWD, 0);
	if (!(c->flags & CLONE_FS)) // a directory of its own
		c->result = c->result && chdir("dir") == 0 && access("../file", R_OK) == 0 && access("file", R_OK) != 0;
	_exit(!c->result);
}

// usual_children starts one by fork, one by vfork, and one by posix_spawn.
static void usual_children(int i)
{
	doing = "fork";
	pid_t pid = fork();
	if (pid == 0) {
		int ok = answers_right(AT_FDCWD, i) && chdir("dir") == 0 && access("../file", R_OK) == 0 && access("file", R_OK) != 0;
		_exit(!ok);
	}
	if (ended(pid) != 0)
		bad("the child of fork saw something else");
	doing = "vfork";
	pid = vfork();
	if (pid == 0) {
		struct stat st;
		int fd = open("file", O_RDONLY);
		if (fd < 0 || stat("link", &st) != 0)
			_exit(9);
		close(fd);
		if (chdir("dir") != 0 || access("../link", R_OK) != 0)
			_exit(8);
		execl(self, "abi", "exec-me", "../file", NULL);
		_exit(7);
	}
	int code = ended(pid);
	if (code != 0)
		bad("the child of vfork ended with %d", code);
	doing = "posix_spawn";
	char *argv[] = {(char *)"abi", (char *)"exec-me", (char *)BASE "/link", NULL};
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 5, BASE "/file", O_RDONLY, 0);
	if (posix_spawn(&pid, self, &fa, NULL, argv, environ) != 0)
		bad("posix_spawn");
	else if ((code = ended(pid)) != 0)
		bad("what posix_spawn started ended with %d", code);
	posix_spawn_file_actions_destroy(&fa);
}

// Children of every kind while four threads make calls.
static void busy_parent(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		spawn_thread(&t[i], work, (void *)(intptr_t)-1, 262144);
	for (int i = 0; i < 6; i++) {
		if (i < 2 || scaled(100) == 100)
			usual_children(i);
		doing = "clone";
		static const int kinds[] = {0, CLONE_FILES, CLONE_VM | CLONE_VFORK, CLONE_FS, CLONE_VM | CLONE_FILES | CLONE_VFORK, CLONE_FS | CLONE_FILES};
		struct cloned c = {kinds[i], 0};
		char *stack = malloc(65536);
		pid_t pid = clone(in_clone, stack + 65536, kinds[i] | SIGCHLD, &c);
		if (pid < 0 || ended(pid) != 0)
			bad("the child of clone with flags %#x saw something else", kinds[i]);
		free(stack);
		if (!answers_right(AT_FDCWD, i))
			bad("the parent's directory moved");
	}
	doing = "pthread_join";
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	if (wrong_answers)
		bad("%d wrong answers", (int)wrong_answers);
	note(" %d rounds", (int)rounds_done);
}

static void exec_storm(void)
{
	enum { width = 5 };
	int batches = scaled(8);
	for (int i = 0; i < batches; i++) {
		pid_t pids[width];
		for (int k = 0; k < width; k++) {
			pids[k] = fork();
			if (pids[k] == 0) {
				execl(self, "abi", "exec-me", k & 1 ? BASE "/link" : "file", NULL);
				_exit(6);
			}
		}
		for (int k = 0; k < width; k++) {
			int code = ended(pids[k]);
			if (code != 0)
				bad("a program ended with %d", code);
		}
	}
	note(" %d programs", batches * width);
}

static int count_fds(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static int count_maps(void)
{
	int n = 0, c;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

// 100,000 calls leave no descriptor and no mapping.
static void leaks(void)
{
	struct stat st;
	int calls = relayed ? scaled(100000) : scaled(100) < 100 ? 500 : 5000;
	count_fds();
	int fds = count_fds(), maps = count_maps();
	void *brk = sbrk(0);
	for (int i = 0; i < calls; i++)
		switch (i % 8) {
		case 0:
			if (access(BASE "/link", R_OK) != 0)
				bad("access");
			break;
		case 1: {
			int fd = open("file", O_RDONLY);
			if (fd < 0)
				bad("open");
			close(fd);
			break;
		}
		case 2:
			if (stat("missing", &st) != -1)
				bad("stat of a missing file");
			break;
		default:
			if (stat(i % 8 < 5 ? BASE "/file" : "link", &st) != 0 || st.st_size != 5)
				bad("stat");
		}
	if (count_fds() != fds || count_maps() != maps || sbrk(0) != brk)
		bad("descriptors %d, then %d; mappings %d, then %d", fds, count_fds(), maps, count_maps());
	note(" %d calls", calls);
}

static atomic_int cleaned, waiting;

static void cleanup(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *opens_forever(void *arg)
{
	pthread_cleanup_push(cleanup, NULL);
	waiting = 1;
	if (*(int *)arg == 0) {
		int fd = open(BASE "/fifo", O_RDONLY);
		(void)fd;
	} else {
		for (;;) {
			struct stat st;
			if (stat(BASE "/file", &st) != 0)
				wrong_answers++;
			pthread_testcancel();
		}
	}
	pthread_cleanup_pop(0);
	return NULL;
}

// A thread that waits in an open, or makes calls all the time, can be cancelled, and its cleanup runs.
static void cancelled(void)
{
	for (int kind = 0; kind < 2; kind++)
		for (int i = 0; i < 5; i++) {
			pthread_t t;
			void *result = NULL;
			waiting = 0;
			pthread_create(&t, NULL, opens_forever, &kind);
			while (!waiting)
				usleep(1000);
			usleep(5000);
			pthread_cancel(t);
			pthread_join(t, &result);
			if (result != PTHREAD_CANCELED)
				bad("a thread was not cancelled");
		}
	if (cleaned != 10 || wrong_answers)
		bad("%d of 10 cleanups, %d wrong answers", (int)cleaned, (int)wrong_answers);
}

// With no descriptor left an open fails as ever, and nothing else needs one.
static void no_descriptors(void)
{
	struct rlimit old, tight;
	struct stat st;
	char link[16];
	getrlimit(RLIMIT_NOFILE, &old);
	int dir = open(BASE, O_RDONLY);
	tight = old;
	tight.rlim_cur = dir + 1;
	setrlimit(RLIMIT_NOFILE, &tight);
	for (int i = 0; i < 20; i++) {
		if (open("file", O_RDONLY) != -1 || errno != EMFILE)
			bad("an open without descriptors: %s", strerror(errno));
		if (stat("link", &st) != 0 || fstatat(dir, "link", &st, 0) != 0 || readlink("link", link, 16) != 4)
			bad("a call that needs no descriptor: %s", strerror(errno));
	}
	setrlimit(RLIMIT_NOFILE, &old);
}

struct robust {
	pthread_mutex_t m;
	int locked;
};

static struct robust *shared_robust(void)
{
	struct robust *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&r->m, &a);
	return r;
}

static void *dies_with_it(void *arg)
{
	struct robust *r = arg;
	answers_right(AT_FDCWD, 0);
	pthread_mutex_lock(&r->m);
	answers_right(AT_FDCWD, 1);
	return NULL;
}

static void *list_heads(void *arg)
{
	void *by_libc = NULL, *by_svc = NULL;
	static char mine[24] __attribute__((aligned(8)));
	long n = 0, m = 0;
	if (syscall(SYS_get_robust_list, 0, &by_libc, &n) != 0 || sys6(SYS_get_robust_list, 0, (long)&by_svc, (long)&m, 0, 0, 0) != 0 || by_libc != by_svc || n != m)
		bad("the list is at %p, %ld; a plain call says %p, %ld", by_libc, n, by_svc, m);
	void *kept = by_svc;
	memcpy(mine, (void *[]){mine}, 8); // an empty list
	if (sys6(SYS_set_robust_list, (long)mine, sizeof mine, 0, 0, 0, 0) != 0 || syscall(SYS_get_robust_list, 0, &by_libc, &n) != 0 || by_libc != mine)
		bad("a list that was set by a plain call is at %p", by_libc);
	if (syscall(SYS_set_robust_list, kept, m) != 0 || sys6(SYS_get_robust_list, 0, (long)&by_svc, (long)&m, 0, 0, 0) != 0 || by_svc != kept)
		bad("a list that was set by libc is at %p", by_svc);
	if (syscall(SYS_set_robust_list, kept, 5) != -1 || errno != EINVAL)
		bad("a list of a wrong size was taken");
	return arg;
}

// The lists of robust mutexes are one thing for patched and plain callers, and the kernel walks them at an owner's end.
static void robust_lists(void)
{
	pthread_t t;
	list_heads(NULL);
	pthread_create(&t, NULL, list_heads, NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 10; i++) {
		struct robust *r = shared_robust();
		if (i % 2) {
			pthread_create(&t, NULL, dies_with_it, r);
			pthread_join(t, NULL);
		} else {
			pid_t pid = fork();
			if (pid == 0) {
				dies_with_it(r);
				if (i % 4)
					kill(getpid(), SIGKILL);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		int e = pthread_mutex_lock(&r->m);
		if (e != EOWNERDEAD || pthread_mutex_consistent(&r->m) != 0 || pthread_mutex_unlock(&r->m) != 0 || pthread_mutex_lock(&r->m) != 0)
			bad("after its owner's end a mutex gives %s", strerror(e));
		munmap(r, sizeof *r);
	}
}

const struct check process_checks[] = {
	{"threads", eight_threads, 300}, {"busy-parent", busy_parent, 120}, {"exec-storm", exec_storm, 0}, {"leaks", leaks, 300},
	{"cancelled", cancelled, 0}, {"no-descriptors", no_descriptors, 0},
	{"robust-lists", robust_lists, 0}, {NULL, NULL, 0},
};
