// What the guest programs share: printing a call's result so that two runs can be compared byte for byte.
#ifndef GUEST_H
#define GUEST_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// put_text prints a path: bytes that could break a line are escaped, and a long one is cut and counted.
static inline void put_text(const char *s)
{
	if (s == NULL) {
		fputs("(null)", stdout);
		return;
	}
	size_t n = strlen(s);
	for (size_t i = 0; i < n && i < 120; i++) {
		unsigned char c = s[i];
		if (c < 0x21 || c == '\\' || c > 0x7e)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	if (n > 120)
		printf("...(%zu)", n);
}

// put_stat prints what a stat-like call gave. With loose set only the kind of the file is shown: files of
// /proc have other numbers in every process.
static inline void put_stat(int ret, int err, const struct stat *st, int loose)
{
	if (ret != 0)
		printf(" = %d errno %d\n", ret, err);
	else if (loose)
		printf(" = 0 kind %o\n", st->st_mode & S_IFMT);
	else if (S_ISDIR(st->st_mode)) // PRoot itself makes and removes things in directories: no times
		printf(" = 0 dev %lx ino %lu mode %o nlink %lu uid %u gid %u\n", (long)st->st_dev, (long)st->st_ino, st->st_mode,
		       (long)st->st_nlink, st->st_uid, st->st_gid);
	else
		printf(" = 0 dev %lx ino %lu mode %o nlink %lu uid %u gid %u rdev %lx size %ld blksize %ld blocks %ld mtime %ld.%09ld\n",
		       (long)st->st_dev, (long)st->st_ino, st->st_mode, (long)st->st_nlink, st->st_uid, st->st_gid, (long)st->st_rdev,
		       (long)st->st_size, (long)st->st_blksize, (long)st->st_blocks, (long)st->st_mtim.tv_sec, (long)st->st_mtim.tv_nsec);
}

// put_brief prints a result without anything that differs between two fresh copies of the same files.
static inline void put_brief(const char *what, const char *path, int ret, int err, const struct stat *st)
{
	printf("%s ", what);
	put_text(path);
	if (ret != 0)
		printf(" = %d errno %d\n", ret, err);
	else
		printf(" = 0 mode %o size %ld\n", st->st_mode, S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? (long)st->st_size : 0L);
}

static inline void brief_stat(const char *path)
{
	struct stat st;
	errno = 0;
	int r = stat(path, &st);
	put_brief("stat", path, r, errno, &st);
}

static inline void brief_statat(int fd, const char *path, int flags)
{
	struct stat st;
	errno = 0;
	int r = fstatat(fd, path, &st, flags);
	put_brief(flags ? "fstatat-flags" : "fstatat", path, r, errno, &st);
}

static inline void put_cwd(void)
{
	char buf[4096];
	errno = 0;
	char *p = getcwd(buf, sizeof buf);
	fputs("cwd ", stdout);
	if (p && strncmp(p, "/proc/", 6) == 0 && p[6] >= '0' && p[6] <= '9')
		p = "/proc/PID";
	put_text(p);
	printf(" errno %d\n", p ? 0 : errno);
}

// say prints a call's plain result, with errno when it failed.
static inline void say(const char *what, long ret)
{
	printf("%s = %ld errno %d\n", what, ret < 0 ? -1L : ret, ret < 0 ? errno : 0);
}

static inline void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0) {
		say(path, fd);
		return;
	}
	if (write(fd, text, strlen(text)) < 0)
		say("write", -1);
	close(fd);
}

#endif
