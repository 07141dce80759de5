// static is a program without a C library of its own to patch (it is linked statically): it makes calls, changes its
// directory, has children, and becomes a dynamic program that was named on its command line.
#include "guest.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
	struct stat st;
	char text[64] = "";
	errno = 0;
	int r = stat("/c/dir", &st);
	put_stat(r, errno, &st, 1);
	say("readlink", readlink("/c/rel-file", text, sizeof text - 1));
	put_text(text);
	say("chdir", chdir("/c/dir"));
	put_cwd();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) { // the directory is this program's
		execl("/bin/ls", "ls", "-d", ".", "sub", "../dir", (char *)NULL);
		_exit(9);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	say("child", status);
	say("chdir back", chdir("/"));
	fflush(stdout);
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return 7;
}
