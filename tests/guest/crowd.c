// crowd is a library that leaves no room near the C library and the dynamic linker: as far as a branch reaches, and a little
// farther, every address is taken.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { reach = 130 << 20, granule = 0x10000 };

static int fill(uintptr_t from, uintptr_t to)
{
	if (to <= from)
		return 0;
	return mmap((void *)from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (void *)from;
}

// fill_around takes what is free within reach of [lo, hi).
static void fill_around(uintptr_t lo, uintptr_t hi)
{
	char line[512];
	unsigned long from, to;
	uintptr_t at = lo > reach ? lo - reach : granule, end = hi + reach;
	FILE *f = fopen("/proc/self/maps", "r");
	struct {
		uintptr_t from, to;
	} holes[512];
	int n = 0;
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		if (from > at && at < end && n < 512)
			holes[n].from = at, holes[n++].to = from < end ? from : end;
		if (to > at)
			at = to;
	}
	if (f)
		fclose(f);
	if (at < end && n < 512)
		holes[n].from = at, holes[n++].to = end;
	for (int i = 0; i < n; i++)
		fill(holes[i].from, holes[i].to);
}

__attribute__((constructor)) static void crowd(void)
{
	char line[512], name[256];
	unsigned long from, to;
	uintptr_t lo[8], hi[8];
	int n = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && n < 8 && fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &from, &to, name) == 3 && (strstr(name, "/libc") || strstr(name, "/ld-")))
			lo[n] = from, hi[n++] = to;
	if (f)
		fclose(f);
	for (int i = 0; i < n; i++)
		fill_around(lo[i], hi[i]);
}
