// One short use of each function. Closing a file is part of it: PRoot 5.4.0 leaves close alone. It does not know
// faccessat2, so that faccessat with flags gives wrong answers under it; that is left out.
#include "functions.h"
#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <libgen.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifdef __GLIBC__
#include <fts.h>
#endif

// The files: a directory with a file, a link to the file, and a directory with another file.
static char dir[1024], file[1100], link_name[1100], pattern[1100], plugin[1100];
static int dirfd_of_dir;

static int is_file(const struct stat *st) { return S_ISREG(st->st_mode) && st->st_size == 4; }

static int closing(int fd)
{
	char text[8];
	return fd >= 0 && read(fd, text, sizeof text) == 4 && memcmp(text, "text", 4) == 0 && close(fd) == 0;
}

static int call_open(void) { return closing(open(file, O_RDONLY | O_CLOEXEC)); }
static int call_open_relative(void) { return closing(open("file", O_RDONLY)); }
static int call_open_link(void) { return closing(open(link_name, O_RDONLY)); }
static int call_openat(void) { return closing(openat(dirfd_of_dir, "file", O_RDONLY)); }
static int call_open_write(void) { int fd = open(file, O_RDWR | O_CREAT, 0600); return closing(fd); }
static int call_open_missing(void) { return open("missing", O_RDONLY) == -1 && errno == ENOENT; }
static int call_syscall_openat(void) { return closing(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY, 0)); }
static int call_access(void) { return access(file, R_OK) == 0; }

static int call_fopen(void)
{
	char text[8] = "";
	FILE *f = fopen(file, "r");
	return f && fgets(text, sizeof text, f) && strcmp(text, "text") == 0 && fclose(f) == 0;
}

static int call_freopen(void)
{
	FILE *f = fopen(file, "r");
	return f && (f = freopen(link_name, "r", f)) && fgetc(f) == 't' && fclose(f) == 0;
}

static int call_opendir(void)
{
	int n = 0;
	DIR *d = opendir(dir);
	while (d && readdir(d))
		n++;
	return d && closedir(d) == 0 && n == 5;
}

static int call_scandir(void)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n > 0)
		free(list);
	return n == 5;
}

static int call_stat(void)
{
	struct stat st;
	return stat(link_name, &st) == 0 && is_file(&st);
}

static int call_lstat(void)
{
	struct stat st;
	return lstat(link_name, &st) == 0 && S_ISLNK(st.st_mode);
}

static int call_fstatat(void)
{
	struct stat st;
	return fstatat(dirfd_of_dir, "file", &st, 0) == 0 && is_file(&st);
}

static int call_fstat(void)
{
	struct stat st;
	return fstat(dirfd_of_dir, &st) == 0 && S_ISDIR(st.st_mode);
}

static int call_syscall_statx(void)
{
	struct {
		unsigned int mask, blksize;
		unsigned long attributes;
		unsigned int nlink, uid, gid;
		unsigned short mode, spare;
		unsigned long ino, size, rest[26];
	} st;
	return syscall(SYS_statx, AT_FDCWD, file, 0, 0x7ff, &st) == 0 && S_ISREG(st.mode) && st.size == 4;
}

static int call_syscall_stat(void)
{
	struct stat st;
	return syscall(SYS_newfstatat, AT_FDCWD, file, &st, 0) == 0 && is_file(&st);
}

static int call_syscall_access(void) { return syscall(SYS_faccessat, AT_FDCWD, file, R_OK) == 0; }

static int call_readlink(void)
{
	char text[64];
	return readlink(link_name, text, sizeof text) == 4;
}

static int call_realpath(void)
{
	char *p = realpath(link_name, NULL);
	int good = p && strcmp(p, file) == 0;
	free(p);
	return good;
}

static int call_glob(void)
{
	glob_t g;
	int good = glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc == 1 && strcmp(g.gl_pathv[0], file) == 0;
	globfree(&g);
	return good;
}

static int visited;

static int visit(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	(void)path, (void)st, (void)ftw;
	visited += what != FTW_NS && what != FTW_DNR;
	return 0;
}

static int visit_simply(const char *path, const struct stat *st, int what) { return visit(path, st, what, NULL); }

static int call_nftw(void)
{
	visited = 0;
	return nftw(dir, visit, 4, FTW_PHYS) == 0 && visited == 5;
}

static int call_ftw(void)
{
	visited = 0;
	return ftw(dir, visit_simply, 4) == 0 && visited == 5;
}

#ifdef __GLIBC__
static int call_statx(void)
{
	struct statx st;
	return statx(AT_FDCWD, file, 0, STATX_BASIC_STATS, &st) == 0 && S_ISREG(st.stx_mode) && st.stx_size == 4;
}

// Without FTS_NOCHDIR the walk changes the current directory, of which PRoot has to know.
static int call_fts(void)
{
	char *paths[] = {dir, NULL};
	int n = 0;
	FTS *f = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	while (f && (e = fts_read(f)))
		n += e->fts_info != FTS_ERR && e->fts_info != FTS_DNR && e->fts_info != FTS_NS;
	return f && fts_close(f) == 0 && n == 7;
}
#endif

static int call_getpwnam(void)
{
	struct passwd *p = getpwnam("user");
	return p && p->pw_uid == 1000;
}

static int call_getpwuid(void)
{
	struct passwd *p = getpwuid(1000);
	return p && strcmp(p->pw_name, "user") == 0;
}

static int call_getgrnam(void)
{
	struct group *g = getgrnam("user");
	return g && g->gr_gid == 1000;
}

static int call_getaddrinfo(void)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *list;
	if (getaddrinfo("rig", NULL, &hints, &list) != 0)
		return 0;
	int good = list->ai_addrlen == 16 && list->ai_next == NULL;
	freeaddrinfo(list);
	return good;
}

static int call_gethostbyname(void)
{
	struct hostent *h = gethostbyname("localhost");
	return h && h->h_length == 4 && memcmp(h->h_addr_list[0], "\x7f\0\0\1", 4) == 0;
}

static int loads(const char *name, const char *symbol)
{
	void *h = dlopen(name, RTLD_NOW);
	return h && dlsym(h, symbol) && dlclose(h) == 0;
}

static int call_dlopen(void) { return loads(plugin, "plugin"); }

const struct function functions[] = {
	{"open", call_open},
	{"open-relative", call_open_relative},
	{"open-link", call_open_link},
	{"open-write", call_open_write},
	{"open-missing", call_open_missing},
	{"openat", call_openat},
	{"fopen", call_fopen},
	{"freopen", call_freopen},
	{"opendir", call_opendir},
	{"scandir", call_scandir},
	{"stat", call_stat},
	{"lstat", call_lstat},
	{"fstat", call_fstat},
	{"fstatat", call_fstatat},
	{"access", call_access},
	{"readlink", call_readlink},
	{"realpath", call_realpath},
	{"glob", call_glob},
	{"ftw", call_ftw},
	{"nftw", call_nftw},
#ifdef __GLIBC__
	{"statx", call_statx},
	{"fts", call_fts},
#endif
	{"getpwnam", call_getpwnam},
	{"getpwuid", call_getpwuid},
	{"getgrnam", call_getgrnam},
	{"getaddrinfo", call_getaddrinfo},
	{"gethostbyname", call_gethostbyname},
	{"dlopen", call_dlopen},
	{"syscall-openat", call_syscall_openat},
	{"syscall-statx", call_syscall_statx},
	{"syscall-newfstatat", call_syscall_stat},
	{"syscall-faccessat", call_syscall_access},
	{NULL, NULL},
};

static int write_text(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	return fd >= 0 && write(fd, "text", 4) == 4 && close(fd) == 0 ? 0 : -1;
}

int prepare(const char *program, const char *where)
{
	char copy[1024];
	if (realpath(where, dir) == NULL || chdir(dir) != 0 || strlen(program) >= sizeof copy)
		return -1;
	strcpy(copy, program);
	snprintf(file, sizeof file, "%s/file", dir);
	snprintf(link_name, sizeof link_name, "%s/link", dir);
	snprintf(pattern, sizeof pattern, "%s/f*e", dir);
	snprintf(plugin, sizeof plugin, "%s/libplugin.so", dirname(copy));
	if (write_text("file") != 0 || symlink("file", "link") != 0 || mkdir("sub", 0755) != 0 || write_text("sub/other") != 0)
		return -1;
	dirfd_of_dir = open(dir, O_RDONLY | O_DIRECTORY);
	return dirfd_of_dir < 0;
}
