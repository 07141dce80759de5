// since looks at files where PRoot's records, or the memory that a call is about, are not what they usually are: threads with
// directories of their own, a child with numbers of its own, buffers over each other, links that are newer than PRoot's bindings.
//
//   since threads | clone | numbers | overlap      in /tmp/work
//   since look PATH...
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[64 << 10] __attribute__((aligned(16)));
static volatile int moved;

static void look(const char *who, const char *path)
{
	struct stat st = {0}, l = {0};
	char text[200] = "", link[200] = "";
	int r = stat(path, &st), err = errno, lr = lstat(path, &l), fd = open(path, O_RDONLY);
	if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
		text[0] = 0;
	close(fd);
	if (readlink(path, link, sizeof link - 1) < 0)
		link[0] = 0;
	printf("%s %s: %d errno %d mode %o, %d mode %o, opened %d: %.*s -> %s\n", who, path, r, r ? err : 0, st.st_mode, lr, l.st_mode, fd >= 0,
		(int)strcspn(text, "\n"), text, link);
}

static void where(const char *who)
{
	char cwd[4096];
	printf("%s in %s\n", who, getcwd(cwd, sizeof cwd) ? cwd : "nowhere");
	look(who, "who");
}

static void save(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static void *move(void *to)
{
	where("thread");
	if (chdir(to) != 0)
		perror(to);
	where("thread");
	return NULL;
}

static int move_alone(void *to)
{
	struct stat st;
	if (chdir(to) == 0 && stat("who", &st) == 0)
		moved = 1 + st.st_size;
	syscall(SYS_exit, 0); // and no destructors
	return 0;
}

static void threads(void)
{
	pthread_t t;
	for (const char *const *to = (const char *const[]){"/tmp/work/b", "/tmp/work/c", "/tmp/work/a", NULL}; *to; to++) {
		pthread_create(&t, NULL, move, (void *)*to);
		pthread_join(t, NULL);
		where("main");
		printf("rename %d\n", rename("who", "who"));
	}
}

static void cloned(void)
{
	clone(move_alone, stack + sizeof stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, "/tmp/work/b");
	for (int i = 0; i < 5000 && !moved; i++)
		usleep(1000);
	printf("moved %d\n", moved);
	where("main");
}

static int renumbered(void *unused)
{
	(void)unused;
	look("child", "/proc/self/status");
	look("child", "/proc/self/comm");
	look("child", "/proc/self/exe");
	where("child");
	fflush(stdout);
	return 0;
}

static void numbers(void)
{
	int status, pid = clone(renumbered, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, NULL);
	printf("cloned %d, ended %d\n", pid > 0, waitpid(pid, &status, 0) == pid);
}

static void overlap(void)
{
	static char m[512];
	void *at = m; // the compiler warns of aliases that it sees
	strcpy(m, "/dev/shm");
	int r = statfs(m, at);
	printf("statfs %d, type %lx\n", r, (long)((struct statfs *)at)->f_type);
	struct sockaddr_un a = {AF_UNIX, "/tmp/work/socket"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	printf("bind %d\n", bind(s, (void *)&a, sizeof a));
	for (int off = -4; off < 120; off += off < 4 ? 1 : 5) {
		memset(m, 'x', sizeof m);
		int room = 110, err;
		memcpy(m + 64 + off, &room, sizeof room);
		r = getsockname(s, (void *)(m + 64), at = m + 64 + off);
		err = errno;
		printf("length at %d: %d errno %d ", off, r, r ? err : 0);
		for (int i = 60; i < 110; i++)
			printf("%02x", (unsigned char)m[i]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	if (strcmp(kind, "look") == 0) {
		for (int i = 2; i < argc; i++)
			look("", argv[i]);
		return 0;
	}
	for (const char *d = "abc"; *d; d++) {
		char path[] = {'/', 't', 'm', 'p', '/', 'w', 'o', 'r', 'k', '/', *d, 0}, file[20];
		mkdir(path, 0755);
		snprintf(file, sizeof file, "%s/who", path);
		save(file, path);
	}
	if (chdir("/tmp/work/a") != 0)
		return 1;
	where("main");
	if (strcmp(kind, "threads") == 0)
		threads();
	else if (strcmp(kind, "clone") == 0)
		cloned();
	else if (strcmp(kind, "numbers") == 0)
		numbers();
	else if (strcmp(kind, "overlap") == 0)
		overlap();
	else
		return 2;
	where("main");
	return 0;
}
