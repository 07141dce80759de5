// What each function does when a cancellation is pending before it is called: act on it before anything is done, or
// not notice.
#include "case.h"
#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#ifdef __GLIBC__
#include <fts.h>
#endif

static long no_error(const void *p) { return p ? 0 : -1; }
static long opened(int fd) { return fd < 0 ? -1 : 0; }
static long call_open(void) { return opened(open("file", O_RDONLY)); }
static long call_create(void) { return opened(open("new", O_WRONLY | O_CREAT | O_EXCL, 0600)); }
static long call_creat(void) { return opened(creat("new", 0600)); }
static long call_openat(void) { return opened(openat(AT_FDCWD, "new", O_WRONLY | O_CREAT, 0600)); }
static long call_syscall(void) { return opened(syscall(SYS_openat, AT_FDCWD, "new", O_WRONLY | O_CREAT, 0600)); }
static long call_close(void) { return close(0) == 0 && fcntl(0, F_GETFD) == -1 ? 0 : -1; }
static long call_fopen(void) { return no_error(fopen("file", "r")); }
static long call_opendir(void) { return no_error(opendir(".")); }
static long call_access(void) { return access("file", R_OK); }
static long call_mkdir(void) { return mkdir("new", 0700); }
static long call_rename(void) { return rename("file", "new"); }
static long call_unlink(void) { return unlink("file"); }
static long call_symlink(void) { return symlink("file", "new"); }
static long call_chdir(void) { return chdir(".."); }
static long call_truncate(void) { return truncate("file", 0); }
static long call_getxattr(void) { return getxattr("file", "user.none", NULL, 0); }
static long call_dlopen(void) { return no_error(dlopen("./none.so", RTLD_NOW)); }
static long call_realpath(void) { return no_error(realpath("file", NULL)); }
static long call_passwd(void) { return no_error(getpwnam("user")); }
static long call_group(void) { return no_error(getgrnam("user")); }
static long call_wait(void) { return wait(NULL); }
static long call_waitpid(void) { return waitpid(-1, NULL, WNOHANG); }
static long call_system(void) { return system("exit 3") == 3 << 8 ? 0 : -1; }
static long call_read(void) { char c; return read(0, &c, 1); }
static long call_sleep(void) { return usleep(1000); }
static long call_lock(void) { struct flock l = {.l_type = F_RDLCK}; return fcntl(0, F_SETLKW, &l); }
static long call_getfl(void) { return fcntl(0, F_GETFL) == -1 ? -1 : 0; }

static long call_stat(void)
{
	struct stat st;
	return stat("file", &st);
}

static long call_statfs(void)
{
	struct statfs st;
	return statfs("file", &st);
}

static long call_readlink(void)
{
	char buf[64];
	return readlink("link", buf, sizeof buf) == 4 ? 0 : -1;
}

static long call_getcwd(void)
{
	char buf[4096];
	return no_error(getcwd(buf, sizeof buf));
}

static long call_glob(void)
{
	glob_t g;
	return glob("./f*", 0, NULL, &g) == 0 && g.gl_pathc == 1 ? 0 : -1;
}

static long call_mkstemp(void)
{
	char name[] = "newXXXXXX";
	return opened(mkstemp(name));
}

static int visit(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	(void)path, (void)st, (void)what, (void)ftw;
	return 0;
}

static long call_nftw(void) { return nftw(".", visit, 4, FTW_PHYS); }

static long call_lookup(void)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_NUMERICHOST}, *list;
	return getaddrinfo("127.0.0.1", NULL, &hints, &list) == 0 ? 0 : -1;
}

static long call_popen(void)
{
	FILE *f = popen("exit 4", "r");
	return f && pclose(f) == 4 << 8 ? 0 : -1;
}

#ifdef __GLIBC__
static long call_fts(void)
{
	char *paths[] = {".", NULL};
	FTS *f = fts_open(paths, FTS_PHYSICAL, NULL);
	int n = 0;
	while (f && fts_read(f))
		n++;
	return f && fts_close(f) == 0 && n >= 4 ? 0 : -1;
}

static long call_statx(void)
{
	struct statx st;
	return statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &st);
}
#endif

static const struct {
	const char *name;
	long (*call)(void);
	int both; // also with cancellation disabled
} functions[] = {
	{"open", call_open, 1}, {"open-creating", call_create, 1}, {"creat", call_creat, 0}, {"openat", call_openat, 1},
	{"syscall-openat", call_syscall, 0}, {"close", call_close, 0}, {"fopen", call_fopen, 0}, {"opendir", call_opendir, 1},
	{"stat", call_stat, 0}, {"access", call_access, 0}, {"readlink", call_readlink, 0}, {"getcwd", call_getcwd, 0},
	{"statfs", call_statfs, 0}, {"mkdir", call_mkdir, 0}, {"rename", call_rename, 0}, {"unlink", call_unlink, 0},
	{"symlink", call_symlink, 0}, {"chdir", call_chdir, 0}, {"truncate", call_truncate, 0}, {"getxattr", call_getxattr, 0},
	{"dlopen", call_dlopen, 0}, {"realpath", call_realpath, 0}, {"glob", call_glob, 0}, {"nftw", call_nftw, 0},
	{"mkstemp", call_mkstemp, 1}, {"getpwnam", call_passwd, 0}, {"getgrnam", call_group, 0}, {"getaddrinfo", call_lookup, 0},
	{"wait", call_wait, 1}, {"waitpid", call_waitpid, 0}, {"system", call_system, 1}, {"popen", call_popen, 0},
	{"read", call_read, 0}, {"usleep", call_sleep, 0}, {"setlkw", call_lock, 1}, {"getfl", call_getfl, 0},
#ifdef __GLIBC__
	{"fts", call_fts, 0}, {"statx", call_statx, 0},
#endif
};

enum { count = sizeof functions / sizeof *functions };

// pick finds the function of a case and whether cancellation is disabled in it. It is false after the last case.
static int pick(int i, int *function, int *disabled)
{
	for (int f = 0; f < count; f++) {
		int n = functions[f].both ? 2 : 1;
		if (i < n) {
			*function = f;
			*disabled = i;
			return 1;
		}
		i -= n;
	}
	return 0;
}

static const char *name(int i)
{
	static char text[64];
	int f, disabled;
	if (!pick(i, &f, &disabled))
		return NULL;
	snprintf(text, sizeof text, "pending-before-%s%s", functions[f].name, disabled ? "-disabled" : "");
	return text;
}

static void exists(const char *path)
{
	struct stat st;
	tell("%s %s", path, lstat(path, &st) == 0 ? S_ISDIR(st.st_mode) ? "is a directory" : st.st_size ? "has text" : "is empty" : "is not there");
}

static struct victim v;
static long (*call)(void);

// cancelled_by_itself makes the cancellation pending in the thread, where its state and type say that it waits.
static long cancelled_by_itself(void)
{
	int old;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(old, NULL);
	errno = 0;
	return call();
}

static void run(int i)
{
	make("file", "text");
	if (symlink("file", "link") != 0 || dup2(open("file", O_RDONLY), 0) != 0)
		tell("no files: errno %d", errno);
	int f = 0, disabled = 0;
	pick(i, &f, &disabled);
	call = functions[f].call;
	v.call = cancelled_by_itself;
	v.state = disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	v.test = 1;
	start(&v);
	if (!over(&v, 1000))
		tell("hangs");
	finish(&v);
	exists("file");
	exists("new");
}

const struct kind pending_kind = {name, run};
