// What the parts of the ABI suite share. Every check runs in a process of its own; it calls bad() for what is wrong.
#ifndef ABI_H
#define ABI_H

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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

// BASE is the directory that the checks work in; its name is short.
#ifndef BASE
#define BASE "/tmp/abi"
#endif

extern const char *self; // the program's own file

// bad notes a failure of the running check; only the first ones are shown.
void bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// fatal is a failure after which the check cannot go on.
void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
// none leaves a check that cannot be made here.
void none(const char *why) __attribute__((noreturn));
// note adds to what is shown of a check that went well.
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// doing tells what the check is at, for the case that it does not end.
extern const char *volatile doing;

uint64_t rnd(void);

// scaled is n, or the part of it that was asked for; at least 1.
int scaled(int n);

// The places a signal or an instruction can be at.
enum where { elsewhere, in_library, in_page, in_stub };
enum where where_is(uintptr_t pc);
uintptr_t library_base(void);
// library_text is where the library's text is, with what the linker puts before it, and where the stubs in it begin and end.
uintptr_t library_text(uint32_t **slots, uint32_t **end);
extern int relayed; // libc's sites are relays

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0), "+r"(x1), "+r"(x8) : "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}

// Registers as the gate loads and stores them.
struct registers {
	uint64_t x[31], sp, nzcv, fpcr, fpsr, tpidr, svcr, tpidr2;
	uint64_t v[32][2];
};

struct gate {
	struct registers in;
	char pad1[0x400 - sizeof(struct registers)];
	struct registers out;
	char pad2[0x400 - sizeof(struct registers)];
	uint64_t host_sp, flags, host_fpcr, host_fpsr;
	char pad3[0x1000 - 0x820];
	uint8_t zin[32 * 256];
	uint8_t pin[0x1000];
	uint8_t zout[32 * 256];
	uint8_t pout[0x1000];
};

enum { gate_sve = 1, gate_streaming = 2, gate_sme = 8 };

extern struct gate *gate;

// A site is an instruction of libc or the dynamic linker that is a branch to a relay. One whose number is known answers
// only nr; any other, whatever is in x8.
struct site {
	uint32_t *at;
	int any;
	unsigned nr;
};
extern struct site sites[512];
extern int nsites;

void find_sites(void);
// gate_open makes the gate; without it, nothing else of it works.
void gate_open(void);
// aim makes the gate enter a site, NULL: its own svc. Only gate_call may run until it is aimed at NULL again. Which
// gate is aimed may change with it.
void aim(const struct site *s);
// gate_call enters with what gate->in says.
void gate_call(void);
// fill gives all registers values; the call's follow.
void fill(unsigned nr, const uint64_t args[6], uintptr_t sp);

// One call to try: with it args are made anew and memory is set up the same way each time.
struct trial {
	const char *name;
	unsigned nr;
	uint64_t args[6];
};

struct check {
	const char *name;
	void (*run)(void);
	int seconds;
};
extern const struct check register_checks[], signal_checks[], process_checks[];
extern const struct check clone_checks[], fault_checks[], memory_checks[], debug_checks[], step_checks[], start_checks[];

// start_report is what the program does that the check of starts starts.
int start_report(int fd, const char *relative);

#endif
