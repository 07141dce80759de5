// raw HOSTPATH GUESTPATH: which calls stop for the tracer, under PRoot with the rewritten filter.
#include "page.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static struct stat st;
static char text[4096];

static void ask(const char *what, unsigned long at, long nr, long a, long b, long c, long d)
{
	long before = switches();
	long r = at ? call_from(at, nr, a, b, c, d) : syscall(nr, a, b, c, d);
	long stops = switches() - before;
	printf("%s: %s, %s\n", what, r < 0 ? "failed" : "done", stops == 0 ? "no stop" : "stopped");
	if (nr == SYS_openat && r >= 0)
		close(r);
}

int main(int argc, char **argv)
{
	struct utsname u;
	long in, out;

	if (argc != 3)
		return 2;
	const char *host = argv[1], *guest = argv[2];

	page_at(TRAMPOLINE);
	page_at(TRAMPOLINE + 4096);
	ask("stat of the host path from the page", TRAMPOLINE, SYS_newfstatat, AT_FDCWD, (long)host, (long)&st, 0);
	in = st.st_ino;
	ask("stat of the guest path from libc", 0, SYS_newfstatat, AT_FDCWD, (long)guest, (long)&st, 0);
	out = st.st_ino;
	printf("the same file: %s\n", in == out ? "yes" : "no");
	ask("stat of the host path from libc", 0, SYS_newfstatat, AT_FDCWD, (long)host, (long)&st, 0);
	ask("stat of the guest path from the page behind", TRAMPOLINE + 4096, SYS_newfstatat, AT_FDCWD, (long)guest, (long)&st, 0);
	ask("open from the page", TRAMPOLINE, SYS_openat, AT_FDCWD, (long)host, O_RDONLY, 0);
	ask("access from the page", TRAMPOLINE, SYS_faccessat, AT_FDCWD, (long)host, R_OK, 0);
	ask("readlink from the page", TRAMPOLINE, SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)text, sizeof text);
	ask("getcwd from the page, with an exit stop", TRAMPOLINE, SYS_getcwd, (long)text, sizeof text, 0, 0);
	ask("getcwd from libc", 0, SYS_getcwd, (long)text, sizeof text, 0, 0);
	ask("uname from the page, with an exit stop", TRAMPOLINE, SYS_uname, (long)&u, 0, 0, 0);
	ask("getppid from libc, which is not traced", 0, SYS_getppid, 0, 0, 0, 0);
	printf("LD_PRELOAD: %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "unset");
	return 0;
}
