/*
 * Says which registers a system call of the C library changes besides x0, flags and vector state included. For every
 * site of the numbers below the program plants a brk right after it, enters the site from a signal handler with all
 * registers set to known values, and compares what it finds at the brk. Only what differs is printed, and nothing that
 * depends on addresses, so that the outputs with and without the library can be compared: PRoot itself changes x1 and
 * x8 for calls that it answers or cannot translate.
 *
 *	regs [COUNT]    COUNT: how often each site is entered
 *
 * The number of sites that are branches to a relay goes to standard error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define MAXSITES 512
#define BRK 0xd4200000u

struct site {
	uint32_t *at, after;
	unsigned nr;
};

static struct site sites[MAXSITES];
static int nsites, relayed;
static int memfd;
static volatile int phase; /* 0: idle, 1: enter a site, 2: inside */
static struct site *cur;
static uint64_t in_regs[31], in_sp, in_pstate, args[6];
static uint64_t out_regs[31], out_sp, out_pc, out_pstate;
static struct fpsimd_context in_fp, out_fp;
static ucontext_t home;
static char stack[64 << 10] __attribute__((aligned(64)));
static struct stat st;

static struct fpsimd_context *fpsimd(ucontext_t *uc)
{
	struct _aarch64_ctx *c = (void *)uc->uc_mcontext.__reserved;
	while (c->magic) {
		if (c->magic == FPSIMD_MAGIC)
			return (void *)c;
		c = (void *)((char *)c + c->size);
	}
	return NULL;
}

static void poke(uint32_t *at, uint32_t w)
{
	if (pwrite(memfd, &w, 4, (off_t)(uintptr_t)at) != 4) {
		perror("write /proc/self/mem");
		exit(3);
	}
	__builtin___clear_cache((char *)at, (char *)at + 4);
}

/* The brk in main enters a site; the brk after the site comes back. */
static void on_trap(int sig, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;
	struct fpsimd_context *fp = fpsimd(uc);
	(void)sig, (void)si;
	if (phase == 1) {
		phase = 2;
		memcpy(&home.uc_mcontext, &uc->uc_mcontext, sizeof home.uc_mcontext);
		memcpy(uc->uc_mcontext.regs, in_regs, sizeof in_regs);
		uc->uc_mcontext.sp = in_sp;
		uc->uc_mcontext.pc = (uintptr_t)cur->at;
		uc->uc_mcontext.pstate = (uc->uc_mcontext.pstate & ~0xf0000000ull) | in_pstate;
		memcpy(fp->vregs, in_fp.vregs, sizeof fp->vregs);
		fp->fpsr = in_fp.fpsr;
		fp->fpcr = in_fp.fpcr;
		return;
	}
	memcpy(out_regs, uc->uc_mcontext.regs, sizeof out_regs);
	out_sp = uc->uc_mcontext.sp;
	out_pc = uc->uc_mcontext.pc;
	out_pstate = uc->uc_mcontext.pstate & 0xf0000000ull;
	memcpy(&out_fp, fp, sizeof out_fp);
	phase = 0;
	memcpy(&uc->uc_mcontext, &home.uc_mcontext, sizeof uc->uc_mcontext);
	uc->uc_mcontext.pc += 4;
}

static unsigned number_before(uint32_t *p, uint32_t *lo)
{
	for (int i = 1; i < 24 && p - i >= lo; i++)
		if ((p[-i] & 0xffe0001f) == 0xd2800008)
			return p[-i] >> 5 & 0xffff;
	return 0;
}

/* The site of syscall(): the moves of its parameters end right before it. */
#define ANY 0xffffu
/* The site of glibc's cancellable calls: open and what waits. It is only found where it is relayed. */
#define CANCELLABLE 0xfffeu

static int dispatches(uint32_t *p) { return p[-1] == 0xaa0703e6 && p[-2] == 0xaa0603e5; }

static int known(unsigned nr) { return nr == 79 || nr == 56 || nr == 48 || nr == 78 || nr == 291; }

/* A relayed site is a branch to a stub, which starts by subtracting the number from x8. */
static int is_relayed(uint32_t *p, unsigned nr)
{
	uint32_t first;
	uintptr_t to = (uintptr_t)p + ((int64_t)((uint64_t)*p << 38) >> 36);
	if ((*p & 0xfc000000) != 0x14000000 || pread(memfd, &first, 4, to) != 4)
		return 0;
	if (nr == CANCELLABLE)
		return first == (0xd1000108 | 260 << 10);
	return nr == ANY ? (first & 0xffc003ff) == 0xd1000108 : first == (0xd1000108 | nr << 10);
}

static void find_sites(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	uintptr_t lo, hi;
	char perm[8], name[256];
	while (f && fgets(line, sizeof line, f)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &lo, &hi, perm, name) < 3)
			continue;
		if (perm[2] != 'x' || (!strstr(name, "/libc") && !strstr(name, "/ld-")))
			continue;
		for (uint32_t *p = (uint32_t *)lo; p < (uint32_t *)hi && nsites < MAXSITES; p++) {
			unsigned nr;
			if (*p != 0xd4000001 && (*p & 0xfc000000) != 0x14000000)
				continue;
			nr = p - 2 >= (uint32_t *)lo && dispatches(p) ? ANY : number_before(p, (uint32_t *)lo);
			if (nr != ANY && !known(nr)) {
				uintptr_t to = (uintptr_t)p + ((int64_t)((uint64_t)*p << 38) >> 36);
				if (*p == 0xd4000001 || nr == 260 || (to >= lo && to < hi))
					continue;
				nr = CANCELLABLE;
			}
			if (*p != 0xd4000001) {
				if (!is_relayed(p, nr))
					continue;
				relayed++;
			}
			sites[nsites].at = p;
			sites[nsites].after = p[1];
			sites[nsites++].nr = nr;
		}
	}
	if (f)
		fclose(f);
}

static uint64_t rnd(void)
{
	static uint64_t s = 0x9e3779b97f4a7c15ull;
	s ^= s << 13, s ^= s >> 7, s ^= s << 17;
	return s;
}

static int differs(const char *what, int i, uint64_t want, uint64_t got)
{
	if (want == got)
		return 0;
	printf("site of %u: %s%d differs\n", cur->nr, what, i);
	if (getenv("REGS_VALUES"))
		fprintf(stderr, "\t%#lx, want %#lx\n", (long)got, (long)want);
	return 1;
}

/* Enters the site with nr in x8 and checks everything. expect: the result, or 1 for any. */
static int enter(struct site *s, unsigned nr, int64_t expect)
{
	int bad = 0;
	uint64_t canary;
	cur = s;
	for (int i = 0; i < 31; i++)
		in_regs[i] = rnd();
	memcpy(in_regs, args, sizeof args);
	in_regs[8] = nr;
	in_sp = (uintptr_t)stack + sizeof stack - 1024 - (rnd() % 512) * 16;
	canary = *(uint64_t *)in_sp = rnd();
	in_pstate = rnd() & 0xf0000000ull;
	for (unsigned i = 0; i < sizeof in_fp.vregs / 8; i++)
		((uint64_t *)in_fp.vregs)[i] = rnd();
	in_fp.fpsr = rnd() & 0x0800009f;
	in_fp.fpcr = rnd() & 0x07c00000;
	phase = 1;
	__asm__ volatile("brk #0" ::: "memory");
	if (phase != 0) {
		printf("site of %u: never came back\n", s->nr);
		return 1;
	}
	bad += differs("pc", 0, (uintptr_t)(s->at + 1), out_pc);
	for (int i = 1; i < 31; i++)
		bad += differs("x", i, in_regs[i], out_regs[i]);
	bad += differs("sp", 0, in_sp, out_sp);
	bad += differs("nzcv", 0, in_pstate, out_pstate);
	bad += differs("canary", 0, canary, *(uint64_t *)in_sp);
	bad += differs("fpsr", 0, in_fp.fpsr, out_fp.fpsr);
	bad += differs("fpcr", 0, in_fp.fpcr, out_fp.fpcr);
	for (unsigned i = 0; i < sizeof in_fp.vregs / 8; i++)
		bad += differs("vhalf", i, ((uint64_t *)in_fp.vregs)[i], ((uint64_t *)out_fp.vregs)[i]);
	if (expect <= 0)
		bad += differs("result x", 0, (uint64_t)expect, out_regs[0]);
	return bad;
}

static void set(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t v[6] = {a, b, c, d, rnd(), rnd()};
	memcpy(args, v, sizeof args);
}

static int try(struct site *s)
{
	static const unsigned numbers[] = {56, 79, 48, 78, 291};
	if (s->nr == ANY || s->nr == CANCELLABLE) {
		struct site one = *s;
		int bad = 0;
		for (unsigned i = 0; i < (s->nr == ANY ? sizeof numbers / sizeof *numbers : 1); i++) {
			one.nr = numbers[i];
			bad += try(&one);
		}
		return bad;
	}


	int bad = 0;
	uint64_t cwd = (uint64_t)AT_FDCWD;
	char link[64];
	switch (s->nr) {
	case 79: /* newfstatat: answered, failing, declined */
		set(cwd, (uintptr_t) "/usr/lib", (uintptr_t)&st, 0);
		bad += enter(s, 79, 0);
		set(cwd, (uintptr_t) "/usr/lib/none", (uintptr_t)&st, 0);
		bad += enter(s, 79, -ENOENT);
		set(cwd, (uintptr_t) "/etc/passwd/x", (uintptr_t)&st, 0);
		bad += enter(s, 79, -ENOTDIR);
		set(cwd, 8, (uintptr_t)&st, 0);
		bad += enter(s, 79, -EFAULT);
		set(cwd, (uintptr_t) "/proc/self/exe", (uintptr_t)&st, 0);
		bad += enter(s, 79, 0);
		break;
	case 56: /* openat */
		set(cwd, (uintptr_t) "/usr/lib/none", O_RDONLY, 0);
		bad += enter(s, 56, -ENOENT);
		set(cwd, (uintptr_t) "/etc/passwd", O_RDONLY, 0);
		bad += enter(s, 56, 1);
		if ((int64_t)out_regs[0] < 0)
			printf("openat: %ld\n", (long)out_regs[0]), bad++;
		else
			close(out_regs[0]);
		break;
	case 48:
		set(cwd, (uintptr_t) "/etc/passwd", R_OK, 0);
		bad += enter(s, 48, 0);
		break;
	case 78:
		set(cwd, (uintptr_t) "/etc/passwd", (uintptr_t)link, sizeof link);
		bad += enter(s, 78, -EINVAL);
		break;
	case 291:
		set(cwd, (uintptr_t) "/usr/lib/none", 0, 0x7ff);
		args[4] = (uintptr_t)&st;
		bad += enter(s, 291, -ENOENT);
		break;
	}
	/* Another number than the site's own: getppid, and one that does not exist. */
	set(rnd(), rnd(), rnd(), rnd());
	bad += enter(s, 173, 1);
	bad += differs("getppid x", 0, getppid(), out_regs[0]);
	bad += enter(s, 0x12345, -ENOSYS);
	return bad;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 3, bad = 0, checks = 0;
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t ss = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaltstack(&ss, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	memfd = open("/proc/self/mem", O_RDWR);
	if (memfd < 0) {
		perror("/proc/self/mem");
		return 3;
	}
	find_sites();
	for (int i = 0; i < nsites; i++) {
		poke(sites[i].at + 1, BRK);
		for (int k = 0; k < count; k++, checks++)
			bad += try(&sites[i]);
		poke(sites[i].at + 1, sites[i].after);
	}
	printf("sites %d checks %d differences %d\n", nsites, checks, bad);
	fprintf(stderr, "relayed %d\n", relayed);
	return nsites == 0;
}
