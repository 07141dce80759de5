// occupy is a library whose constructor takes the trampoline page's address, if it is free.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>

static volatile unsigned *taken;

__attribute__((constructor)) static void take(void)
{
	void *want = (void *)0xffff00000UL;
	void *got = mmap(want, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == want) {
		taken = got;
		*taken = 0x12345678;
	}
}

__attribute__((destructor)) static void check(void)
{
	if (taken != NULL && *taken != 0x12345678)
		__builtin_trap();
}
