// gcs says whether the processor keeps a second stack of return addresses (a guarded control stack) for this program,
// and makes calls of the kinds that relays answer, and that they leave to PRoot. With "later" it turns that stack on
// itself first; then main cannot return.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { get_status = 74, set_status = 75, enable = 1 };

#ifdef MARKED // as newer compilers mark objects (GNU_PROPERTY_AARCH64_FEATURE_1_GCS)
__asm__(".pushsection .note.gnu.property, \"a\"\n.p2align 3\n.word 4, 16, 5\n.asciz \"GNU\"\n.word 0xc0000000, 4, 4, 0\n.popsection");
#endif

// raw is a call that no relay sees, and no function: a function could not return.
static inline __attribute__((always_inline)) long raw(long nr, long a, long b)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = 0, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}

static void say(const char *what, long r) { printf("%s %ld %s\n", what, r, r < 0 ? strerror(errno) : ""); }

// calls makes each kind of call twice: what the first found out is remembered.
static void calls(const char *dir)
{
	struct stat st;
	char text[4096];
	for (int i = 0; i < 2; i++) {
		say("stat", stat(dir, &st));
		say("stat of nothing", stat("/nowhere/at/all", &st));
		say("access", access(dir, R_OK));
		int fd = open(dir, O_RDONLY | O_DIRECTORY);
		say("open", fd >= 0 ? 0 : -1);
		say("fchdir", fchdir(fd));
		close(fd);
		say("getcwd", getcwd(text, sizeof text) ? (long)strlen(text) : -1);
		say("mkdir", mkdir("made", 0700));
		say("rmdir", rmdir("made"));
		say("chdir", chdir("/"));
		say("bad pointer", syscall(SYS_newfstatat, AT_FDCWD, 8, &st, 0));
		say("by number", syscall(SYS_faccessat, AT_FDCWD, dir, R_OK) );
		say("prctl", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)); // of these only two are answered by anybody but the kernel
		pid_t pid = fork();
		if (pid == 0)
			_exit(access(dir, R_OK) == 0 ? 7 : 8);
		int status = 0;
		say("wait", waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1);
	}
}

int main(int argc, char **argv)
{
	unsigned long status = 0;
	if (argc > 2 && strcmp(argv[2], "later") == 0 && raw(SYS_prctl, set_status, enable) != 0)
		return 2;
	raw(SYS_prctl, get_status, (long)&status);
	printf("status %lu\n", status);
	calls(argv[1]);
	fflush(stdout);
	exit(0);
}
