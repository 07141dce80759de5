// swap asks about paths while another thread, or another process, swaps what they lead to by renaming. Every answer must
// be that of one of the two states, and once the other has stopped, that of the last one.
//
//   swap DIR ITERATIONS      DIR is an empty directory of its own
//
// It prints a line for each kind of swapping with what was seen, and "wrong" lines; its status is 0 if there are none.
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { missing = 2, other = 3, all = 4 };

// shared with the other process, too
struct common {
	int stop, state, swaps;
};

static struct common *common;
static long wrong;
static int seen[all]; // how often the first, the second, none, and something else
static int directory_fd;

static void note(const char *what, int state, int may_be_missing)
{
	seen[state]++;
	if (state == other || (state == missing && !may_be_missing)) {
		if (wrong++ < 10)
			printf("wrong: %s gave %d, errno %d\n", what, state, errno);
	}
}

// by_size tells the states apart by the size of a file.
static int by_size(int ret, long size)
{
	if (ret != 0)
		return errno == ENOENT ? missing : other;
	return size == 1 ? 0 : size == 2 ? 1 : other;
}

static int look_stat(const char *path)
{
	struct stat st;
	int r = stat(path, &st);
	return by_size(r, st.st_size);
}

static int look_at(const char *path)
{
	struct stat st;
	int r = fstatat(directory_fd, path, &st, 0);
	return by_size(r, st.st_size);
}

static int look_statx(const char *path)
{
	struct statx st;
	int r = statx(AT_FDCWD, path, 0, STATX_SIZE, &st);
	return by_size(r, st.stx_size);
}

static int look_open(const char *path)
{
	char text[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return by_size(-1, 0);
	long n = read(fd, text, sizeof text);
	close(fd);
	return n == 1 && text[0] == '1' ? 0 : n == 2 && text[0] == '2' ? 1 : other;
}

static int look_access(const char *path)
{
	return access(path, R_OK) == 0 ? 0 : errno == ENOENT ? missing : other;
}

// look_link tells the states apart by the text of the link, one or two letters behind its last slash.
static int look_link(const char *path)
{
	char text[64];
	long n = readlink(path, text, sizeof text);
	if (n < 0)
		return errno == ENOENT ? missing : other;
	return n == 2 && memcmp(text, "d1", 2) == 0 ? 0 : n == 3 && memcmp(text, "d22", 3) == 0 ? 1 : n == 2 && memcmp(text, "f1", 2) == 0 ? 0
	     : n == 3 && memcmp(text, "f22", 3) == 0 ? 1 : other;
}

static int look_lstat(const char *path)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? missing : other;
	return !S_ISLNK(st.st_mode) ? other : st.st_size == 2 ? 0 : st.st_size == 3 ? 1 : other;
}

// The ways of swapping: each brings the files into the state that is not there.
static void swap_link(const char *link, const char *first, const char *second)
{
	int to = !common->state;
	char fresh[64];
	snprintf(fresh, sizeof fresh, "%s.new", link);
	if (symlink(to ? second : first, fresh) != 0 || rename(fresh, link) != 0)
		_exit(7);
	__atomic_store_n(&common->state, to, __ATOMIC_SEQ_CST);
}

static void swap_file(void) { swap_link("lf", "f1", "f22"); }
static void swap_directory(void) { swap_link("ld", "d1", "d22"); }

static void exchange(void)
{
	if (syscall(SYS_renameat2, AT_FDCWD, "x1", AT_FDCWD, "x2", 2) != 0)
		_exit(7);
	__atomic_store_n(&common->state, !common->state, __ATOMIC_SEQ_CST);
}

static void three_renames(void)
{
	if (rename("x1", "x3") != 0 || rename("x2", "x1") != 0 || rename("x3", "x2") != 0)
		_exit(7);
	__atomic_store_n(&common->state, !common->state, __ATOMIC_SEQ_CST);
}

static void come_and_go(void)
{
	if (common->state == 0) {
		if (unlink("gone/f") != 0 || rmdir("gone") != 0)
			_exit(7);
	} else {
		if (mkdir("gone.new", 0755) != 0)
			_exit(7);
		write_file("gone.new/f", "1");
		if (rename("gone.new", "gone") != 0)
			_exit(7);
	}
	__atomic_store_n(&common->state, !common->state, __ATOMIC_SEQ_CST);
}

static void (*swap)(void);

static void *keep_swapping(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&common->stop, __ATOMIC_SEQ_CST)) {
		swap();
		__atomic_add_fetch(&common->swaps, 1, __ATOMIC_SEQ_CST);
		sched_yield();
	}
	return NULL;
}

struct look {
	int (*how)(const char *);
	const char *path;
};

// race looks for the number of iterations while somebody swaps, and once more when nobody does.
static void race(const char *name, void (*how)(void), int process, int iterations, int may_be_missing, const struct look *looks, int n)
{
	pthread_t thread;
	pid_t pid = 0;
	memset(seen, 0, sizeof seen);
	memset(common, 0, sizeof *common);
	swap = how;
	fflush(stdout);
	if (process) {
		pid = fork();
		if (pid == 0) {
			keep_swapping(NULL);
			_exit(0);
		}
	} else if (pthread_create(&thread, NULL, keep_swapping, NULL) != 0)
		exit(3);
	for (int i = 0; i < iterations; i++)
		for (int l = 0; l < n; l++) {
			errno = 0;
			note(looks[l].path, looks[l].how(looks[l].path), may_be_missing);
		}
	// Some states are rare on one processor: until both have been there.
	for (int i = 0; i < 200000 && (common->swaps < 100 || !seen[0] || !(seen[1] || seen[missing])); i++)
		note(looks[0].path, looks[0].how(looks[0].path), may_be_missing);
	__atomic_store_n(&common->stop, 1, __ATOMIC_SEQ_CST);
	int status = 0;
	if (process)
		waitpid(pid, &status, 0);
	else
		pthread_join(thread, NULL);
	if (status != 0) {
		printf("wrong: the other process ended with %x\n", status);
		wrong++;
	}
	for (int l = 0; l < n; l++) {
		if (looks[l].how == look_access)
			continue;
		int now = looks[l].how(looks[l].path);
		int want = common->state;
		if (how == come_and_go)
			want = want ? missing : 0;
		if (now != want) {
			printf("wrong: at rest, %s gave %d instead of %d\n", looks[l].path, now, want);
			wrong++;
		}
	}
	printf("%s: first %d, second %d, none %d, swaps %d\n", name, seen[0], seen[1], seen[missing], common->swaps);
	if (common->state) { // as it was
		swap();
	}
}

#define RACE(name, how, process, missing_ok, looks) race(name, how, process, iterations, missing_ok, looks, sizeof looks / sizeof *looks)

int main(int argc, char **argv)
{
	if (argc != 3 || chdir(argv[1]) != 0)
		return 2;
	int iterations = atoi(argv[2]);
	common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	directory_fd = open(".", O_RDONLY | O_DIRECTORY);
	for (const char *const *d = (const char *const[]){"d1", "d22", "x1", "x2", "gone", NULL}; *d; d++)
		mkdir(*d, 0755);
	write_file("f1", "1");
	write_file("f22", "22");
	write_file("d1/f", "1");
	write_file("d22/f", "22");
	write_file("x1/f", "1");
	write_file("x2/f", "22");
	write_file("gone/f", "1");
	if (symlink("f1", "lf") != 0 || symlink("d1", "ld") != 0)
		return 3;
	char absolute[256];
	snprintf(absolute, sizeof absolute, "%s/ld/f", argv[1]);

	const struct look file[] = {{look_stat, "lf"}, {look_link, "lf"}, {look_lstat, "lf"}, {look_open, "lf"}, {look_at, "lf"}, {look_statx, "lf"}, {look_access, "lf"}};
	const struct look directory[] = {{look_stat, "ld/f"}, {look_link, "ld"}, {look_open, "ld/f"}, {look_at, "ld/f"}, {look_stat, "ld/../ld/f"}, {look_stat, absolute}, {look_statx, "ld/f"}};
	const struct look moved[] = {{look_stat, "x1/f"}, {look_open, "x1/f"}, {look_at, "x1/f"}, {look_access, "x1/f"}};
	const struct look going[] = {{look_stat, "gone/f"}, {look_open, "gone/f"}, {look_at, "gone/f"}};
	RACE("a thread swaps a link to a file", swap_file, 0, 0, file);
	RACE("a thread swaps a link to a directory", swap_directory, 0, 0, directory);
	RACE("a thread exchanges directories", exchange, 0, 0, moved);
	RACE("a thread renames directories", three_renames, 0, 1, moved);
	RACE("a thread removes and makes a directory", come_and_go, 0, 1, going);
	RACE("a process swaps a link to a file", swap_file, 1, 0, file);
	RACE("a process swaps a link to a directory", swap_directory, 1, 0, directory);
	RACE("a process exchanges directories", exchange, 1, 0, moved);
	RACE("a process renames directories", three_renames, 1, 1, moved);
	RACE("a process removes and makes a directory", come_and_go, 1, 1, going);
	printf("%ld wrong\n", wrong);
	return wrong != 0;
}
