// cwd moves about and looks at relative paths, in the process itself and in children made in every way:
// the current directory of each must be what the program believes it to be.
//
//   cwd DIR        runs everything; DIR is an empty directory of its own
//   cwd --look     prints what the current directory shows (used for exec'd children)
#include "guest.h"
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static char *self;

static void look(const char *label)
{
	struct stat a, b;
	printf("[%s]\n", label);
	put_cwd();
	brief_stat(".");
	brief_stat("..");
	brief_stat("who");
	brief_stat("./who");
	brief_stat("../who");
	brief_stat("sub/who");
	brief_stat("link/who");
	brief_stat("link");
	brief_stat("missing");
	brief_stat("who/");
	brief_stat("../a/who");
	brief_statat(AT_FDCWD, "link", AT_SYMLINK_NOFOLLOW);
	brief_statat(AT_FDCWD, "", AT_EMPTY_PATH);
	int fd = open("who", O_RDONLY);
	char text[32] = "";
	if (fd >= 0) {
		long n = read(fd, text, sizeof text - 1);
		text[n > 0 ? n : 0] = 0;
		close(fd);
	}
	printf("who: %s\n", text);
	if (stat(".", &a) == 0 && (fd = open(".", O_RDONLY | O_DIRECTORY)) >= 0) {
		fstat(fd, &b);
		printf("same directory: %d\n", a.st_ino == b.st_ino && a.st_dev == b.st_dev);
		close(fd);
	}
	fflush(stdout);
}

static void go(const char *to)
{
	errno = 0;
	int r = chdir(to);
	printf("chdir ");
	put_text(to);
	printf(" = %d errno %d\n", r, r ? errno : 0);
	look(to);
}

static void go_fd(const char *to, int flags)
{
	int fd = open(to, flags);
	errno = 0;
	int r = fchdir(fd);
	printf("fchdir %s %x = %d errno %d\n", to, flags, r, r ? errno : 0);
	look("fchdir");
	if (fd >= 0)
		close(fd);
}

static void reap(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	printf("child status %x\n", status);
	fflush(stdout);
}

static int shares_fs(void *arg)
{
	return chdir(arg) == 0 ? 0 : 1;
}

static char child_stack[65536] __attribute__((aligned(16)));

int main(int argc, char **argv)
{
	char path[4096], *dir;
	pid_t pid;

	if (argc == 2 && strcmp(argv[1], "--look") == 0) {
		look("exec'd");
		return 0;
	}
	if (argc != 2)
		return 2;
	self = realpath("/proc/self/exe", NULL);
	dir = argv[1];
	umask(022);
	look("start");
	say("enter", chdir(dir));
	mkdir("a", 0755);
	mkdir("a/sub", 0755);
	mkdir("b", 0750);
	write_file("who", "top");
	write_file("a/who", "in a");
	write_file("a/sub/who", "in sub");
	write_file("b/who", "b");
	symlink("sub", "a/link");
	symlink("../a/sub", "b/link");
	snprintf(path, sizeof path, "%s/a", dir);
	symlink(path, "to-a");
	symlink("nowhere", "to-nowhere");

	go("a");
	go("..");
	go("to-a");
	go("link");
	go("../..");
	go("to-nowhere");
	go("who");
	go("");
	go("/");
	go(dir);
	go("./a/../b/.");
	go("link/../../b/");
	go("/proc");
	go("/proc/self");
	go("/dev");
	go("/b/one");
	go("nested");
	go("..");
	go("/glue");
	go("a/b");
	go("..");
	go("../..");
	go(dir);
	errno = 0;
	char *volatile nowhere = NULL;
	say("chdir NULL", chdir(nowhere));
	say("fchdir -1", fchdir(-1));
	say("fchdir 999", fchdir(999));
	go_fd("a", O_RDONLY | O_DIRECTORY);
	go_fd("../b", O_PATH);
	go_fd("who", O_RDONLY);
	go_fd("link", O_RDONLY);
	go_fd("/proc/self", O_RDONLY);
	go_fd("/b/one", O_RDONLY | O_DIRECTORY);
	go(dir);
	say("syscall chdir", syscall(SYS_chdir, "b"));
	look("syscall chdir");
	go(dir);

	// Children: each starts where its parent is, and moves only itself.
	if ((pid = fork()) == 0) {
		go("a");
		fflush(stdout);
		_exit(0);
	}
	reap(pid);
	look("after fork");
	if ((pid = fork()) == 0) {
		if (chdir("b") == 0)
			execl(self, self, "--look", NULL);
		_exit(1);
	}
	reap(pid);
	look("after fork and exec");
	if ((pid = vfork()) == 0) {
		if (chdir("a") == 0)
			execl(self, self, "--look", NULL);
		_exit(1);
	}
	reap(pid);
	look("after vfork, chdir and exec");
	if ((pid = vfork()) == 0)
		_exit(chdir("a") == 0 ? 0 : 1);
	reap(pid);
	look("after vfork, chdir and exit");
	char *args[] = {self, "--look", NULL};
	if (posix_spawn(&pid, self, NULL, NULL, args, environ) == 0)
		reap(pid);
	look("after posix_spawn");
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "a");
	posix_spawn_file_actions_addopen(&actions, 9, "who", O_RDONLY, 0);
	if (posix_spawn(&pid, self, &actions, NULL, args, environ) == 0)
		reap(pid);
	look("after posix_spawn with chdir");
	fflush(stdout);
	say("system", system("cd b && pwd && cat who && (cd ../a; pwd; cat link/who) && pwd"));
	look("after system");
	// A child that shares the current directory moves its parent too.
	pid = clone(shares_fs, child_stack + sizeof child_stack, CLONE_FS | SIGCHLD, "a");
	reap(pid);
	look("after CLONE_FS");
	go(dir);

	// Directories that move or go away under the process.
	go("a");
	snprintf(path, sizeof path, "%s/renamed", dir);
	say("rename", rename("../a", path));
	look("renamed");
	go("sub");
	go("..");
	go(dir);
	mkdir("gone", 0755);
	write_file("gone/who", "gone");
	go("gone");
	unlink("who");
	snprintf(path, sizeof path, "%s/gone", dir);
	say("rmdir", rmdir(path));
	brief_stat("who");
	brief_stat(".");
	brief_stat("..");
	brief_statat(AT_FDCWD, "", AT_EMPTY_PATH);
	put_cwd();
	say("open in removed", open("new", O_CREAT | O_WRONLY, 0644));
	mkdir(path, 0755);
	write_file("/tmp/never", "");
	unlink("/tmp/never");
	snprintf(path, sizeof path, "%s/gone/who", dir);
	write_file(path, "made again");
	brief_stat("who");
	brief_stat(path);
	go(dir);
	go("gone");
	return 0;
}
