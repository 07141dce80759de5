// paths asks the system about every path of a list in many ways and prints all answers.
//
//   paths [-u UID] LIST
//
// LIST has one item a line: "P path" is tried from the current directory, "D dir" is opened and every
// "R path" is tried relative to it. \xNN stands for a byte.
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>

enum { max_items = 4096 };

static char *items[3][max_items];
static int counts[3];

static char *unescape(char *s)
{
	char *out = s, *to = s;
	for (; *s && *s != '\n'; s++) {
		unsigned v;
		if (s[0] == '\\' && s[1] == 'x' && s[2] && s[3]) {
			char hex[3] = {s[2], s[3], 0};
			v = strtoul(hex, NULL, 16);
			*to++ = v;
			s += 3;
		} else
			*to++ = *s;
	}
	*to = 0;
	return out;
}

static int load(const char *name)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(name, "r");
	if (f == NULL) {
		fprintf(stderr, "paths: cannot read %s: %s\n", name, strerror(errno));
		return 2;
	}
	while (getline(&line, &room, f) > 0) {
		int kind = line[0] == 'P' ? 0 : line[0] == 'D' ? 1 : 2;
		if (counts[kind] == max_items) {
			fputs("paths: the list is too long\n", stderr);
			return 2;
		}
		items[kind][counts[kind]++] = strdup(unescape(line + 2));
	}
	free(line);
	fclose(f);
	return 0;
}

static int is_loose(int dirloose, const char *path)
{
	return dirloose || strstr(path, "proc") != NULL || strstr(path, "fd0") != NULL ||
		strncmp(path, "/dev/fd/", 8) == 0;
}

// Directories that PRoot makes to hold bindings have new inode numbers in every run.
static struct stat glue[3];

static void find_glue(void)
{
	static const char *const names[] = {"/b", "/glue", "/glue/a"};
	for (int i = 0; i < 3; i++)
		if (stat(names[i], &glue[i]) != 0)
			memset(&glue[i], 0, sizeof glue[i]);
}

static void put_result(int ret, int err, struct stat *st, int loose)
{
	for (int i = 0; ret == 0 && i < 3; i++)
		if (glue[i].st_ino == st->st_ino && glue[i].st_dev == st->st_dev)
			st->st_ino = 1000000 + i;
	put_stat(ret, err, st, loose);
}

static void show_stat(const char *what, int dir, const char *path, int flags, int loose)
{
	struct stat st;
	memset(&st, 0, sizeof st);
	errno = 0;
	int r = fstatat(dir, path, &st, flags);
	printf("%s %x ", what, flags);
	put_text(path);
	put_result(r, errno, &st, loose);
}

static void show_open(int dir, const char *path, int flags, int loose)
{
	struct stat st;
	errno = 0;
	int fd = openat(dir, path, flags, 0600);
	int err = errno;
	printf("open %x ", flags);
	put_text(path);
	if (fd < 0) {
		printf(" = -1 errno %d\n", err);
		return;
	}
	char text[16] = "";
	long n = flags & O_PATH ? 0 : pread(fd, text, sizeof text - 1, 0);
	printf(" = fd getfl %x getfd %x read %ld", fcntl(fd, F_GETFL), fcntl(fd, F_GETFD), loose ? 0 : n);
	if (!loose && n > 0) {
		text[n] = 0;
		putchar(' ');
		put_text(text);
	}
	int r = fstat(fd, &st);
	put_result(r, errno, &st, loose);
	close(fd);
}

// show_all tries a path in the usual ways, and now and then in the rarer ones: a call under PRoot is slow.
static void show_all(int dir, int dirloose, const char *path)
{
	static int turn;
	struct stat st;
	int loose = is_loose(dirloose, path), r;

	turn++;
	show_stat("stat", dir, path, 0, loose);
	show_stat("stat", dir, path, AT_SYMLINK_NOFOLLOW, loose);
	show_open(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, loose);
	if (turn % 2)
		show_open(dir, path, O_PATH | O_NOFOLLOW, loose);
	if (turn % 3 == 0)
		show_open(dir, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, loose);
	if (turn % 4 == 0)
		show_open(dir, path, O_RDONLY | O_DIRECTORY, loose);
	if (turn % 5 == 0) {
		errno = 0;
		r = syscall(SYS_newfstatat, dir, path, &st, 0);
		fputs("syscall ", stdout);
		put_text(path);
		put_result(r, errno, &st, loose);
	}
	if (turn % 16 == 0) {
		errno = 0;
		printf("access = %d", faccessat(dir, path, R_OK, 0));
		printf(" errno %d\n", errno);
	}
}

// show_flags tries what a careless or hostile caller passes.
static void show_flags(const char *path)
{
	struct stat st;
	char name[300], *page, *edge;
	size_t size = sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDONLY), r;
	int dir = open("/", O_RDONLY | O_DIRECTORY);
	static const int flags[] = {AT_EMPTY_PATH, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT, AT_SYMLINK_FOLLOW, 0x10000, -1, 0x2000, 0x4000};
	static const int modes[] = {O_WRONLY, O_RDWR, O_WRONLY | O_RDWR, O_RDONLY | O_DIRECTORY, O_CREAT | O_EXCL | O_WRONLY, O_RDONLY | O_NOATIME, O_RDONLY | O_DIRECT, O_RDONLY | O_SYNC, O_RDONLY | 0x40000000, O_PATH, O_PATH | O_DIRECTORY, O_RDONLY | O_NOCTTY | O_CLOEXEC};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		show_stat("flags", AT_FDCWD, path, flags[i], 0);
		show_stat("flags", AT_FDCWD, "", flags[i], 0);
		show_stat("flags-fd", fd, "", flags[i], 0);
		show_stat("flags-dir", dir, "etc", flags[i], 0);
		show_stat("flags-dir", dir, "", flags[i], 0);
	}
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		show_open(AT_FDCWD, path, modes[i], 0);
	static const int bad[] = {-1, 999, -2, -101, 0x7fffffff};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		show_stat("badfd", bad[i], "etc", 0, 0);
		show_stat("badfd", bad[i], path, 0, 0);
		show_stat("badfd", bad[i], "", AT_EMPTY_PATH, 0);
		show_open(bad[i], "etc", O_RDONLY, 0);
	}
	show_stat("filefd", fd, "etc", 0, 0);
	show_stat("filefd", fd, "", 0, 0);
	show_stat("filefd", fd, ".", 0, 0);
	show_stat("filefd", fd, path, 0, 0);

	// Pointers: nowhere, in the kernel, strings that end at or run over the end of the mapping, buffers likewise.
	page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + size, size, PROT_NONE);
	edge = page + size;
	static const unsigned long nowhere[] = {0, 1, 4096, 0xffffffffffffff00UL, 0x8000000000000000UL, 0xfff000000000UL};
	for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
		errno = 0;
		r = syscall(SYS_newfstatat, AT_FDCWD, nowhere[i], &st, 0);
		printf("path %lx = %d errno %d\n", nowhere[i], r, errno);
		errno = 0;
		r = syscall(SYS_openat, AT_FDCWD, nowhere[i], O_RDONLY);
		printf("open path %lx = %d errno %d\n", nowhere[i], r, errno);
		for (int f = 0; f <= AT_SYMLINK_NOFOLLOW; f += AT_SYMLINK_NOFOLLOW) {
			errno = 0;
			r = syscall(SYS_newfstatat, AT_FDCWD, path, nowhere[i], f);
			printf("buffer %lx = %d errno %d\n", nowhere[i], r, errno);
			errno = 0;
			r = syscall(SYS_newfstatat, AT_FDCWD, "/no/such/file", nowhere[i], f);
			printf("missing, buffer %lx = %d errno %d\n", nowhere[i], r, errno);
			errno = 0;
			r = syscall(SYS_newfstatat, AT_FDCWD, "/c/rel-file", nowhere[i], f);
			printf("link, buffer %lx = %d errno %d\n", nowhere[i], r, errno);
		}
	}
	size_t n = strlen(path);
	memcpy(edge - n - 1, path, n + 1);
	show_stat("edge", AT_FDCWD, edge - n - 1, 0, 0);
	show_open(AT_FDCWD, edge - n - 1, O_RDONLY, 0);
	memcpy(edge - n, path, n);
	errno = 0;
	r = fstatat(AT_FDCWD, edge - n, &st, 0);
	printf("over the edge = %d errno %d\n", r, errno);
	errno = 0;
	r = openat(AT_FDCWD, edge - n, O_RDONLY);
	printf("open over the edge = %d errno %d\n", r, errno);
	for (int gap = 0; gap <= 144; gap += 8) {
		memset(page, 0xa5, size);
		errno = 0;
		r = fstatat(AT_FDCWD, path, (struct stat *)(edge - gap), 0);
		printf("buffer %d before the edge = %d errno %d", gap, r, errno);
		int touched = 0;
		for (int i = 1; i <= 256; i++)
			touched += (unsigned char)edge[-i] != 0xa5;
		printf(" %s\n", r == 0 ? touched > 0 ? "written" : "untouched" : "");
	}
	memset(page, 0x5a, size);
	r = fstatat(AT_FDCWD, path, (struct stat *)(page + 512), 0);
	int outside = 0;
	for (size_t i = 0; i < size; i++)
		outside += (i < 512 || i >= 512 + sizeof st) && (unsigned char)page[i] != 0x5a;
	printf("bytes outside the buffer changed: %d\n", outside);
	memset(page, 0x5a, size);
	errno = 0;
	r = fstatat(AT_FDCWD, "/no/such/file", (struct stat *)page, 0);
	outside = 0;
	for (size_t i = 0; i < size; i++)
		outside += (unsigned char)page[i] != 0x5a;
	printf("missing = %d errno %d, bytes of the buffer changed: %d\n", r, errno, outside);
	mprotect(page, size, PROT_READ);
	errno = 0;
	r = fstatat(AT_FDCWD, path, (struct stat *)page, 0);
	printf("read-only buffer = %d errno %d\n", r, errno);
	munmap(page, 2 * size);

	// Lengths.
	for (int len = 254; len <= 257; len++) {
		name[0] = '/';
		memset(name + 1, 'n', len);
		name[len + 1] = 0;
		show_stat("length", AT_FDCWD, name, 0, 0);
		show_open(AT_FDCWD, name, O_RDONLY, 0);
		show_stat("length", dir, name + 1, 0, 0);
	}
	static const int lengths[] = {1000, 1023, 1024, 1025, 2047, 4094, 4095, 4096, 4097, 9000};
	char *path2 = malloc(10000);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (int kind = 0; kind < 4; kind++) {
			int len = lengths[i], at = 0;
			// Slashes, "/." and "/a/..": then the file itself, so that the whole has the length asked for.
			static const char *const fills[] = {"/", "/.", "/etc/..", "/nothere"};
			size_t fl = strlen(fills[kind]);
			while (at + (int)fl + (int)n <= len) {
				memcpy(path2 + at, fills[kind], fl);
				at += fl;
			}
			while (at + (int)n < len)
				path2[at++] = '/';
			memcpy(path2 + at, path, n + 1);
			show_stat("length", AT_FDCWD, path2, 0, 0);
			show_open(AT_FDCWD, path2, O_RDONLY, 0);
		}
	free(path2);
	close(fd);
	close(dir);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "-u") == 0) {
		int uid = atoi(argv[2]);
		argv += 2;
		argc -= 2;
		if (load(argv[1]) != 0)
			return 2;
		if (setgid(uid) != 0 || setuid(uid) != 0) {
			perror("paths: setuid");
			return 2;
		}
	} else if (argc == 2) {
		if (load(argv[1]) != 0)
			return 2;
	} else {
		fputs("usage: paths [-u UID] LIST\n", stderr);
		return 2;
	}
	find_glue();
	for (int i = 0; i < counts[0]; i++)
		show_all(AT_FDCWD, 0, items[0][i]);
	for (int d = 0; d < counts[1]; d++) {
		errno = 0;
		int fd = open(items[1][d], (d % 3 == 2 ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC);
		printf("directory %s = %s errno %d\n", items[1][d], fd < 0 ? "-1" : "fd", fd < 0 ? errno : 0);
		for (int i = 0; fd >= 0 && i < counts[2]; i++)
			show_all(fd, strncmp(items[1][d], "/proc", 5) == 0, items[2][i]);
		if (fd >= 0)
			close(fd);
	}
	if (counts[0] > 100)
		show_flags("/c/dir/file");
	int fd = open("/", O_RDONLY);
	printf("next descriptor %d\n", fd);
	return 0;
}
