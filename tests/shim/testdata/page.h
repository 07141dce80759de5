// A page with "svc #0; ret" at its beginning, called with system call arguments.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRAMPOLINE 0xffff00000UL

typedef long (*caller)(long, long, long, long, long, long, long, long, long);

// page_at maps such a page and gives a function that issues a call from it: the number is the last argument, in
// x8 where the C calling convention has nothing.
static inline void page_at(unsigned long at)
{
	unsigned *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != (void *)at)
		exit(3);
	p[0] = 0xd4000001;
	p[1] = 0xd65f03c0;
	if (mprotect(p, 4096, PROT_READ | PROT_EXEC) != 0)
		exit(4);
	__builtin___clear_cache((char *)p, (char *)(p + 2));
}

static inline long call_from(unsigned long at, long nr, long a, long b, long c, long d)
{
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = a;
	register long x1 asm("x1") = b;
	register long x2 asm("x2") = c;
	register long x3 asm("x3") = d;
	asm volatile("blr %[at]" : "+r"(x0) : [at] "r"(at), "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "x30", "memory", "cc");
	return x0;
}

static inline long switches(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}
