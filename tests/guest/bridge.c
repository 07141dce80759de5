// The function that makes cancellable calls, as glibc 2.41 and musl have it, and its call. This is library and program in
// one: the library is to be named librt.so.1; -DMUSL makes it musl's. The program calls it with all registers set, and
// prints which calls worked, which registers were changed, and whether the call is redirected.
#ifdef LIBRARY

#ifdef MUSL
#define LEAVE "cbnz w0, 1f"
#else
#define LEAVE "tbnz w0, #3, 1f"
#endif

// bridge_gate(in, out) loads x0 to x15, v0 to v31 and the flags, makes the call, and stores them; x19 to x28 are looked
// at as well. bridge_any is there because a call is looked for near a site that makes any call.
__asm__(".text\n"
	".globl bridge_gate, bridge_site\n.type bridge_gate, %function\n.type bridge_site, %function\n"
	"body:\n\tldr w0, [x0]\n\t" LEAVE "\n\tmov x8, x1\n\tmov x0, x2\n\tmov x1, x3\n\tmov x2, x4\n\tmov x3, x5\n\tmov x4, x6\n\tmov x5, x7\n"
	"\tsvc #0\n\tret\n"
	"1:\tb cancelled\n"
	"cancelled:\n\tmov x0, #-125\n\tret\n"
	"bridge_gate:\n"
	"\tstp x29, x30, [sp, #-160]!\n\tmov x29, sp\n"
	"\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n\tstp x25, x26, [sp, #64]\n\tstp x27, x28, [sp, #80]\n"
	"\tstp d8, d9, [sp, #96]\n\tstp d10, d11, [sp, #112]\n\tstp d12, d13, [sp, #128]\n\tstp d14, d15, [sp, #144]\n"
	"\tmov x28, x1\n\tmov x27, x0\n"
	"\tadd x9, x0, #256\n"
	".irp n,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\n\tldr q\\n, [x9], #16\n.endr\n"
	".irp n,1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\n\tldr q\\n, [x9], #16\n.endr\n"
	"\tldr x9, [x0, #240]\n\tmsr nzcv, x9\n"
	"\tldp x19, x20, [x0, #152]\n\tldp x21, x22, [x0, #168]\n\tldp x23, x24, [x0, #184]\n\tldp x25, x26, [x0, #200]\n"
	"\tldp x2, x3, [x0, #16]\n\tldp x4, x5, [x0, #32]\n\tldp x6, x7, [x0, #48]\n\tldp x8, x9, [x0, #64]\n\tldp x10, x11, [x0, #80]\n"
	"\tldp x12, x13, [x0, #96]\n\tldp x14, x15, [x0, #112]\n\tldp x0, x1, [x0]\n"
	"\tb bridge_call\n"
	"any:\n\tmov x8, x6\n\tsvc #0\n\tret\n"
	"bridge_call:\n\tbl body\n"
	"\tstp x0, x1, [x28]\n\tstp x2, x3, [x28, #16]\n\tstp x4, x5, [x28, #32]\n\tstp x6, x7, [x28, #48]\n\tstp x8, x9, [x28, #64]\n"
	"\tstp x10, x11, [x28, #80]\n\tstp x12, x13, [x28, #96]\n\tstp x14, x15, [x28, #112]\n"
	"\tstp x19, x20, [x28, #152]\n\tstp x21, x22, [x28, #168]\n\tstp x23, x24, [x28, #184]\n\tstp x25, x26, [x28, #200]\n"
	"\tmrs x9, nzcv\n\tstr x9, [x28, #240]\n\tmov x9, sp\n\tsub x9, x9, x29\n\tstr x9, [x28, #248]\n"
	"\tadd x9, x28, #256\n"
	".irp n,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\n\tstr q\\n, [x9], #16\n.endr\n"
	".irp n,1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\n\tstr q\\n, [x9], #16\n.endr\n"
	"\tldp d8, d9, [sp, #96]\n\tldp d10, d11, [sp, #112]\n\tldp d12, d13, [sp, #128]\n\tldp d14, d15, [sp, #144]\n"
	"\tldp x19, x20, [sp, #16]\n\tldp x21, x22, [sp, #32]\n\tldp x23, x24, [sp, #48]\n\tldp x25, x26, [sp, #64]\n\tldp x27, x28, [sp, #80]\n"
	"\tldp x29, x30, [sp], #160\n\tret\n"
	"bridge_site:\n\tadr x0, bridge_call\n\tret\n");

#else

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct table { // what bridge_gate loads and stores
	uint64_t x[30], flags, sp;
	uint64_t v[64];
};
void bridge_gate(const struct table *in, struct table *out);
const uint32_t *bridge_site(void);

static uint64_t rnd(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

// call makes a call with everything else at random. On the way through the function, the parameters end two registers
// down; an answer may leave them as it likes.
static void call(const char *name, uint32_t word, uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct table in, out;
	uint64_t *fill = (uint64_t *)&in;
	for (size_t i = 0; i < sizeof in / 8; i++)
		fill[i] = rnd();
	uint64_t args[] = {(uintptr_t)&word, nr, a, b, c, d};
	memcpy(in.x, args, sizeof args);
	in.flags = rnd() & 0xf0000000;
	in.sp = 0;
	memset(&out, 0, sizeof out);
	bridge_gate(&in, &out);
	int64_t r = (int64_t)out.x[0];
	if (nr == SYS_openat && r >= 0) {
		close((int)r);
		r = 0;
	}
	int bad = out.flags != in.flags || out.sp != 0 || memcmp(in.v, out.v, sizeof in.v) != 0;
	for (int i = 6; i < 27; i++)
		bad += i != 8 && (i < 16 || i > 18) && in.x[i] != out.x[i];
	if (word == 0 && nr != SYS_openat) // it went on: x1 to x5 are what the function made of them
		for (int i = 1; i < 6; i++)
			bad += out.x[i] != in.x[i + 2];
	printf("%s: %ld, %d changed\n", name, (long)r, bad);
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "/", *fifo = argc > 2 ? argv[2] : "/";
	const uint32_t *site = bridge_site(), w = *site;
	int far = (int32_t)(w << 6) >> 6; // in instructions
	printf("redirected %d\n", far < -256 || far > 256);
	for (int i = 0; i < 20; i++) {
		call("open", 0, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)file, O_RDONLY, 0);
		call("missing", 0, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)"/no such file", O_RDONLY, 0);
		call("bad address", 0, SYS_openat, (uint64_t)AT_FDCWD, 8, O_RDONLY, 0);
		call("pipe", 0, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)fifo, O_RDONLY | O_NONBLOCK, 0);
		call("to be cancelled", 8, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)file, O_RDONLY, 0);
		call("asynchronous or musl's", 2, SYS_openat, (uint64_t)AT_FDCWD, (uintptr_t)file, O_RDONLY, 0);
		call("wait4", 0, SYS_wait4, (uint64_t)-1, 0, 1, 0);
		call("another call", 0, SYS_getppid, 0, 0, 0, 0);
		call("no call", 0, 100000, 0, 0, 0, 0);
		call("no number", 0, 1ul << 45 | 500, 0, 0, 0, 0);
	}
	return 0;
}

#endif
