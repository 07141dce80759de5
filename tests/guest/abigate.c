// The gate to sites (see abigate.S): finding sites, aiming, and the calls to try.
#include "abi.h"
#include <elf.h>

extern const char abi_gate[], abi_gate_jump[], abi_gate_svc[], abi_gate_back[], abi_gate_end[];

struct gate *gate;
struct site sites[512];
int nsites;

// PRoot puts the dynamic linker far from the C library: a gate for each place.
static struct {
	char *code;
	uintptr_t near;
} gates[4];
static int ngates;
static char *code; // of the gate that is aimed

static int memfd = -1;
static uintptr_t page_size;
static const struct site *aimed;
static uint32_t after;
static uintptr_t lib_lo, lib_hi, stubs_lo[16], stubs_hi[16];
static int nstubs;

static uintptr_t target(const uint32_t *at, uint32_t w) { return (uintptr_t)at + ((int64_t)((uint64_t)w << 38) >> 36); }

static uint32_t word(uintptr_t at)
{
	uint32_t w = 0;
	if (pread(memfd, &w, 4, (off_t)at) != 4)
		return 0;
	return w;
}

// is_stub says whether there is a stub, and fills in what it answers. The stub for one number begins with
// "sub x8, x8, #nr; cbnz x8"; that for any turns x8 around.
static int is_stub(uintptr_t at, struct site *s)
{
	const uint32_t bti_j = 0xd503249f;
	at += word(at) == bti_j ? 4 : 0;
	uint32_t w = word(at);
	s->any = (w & 0xffff03ff) == 0x93c80108;
	s->nr = w >> 10 & 0xfff;
	return s->any || ((w & 0xffc003ff) == 0xd1000108 && (word(at + 4) & 0xff00001f) == 0xb5000008);
}

enum where where_is(uintptr_t pc)
{
	if (pc >= lib_lo && pc < lib_hi)
		return in_library;
	if (pc >= 0xffff00000 && pc < 0xffff01000)
		return in_page;
	for (int i = 0; i < nstubs; i++)
		if (pc >= stubs_lo[i] && pc < stubs_hi[i])
			return in_stub;
	return elsewhere;
}

uintptr_t library_base(void) { return lib_lo; }

uintptr_t library_text(uint32_t **slots, uint32_t **end)
{
	const int longest = 256; // bytes of a stub, at least
	const Elf64_Ehdr *head = (void *)lib_lo;
	const Elf64_Phdr *ph = (void *)(lib_lo + head->e_phoff);
	uintptr_t first = lib_hi, last = 0;
	for (int i = 0; i < nsites; i++) {
		uintptr_t to = target(sites[i].at, *sites[i].at);
		if (to < lib_lo || to >= lib_hi)
			continue; // some have their stubs elsewhere
		first = to < first ? to : first;
		last = to > last ? to : last;
	}
	for (int i = 0; !last && i < head->e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME) // which follows the text
			first = lib_lo + ph[i].p_vaddr;
	*slots = (uint32_t *)first;
	*end = (uint32_t *)(last ? last + longest : first);
	return lib_lo;
}

void find_sites(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], perm[8], name[256];
	uintptr_t lo, hi;
	memfd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	while (f && fgets(line, sizeof line, f)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &lo, &hi, perm, name) < 3 || perm[2] != 'x')
			continue;
		if (strstr(name, "libsvcrelay"))
			lib_lo = lib_lo ? lib_lo : lo, lib_hi = hi; // it may be in several parts
		if (!name[0] && lo != 0xffff00000 && nstubs < 16)
			stubs_lo[nstubs] = lo, stubs_hi[nstubs++] = hi;
		if (!strstr(name, "/libc.") && !strstr(name, "/libc-") && !strstr(name, "/ld-"))
			continue;
		for (uint32_t *p = (uint32_t *)lo; p < (uint32_t *)hi && nsites < 512; p++) {
			struct site *s = &sites[nsites];
			if ((*p & 0xfc000000) != 0x14000000)
				continue;
			uintptr_t to = target(p, *p);
			if (to >= lo && to < hi)
				continue;
			s->at = p;
			nsites += is_stub(to, s);
		}
	}
	if (f)
		fclose(f);
}

// poke writes an instruction into text; nothing of that page may run meanwhile.
static void poke(uint32_t *at, uint32_t w)
{
	char *page = (char *)((uintptr_t)at & ~0xfffful);
	size_t size = 0x10000;
	if (page != code)
		page = (char *)((uintptr_t)at & ~(page_size - 1)), size = page_size;
	if (sys6(SYS_mprotect, (long)page, size, PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
		_exit(3);
	*at = w;
	__asm__ volatile("dc cvau, %0\n\tdsb ish\n\tic ivau, %0\n\tdsb ish\n\tisb" ::"r"(at) : "memory");
	sys6(SYS_mprotect, (long)page, size, PROT_READ | PROT_EXEC, 0, 0, 0);
}

// gate_near makes a gate that reaches what is near at.
static void gate_near(uintptr_t near)
{
	size_t size = abi_gate_end - abi_gate;
	char *p = NULL;
	if (ngates == sizeof gates / sizeof *gates)
		fatal("no room for another gate");
	for (uintptr_t at = (near & ~0xffffful) - 0x100000; near - at < 0x4000000; at -= 0x100000) {
		p = mmap((void *)at, 0x20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == (void *)at)
			break;
		munmap(p, 0x20000);
		p = NULL;
	}
	if (!p)
		fatal("no place for the gate near %#lx", (long)near);
	memcpy(p, abi_gate, size);
	__builtin___clear_cache(p, p + size);
	mprotect(p, 0x10000, PROT_READ | PROT_EXEC);
	gates[ngates].code = p;
	gates[ngates++].near = near;
}

static int gate_for(uintptr_t at)
{
	for (int i = 0; i < ngates; i++)
		if (at - gates[i].near + 0x3000000 < 0x6000000)
			return i;
	return -1;
}

void gate_open(void)
{
	page_size = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < nsites; i++)
		if (gate_for((uintptr_t)sites[i].at) < 0)
			gate_near((uintptr_t)sites[i].at);
	code = gates[0].code;
	gate = (void *)(code + 0x10000);
}

static uint32_t branch(uintptr_t from, uintptr_t to)
{
	int64_t d = (int64_t)(to - from) / 4;
	if (d < -(1 << 25) || d >= 1 << 25) {
		fatal("a branch from %#lx to %#lx does not reach", (long)from, (long)to);
	}
	return 0x14000000 | ((uint32_t)d & 0x3ffffff);
}

void aim(const struct site *s)
{
	if (aimed)
		poke(aimed->at + 1, after);
	if (s) {
		uint64_t flags = gate->flags;
		code = gates[gate_for((uintptr_t)s->at)].code;
		gate = (void *)(code + 0x10000);
		gate->flags = flags;
	}
	uintptr_t jump = (uintptr_t)code + (abi_gate_jump - abi_gate);
	aimed = s;
	poke((uint32_t *)jump, s ? branch(jump, (uintptr_t)s->at) : 0xd503201f);
	if (s) {
		after = s->at[1];
		poke(s->at + 1, branch((uintptr_t)(s->at + 1), (uintptr_t)code + (abi_gate_back - abi_gate)));
	}
}

void gate_call(void)
{
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(gate->in.tpidr));
	((void (*)(void))code)();
}

void fill(unsigned nr, const uint64_t args[6], uintptr_t sp)
{
	struct registers *r = &gate->in;
	for (int i = 0; i < 31; i++)
		r->x[i] = rnd();
	memcpy(r->x, args, 6 * sizeof args[0]);
	r->x[8] = nr;
	r->sp = sp;
	r->nzcv = rnd() & 0xf0000000;
	r->fpsr = rnd() & 0x0800009f;
	r->fpcr = rnd() & 0x07c00000;
	for (int i = 0; i < 32; i++)
		r->v[i][0] = rnd(), r->v[i][1] = rnd();
	memset(&gate->out, 0xa5, sizeof gate->out);
}
