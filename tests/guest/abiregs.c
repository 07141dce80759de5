// Checks of registers, memory and stacks, through the gate.
#include "abi.h"
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

// Memory that calls read and write: a page to use, one that nobody may touch, one to read, one to execute.
enum { slot = 0x10000 };
static char *arena;
#define usable (arena)
#define nothing (arena + slot)
#define readonly (arena + 2 * slot)
static char before[slot];
static char *stack;
enum { stack_size = 0x20000 };
static int dirfd, filefd, partial;

static void prepare(void)
{
	if (!relayed)
		none("no relays");
	gate_open();
	arena = mmap(NULL, 4 * slot, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(readonly, BASE "/file");
	mprotect(nothing, slot, PROT_NONE);
	mprotect(readonly, slot, PROT_READ);
	dirfd = open(BASE, O_RDONLY | O_DIRECTORY);
	filefd = open(BASE "/file", O_RDONLY);
	for (int i = 0; i < slot; i++)
		before[i] = 0x5c;
	strcpy(before + 0x100, BASE "/file");
	strcpy(before + 0x140, BASE "/missing");
	strcpy(before + 0x180, BASE "/file/x");
	strcpy(before + 0x1c0, "file");
	strcpy(before + 0x200, "link");
	strcpy(before + 0x240, "missing");
	strcpy(before + 0x280, "/proc/self/exe");
	strcpy(before + 0x2c0, BASE "/link");
	strcpy(before + 0x300, "user.abi");
	before[0x340] = 0;
	memcpy(before + slot - sizeof BASE "/link", BASE "/link", sizeof BASE "/link"); // its end is the page's
	memset(before + slot - 0x800, '/', 16);
}

#define at(off) ((uint64_t)(uintptr_t)(usable + (off)))
#define TAG (0x5aull << 56)

static struct trial trials_[600];
static int ntrials;

static void add(const char *name, unsigned nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	struct trial t = {name, nr, {a, b, c, d, e, 0x1234567887654321}};
	if (ntrials < 600)
		trials_[ntrials++] = t;
}

static const uint64_t cwd = (uint64_t)AT_FDCWD;

// make_some lists calls of every kind: answered, failing and declined.
static void make_some(void)
{
	uint64_t dir = dirfd;
	ntrials = 0;
	add("stat", 79, cwd, at(0x100), at(0x1000), 0, rnd());
	add("stat missing", 79, cwd, at(0x140), at(0x1000), 0, rnd());
	add("stat through a file", 79, cwd, at(0x180), at(0x1000), 0, rnd());
	add("stat of nothing", 79, cwd, 8, at(0x1000), 0, rnd());
	add("stat into nothing", 79, cwd, at(0x100), (uintptr_t)nothing, 0, rnd());
	add("stat of /proc", 79, cwd, at(0x280), at(0x1000), 0, rnd());
	add("stat of a link", 79, dir, at(0x200), at(0x1000), AT_SYMLINK_NOFOLLOW, rnd());
	add("stat through a link", 79, dir, at(0x200), at(0x1000), 0, rnd());
	add("stat of a descriptor", 79, filefd, at(0x340), at(0x1000), AT_EMPTY_PATH, rnd());
	add("stat by no descriptor", 79, 999, at(0x1c0), at(0x1000), 0, rnd());
	add("open", 56, cwd, at(0x100), O_RDONLY | O_CLOEXEC, 0, rnd());
	add("open missing", 56, dir, at(0x240), O_RDONLY, 0, rnd());
	add("open through a link", 56, dir, at(0x200), O_RDONLY, 0, rnd());
	add("access", 48, cwd, at(0x100), R_OK, rnd(), rnd());
	add("access missing", 48, dir, at(0x240), R_OK, rnd(), rnd());
	add("readlink", 78, cwd, at(0x2c0), at(0x1000), 64, rnd());
	add("readlink of a file", 78, cwd, at(0x100), at(0x1000), 64, rnd());
	add("readlink of exe", 78, cwd, at(0x280), at(0x1000), 64, rnd());
	add("statx", 291, cwd, at(0x100), 0, 0x7ff, at(0x1000));
	add("statx missing", 291, dir, at(0x240), 0, 0x7ff, at(0x1000));
	for (unsigned nr = 8; nr < 10; nr++)
		add("getxattr", nr, at(0x100), at(0x300), at(0x1000), 64, rnd());
	for (unsigned nr = 11; nr < 13; nr++)
		add("listxattr", nr, at(0x100), at(0x1000), 64, rnd(), rnd());
	// Calls that fail and change nothing, of the kinds that a relay passes on.
	add("chdir", 49, 8, rnd(), rnd(), rnd(), rnd());
	add("fchdir", 50, 999, rnd(), rnd(), rnd(), rnd());
	add("unlinkat", 35, cwd, 8, 0, rnd(), rnd());
	add("mkdirat", 34, cwd, 8, 0755, rnd(), rnd());
	add("symlinkat", 36, 8, cwd, 8, rnd(), rnd());
	add("linkat", 37, cwd, 8, cwd, 8, 0);
	add("renameat", 38, cwd, 8, cwd, 8, 0);
	add("renameat2", 276, cwd, 8, cwd, 8, 0);
	add("fchmod", 52, 999, 0644, rnd(), rnd(), rnd());
	add("fchmodat", 53, cwd, 8, 0644, rnd(), rnd());
	add("fchown", 55, 999, 0, 0, rnd(), rnd());
	add("fchownat", 54, cwd, 8, 0, 0, 0);
	add("wait4", 260, 0x7ffffff0, 0, 1, 0, rnd());
	add("waitid", 95, 0, 0, 0, 4 | 1, 0);
	add("prctl", 167, 9999, 0, 0, 0, 0);
	add("getppid", 173, rnd(), rnd(), rnd(), rnd(), rnd());
	add("no such call", 0x12345, rnd(), rnd(), rnd(), rnd(), rnd());
}

static int answers(const struct site *s, unsigned nr) { return s->any || s->nr == nr; }

// Only these parts of the memory are used: its first pages and its last.
enum { first_part = 0x2000, last_part = 0x1000 };

static void renew(void)
{
	memcpy(usable, before, first_part);
	memcpy(usable + slot - last_part, before + slot - last_part, last_part);
}

// attempt makes one call and closes what it opened.
static void attempt(const struct trial *t, uintptr_t sp)
{
	renew();
	fill(t->nr, t->args, sp);
	gate_call();
	if (t->nr == 56 && (int64_t)gate->out.x[0] >= 0)
		sys6(SYS_close, gate->out.x[0], 0, 0, 0, 0, 0);
}

static uintptr_t some_sp(void) { return (uintptr_t)stack + stack_size - 2048 - rnd() % 1024 * 16; }

// What a call leaves by itself: registers and memory.
struct result {
	struct registers r;
	char first[first_part], last[last_part];
};
static struct result results[sizeof trials_ / sizeof *trials_];

static void own(const struct trial *t, struct result *o)
{
	aim(NULL);
	attempt(t, (uintptr_t)stack + stack_size - 0x1000);
	o->r = gate->out;
	memcpy(o->first, usable, first_part);
	memcpy(o->last, usable + slot - last_part, last_part);
}

// PRoot leaves the path that it translated in the register of an argument; the path is below sp.
static int as_proot(const struct registers *out, const struct registers *own, int i)
{
	return (i < 6 || i == 8) && (out->x[i] == own->x[i] || (own->x[i] < own->sp && own->sp - own->x[i] < 0x2000 && out->x[i] - out->sp == own->x[i] - own->sp));
}

// compare checks a relay's registers: as they were, or what the real call leaves.
static void compare(const struct site *s, const struct trial *t, const struct result *o)
{
	const struct registers *in = &gate->in, *out = &gate->out, *own = &o->r;
	if (out->x[0] != own->x[0])
		bad("%s at %p: x0 is %#lx, not %#lx", t->name, (void *)s->at, (long)out->x[0], (long)own->x[0]);
	for (int i = 1; i < 31; i++)
		if (out->x[i] != in->x[i] && !as_proot(out, own, i))
			bad("%s at %p: x%d is %#lx, not %#lx", t->name, (void *)s->at, i, (long)out->x[i], (long)in->x[i]);
	if (out->sp != in->sp || out->nzcv != in->nzcv || out->fpcr != in->fpcr || out->fpsr != in->fpsr || out->tpidr != in->tpidr)
		bad("%s at %p: sp %#lx %#lx nzcv %#lx %#lx fpcr %#lx %#lx fpsr %#lx %#lx tpidr %#lx %#lx", t->name, (void *)s->at,
		    (long)out->sp, (long)in->sp, (long)out->nzcv, (long)in->nzcv, (long)out->fpcr, (long)in->fpcr, (long)out->fpsr,
		    (long)in->fpsr, (long)out->tpidr, (long)in->tpidr);
	for (int i = 0; i < 32; i++)
		if (memcmp(out->v[i], in->v[i], 16) != 0)
			bad("%s at %p: v%d changed", t->name, (void *)s->at, i);
	// The kernel may have written a part of a structure before it came to a page it cannot write.
	if (memcmp(usable, o->first, first_part) == 0 && memcmp(usable + slot - last_part, o->last, last_part) == 0)
		return;
	if (own->x[0] == (uint64_t)-EFAULT) {
		partial++;
		return;
	}
	for (int i = 0; i < first_part + last_part; i++) {
		const char *is = i < first_part ? usable + i : usable + slot - last_part + i - first_part;
		char was = i < first_part ? o->first[i] : o->last[i - first_part];
		if (*is != was) {
			bad("%s at %p: the byte at %#lx is %#x, not %#x", t->name, (void *)s->at, (long)(is - usable), *is & 0xff, was & 0xff);
			break;
		}
	}
}

// Every register at every site, for every kind of call.
static void registers(void)
{
	prepare();
	make_some();
	int made = 0;
	for (int k = 0; k < ntrials; k++)
		own(&trials_[k], &results[k]);
	for (int i = 0; i < nsites; i++) {
		aim(&sites[i]);
		for (int k = 0; k < ntrials; k++) {
			const struct trial *t = &trials_[k];
			if (!answers(&sites[i], t->nr) && t->nr != 173 && t->nr != 0x12345)
				continue;
			for (int round = 0; round < 2; round++, made++) {
				attempt(t, some_sp());
				compare(&sites[i], t, &results[k]);
			}
		}
		aim(NULL);
	}
	note(" %d sites, %d calls", nsites, made);
}

// site_for is a site that answers nr.
static const struct site *site_for(unsigned nr)
{
	for (int i = 0; i < nsites; i++)
		if (answers(&sites[i], nr))
			return &sites[i];
	return NULL;
}

// pointer_calls lists calls with every pointer, wherever it may point: with good others, and some of all pairs.
static void pointer_calls(unsigned nr)
{
	const uint64_t paths[] = {at(0x100), at(0x140), at(0x180), at(0x1c0), at(0x240), at(0x340), at(slot - sizeof BASE "/link"), at(slot - 3), at(slot - 0x800), 0, 8,
	                          (uintptr_t)nothing, (uintptr_t)readonly, at(0x100) | TAG, 1ull << 55, 0xffff800000000000, ~0ull};
	const uint64_t bufs[] = {at(0x1000), at(0x1003), at(slot - 0x400), at(slot - 128), at(slot - 127), at(slot - 8), 0, 8, (uintptr_t)nothing,
	                         (uintptr_t)readonly, at(0x1000) | TAG, 0xffff800000000000, ~0ull};
	const uint64_t dirs[] = {cwd, (uint64_t)dirfd, (uint64_t)filefd, (uint64_t)-1};
	const unsigned share = scaled(100) < 100 ? 61 : 3; // of all pairs
	ntrials = 0;
	for (unsigned p = 0; p < sizeof paths / 8; p++)
		for (unsigned b = 0; b < sizeof bufs / 8; b++)
			for (unsigned d = 0; d < 4; d++) {
				uint64_t arg[5] = {dirs[d], paths[p], bufs[b], 0, 0};
				if (p >= 6 && p <= 8 && b >= 2 && b <= 5)
					continue; // they overlap
				if ((p * 7 + b * 3 + d) % share && p && b)
					continue;
				int flags = (p + b + d) % 3 == 0 ? AT_SYMLINK_NOFOLLOW : 0;
				switch (nr) {
				case 79:
					arg[3] = flags;
					break;
				case 56:
				case 48:
					if (b)
						continue;
					arg[2] = nr == 56 ? O_RDONLY : R_OK;
					break;
				case 78:
					arg[3] = (uint64_t[]){64, 3, 0, 5}[d];
					break;
				case 291:
					arg[2] = flags, arg[3] = 0x7ff, arg[4] = bufs[b];
					break;
				default:
					if (d > 1)
						continue;
					arg[0] = paths[p], arg[1] = nr == 8 ? (d ? paths[b] : at(0x300)) : bufs[b];
					arg[2] = nr == 8 ? bufs[b] : 64, arg[3] = 64;
				}
				static char names[sizeof trials_ / sizeof *trials_][64];
				snprintf(names[ntrials], sizeof names[0], "call %u path %u buffer %u directory %u", nr, p, b, d);
				add(names[ntrials], nr, arg[0], arg[1], arg[2], arg[3], arg[4]);
			}
}

// bad_calls lists calls that change something, with pointers that lead to an error; and those that fill a buffer.
static void bad_calls(unsigned nr)
{
	const uint64_t ptrs[] = {0, 8, (uintptr_t)nothing, at(0x180), 1ull << 55, 0xffff800000000000, ~0ull, at(0x180) | TAG};
	const uint64_t bufs[] = {at(0x1000), at(slot - 8), at(slot - 80), 0, 8, (uintptr_t)nothing, (uintptr_t)readonly, at(0x1000) | TAG, 0xffff800000000000, ~0ull};
	const uint64_t good = at(0x180);
	ntrials = 0;
	for (unsigned p = 0; p < sizeof ptrs / 8; p++) {
		const uint64_t b = ptrs[p];
		switch (nr) {
		case 17: // getcwd
		case 160: // uname
			break;
		case 34: // mkdirat
		case 35: // unlinkat
		case 33: // mknodat
		case 53: // fchmodat
		case 452: // fchmodat2
		case 439: // faccessat2
			add("a path", nr, cwd, b, nr == 53 || nr == 452 ? 0755 : 0, 0, 0);
			add("a path from a directory", nr, dirfd, b, nr == 53 || nr == 452 ? 0755 : 0, 0, 0);
			break;
		case 54: // fchownat
			add("a path", nr, cwd, b, 0, 0, 0);
			break;
		case 36: // symlinkat
			add("a link's text", nr, b, cwd, good, 0, 0);
			add("a link's name", nr, at(0x100), cwd, b, 0, 0);
			break;
		case 37: // linkat
		case 38: // renameat
		case 276: // renameat2
			add("the first path", nr, cwd, b, cwd, good, 0);
			add("the second path", nr, cwd, at(0x140), cwd, b, 0);
			add("both paths", nr, dirfd, b, dirfd, b, 0);
			break;
		case 43: // statfs
			for (unsigned k = 0; k < 4; k++)
				add("a path and a buffer", nr, b, bufs[k * 3 % 10], 0, 0, 0);
			break;
		case 45: // truncate
		case 49: // chdir
		case 51: // chroot
			add("a path", nr, b, 0, 0, 0, 0);
			break;
		case 88: // utimensat
			add("a path", nr, cwd, b, 0, 0, 0);
			add("times", nr, cwd, good, b, 0, 0);
			break;
		case 5: // setxattr
		case 6:
			add("a path", nr, b, at(0x300), at(0x1000), 4, 0);
			add("a name", nr, good, b, at(0x1000), 4, 0);
			add("a value", nr, good, at(0x300), b, 4, 0);
			break;
		case 14: // removexattr
		case 15:
			add("a path", nr, b, at(0x300), 0, 0, 0);
			add("a name", nr, good, b, 0, 0, 0);
			break;
		case 437: // openat2
			add("a path", nr, cwd, b, at(0x1000), 24, 0);
			add("a structure", nr, cwd, at(0x140), b, 24, 0);
			break;
		}
	}
	for (unsigned k = 0; k < sizeof bufs / 8; k++)
		if (nr == 17)
			for (unsigned n = 0; n < 3; n++)
				add("a buffer", nr, bufs[k], (uint64_t[]){64, 4, 0}[n], 0, 0, 0);
		else if (nr == 160)
			add("a buffer", nr, bufs[k], 0, 0, 0, 0);
		else if (nr == 43)
			add("a buffer", nr, at(0x100), bufs[k], 0, 0, 0);
}

// pointers makes these calls, of the first so many numbers or of all.
static void pointers(unsigned count)
{
	prepare();
	// With little time half of them: which one depends on the C library.
	int made = 0, step = scaled(100) < 100 ? 2 : 1, first = nsites % step;
	static const unsigned nrs[] = {79, 56, 48, 78, 291, 8, 11, 5, 6, 14, 15, 17, 33, 34, 35, 36, 37, 38, 43, 45, 49, 53, 54, 88, 160, 276, 437, 439, 452};
	if (count > sizeof nrs / sizeof *nrs)
		count = sizeof nrs / sizeof *nrs;
	for (unsigned n = 0; n < count; n++) {
		const struct site *s = site_for(nrs[n]);
		if (!s)
			continue;
		if (n < 7)
			pointer_calls(nrs[n]);
		else
			bad_calls(nrs[n]);
		for (int k = first; k < ntrials; k += step)
			own(&trials_[k], &results[k]);
		aim(s);
		for (int k = first; k < ntrials; k += step, made++) {
			attempt(&trials_[k], some_sp());
			compare(s, &trials_[k], &results[k]);
		}
		aim(NULL);
	}
	note(" %d calls, %d with another part written before EFAULT", made, partial);
}

// A stack may end anywhere: sp at every 16 bytes above a page that nobody may touch, and at some above one that is only
// read.
static void stack_end(void)
{
	prepare();
	make_some();
	char *low = stack + slot;
	int made = 0;
	for (int twice = 0; twice < 2 * ntrials; twice++) {
		int k = twice / 2, only_read = twice % 2;
		const struct trial *t = &trials_[k];
		const struct site *s = site_for(t->nr);
		if (!s)
			continue;
		struct result *o = results;
		own(t, o);
		int step = (!only_read && (k < 3 || t->nr == 56) ? 16 : 208) * (scaled(100) < 100 ? 5 : 1);
		mprotect(stack, slot, only_read ? PROT_READ : PROT_NONE);
		aim(s);
		for (int off = 0; off < 5120; off += step, made++) {
			// PRoot itself writes below sp for what it answers: only from where it finds room can it be compared.
			attempt(t, (uintptr_t)low + off);
			if (gate->out.x[0] != o->r.x[0] && !(off < 1024 && gate->out.x[0] == (uint64_t)-EFAULT))
				bad("%s with %d bytes of stack: %#lx, not %#lx", t->name, off, (long)gate->out.x[0], (long)o->r.x[0]);
			if (gate->out.sp != (uintptr_t)low + off || memcmp(&gate->out.x[9], &gate->in.x[9], 22 * 8) != 0)
				bad("%s with %d bytes of stack: registers", t->name, off);
		}
		aim(NULL);
	}
	note(" %d calls", made);
}

// Every pointer of every answered call.
static void memory(void) { pointers(~0u); }

// The main thread's stack may grow as far as its limit says, and calls work all the way down.
static void stack_growth(void)
{
	enum { limit = 0x60000 };
	struct rlimit tight;
	uintptr_t top = 0, lo, hi;
	char line[512];
	prepare();
	make_some();
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &lo, &hi) == 2)
			top = hi;
	if (f)
		fclose(f);
	if (!top || getrlimit(RLIMIT_STACK, &tight) != 0)
		fatal("no stack");
	tight.rlim_cur = limit;
	setrlimit(RLIMIT_STACK, &tight);
	const struct site *s = site_for(79);
	const struct trial *t = &trials_[0];
	own(t, results);
	aim(s);
	// From where the stack is now to the limit, with more steps at the limit. PRoot finds no room where we do not.
	for (uintptr_t sp = (uintptr_t)__builtin_frame_address(0) - 0x8000; sp >= top - limit; sp -= sp - (top - limit) < 0x2000 ? 64 : 0x1000) {
		sp &= ~15ul;
		attempt(t, sp);
		if (gate->out.x[0] != results->r.x[0] && !(sp - (top - limit) < 1024 && gate->out.x[0] == (uint64_t)-EFAULT))
			bad("with %ld bytes of stack left: %#lx", (long)(sp - (top - limit)), (long)gate->out.x[0]);
		if (memcmp(&gate->out.x[9], &gate->in.x[9], 22 * 8) != 0)
			bad("with %ld bytes of stack left: registers", (long)(sp - (top - limit)));
	}
	aim(NULL);
}

// How deep calls go: below the painted part nothing may change. A depth that PRoot reaches does not count.
static void stack_depth(void)
{
	enum { paint = 0x4000 };
	prepare();
	make_some();
	int deepest = 0;
	char *sp = stack + stack_size / 2 + 0x123 * 16;
	for (int k = 0; k < ntrials; k++) {
		const struct trial *t = &trials_[k];
		for (int i = 0; i < nsites; i++) {
			if (!answers(&sites[i], t->nr))
				continue;
			aim(&sites[i]);
			memset(sp - paint, 0x77, paint);
			attempt(t, (uintptr_t)sp);
			int n = paint;
			while (n > 0 && sp[-n] == 0x77)
				n--;
			if (n > 4096)
				bad("%s at %p: %d bytes below sp", t->name, (void *)sites[i].at, n);
			if (n > deepest)
				deepest = n;
		}
		aim(NULL);
	}
	if (deepest < 256)
		bad("only %d bytes: nothing was answered", deepest);
	note(" %d bytes", deepest);
}

// errno is libc's business: only a call that fails sets it.
static void errno_kept(void)
{
	struct stat st;
	char link[64];
	for (int i = 0; i < 300; i++) {
		errno = 4242;
		int fd = open("file", O_RDONLY);
		if (stat("file", &st) || lstat(BASE "/link", &st) || access("file", R_OK) || readlink("link", link, 64) != 4 || fd < 0 || errno != 4242)
			bad("errno is %d after calls that worked", errno);
		close(fd);
		if (stat("missing", &st) != -1 || errno != ENOENT || open("file/x", O_RDONLY) != -1 || errno != ENOTDIR ||
		    readlink("file", link, 64) != -1 || errno != EINVAL)
			bad("errno is %d after calls that did not", errno);
	}
}

#ifndef HWCAP2_SME
#define HWCAP2_SME (1 << 23)
#endif
#ifndef HWCAP2_MTE
#define HWCAP2_MTE (1 << 18)
#endif
#ifndef PR_SVE_SET_VL
#define PR_SVE_SET_VL 50
#define PR_SVE_GET_VL 51
#endif
#define PR_SME_SET_VL_ 63

// V is the low part of Z, and the vector length does not change; the rest the kernel may clear or keep.
static void sve(void)
{
	if (!(getauxval(AT_HWCAP) & HWCAP_SVE))
		none("no SVE");
	prepare();
	make_some();
	int lengths = 0, made = 0;
	for (int want = 16; want <= 256; want *= 2) {
		int vl = prctl(PR_SVE_SET_VL, want) & 0xffff;
		if (vl != want)
			continue;
		lengths++;
		for (int k = 0; k < ntrials; k++) {
			const struct trial *t = &trials_[k];
			const struct site *s = site_for(t->nr);
			struct result *o = results;
			if (!s || (scaled(100) < 100 && (k + lengths) % 3)) // each with one or two lengths
				continue;
			gate->flags = 0;
			own(t, o);
			gate->flags = gate_sve;
			aim(s);
			renew();
			fill(t->nr, t->args, some_sp());
			for (int i = 0; i < 32 * vl; i++)
				gate->zin[i] = rnd();
			for (int i = 0; i < 32; i++)
				memcpy(gate->in.v[i], gate->zin + i * vl, 16);
			memset(gate->pin, 0xff, 16 * vl / 8);
			gate_call();
			aim(NULL);
			if (t->nr == 56 && (int64_t)gate->out.x[0] >= 0)
				sys6(SYS_close, gate->out.x[0], 0, 0, 0, 0, 0);
			gate->flags = 0;
			compare(s, t, o);
			static const uint8_t zero[256];
			for (int i = 0; i < 32; i++) {
				uint8_t *a = gate->zin + i * vl, *b = gate->zout + i * vl;
				if (memcmp(a, b, 16) != 0 || (memcmp(a + 16, b + 16, vl - 16) != 0 && memcmp(zero, b + 16, vl - 16) != 0))
					bad("%s: z%d with vectors of %d bytes", t->name, i, vl);
			}
			if ((prctl(PR_SVE_GET_VL) & 0xffff) != vl)
				bad("%s: the vector length changed", t->name);
			made++;
		}
	}
	note(" %d lengths, %d calls", lengths, made);
}

static uint8_t za[256 * 256] __attribute__((aligned(256))), za_out[256 * 256] __attribute__((aligned(256)));

// ZA stays as it is, and streaming mode ends with the call, as the kernel has it.
static void sme(void)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_SME))
		none("no SME");
	prepare();
	make_some();
	int lengths = 0, made = 0;
	for (int want = 16; want <= 256; want *= 2) {
		int vl = prctl(PR_SME_SET_VL_, want) & 0xffff;
		if (vl != want)
			continue;
		lengths++;
		for (int streaming = 0; streaming < 2; streaming++)
			for (int k = 0; k < ntrials; k++) {
				const struct trial *t = &trials_[k];
				const struct site *s = site_for(t->nr);
				if (!s || (scaled(100) < 100 && (k + lengths) % 3))
					continue;
				gate->flags = gate_sme | (streaming ? gate_streaming : 0);
				struct result *o = results;
		own(t, o);
				for (int i = 0; i < vl * vl; i++)
					za[i] = rnd();
				__asm__ volatile(".inst 0xd503457f\n" ::: "memory"); // smstart za
				for (int row = 0; row < vl; row++)
					__asm__ volatile("mov w12, %w1\n\tmov x0, %0\n\t.inst 0xe1000000" ::"r"(za + row * vl), "r"(row) : "x0", "x12", "memory"); // ldr za[w12, 0], [x0]
				uint64_t mine = rnd();
				__asm__ volatile("msr s3_3_c13_c0_5, %0" ::"r"(mine)); // tpidr2_el0
				aim(s);
				attempt(t, some_sp());
				aim(NULL);
				for (int row = 0; row < vl; row++)
					__asm__ volatile("mov w12, %w1\n\tmov x0, %0\n\t.inst 0xe1200000" ::"r"(za_out + row * vl), "r"(row) : "x0", "x12", "memory"); // str za[w12, 0], [x0]
				__asm__ volatile(".inst 0xd503447f\n\tmsr s3_3_c13_c0_5, xzr" ::: "memory"); // smstop za
				gate->flags = 0;
				if (streaming) // leaving streaming mode clears them
					memcpy(gate->in.v, o->r.v, sizeof o->r.v), gate->in.fpsr = o->r.fpsr, gate->out.fpsr = o->r.fpsr;
				compare(s, t, o);
				if (gate->out.svcr != 2 || o->r.svcr != 0)
					bad("%s: svcr is %#lx; the call itself leaves %#lx", t->name, (long)gate->out.svcr, (long)o->r.svcr);
				if (gate->out.tpidr2 != mine)
					bad("%s: tpidr2_el0 changed", t->name);
				if (memcmp(za, za_out, vl * vl) != 0)
					bad("%s: ZA changed with vectors of %d bytes", t->name, vl);
				made++;
			}
	}
	note(" %d lengths, %d calls", lengths, made);
}

#define PR_SET_TAGGED_ADDR_CTRL_ 55

// Tags in pointers: with the tagged address ABI the kernel takes them, without it does not.
static void tagged(void)
{
	if (prctl(PR_SET_TAGGED_ADDR_CTRL_, 1, 0, 0, 0) != 0)
		none("no tagged addresses");
	pointers(scaled(100) < 100 ? 3 : ~0u);
}

// Memory with tags of its own, synchronous faults, tag 0 excluded: pointers with the right tag work.
static void mte(void)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE))
		none("no MTE");
	if (prctl(PR_SET_TAGGED_ADDR_CTRL_, 1 | 1 << 1 | 0xfffe << 3, 0, 0, 0) != 0)
		none("no tag checks");
	char *p = mmap(NULL, slot, PROT_READ | PROT_WRITE | 0x20, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q = p;
	if (p == MAP_FAILED)
		none("no memory with tags");
	__asm__ volatile(".arch armv8.5-a+memtag\n\tirg %0, %0\n" : "+r"(q));
	for (int i = 0; i < 4096; i += 16)
		__asm__ volatile(".arch armv8.5-a+memtag\n\tstg %0, [%0]" ::"r"(q + i) : "memory");
	strcpy(q, BASE "/link");
	struct stat *st = (void *)(q + 256), plain;
	for (int i = 0; i < 50; i++) {
		doing = "stat"; // by the plainest way: musl copies the structure with pairs that qemu 7.2 takes for untagged
		memset(st, 0x44, sizeof *st);
		if (syscall(SYS_newfstatat, AT_FDCWD, q, st, 0) != 0 || stat(BASE "/file", &plain) != 0 || memcmp(st, &plain, sizeof plain) != 0)
			bad("stat with tagged pointers: %s", strerror(errno));
		doing = "readlink";
		if (readlink(q, q + 1024, 64) != 4 || memcmp(q + 1024, "file", 4) != 0)
			bad("readlink with tagged pointers: %s", strerror(errno));
		doing = "open";
		int fd = open(q, O_RDONLY);
		if (fd < 0)
			bad("open with tagged pointers: %s", strerror(errno));
		close(fd);
	}
	note(" tag %d", (int)((uintptr_t)q >> 56));
}

const struct check register_checks[] = {
	{"registers", registers, 0}, {"stack-end", stack_end, 0}, {"stack-depth", stack_depth, 0}, {"stack-growth", stack_growth, 0}, {"errno", errno_kept, 0},
	{"memory", memory, 0}, {"tagged", tagged, 0}, {"mte", mte, 0}, {"sve", sve, 0}, {"sme", sme, 0}, {NULL, NULL, 0},
};
