// compiled runs the compiled translator on the calls that it reads, and prints what it answers. The test beside it
// compares that with the same Go running natively.
//
//   compiled ROOT BINDS TTL-MS OPENAT2
//
// Lines in: "NR FD A2 A3 HEXPATH" for a call, "0 0 0 0 HEXPATH" to open a directory. Lines out: "REASON RESULT HEXBUFFER",
// or for something opened "0 opened DEV INO", or the new descriptor.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OPENAT = 56, READLINKAT = 78, NEWFSTATAT = 79, FACCESSAT = 48, STATX = 291, STATFS = 43, TRUNCATE = 45, SYMLINKAT = 36, LINKAT = 37,
	RENAMEAT = 38, FCHOWNAT = 54, UTIMENSAT = 88
};

struct call {
	uint64_t nr, arg[6];
};

// Entry points of the compiled code. Their ABI is not C's: enter() calls them with x28 at the abort record.
extern char handle, configure, modern;
extern uint64_t enter(void *fn, ...);
uint64_t abort_record[1], second_result;

__asm__(".globl enter\n"
	"enter: stp x29, x30, [sp, -96]!\n"
	" stp x19, x20, [sp, 16]\n stp x21, x22, [sp, 32]\n stp x23, x24, [sp, 48]\n stp x25, x26, [sp, 64]\n stp x27, x28, [sp, 80]\n"
	" adrp x28, abort_record\n add x28, x28, :lo12:abort_record\n"
	" mov x16, x0\n mov x0, x1\n mov x1, x2\n mov x2, x3\n mov x3, x4\n mov x4, x5\n mov x5, x6\n mov x6, x7\n"
	" blr x16\n"
	" adrp x16, second_result\n str x1, [x16, :lo12:second_result]\n"
	" ldp x19, x20, [sp, 16]\n ldp x21, x22, [sp, 32]\n ldp x23, x24, [sp, 48]\n ldp x25, x26, [sp, 64]\n ldp x27, x28, [sp, 80]\n"
	" ldp x29, x30, [sp], 96\n ret\n");

static char view[1 << 20], scratch[4096], line[20000], path[9000], buffer[6000];

static void aborted(void)
{
	puts("a check failed");
	fflush(stdout);
	_exit(3);
}

static int output_size(uint64_t nr)
{
	return nr == NEWFSTATAT ? 128 : nr == STATX ? 128 : nr == READLINKAT ? 300 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	abort_record[0] = (uint64_t)aborted;
	// The trampoline page: svc #0; ret.
	uint32_t *page = mmap((void *)0xffff00000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page == MAP_FAILED)
		return perror("trampoline page"), 1;
	page[0] = 0xd4000001;
	page[1] = 0xd65f03c0;
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)page, (char *)page + 8);

	memset(scratch, 0xa5, sizeof scratch);
	uint64_t ok = enter(&configure, view, scratch, argv[1], strlen(argv[1]), argv[2], strlen(argv[2]), strtoul(argv[3], 0, 10));
	if (argv[4][0] == '1')
		enter(&modern, view);
	printf("%d\n", (int)(ok & 1));
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		uint64_t nr, a2, a3;
		long fd;
		int n = 0, len = 0;
		unsigned c;
		sscanf(line, "%lu %ld %lu %lu %n", &nr, &fd, &a2, &a3, &n);
		for (char *h = line + n; sscanf(h, "%2x", &c) == 1; h += 2)
			path[len++] = c;
		memset(path + len, 0, 128); // an address may be longer than its text
		if (nr == 0) {
			printf("%d\n", open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
			fflush(stdout);
			continue;
		}
		memset(buffer, 0x5a, sizeof buffer);
		uint64_t p = (uint64_t)path, b = (uint64_t)buffer;
		struct call call = {nr, {fd, p, a2, a3}};
		if (nr == NEWFSTATAT || nr == READLINKAT)
			call = (struct call){nr, {fd, p, b, a2}};
		if (nr == STATX)
			call = (struct call){nr, {fd, p, a2, a3, b}};
		if (nr == STATFS)
			call = (struct call){nr, {p, b}};
		if (nr == TRUNCATE)
			call = (struct call){nr, {p, a2}};
		if (nr == SYMLINKAT)
			call = (struct call){nr, {(uint64_t)"text", fd, p}};
		if (nr == LINKAT || nr == RENAMEAT)
			call = (struct call){nr, {fd, p, fd, p, a2}};
		if (nr == FCHOWNAT)
			call = (struct call){nr, {fd, p, -1, -1, a2}};
		if (nr == UTIMENSAT)
			call = (struct call){nr, {fd, p, 0, a2}};
		int64_t r = enter(&handle, view, scratch, &call);
		int why = second_result & 255;
		struct stat st;
		if (nr == OPENAT && why == 0 && r >= 0) {
			fstat(r, &st);
			close(r);
			printf("0 opened %lu %lu", st.st_dev, st.st_ino);
		} else {
			printf("%d %ld ", why, (long)r);
			for (int i = 0; i < output_size(nr); i++)
				printf("%02x", (unsigned char)buffer[i]);
		}
		putchar('\n');
		fflush(stdout);
	}
	return 0;
}
