// mutate changes directories, links and permissions and looks again at once: nothing that was true before
// a change of the process's own, or of a child it waited for, may be answered after it.
//
//   mutate DIR [CASE]      DIR is an empty directory of its own
#include "guest.h"
#include <dirent.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

// fresh makes the two directories and the link every case starts from.
static void fresh(const char *name)
{
	printf("== %s\n", name);
	mkdir(name, 0755);
	if (chdir(name) != 0)
		exit(3);
	mkdir("one", 0755);
	mkdir("two", 0755);
	mkdir("one/deep", 0755);
	mkdir("two/deep", 0755);
	write_file("one/f", "1");
	write_file("two/f", "22");
	write_file("one/deep/f", "333");
	write_file("two/deep/f", "4444");
	symlink("one", "link");
}

static void look(void)
{
	brief_stat("link/f");
	brief_stat("link/deep/f");
	brief_stat("link/deep/../f");
	brief_stat("one/f");
	brief_stat("two/f");
	brief_stat("one/deep");
	brief_stat("one/missing");
	int fd = open("link/deep/f", O_RDONLY);
	char text[16] = "";
	if (fd < 0)
		say("open link/deep/f", fd);
	else {
		long n = read(fd, text, sizeof text - 1);
		printf("read %ld %s\n", n, text);
		close(fd);
	}
}

static void absolute(const char *dir, const char *name)
{
	char path[4096];
	static const char *const tails[] = {"link/f", "link/deep/f", "one/f", "two/deep/f", "link"};
	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		struct stat st;
		snprintf(path, sizeof path, "%s/%s/%s", dir, name, tails[i]);
		errno = 0;
		int r = stat(path, &st);
		put_brief("absolute", tails[i], r, errno, &st);
	}
}

static void relink_by_name(void)
{
	say("unlink", unlink("link"));
	say("symlink", symlink("two", "link"));
}

static void in_child(void (*what)(void))
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		what();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void run(char *const args[])
{
	pid_t pid;
	int status = 0;
	fflush(stdout);
	if (posix_spawnp(&pid, args[0], NULL, NULL, args, environ) != 0)
		puts("no spawn");
	else
		waitpid(pid, &status, 0);
	printf("%s status %x\n", args[0], status);
}

#define CASE(name) \
	if (chdir(dir) != 0) \
		return 3; \
	fflush(stdout); \
	if (argc < 3 || strcmp(argv[2], name) == 0) \
		for (int once = (fresh(name), look(), absolute(dir, name), 1); once; once = (look(), absolute(dir, name), 0))

int main(int argc, char **argv)
{
	char *dir = argv[1], path[4096];
	if (argc < 2)
		return 2;
	umask(022);

	CASE("relink")
		relink_by_name();
	CASE("relink-at") {
		int d = open(".", O_RDONLY | O_DIRECTORY);
		say("unlinkat", unlinkat(d, "link", 0));
		say("symlinkat", symlinkat("two", d, "link"));
		close(d);
	}
	CASE("relink-rename") {
		say("symlink", symlink("two", "new"));
		say("rename", rename("new", "link"));
	}
	CASE("relink-syscall") {
		say("unlinkat", syscall(SYS_unlinkat, AT_FDCWD, "link", 0));
		say("symlinkat", syscall(SYS_symlinkat, "two", AT_FDCWD, "link"));
	}
	CASE("exchange")
		say("renameat2", syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", 2));
	CASE("move-away")
		say("rename", rename("one", "three"));
	CASE("move-and-remake") {
		say("rename", rename("one", "three"));
		say("mkdir", mkdir("one", 0700));
		write_file("one/f", "55555");
	}
	CASE("directory-becomes-file") {
		say("rename", rename("one", "three"));
		write_file("one", "a file now");
	}
	CASE("directory-becomes-link") {
		say("rename", rename("one", "three"));
		say("symlink", symlink("two", "one"));
	}
	CASE("middle-becomes-link") {
		say("rename", rename("one/deep", "one/kept"));
		say("symlink", symlink("../two/deep", "one/deep"));
	}
	CASE("link-becomes-directory") {
		say("unlink", unlink("link"));
		say("mkdir", mkdir("link", 0755));
		write_file("link/f", "666666");
	}
	CASE("file-becomes-link") {
		say("unlink", unlink("one/f"));
		say("symlink", symlink("../two/f", "one/f"));
	}
	CASE("file-appears") {
		write_file("one/missing", "no more");
		say("link", link("two/f", "two/again"));
		brief_stat("two/again");
		say("mknod", mknod("one/fifo", S_IFIFO | 0600, 0));
		brief_stat("one/fifo");
	}
	CASE("removed-directory") {
		unlink("one/deep/f");
		say("rmdir", rmdir("one/deep"));
		say("mkdir", mkdir("one/deep", 0711));
	}
	CASE("mount-less-proc") {
		snprintf(path, sizeof path, "/proc/self/cwd/one/f");
		brief_stat(path);
		struct stat st;
		snprintf(path, sizeof path, "/proc/%d/cwd/one/f", getpid());
		int r = stat(path, &st);
		put_brief("stat", "/proc/PID/cwd/one/f", r, errno, &st);
	}
	CASE("child-relink")
		in_child(relink_by_name);
	CASE("spawned-ln") {
		char *args[] = {"ln", "-sfn", "two", "link", NULL};
		run(args);
	}
	CASE("system-mv")
		say("system", (fflush(stdout), system("mv one three && mv two one && mv three two")));
	CASE("waitid-child") {
		siginfo_t info;
		char *args[] = {"ln", "-sfn", "two", "link", NULL};
		pid_t pid;
		if (posix_spawnp(&pid, "ln", NULL, NULL, args, environ) == 0)
			say("waitid", waitid(P_PID, pid, &info, WEXITED));
	}
	CASE("popen") {
		FILE *p = popen("ln -sfn two link", "r");
		say("pclose", pclose(p));
	}
	// A child that is not waited for, only heard from. What is remembered has a lifetime; callers that
	// need this exact set it to nothing: this case is run only by name.
	CASE("heard-from") {
		int pipes[2];
		char c;
		if (argc < 3)
			continue;
		if (pipe(pipes) != 0)
			return 3;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			unlink("link");
			symlink("two", "link");
			if (write(pipes[1], "x", 1) != 1)
				_exit(1);
			pause();
		}
		if (read(pipes[0], &c, 1) == 1)
			look();
		kill(pid, 9);
		waitpid(pid, NULL, 0);
	}
	// Open directories keep their identity whatever happens to their name.
	CASE("dirfd-moved") {
		int d = open("one", O_RDONLY | O_DIRECTORY);
		brief_statat(d, "f", 0);
		brief_statat(d, "deep/f", 0);
		brief_statat(d, "../two/f", 0);
		say("rename", rename("one", "two/moved"));
		brief_statat(d, "f", 0);
		brief_statat(d, "deep/f", 0);
		brief_statat(d, "../f", 0);
		brief_statat(d, "..", 0);
		say("mkdir", mkdir("one", 0700));
		brief_statat(d, "f", 0);
		int fd = openat(d, "f", O_RDONLY);
		say("openat", fd < 0 ? -1 : 0);
		close(fd);
		close(d);
	}
	CASE("dirfd-removed") {
		mkdir("brief", 0755);
		write_file("brief/f", "x");
		int d = open("brief", O_RDONLY | O_DIRECTORY);
		brief_statat(d, "f", 0);
		unlink("brief/f");
		say("rmdir", rmdir("brief"));
		brief_statat(d, "f", 0);
		brief_statat(d, ".", 0);
		brief_statat(d, "", AT_EMPTY_PATH);
		say("openat", openat(d, "g", O_CREAT | O_WRONLY, 0644));
		mkdir("brief", 0755);
		write_file("brief/f", "again");
		brief_statat(d, "f", 0);
		close(d);
	}
	CASE("dirfd-number-reused") {
		int d = open("one", O_RDONLY | O_DIRECTORY);
		brief_statat(d, "f", 0);
		close(d);
		int e = open("two", O_RDONLY | O_DIRECTORY);
		printf("same number: %d\n", d == e);
		brief_statat(e, "f", 0);
		dup2(e, 20);
		brief_statat(20, "f", 0);
		int o = open("one", O_RDONLY | O_DIRECTORY);
		dup2(o, 20);
		brief_statat(20, "f", 0);
		int n = open("one/f", O_RDONLY);
		dup2(n, 20);
		brief_statat(20, "f", 0);
		close(20);
		brief_statat(20, "f", 0);
		close(n);
		close(o);
		close(e);
	}
	CASE("inode-reused") {
		// A directory's inode number may come back for another directory.
		for (int i = 0; i < 20; i++) {
			snprintf(path, sizeof path, "turn%d", i);
			mkdir(path, 0755);
			int d = open(path, O_RDONLY | O_DIRECTORY);
			brief_statat(d, "f", 0);
			close(d);
			rmdir(path);
		}
	}
	CASE("created-by-open") {
		int fd = open("one/new", O_CREAT | O_EXCL | O_WRONLY, 0640);
		say("create", fd < 0 ? -1 : 0);
		close(fd);
		brief_stat("one/new");
		fd = open("one/new", O_CREAT | O_EXCL | O_WRONLY, 0640);
		say("create again", fd);
		symlink("target", "one/dangling");
		fd = open("one/dangling", O_CREAT | O_WRONLY, 0640);
		say("create through a link", fd < 0 ? -1 : 0);
		close(fd);
		brief_stat("one/target");
		fd = open("one/dangling", O_CREAT | O_EXCL | O_WRONLY, 0640);
		say("create exclusively through a link", fd);
		fd = open("link/made", O_CREAT | O_WRONLY | O_TRUNC, 0600);
		say("create below a link", fd < 0 ? -1 : 0);
		close(fd);
		brief_stat("one/made");
		fd = open("one", O_TMPFILE | O_RDWR, 0600);
		say("tmpfile", fd < 0 ? -1 : 0);
		close(fd);
		fd = open("one/new/", O_CREAT | O_WRONLY, 0600);
		say("create with a slash", fd);
		fd = open("one/other/", O_CREAT | O_WRONLY, 0600);
		say("create other with a slash", fd);
		umask(077);
		fd = open("one/masked", O_CREAT | O_WRONLY, 0666);
		close(fd);
		umask(022);
		brief_stat("one/masked");
	}
	CASE("truncated") {
		int fd = open("one/f", O_WRONLY | O_TRUNC);
		close(fd);
		fd = open("two/f", O_WRONLY | O_APPEND);
		if (write(fd, "more", 4) != 4)
			puts("short write");
		close(fd);
	}
	CASE("readdir") {
		DIR *d = opendir("link/deep");
		struct dirent *e;
		int n = 0;
		while (d && (e = readdir(d)))
			n++;
		printf("%d entries\n", n);
		if (d)
			closedir(d);
		d = opendir("one/f");
		printf("opendir of a file %d\n", d == NULL ? errno : 0);
	}
	// Permissions: what was searchable need not stay so.
	CASE("chmod") {
		if (setegid(1000) == 0 && seteuid(1000) == 0) {
			brief_stat("one/deep/f");
			say("chmod by another", chmod("one", 0));
			if (seteuid(0) == 0 && setegid(0) == 0) {
				say("chmod", chmod("one", 0));
				if (setegid(1000) == 0 && seteuid(1000) == 0)
					look();
				if (seteuid(0) == 0 && setegid(0) == 0)
					say("chmod back", chmod("one", 0755));
			}
		}
	}
	CASE("seteuid") {
		int d = open("one", O_RDONLY | O_DIRECTORY);
		say("chmod", chmod("one", 0700));
		brief_stat("one/deep/f");
		brief_stat("one/missing");
		brief_statat(d, "f", 0);
		brief_statat(d, "deep/f", 0);
		say("seteuid", setegid(1000) | seteuid(1000));
		look();
		brief_stat("one/deep/missing");
		brief_stat("one/missing");
		brief_statat(d, "f", 0);
		brief_statat(d, "deep/f", 0);
		brief_statat(d, "../two/f", 0);
		say("seteuid back", seteuid(0) | setegid(0));
		close(d);
	}
	CASE("setresuid-syscall") {
		say("chmod", chmod("one", 0700));
		brief_stat("one/deep/f");
		say("setresuid", syscall(SYS_setresuid, -1, 1000, -1));
		look();
		say("setresuid back", syscall(SYS_setresuid, -1, 0, -1));
	}
	CASE("setfsuid") {
		say("chmod", chmod("one", 0700));
		brief_stat("one/deep/f");
		syscall(SYS_setfsuid, 1000);
		look();
		syscall(SYS_setfsuid, 0);
	}
	CASE("capset") {
		struct { unsigned version; int pid; } head = {0x20080522, 0};
		struct { unsigned effective, permitted, inheritable; } caps[2], less[2];
		say("chmod", chmod("one", 0) | chown("one", 12, 12));
		brief_stat("one/deep/f");
		say("capget", syscall(SYS_capget, &head, caps));
		memcpy(less, caps, sizeof caps);
		less[0].effective &= ~((1u << 1) | (1u << 2)); // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
		say("capset", syscall(SYS_capset, &head, less));
		look();
		say("capset back", syscall(SYS_capset, &head, caps));
	}
	CASE("chroot") {
		char sub[4096];
		snprintf(sub, sizeof sub, "%s/chroot/one", dir);
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			say("chroot", chroot(sub));
			brief_stat("/f");
			brief_stat("/deep/f");
			brief_stat("/etc/passwd");
			brief_stat("f");
			put_cwd();
			fflush(stdout);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
