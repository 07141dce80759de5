// The operations. Those that are one call are a table: the name, what the call leaves in its arguments' buffers (see
// put_out), and the call, made through libc's own function or, with the prefix sys_, through syscall().
#include "equiv.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define P(i) ((void *)a[i])

// X(name, outs, opens a descriptor, expression)
#define WRAPPERS \
	X(open, "---", 1, open(P(0), a[1], a[2])) \
	X(openat, "----", 1, openat(a[0], P(1), a[2], a[3])) \
	X(creat, "--", 1, creat(P(0), a[1])) \
	X(stat, "-S", 0, stat(P(0), P(1))) \
	X(lstat, "-S", 0, lstat(P(0), P(1))) \
	X(fstat, "-S", 0, fstat(a[0], P(1))) \
	X(fstatat, "--S-", 0, fstatat(a[0], P(1), P(2), a[3])) \
	X(statx, "----X", 0, statx(a[0], P(1), a[2], a[3], P(4))) \
	X(access, "--", 0, access(P(0), a[1])) \
	X(faccessat, "----", 0, faccessat(a[0], P(1), a[2], a[3])) \
	X(readlink, "-T-", 0, readlink(P(0), P(1), a[2])) \
	X(readlinkat, "--T-", 0, readlinkat(a[0], P(1), P(2), a[3])) \
	X(mkdir, "--", 0, mkdir(P(0), a[1])) \
	X(mkdirat, "---", 0, mkdirat(a[0], P(1), a[2])) \
	X(mknod, "---", 0, mknod(P(0), a[1], a[2])) \
	X(mknodat, "----", 0, mknodat(a[0], P(1), a[2], a[3])) \
	X(unlink, "-", 0, unlink(P(0))) \
	X(rmdir, "-", 0, rmdir(P(0))) \
	X(remove, "-", 0, remove(P(0))) \
	X(unlinkat, "---", 0, unlinkat(a[0], P(1), a[2])) \
	X(rename, "--", 0, rename(P(0), P(1))) \
	X(renameat, "----", 0, renameat(a[0], P(1), a[2], P(3))) \
	X(renameat2, "-----", 0, renameat2(a[0], P(1), a[2], P(3), a[4])) \
	X(symlink, "--", 0, symlink(P(0), P(1))) \
	X(symlinkat, "---", 0, symlinkat(P(0), a[1], P(2))) \
	X(link, "--", 0, link(P(0), P(1))) \
	X(linkat, "-----", 0, linkat(a[0], P(1), a[2], P(3), a[4])) \
	X(chmod, "--", 0, chmod(P(0), a[1])) \
	X(fchmod, "--", 0, fchmod(a[0], a[1])) \
	X(fchmodat, "----", 0, fchmodat(a[0], P(1), a[2], a[3])) \
	X(chown, "---", 0, chown(P(0), a[1], a[2])) \
	X(lchown, "---", 0, lchown(P(0), a[1], a[2])) \
	X(fchown, "---", 0, fchown(a[0], a[1], a[2])) \
	X(fchownat, "-----", 0, fchownat(a[0], P(1), a[2], a[3], a[4])) \
	X(utimensat, "----", 0, utimensat(a[0], P(1), P(2), a[3])) \
	X(futimens, "--", 0, futimens(a[0], P(1))) \
	X(truncate, "--", 0, truncate(P(0), a[1])) \
	X(ftruncate, "--", 0, ftruncate(a[0], a[1])) \
	X(statfs, "-F", 0, statfs(P(0), P(1))) \
	X(fstatfs, "-F", 0, fstatfs(a[0], P(1))) \
	X(getxattr, "--T-", 0, getxattr(P(0), P(1), P(2), a[3])) \
	X(lgetxattr, "--T-", 0, lgetxattr(P(0), P(1), P(2), a[3])) \
	X(fgetxattr, "--T-", 0, fgetxattr(a[0], P(1), P(2), a[3])) \
	X(setxattr, "-----", 0, setxattr(P(0), P(1), P(2), a[3], a[4])) \
	X(lsetxattr, "-----", 0, lsetxattr(P(0), P(1), P(2), a[3], a[4])) \
	X(fsetxattr, "-----", 0, fsetxattr(a[0], P(1), P(2), a[3], a[4])) \
	X(fremovexattr, "--", 0, fremovexattr(a[0], P(1))) \
	X(flistxattr, "-T-", 0, flistxattr(a[0], P(1), a[2])) \
	X(listxattr, "-T-", 0, listxattr(P(0), P(1), a[2])) \
	X(llistxattr, "-T-", 0, llistxattr(P(0), P(1), a[2])) \
	X(removexattr, "--", 0, removexattr(P(0), P(1))) \
	X(lremovexattr, "--", 0, lremovexattr(P(0), P(1))) \
	X(name_to_handle_at, "--HI-", 0, name_to_handle_at(a[0], P(1), P(2), P(3), a[4])) \
	X(inotify_init1, "-", 1, inotify_init1(a[0])) \
	X(inotify_add_watch, "---", 0, inotify_add_watch(a[0], P(1), a[2])) \
	X(chdir, "-", 0, chdir(P(0))) \
	X(fchdir, "-", 0, fchdir(a[0])) \
	X(getcwd, "G-", 0, getcwd(P(0), a[1]) ? 0 : -1) \
	X(uname, "U", 0, uname(P(0))) \
	X(getuid, "", 0, getuid()) \
	X(geteuid, "", 0, geteuid()) \
	X(getgid, "", 0, getgid()) \
	X(getegid, "", 0, getegid()) \
	X(getresuid, "VVV", 0, getresuid(P(0), P(1), P(2))) \
	X(getresgid, "VVV", 0, getresgid(P(0), P(1), P(2))) \
	X(getgroups, "--", 0, getgroups(a[0], P(1))) \
	X(umask, "-", 0, umask(a[0])) \
	X(socket, "---", 1, socket(a[0], a[1], a[2])) \
	X(bind, "---", 0, bind(a[0], P(1), a[2])) \
	X(connect, "---", 0, connect(a[0], P(1), a[2])) \
	X(listen, "--", 0, listen(a[0], a[1])) \
	X(accept, "-AL", 1, accept(a[0], P(1), P(2))) \
	X(accept4, "-AL-", 1, accept4(a[0], P(1), P(2), a[3])) \
	X(getsockname, "-AL", 0, getsockname(a[0], P(1), P(2))) \
	X(getpeername, "-AL", 0, getpeername(a[0], P(1), P(2))) \
	X(fcntl, "---", 0, fcntl(a[0], a[1], a[2])) \
	X(dup, "-", 1, dup(a[0])) \
	X(read, "-T-", 0, read(a[0], P(1), a[2])) \
	X(write, "---", 0, write(a[0], P(1), a[2])) \
	X(lseek, "---", 0, lseek(a[0], a[1], a[2]))

// X(name, outs, opens a descriptor)
#define CALLS \
	X(openat, "----", 1) X(openat2, "----", 1) X(newfstatat, "--S-", 0) X(fstat, "-S", 0) X(statx, "----X", 0) X(faccessat, "---", 0) \
	X(faccessat2, "----", 0) X(readlinkat, "--T-", 0) X(mkdirat, "---", 0) X(mknodat, "----", 0) X(unlinkat, "---", 0) \
	X(renameat, "----", 0) X(renameat2, "-----", 0) X(symlinkat, "---", 0) X(linkat, "-----", 0) X(fchmodat, "---", 0) \
	X(fchmodat2, "----", 0) X(fchmod, "--", 0) X(fchownat, "-----", 0) X(fchown, "---", 0) X(utimensat, "----", 0) X(truncate, "--", 0) \
	X(statfs, "-F", 0) X(fstatfs, "-F", 0) X(getxattr, "--T-", 0) X(lgetxattr, "--T-", 0) X(setxattr, "-----", 0) X(lsetxattr, "-----", 0) \
	X(listxattr, "-T-", 0) X(llistxattr, "-T-", 0) X(removexattr, "--", 0) X(lremovexattr, "--", 0) X(name_to_handle_at, "--HI-", 0) \
	X(inotify_add_watch, "---", 0) X(getcwd, "T-", 0) X(chdir, "-", 0) X(fchdir, "-", 0) X(uname, "U", 0) X(getuid, "", 0) \
	X(geteuid, "", 0) X(getgid, "", 0) X(getegid, "", 0) X(getresuid, "VVV", 0) X(getresgid, "VVV", 0) X(bind, "---", 0) \
	X(connect, "---", 0) X(accept4, "-AL-", 1) X(getsockname, "-AL", 0) X(getpeername, "-AL", 0) X(setresuid, "---", 0) X(setresgid, "---", 0) \
	X(setfsuid, "-", 0) X(setfsgid, "-", 0)

#define X(name, outs, opens, expr) static long do_##name(const long *a) { (void)a; return expr; }
WRAPPERS
#undef X

static const struct { const char *name, *outs; int opens; long (*run)(const long *); } wrappers[] = {
#define X(name, outs, opens, expr) {#name, outs, opens, do_##name},
WRAPPERS
#undef X
};

static const struct { const char *name, *outs; int opens; long nr; } calls[] = {
#define X(name, outs, opens) {"sys_" #name, outs, opens, SYS_##name},
CALLS
#undef X
};

enum { first_call = 100, first_special = 200 }; // in the numbers that find_op gives

// call runs an operation that is one call. Errno is as the call left it.
long call(const struct line *l, const struct arg *args, const char **outs, int *opens)
{
	long a[max_args];
	for (int i = 0; i < max_args; i++)
		a[i] = i < l->nargs ? args[i].value : 0;
	*outs = NULL;
	if (l->index >= 0 && l->index < first_call) {
		*outs = wrappers[l->index].outs;
		*opens = wrappers[l->index].opens;
		errno = 0;
		return wrappers[l->index].run(a);
	}
	if (l->index >= first_call && l->index < first_special) {
		int i = l->index - first_call;
		*outs = calls[i].outs;
		*opens = calls[i].opens;
		errno = 0;
		return syscall(calls[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	errno = ENOSYS;
	return -1;
}

static void store(int slot, int fd)
{
	if (slot < 0 || slot >= max_slots)
		return;
	if (slots[slot] >= 0)
		close(slots[slot]);
	slots[slot] = fd;
}

// passing says whether a name is that of a process, or of a descriptor too high for the script's own: such come and
// go on their own.
static int passing(const char *name)
{
	size_t n = strspn(name, "0123456789");
	return name[n] == 0 && n >= 3 && n <= 7;
}

static void list(DIR *d)
{
	struct dirent *e;
	if (d == NULL) {
		put(" = -1 errno %d", errno);
		return;
	}
	errno = 0;
	while ((e = readdir(d))) {
		if (passing(e->d_name))
			continue;
		put(" %d", e->d_type);
		put_bytes(e->d_name, strlen(e->d_name), 0);
	}
	put(" errno %d", errno);
	closedir(d);
}

static void do_close(const struct line *l, const struct arg *a)
{
	(void)l;
	if (a[0].value >= 0 && a[0].value < max_slots) {
		int i = a[0].value, r = slots[i] >= 0 ? close(slots[i]) : -2;
		slots[i] = -1;
		put(" = %d", r);
	}
}

static void do_pair(const struct line *l, int r, const int fds[2])
{
	put(" = %d %d %d", r, r ? 0 : fds[0], r ? 0 : fds[1]);
	if (r)
		return;
	if (l->slot >= 0 && l->slot + 1 < max_slots) {
		store(l->slot, fds[0]);
		store(l->slot + 1, fds[1]);
	} else {
		close(fds[0]);
		close(fds[1]);
	}
}

static void do_pipe(const struct line *l, const struct arg *a)
{
	int fds[2];
	(void)a;
	do_pair(l, pipe2(fds, O_NONBLOCK), fds);
}

static void do_socketpair(const struct line *l, const struct arg *a)
{
	int fds[2];
	(void)a;
	do_pair(l, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), fds);
}

static void do_ls(const struct line *l, const struct arg *a)
{
	(void)l;
	list(opendir((char *)a[0].value));
}

static void do_lsat(const struct line *l, const struct arg *a)
{
	(void)l;
	int fd = openat(a[0].value, (char *)a[1].value, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int err = errno;
	if (fd >= 0 && d == NULL)
		close(fd);
	errno = err;
	list(d);
}

static void do_realpath(const struct line *l, const struct arg *a)
{
	char *p = realpath((char *)a[0].value, NULL);
	(void)l;
	if (p) {
		put(" ");
		put_bytes(p, strlen(p), 0);
	} else
		put(" errno %d", errno);
	free(p);
}

// cat shows the beginning of a file.
static void do_cat(const struct line *l, const struct arg *a)
{
	char text[65];
	int fd = open((char *)a[0].value, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	(void)l;
	if (fd < 0) {
		put(" errno %d", errno);
		return;
	}
	struct stat st;
	long n = read(fd, text, sizeof text - 1);
	if (svc(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 && st.st_dev != world_dev)
		put(" something %d", n > 0); // of the kernel's, which changes by itself
	else {
		put(" %ld ", n);
		put_bytes(text, n > 0 ? n : 0, 1);
	}
	close(fd);
}

// save writes a file.
static void do_save(const struct line *l, const struct arg *a)
{
	int fd = open((char *)a[0].value, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644);
	(void)l;
	if (fd < 0) {
		put(" errno %d", errno);
		return;
	}
	put(" = %ld", (long)write(fd, (char *)a[1].value, strlen((char *)a[1].value)));
	close(fd);
}

// Operations that are more than one call.
static const struct { const char *name; void (*run)(const struct line *, const struct arg *); } specials[] = {
	{"close", do_close}, {"pipe", do_pipe}, {"socketpair", do_socketpair}, {"ls", do_ls}, {"lsat", do_lsat}, {"realpath", do_realpath},
	{"cat", do_cat}, {"save", do_save},
};

int is_special(const struct line *l) { return l->index >= first_special; }

void special(const struct line *l, const struct arg *args)
{
	errno = 0;
	specials[l->index - first_special].run(l, args);
}

// find_op gives the number of an operation, or -1.
int find_op(const char *name)
{
	_Static_assert(sizeof wrappers / sizeof *wrappers <= first_call && sizeof calls / sizeof *calls <= first_special - first_call, "numbers overlap");
	for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
		if (strcmp(name, wrappers[i].name) == 0)
			return i;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(name, calls[i].name) == 0)
			return first_call + i;
	for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
		if (strcmp(name, specials[i].name) == 0)
			return first_special + i;
	return -1;
}
