// A library that wants to be asked for loaded objects instead of the C library, as libtsan does: it counts the questions and
// leaves the answers to whoever comes behind it. With PROGRAM it is the program that asks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

typedef int look(struct dl_phdr_info *, size_t, void *);

#ifdef PROGRAM
extern int asked;

static const char *first;
static int ours;

static int count(struct dl_phdr_info *object, size_t size, void *n)
{
	(void)size;
	++*(int *)n;
	const char *name = strrchr(object->dlpi_name, '/');
	if (name && !first && strstr(name, ".so"))
		first = name + 1;
	ours += name && strstr(name, "svcrelay") && object->dlpi_phnum > 2;
	return 0;
}

// Of the libraries the program's own come first, as some of them want it; all that are there are shown once.
int main(void)
{
	int objects = 0;
	dl_iterate_phdr(count, &objects);
	printf("objects %s, asked %d, first %s, ours %d\n", objects > 2 ? "some" : "none", asked, first, ours);
	return 0;
}
#else
int asked;

int dl_iterate_phdr(look *f, void *data)
{
	int (*next)(look *, void *) = (int (*)(look *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
	asked++;
	return next(f, data);
}
#endif
