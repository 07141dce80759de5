// state says what a library may have left in this process: the trampoline page, changed instructions, extra
// mappings, descriptors, signal state, variables.
//
//   state          prints lines that are the same in every untouched process of one guest
//   state -v       also where text was changed
#include "guest.h"
#include <dirent.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int verbose;

static int compare(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = strrchr(info->dlpi_name, '/');
	(void)size, (void)arg;
	if (name == NULL || (strncmp(name, "/libc.", 6) != 0 && strncmp(name, "/ld-", 4) != 0))
		return 0;
	int fd = open(info->dlpi_name, O_RDONLY);
	if (fd < 0) {
		printf("cannot read %s\n", info->dlpi_name);
		return 0;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		const unsigned *have = (const unsigned *)(info->dlpi_addr + p->p_vaddr);
		unsigned *want = malloc(p->p_filesz);
		long words = 0, branches = 0, n = pread(fd, want, p->p_filesz, p->p_offset);
		for (long w = 0; w < n / 4; w++)
			if (have[w] != want[w]) {
				words++;
				// svc to b, and a call of what is a cancellation point to another call
				branches += (want[w] == 0xd4000001 && have[w] >> 26 == 5) || (want[w] >> 26 == 37 && have[w] >> 26 == 37);
				if (verbose)
					printf("%s+%lx: %08x -> %08x\n", name, (long)(p->p_vaddr + 4 * w), want[w], have[w]);
			}
		printf("text %s changed %s\n", name + 1, words == 0 ? "no" : words == branches ? "branches" : "otherwise");
		if (verbose)
			printf("text %s changed words %ld branches %ld\n", name + 1, words, branches);
		free(want);
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	char line[8192];
	int trampoline = 0, writable_text = 0, anonymous_text = 0;
	sigset_t mask;
	struct sigaction act;
	struct rlimit limit;

	(void)argv;
	verbose = argc > 1;
	FILE *f = fopen("/proc/self/maps", "r");
	if (f == NULL) {
		puts("no /proc");
		return 2;
	}
	while (fgets(line, sizeof line, f)) {
		unsigned long from, to;
		char prot[8];
		if (sscanf(line, "%lx-%lx %7s", &from, &to, prot) != 3)
			continue;
		trampoline += from <= 0xffff00000UL && to > 0xffff00000UL;
		writable_text += prot[1] == 'w' && prot[2] == 'x';
		anonymous_text += prot[2] == 'x' && strchr(line, '/') == NULL && strchr(line, '[') == NULL;
		if (verbose)
			fputs(line, stdout);
	}
	fclose(f);
	printf("page at the trampoline's address %s\n", trampoline ? "yes" : "no");
	printf("anonymous executable mappings %s\n", anonymous_text ? "some" : "none");
	printf("writable and executable mappings %d\n", writable_text);
	dl_iterate_phdr(compare, NULL);

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < 65; s++) {
		if (sigismember(&mask, s) == 1)
			printf("signal %d blocked\n", s);
		if (sigaction(s, NULL, &act) == 0 && act.sa_handler != SIG_DFL)
			printf("signal %d handled %d\n", s, act.sa_handler == SIG_IGN);
	}
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	printf("descriptors %d\n", n);
	int fd = open("/", O_RDONLY);
	printf("next descriptor %d\n", fd);
	getrlimit(RLIMIT_STACK, &limit);
	printf("stack limit %lx\n", (long)limit.rlim_cur);
	put_cwd();
	return 0;
}
