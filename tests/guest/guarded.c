// Sites in text that is protected by landing pads (PROT_BTI). This is library and program in one: the library is to be
// named librt.so.1 and linked with -z force-bti, the program prints whether it is guarded, how many of its sites are
// patched, and what they answer.
#ifdef LIBRARY

__asm__(".text\n.arch armv8.5-a\n"
	".globl guarded_openat, guarded_any, guarded_inside\n"
	".type guarded_openat, %function\n.type guarded_any, %function\n.type guarded_inside, %function\n"
	"guarded_openat:\n\tbti c\n\tmov x8, #56\n\tsvc #0\n"
	"guarded_inside:\n\tret\n"
	"guarded_any:\n\tbti c\n\tmov w8, w0\n\tmov x0, x1\n\tmov x1, x2\n\tmov x2, x3\n\tmov x3, x4\n\tsvc #0\n\tret\n"
	".section .note.gnu.property, \"a\"\n.balign 8\n.word 4, 16, 5\n.asciz \"GNU\"\n.word 0xc0000000, 4, 1, 0\n");

#else

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

long guarded_openat(int dir, const char *path, int flags, int mode);
long guarded_any(long nr, long a, long b, long c, long d);
void guarded_inside(void);

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/";
	pid_t child = fork();
	if (child == 0) {
		void (*volatile inside)(void) = guarded_inside; // no landing pad
		inside();
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	printf("guarded %d\n", WIFSIGNALED(status));
	const uint32_t *fixed = (const uint32_t *)guarded_openat + 2, *any = (const uint32_t *)guarded_any + 6;
	printf("patched %d\n", (*fixed >> 26 == 5) + (*any >> 26 == 5));
	long fd = guarded_openat(AT_FDCWD, path, O_RDONLY, 0);
	struct stat want, got = {0};
	long r = guarded_any(SYS_newfstatat, AT_FDCWD, (long)path, (long)&got, 0);
	printf("open %d, missing %ld\n", fd >= 0 && fstat((int)fd, &want) == 0, guarded_openat(AT_FDCWD, "/no such file", O_RDONLY, 0));
	printf("stat %ld %d\n", r, want.st_ino == got.st_ino && want.st_dev == got.st_dev);
	printf("pid %d, no call %ld\n", guarded_any(SYS_getpid, 0, 0, 0, 0) == getpid(), guarded_any(100000, 0, 0, 0, 0));
	return 0;
}

#endif
