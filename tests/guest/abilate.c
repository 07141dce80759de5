// abilate runs the main function of a library, which brings the library that unwinds stacks with it: this program has none
// when it starts. It fails if that is not so.
//
//   abilate LIBRARY ARGUMENT...
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD)) {
		printf("exceptions-late FAIL libgcc is there before anybody needs it\n");
		return 1;
	}
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*run)(int, char **) = lib ? (int (*)(int, char **))dlsym(lib, "main") : NULL;
	if (!run) {
		printf("exceptions-late FAIL %s\n", dlerror());
		return 1;
	}
	return run(argc - 1, argv + 1);
}
