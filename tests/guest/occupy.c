// occupy is a library whose constructor takes the trampoline page's address before anything else may.
#include <sys/mman.h>

__attribute__((constructor)) static void take(void)
{
	mmap((void *)0xffff00000UL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	*(volatile unsigned *)0xffff00000UL = 0x12345678;
}

__attribute__((destructor)) static void check(void)
{
	if (*(volatile unsigned *)0xffff00000UL != 0x12345678)
		__builtin_trap();
}
