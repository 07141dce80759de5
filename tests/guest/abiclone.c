// Checks with clone(2) itself: what a child shares with its parent and what it does not, whichever combination of memory,
// directory and descriptors that is, while parent and child make calls at the same time.
#include "abi.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>

enum { tls_part = 0x1000, stack_part = 0x8000 };

// What parent and child share, whether or not they share memory.
struct meeting {
	atomic_int begun, ended;
	atomic_int wrong;     // of the child: number of the step that failed, 0 if none
	atomic_int opened;    // a descriptor of the child's
};
static struct meeting *meet;
static int flags_now, swapped;

// says is a call through libc's sites whose answer is wanted without errno: the child may share its thread's memory.
static long says(long nr, long a, long b, long c, long d) { return syscall(nr, a, b, c, d); }

static int is(const char *path, int size)
{
	struct stat st;
	return says(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) == 0 && (size < 0 || st.st_size == size);
}

static int missing(const char *path) { return says(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0) == -1; }

static int child(void *arg)
{
	char link[16];
	(void)arg;
	// The steps; the first that fails is told.
#define step(n, ok) do { if (!(ok)) { meet->wrong = (n); goto out; } } while (0)
	meet->begun = 1;
	for (int i = 0; i < 3; i++) {
		step(1, is(BASE "/link", 5));
		step(2, missing(BASE "/missing"));
		step(3, says(SYS_readlinkat, AT_FDCWD, (long)BASE "/link", (long)link, sizeof link) == 4);
	}
	if (!(flags_now & CLONE_FS))
		for (int i = 0; i < 5; i++) {
			step(4, is("file", 5) && is("inner", -1) == 0);
			step(5, says(SYS_chdir, (long)"dir", 0, 0, 0) == 0);
			step(6, is("inner", -1) && is("../file", 5) && missing("file"));
			step(7, says(SYS_chdir, (long)"..", 0, 0, 0) == 0);
			step(8, is("file", 5));
		}
	step(9, says(SYS_chdir, (long)BASE "/dir", 0, 0, 0) == 0); // and stay there
	step(10, is("inner", -1));
	// The descriptor that the parent knows as one directory becomes another.
	int other = says(SYS_openat, AT_FDCWD, (long)BASE "/dir", O_RDONLY | O_DIRECTORY, 0);
	step(11, other >= 0 && dup3(other, swapped, O_CLOEXEC) == swapped);
	step(12, says(SYS_newfstatat, swapped, (long)"inner", (long)&(struct stat){0}, 0) == 0);
	meet->opened = other;
out:
	meet->ended = 1;
	sys6(SYS_exit, 0, 0, 0, 0, 0, 0);
	return 0;
}

// thread_memory makes memory that does for a second thread pointer: errno and what is around.
static char *thread_memory(void)
{
	static char memory[2 * tls_part] __attribute__((aligned(64)));
	uintptr_t tp;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC); // what is not mapped stays zero
	for (int i = 0; i < 2 * tls_part; i += 256)
		if (pread(mem, memory + i, 256, (off_t)(tp - tls_part + i)) < 0)
			memset(memory + i, 0, 256);
	close(mem);
	return memory + tls_part;
}

static void one_clone(int flags)
{
	static char stack[stack_part] __attribute__((aligned(16)));
	struct stat st;
	flags_now = flags;
	swapped = open(BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (swapped < 0 || fstatat(swapped, "file", &st, 0) != 0) {
		bad("the parent's directory: %s", strerror(errno));
		return;
	}
	memset(meet, 0, sizeof *meet);
	int with_tls = flags & CLONE_VM ? CLONE_SETTLS : 0;
	pid_t pid = clone(child, stack + sizeof stack, flags | with_tls | SIGCHLD, NULL, NULL, with_tls ? thread_memory() : NULL, NULL);
	if (pid < 0) {
		bad("clone with flags %#x: %s", flags, strerror(errno));
		close(swapped);
		return;
	}
	// Meanwhile this process goes on; what it does not share must stay as it is.
	int rounds = 0;
	while (!meet->ended && rounds < 20000) {
		rounds++;
		if (!is(BASE "/link", 5) || !missing(BASE "/missing"))
			bad("flags %#x: a wrong answer in the parent meanwhile", flags);
		if (!(flags & CLONE_FS) && (!is("file", 5) || !missing("inner")))
			bad("flags %#x: the parent's directory moved meanwhile", flags);
		if (!(flags & CLONE_FILES) && fstatat(swapped, "file", &st, 0) != 0)
			bad("flags %#x: the parent's descriptor changed meanwhile", flags);
		if (rounds % 4 == 0)
			usleep(500);
	}
	int status = -1;
	if (waitpid(pid, &status, 0) != pid || status != 0 || meet->wrong || !meet->ended)
		bad("flags %#x: the child ended with %#x at step %d", flags, status, meet->wrong);
	int moved = is("inner", -1) && missing("file");
	if (moved != !!(flags & CLONE_FS))
		bad("flags %#x: the parent's directory %s", flags, moved ? "moved" : "did not move");
	if (chdir(BASE) != 0 || !is("file", 5))
		bad("flags %#x: back to the directory: %s", flags, strerror(errno));
	int now_other = fstatat(swapped, "inner", &st, 0) == 0 && fstatat(swapped, "file", &st, 0) != 0;
	if (now_other != !!(flags & CLONE_FILES))
		bad("flags %#x: the parent's descriptor %s another directory", flags, now_other ? "is" : "is not");
	close(swapped);
	if (flags & CLONE_FILES)
		close(meet->opened);
}

// Every combination of what may be shared, with a parent that waits for the child to begin (CLONE_VFORK) and one that
// does not.
static void clones(void)
{
	static const int kinds[] = {CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_VFORK};
	int made = 0;
	meet = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	close(open(BASE "/dir/inner", O_WRONLY | O_CREAT, 0644));
	for (int repeat = 0; repeat < scaled(10); repeat++)
		for (int set = 0; set < 16; set++) {
			int flags = 0;
			for (int i = 0; i < 4; i++)
				flags |= set >> i & 1 ? kinds[i] : 0;
			doing = "clone";
			one_clone(flags);
			if (flags & CLONE_VM)
				one_clone(flags | CLONE_SIGHAND);
			made++;
		}
	unlink(BASE "/dir/inner");
	note(" %d children", made);
}

const struct check clone_checks[] = {{"clones", clones, 0}, {NULL, NULL, 0}};
