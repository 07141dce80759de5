// ends makes a few calls with paths and then ends in one of the ways in which a program can end.
//
//   ends WAY
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// some makes three calls that can be answered, and one that is always declined: for flags that do not exist.
static void some(void)
{
	struct stat st;
	stat("/", &st);
	stat("/etc", &st);
	stat("/none", &st);
	fstatat(AT_FDCWD, "/etc", &st, 0x40000000);
}

static void *leave_from_thread(void *unused)
{
	(void)unused;
	some();
	exit(0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	some();
	if (strcmp(way, "return") == 0)
		return 0;
	if (strcmp(way, "exit") == 0)
		exit(0);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "exit_group") == 0)
		syscall(SYS_exit_group, 0);
	if (strcmp(way, "thread") == 0) {
		pthread_t t;
		pthread_create(&t, NULL, leave_from_thread, NULL);
		pause();
	}
	if (strcmp(way, "exec") == 0)
		execl("/proc/self/exe", argv[0], "return", (char *)NULL);
	if (strcmp(way, "failed-exec") == 0) {
		execl("/none", "none", (char *)NULL);
		return 0;
	}
	if (strcmp(way, "fork") == 0 || strcmp(way, "fork-exec") == 0) {
		pid_t pid = fork();
		if (pid == 0) {
			some();
			if (way[4])
				execl("/proc/self/exe", argv[0], "return", (char *)NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		return 0;
	}
	if (strcmp(way, "vfork") == 0) {
		pid_t pid = vfork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		return 0;
	}
	if (strcmp(way, "closed") == 0) { // standard error is gone before the end
		close(2);
		return 0;
	}
	if (strcmp(way, "killed") == 0)
		raise(SIGKILL);
	return 2;
}
