// threads has many threads look at files at once while the main thread moves a link to and fro: every answer
// must be one of the two that are possible, and files that nobody touches must never change.
//
//   threads DIR
#include "guest.h"
#include <pthread.h>
#include <stdatomic.h>

enum { workers = 4, rounds = 60 };

static char moving[4096], still[4096], missing[4096];
static atomic_long wrong, done;

static void *work(void *arg)
{
	char relative[64];
	struct stat st;
	int dir = open((const char *)arg, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < rounds; i++) {
		if (stat(still, &st) != 0 || st.st_size != 3)
			wrong++;
		if (stat(moving, &st) != 0 || (st.st_size != 1 && st.st_size != 2))
			wrong++;
		if (stat(missing, &st) != -1 || errno != ENOENT)
			wrong++;
		int fd = open(still, O_RDONLY);
		if (fd < 0 || read(fd, relative, 3) != 3 || memcmp(relative, "333", 3) != 0)
			wrong++;
		close(fd);
		if (fstatat(dir, "one/f", &st, 0) != 0 || st.st_size != 1)
			wrong++;
		if (stat("two/f", &st) != 0 || st.st_size != 2)
			wrong++;
	}
	close(dir);
	done++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[workers];
	if (argc != 2 || chdir(argv[1]) != 0)
		return 2;
	mkdir("one", 0755);
	mkdir("two", 0755);
	mkdir("three", 0755);
	write_file("one/f", "1");
	write_file("two/f", "22");
	write_file("three/f", "333");
	symlink("one", "link");
	snprintf(moving, sizeof moving, "%s/link/f", argv[1]);
	snprintf(still, sizeof still, "%s/three/f", argv[1]);
	snprintf(missing, sizeof missing, "%s/three/missing", argv[1]);
	for (int i = 0; i < workers; i++)
		pthread_create(&threads[i], NULL, work, argv[1]);
	for (int i = 0; i < 40 && done < workers; i++) {
		symlink(i % 2 ? "one" : "two", "next");
		rename("next", "link");
		struct stat st;
		if (stat("link/f", &st) != 0 || st.st_size != (i % 2 ? 1 : 2))
			wrong++;
	}
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	printf("threads %d wrong %ld\n", workers, (long)wrong);
	return wrong != 0;
}
