// spaces loads libraries late, and a second C library in a namespace of its own, which nothing has patched. What one of
// the two C libraries changes, the other must see:
//
//   spaces DIR        DIR: an empty directory; beside this program lies libplugin.so
#include "../../guest.h"
#include <dlfcn.h>

static struct {
	int (*open)(const char *, int, ...);
	int (*close)(int);
	int (*access)(const char *, int);
	int (*chdir)(const char *);
	int (*rename)(const char *, const char *);
	int (*unlink)(const char *);
	int (*symlink)(const char *, const char *);
	char *(*getcwd)(char *, size_t);
	ssize_t (*readlink)(const char *, char *, size_t);
	int *(*errno_location)(void);
} second;

static void *find(void *h, const char *name)
{
	void *p = dlsym(h, name);
	if (p == NULL) {
		printf("no %s: %s\n", name, dlerror());
		exit(1);
	}
	return p;
}

static void load_second(void)
{
	void *h = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	if (h == NULL) {
		printf("dlmopen: %s\n", dlerror());
		exit(1);
	}
	second.open = find(h, "open");
	second.close = find(h, "close");
	second.access = find(h, "access");
	second.chdir = find(h, "chdir");
	second.rename = find(h, "rename");
	second.unlink = find(h, "unlink");
	second.symlink = find(h, "symlink");
	second.getcwd = find(h, "getcwd");
	second.readlink = find(h, "readlink");
	second.errno_location = find(h, "__errno_location");
	printf("two C libraries %s\n", (void *)second.open != (void *)open ? "yes" : "no");
}

// see prints how a file looks through both.
static void see(const char *path)
{
	brief_stat(path);
	say("access", access(path, R_OK));
	errno = 0;
	int fd = open(path, O_RDONLY);
	say("open", fd < 0 ? -1 : 0);
	if (fd >= 0)
		close(fd);
	*second.errno_location() = 0;
	fd = second.open(path, O_RDONLY);
	printf("second open %d errno %d\n", fd < 0 ? -1 : 0, *second.errno_location());
	if (fd >= 0)
		second.close(fd);
	int r = second.access(path, R_OK);
	printf("second access %d errno %d\n", r, r ? *second.errno_location() : 0);
}

static void where(const char *dir)
{
	char a[4096] = "", b[4096] = "";
	char *p = getcwd(a, sizeof a), *q = second.getcwd(b, sizeof b);
	size_t n = strlen(dir);
	printf("in %s and %s\n", p ? strncmp(a, dir, n) ? a : a + n : "?", q ? strncmp(b, dir, n) ? b : b + n : "?");
}

int main(int argc, char **argv)
{
	char dir[4096], plugin[4096], *slash;
	if (argc != 2 || chdir(argv[1]) != 0 || getcwd(dir, sizeof dir) == NULL)
		return 2;
	mkdir("one", 0755);
	mkdir("two", 0755);
	mkdir("one/below", 0755);
	write_file("file", "text");
	write_file("one/first", "1");
	write_file("two/second", "22");
	symlink("one", "link");

	snprintf(plugin, sizeof plugin, "%s", argv[0]);
	slash = strrchr(plugin, '/');
	strcpy(slash ? slash + 1 : plugin, "libplugin.so");
	void *h = dlopen(plugin, RTLD_NOW);
	int (*f)(int) = h ? (int (*)(int))dlsym(h, "plugin") : NULL;
	printf("loaded late %d\n", f ? f(41) : -1);
	void *m = dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW);
	f = m ? (int (*)(int))dlsym(m, "plugin") : NULL;
	printf("loaded late and apart %d\n", f ? f(42) : -1);

	load_second();
	see("file");
	see("missing");
	see("link/first");

	puts("a move through the second");
	say("chdir", second.chdir("one"));
	where(dir);
	see("first");
	see("file");
	see("../file");

	puts("a move through the first");
	say("chdir", chdir("../two"));
	where(dir);
	see("second");
	see("first");

	puts("another through the second");
	say("chdir", second.chdir(dir));
	where(dir);
	see("file");
	see("link/first");

	puts("a link is turned");
	say("unlink", second.unlink("link"));
	say("symlink", second.symlink("two", "link"));
	see("link/second");
	see("link/first");

	puts("directories change names");
	see("one/first");
	say("rename", second.rename("one", "three"));
	say("rename", second.rename("two", "one"));
	see("one/second");
	see("one/first");
	see("three/first");
	say("chdir", second.chdir("three/below"));
	say("rename", second.rename("../../three", "../../four"));
	where(dir);
	see("../first");
	return 0;
}
