// The compiler's unwinder asks the C library for the object at an address, and nobody else. glibc knows since 2.35, musl
// does not: the program answers for itself, with every C library.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

// found is what glibc calls struct dl_find_object.
struct found {
	uint64_t flags;
	uintptr_t low, high;
	void *map, *frames;
	uint64_t reserved[7];
};

int find_object(void *at, struct found *f) __asm__("_dl_find_object") __attribute__((visibility("hidden")));

// contains fills in f if its address is in the object.
static int contains(struct dl_phdr_info *object, size_t size, void *p)
{
	struct found *f = p;
	uintptr_t at = f->low, frames = 0, low = 0, high = 0;
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + h->p_vaddr;
		if (h->p_type == PT_LOAD && at - begin < h->p_memsz)
			low = begin, high = begin + h->p_memsz;
		if (h->p_type == PT_GNU_EH_FRAME)
			frames = begin;
	}
	if (!high || !frames)
		return 0;
	*f = (struct found){.low = low, .high = high, .frames = (void *)frames};
	return 1;
}

int find_object(void *at, struct found *f)
{
	f->low = (uintptr_t)at;
	return dl_iterate_phdr(contains, f) == 1 ? 0 : -1;
}
