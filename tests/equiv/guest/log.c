// The log: what two runs are compared by. Whatever differs between two runs of the same program on fresh copies of
// the same files (process ids, inode numbers, the time of day) is replaced by what can be compared.
#include "equiv.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { log_room = 64 << 20, log_fd = 900 };

static char *text;

void open_log(void)
{
	if (svc(SYS_ftruncate, log_fd, log_room, 0, 0, 0, 0) != 0)
		_exit(3);
	text = mmap(NULL, log_room, PROT_READ | PROT_WRITE, MAP_SHARED, log_fd, 0);
	if (text == MAP_FAILED)
		_exit(3);
}

// stops says how often this thread waited for something: within one call that is how often the tracer stopped it.
long stops(void)
{
	struct rusage u;
	svc(SYS_getrusage, RUSAGE_THREAD, (long)&u, 0, 0, 0, 0);
	return u.ru_nvcsw;
}

// count notes whether an operation was done without the tracer.
void count(const struct line *l, long stops)
{
	if (l->index < 0 || l->index >= max_ops)
		return;
	snprintf(shared->counts[l->index].name, sizeof shared->counts[l->index].name, "%s", l->op);
	shared->counts[l->index].calls++;
	shared->counts[l->index].without += stops == 0;
}

// put_counts writes the counts behind the end of the log: they are no results.
void put_counts(void)
{
	for (int i = 0; i < max_ops; i++)
		if (shared->counts[i].calls)
			put("count %s %d %d\n", shared->counts[i].name, shared->counts[i].calls, shared->counts[i].without);
}

void close_log(void) { svc(SYS_ftruncate, log_fd, shared->log, 0, 0, 0, 0); }

void put(const char *format, ...)
{
	va_list ap;
	size_t room = log_room - shared->log;
	va_start(ap, format);
	int n = vsnprintf(text + shared->log, room, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < room)
		shared->log += n;
}

static void put_raw(const char *s, size_t n)
{
	if (n < log_room - shared->log) {
		memcpy(text + shared->log, s, n);
		shared->log += n;
	}
}

// begins_id says whether a number may be what is left of the id of a process or thread where a text was cut.
static int begins_id(int value)
{
	for (int a = 0; a < max_actors && value >= 100; a++)
		for (int d = 10; d <= 100; d *= 10)
			if (value == shared->pids[a] / d || value == shared->tids[a] / d)
				return 1;
	return 0;
}

// put_bytes writes bytes in readable form. A number that is the id of a process or thread becomes its actor's; with cut set
// a number may be only the beginning of one, and so may a long one at the end.
void put_bytes(const char *s, size_t n, int cut)
{
	put_raw("\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (isdigit(c)) {
			size_t end = i;
			int value = 0;
			while (end < n && isdigit((unsigned char)s[end])) {
				value = end - i < 9 ? value * 10 + s[end] - '0' : -1;
				end++;
			}
			int known = 0;
			for (int a = 0; a < max_actors && !known; a++)
				if (value > 0 && (value == shared->pids[a] || value == shared->tids[a])) {
					put("%c%d", value == shared->pids[a] ? 'P' : 'T', a);
					known = 1;
				}
			if (!known && (cut || (i > 0 && s[i - 1] == '[') || (end == n && begins_id(value))))
				put_raw("#", 1);
			else if (!known)
				put_raw(s + i, end - i);
			i = end - 1;
			continue;
		}
		if (c < 0x20 || c == '\\' || c == '"' || c > 0x7e)
			put("\\x%02x", c);
		else
			put_raw(s + i, 1);
	}
	put_raw("\"", 1);
}

static int inode(uint64_t dev, uint64_t ino)
{
	for (int i = shared->inodes - 1; i >= 0; i--)
		if (shared->inode[i].dev == dev && shared->inode[i].ino == ino)
			return i;
	if (shared->inodes == max_inodes)
		return -1;
	shared->inode[shared->inodes].dev = dev;
	shared->inode[shared->inodes].ino = ino;
	return shared->inodes++;
}

static void put_time(const char *name, long long sec, long nsec)
{
	if (sec > started - 600 && sec < started + 3600)
		put(" %s now", name);
	else
		put(" %s %lld.%09ld", name, sec, nsec);
}

static void put_stat(const struct stat *st)
{
	if (st->st_dev != world_dev) {
		put(" other mode %o uid %u gid %u rdev %lx", st->st_mode, st->st_uid, st->st_gid, (long)st->st_rdev);
		return;
	}
	put(" ino %d mode %o nlink %lu uid %u gid %u rdev %lx size %ld blksize %ld blocks %ld", inode(st->st_dev, st->st_ino), st->st_mode,
	    (long)st->st_nlink, st->st_uid, st->st_gid, (long)st->st_rdev, (long)st->st_size, (long)st->st_blksize, (long)st->st_blocks);
	put_time("mtime", st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

static uint64_t statx_dev(const struct statx *st)
{
	return (uint64_t)(st->stx_dev_major & 0xfff) << 8 | (st->stx_dev_minor & 0xff) | (uint64_t)(st->stx_dev_minor & ~0xffu) << 12;
}

static void put_statx(const struct statx *st)
{
	uint64_t dev = statx_dev(st), front;
	memcpy(&front, st, sizeof front);
	if (front == world_dev) {
		// For files of --link2symlink PRoot 5.4.0 writes the other structure here, which begins with the device. What was here would
		// have a block size in these bytes.
		put(" as stat");
		put_stat((const struct stat *)st);
		return;
	}
	put(" mask %x blksize %u attributes %llx/%llx", st->stx_mask, st->stx_blksize, (long long)st->stx_attributes, (long long)st->stx_attributes_mask);
	if (dev != world_dev) {
		put(" other mode %o uid %u gid %u rdev %u:%u", st->stx_mode, st->stx_uid, st->stx_gid, st->stx_rdev_major, st->stx_rdev_minor);
		return;
	}
	put(" ino %d mode %o nlink %u uid %u gid %u rdev %u:%u size %llu blocks %llu", inode(dev, st->stx_ino), st->stx_mode, st->stx_nlink,
	    st->stx_uid, st->stx_gid, st->stx_rdev_major, st->stx_rdev_minor, (long long)st->stx_size, (long long)st->stx_blocks);
	put_time("mtime", st->stx_mtime.tv_sec, st->stx_mtime.tv_nsec);
}

// put_touched says which bytes of a buffer's memory changed, leaving out the n bytes at its start that are shown
// in another way.
static void put_touched(const struct arg *a, size_t n)
{
	const uint64_t full = 0x0101010101010101ull * fill;
	size_t from = a->start - a->base, changed = 0, last = 0;
	for (size_t i = 0; i < a->around; i += sizeof full) {
		uint64_t word;
		memcpy(&word, a->base + i, sizeof word);
		if (word == full) // nearly always
			continue;
		for (size_t j = i; j < i + sizeof full; j++)
			if ((unsigned char)a->base[j] != fill && (j < from || j >= from + n)) {
				changed++;
				last = j;
			}
	}
	if (changed)
		put(" touched %zu last %ld", changed, (long)last - (long)from);
}

static void put_address(const struct arg *a, const struct arg *len)
{
	unsigned n = 0;
	if (len->buffer && len->size >= sizeof n)
		memcpy(&n, len->start, sizeof n);
	struct sockaddr_un un;
	put(" length %u", n);
	if (n > a->size)
		n = a->size;
	if (n < sizeof un.sun_family)
		return;
	memcpy(&un.sun_family, a->start, sizeof un.sun_family);
	put(" family %u ", un.sun_family);
	put_bytes(a->start + sizeof un.sun_family, n - sizeof un.sun_family, 0);
	put_touched(a, n);
}

// know gives a file its number although the call failed: PRoot may deny what the kernel has done, in one of two runs, and
// the numbers of all other files must be the same in both.
static void know(char kind, const struct arg *a)
{
	if (kind == 'S' && a->size >= sizeof(struct stat)) {
		const struct stat *st = (const struct stat *)a->start;
		if (st->st_dev == world_dev)
			inode(st->st_dev, st->st_ino);
	}
	if (kind == 'X' && a->size >= sizeof(struct statx)) {
		const struct statx *st = (const struct statx *)a->start;
		if (statx_dev(st) == world_dev)
			inode(world_dev, st->stx_ino);
	}
}

// put_out shows what a call left in a buffer.
void put_out(char kind, const struct arg *args, int index, long ret, int err)
{
	const struct arg *a = &args[index];
	if (kind == '-' || !a->buffer)
		return;
	if (ret < 0) {
		if (err == EPERM)
			know(kind, a);
		if (kind != 'L')
			put_touched(a, 0);
		return;
	}
	size_t n = 0;
	switch (kind) {
	case 'S':
		n = sizeof(struct stat);
		if (a->size >= n)
			put_stat((const struct stat *)a->start);
		break;
	case 'X':
		n = sizeof(struct statx);
		if (a->size >= n)
			put_statx((const struct statx *)a->start);
		break;
	case 'F':
		n = sizeof(struct statfs);
		if (a->size >= n) {
			const struct statfs *f = (const struct statfs *)a->start;
			put(" type %lx bsize %ld namelen %ld frsize %ld flags %lx", (long)f->f_type, (long)f->f_bsize, (long)f->f_namelen, (long)f->f_frsize,
			    (long)f->f_flags);
		}
		break;
	case 'U':
		n = sizeof(struct utsname);
		if (a->size >= n)
			for (int i = 0; i < 5; i++) {
				put(" ");
				put_bytes(a->start + 65 * i, strnlen(a->start + 65 * i, 65), 0);
			}
		break;
	case 'T': // as many bytes as the call returned
		n = ret;
		if (n <= a->size) {
			put(" ");
			put_bytes(a->start, n, n == a->size);
		}
		break;
	case 'G': // a string
		n = strnlen(a->start, a->size) + 1;
		if (n <= a->size) {
			put(" ");
			put_bytes(a->start, n - 1, 0);
		} else
			n = a->size;
		break;
	case 'H': { // a file handle: its first number is its size
		unsigned size = 0;
		if (a->size >= 8) {
			memcpy(&size, a->start, 4);
			put(" handle of %u", size);
		}
		return;
	}
	case 'I': // a number that is another in every run
		n = 4;
		break;
	case 'V': { // three user or group ids in three arguments
		unsigned v = 0;
		n = 4;
		if (a->size >= n) {
			memcpy(&v, a->start, n);
			put(" %u", v);
		}
		break;
	}
	case 'A':
		put_address(a, &args[index + 1]);
		return;
	case 'L':
		return;
	}
	put_touched(a, n > a->size ? a->size : n);
}
