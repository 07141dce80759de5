// withdraw does what makes PRoot's view another one, or lets somebody else see system calls, and shows in the process
// itself, in one beside it and in programs that they execute, what a stat gives and whether PRoot was asked for it: a
// stop is a voluntary context switch.
//
//   withdraw KIND DIR      DIR is an empty directory
//   withdraw --look LABEL PATH
#include "guest.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

static char *self, *path; // shared with the process beside

static long stops(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void look(const char *label)
{
	struct stat st;
	long least = 1000;
	int r = 0, e = 0;
	for (int i = 0; i < 3; i++) {
		long before = stops();
		errno = 0;
		r = stat(path, &st);
		e = errno;
		long n = stops() - before;
		least = n < least ? n : least;
	}
	printf("%s: %d errno %d kind %o %s\n", label, r, r ? e : 0, r ? 0 : st.st_mode & S_IFMT, least ? "stopped" : "answered");
	fflush(stdout);
}

static void executed(const char *label)
{
	pid_t p = fork();
	if (p == 0) {
		execl(self, self, "--look", label, path, (char *)NULL);
		printf("%s: not executed, errno %d\n", label, errno);
		fflush(stdout);
		_exit(1);
	}
	waitpid(p, NULL, 0);
}

// beside is a process that looks when it is told to.
static int to[2], back[2];
static pid_t beside;

static void start_beside(void)
{
	pipe(to);
	pipe(back);
	fflush(stdout);
	beside = fork();
	if (beside != 0)
		return;
	close(to[1]); // so that it ends with the other process
	char c;
	while (read(to[0], &c, 1) == 1) {
		look(c == '0' ? "beside, before" : "beside, after");
		if (c != '0')
			executed("executed beside");
		write(back[1], &c, 1);
		if (c != '0')
			_exit(0);
	}
	_exit(0);
}

static void tell(char c)
{
	write(to[1], &c, 1);
	read(back[0], &c, 1);
}

static void result(const char *what, long r)
{
	printf("%s = %ld errno %d\n", what, r < 0 ? -1L : 0L, r < 0 ? errno : 0);
	fflush(stdout);
}

static void filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	result("no new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	result("filter", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

// long_socket binds a socket whose path is too long for the structure on the host, but not in the guest.
static void long_socket(const char *dir)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	sprintf(path, "%s/%0*d", dir, (int)(sizeof a.sun_path - 2 - strlen(dir)), 7);
	memcpy(a.sun_path, path, strlen(path));
	look("socket, before");
	result("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, sizeof a));
}

static void attach(void)
{
	result("attach", ptrace(PTRACE_ATTACH, beside, 0, 0));
	waitpid(beside, NULL, 0);
	result("detach", ptrace(PTRACE_DETACH, beside, 0, 0));
}

static void trace_me(void)
{
	pid_t p = fork();
	if (p == 0) {
		result("trace me", ptrace(PTRACE_TRACEME, 0, 0, 0));
		look("traced");
		execl(self, self, "--look", "executed, traced", path, (char *)NULL);
		_exit(1);
	}
	for (int status; waitpid(p, &status, 0) == p && !WIFEXITED(status) && !WIFSIGNALED(status);)
		ptrace(PTRACE_CONT, p, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
}

// auxv has PRoot watch the calls that follow, as Termux's fork does: it must not take the library's own for the program's. The
// path is where nobody needs to ask whether it can be read.
static void auxv(void)
{
	struct stat st;
	char own[4096], part[16];
	strcpy(own, path);
	stat(own, &st);
	int fd = open("/proc/self/auxv", O_RDONLY);
	result("stat", stat(own, &st));
	result("read", read(fd, part, sizeof part));
	result("stat after read", stat(own, &st));
	result("close", close(fd));
}

int main(int argc, char **argv)
{
	self = argv[0];
	path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(path, "/etc/passwd");
	if (argc == 4 && strcmp(argv[1], "--look") == 0) {
		strcpy(path, argv[3]);
		look(argv[2]);
		return 0;
	}
	if (argc != 3)
		return 2;
	const char *kind = argv[1], *dir = argv[2];
	start_beside();
	look("self, before");
	tell('0');
	if (strcmp(kind, "mount") == 0)
		result(kind, mount("none", dir, "tmpfs", 0, NULL));
	else if (strcmp(kind, "mount-refused") == 0)
		result(kind, mount("none", dir, "no such file system", 0, NULL));
	else if (strcmp(kind, "umount-refused") == 0)
		result(kind, umount2(dir, 0));
	else if (strcmp(kind, "pivot-refused") == 0)
		result(kind, syscall(SYS_pivot_root, dir, dir));
	else if (strcmp(kind, "chroot") == 0)
		result(kind, chroot("/"));
	else if (strcmp(kind, "chroot-refused") == 0)
		result(kind, chroot("/no/such/directory"));
	else if (strcmp(kind, "unshare-mounts") == 0)
		result(kind, unshare(CLONE_NEWNS));
	else if (strcmp(kind, "unshare-files") == 0)
		result(kind, unshare(CLONE_FILES));
	else if (strcmp(kind, "setns-refused") == 0)
		result(kind, setns(-1, 0));
	else if (strcmp(kind, "filter") == 0)
		filter();
	else if (strcmp(kind, "attach") == 0)
		attach();
	else if (strcmp(kind, "trace-me") == 0)
		trace_me();
	else if (strcmp(kind, "long-socket") == 0)
		long_socket(dir);
	else if (strcmp(kind, "auxv") == 0)
		auxv();
	else if (strcmp(kind, "nothing") != 0)
		return 2;
	look("self, after");
	executed("executed");
	tell('1');
	waitpid(beside, NULL, 0);
	return 0;
}
