// madeup has descriptors whose numbers PRoot may know from before: of a socket that asks for network interfaces, over which
// a file is put, and then the next socket. Termux's fork answers for the first kind of socket where the host refuses it, and must
// not for the second.
#include "guest.h"
#include <linux/netlink.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void report(const char *what, long r)
{
	printf("%s: %ld errno %d\n", what, r, r < 0 ? errno : 0);
	fflush(stdout);
}

static long stops(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

// after closes the number, which is a file's, and sends to nobody with the next socket that gets it.
static void after(int fd, const char *what)
{
	printf("%s\n", what);
	report("close", close(fd));
	int next = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	report("the same number", next == fd);
	report("send", send(next, "x", 1, 0));
	report("close", close(next));
}

static int over(int fd)
{
	int file = open("/etc/passwd", O_RDONLY);
	if (file == fd)
		return fd;
	dup2(file, fd);
	close(file);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc > 1) { // executed: the socket was closed on the way
		after(over(atoi(argv[1])), "executed");
		return 0;
	}
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	report("made up", send(fd, "x", 1, 0));
	after(over(fd), "put over");
	long least = 1000;
	for (int i = 0; i < 3; i++) {
		int file = open("/etc/passwd", O_RDONLY);
		long before = stops();
		close(file);
		long n = stops() - before;
		least = n < least ? n : least;
	}
	printf("others %s\n", least ? "stopped" : "answered");
	fflush(stdout);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	char number[12];
	sprintf(number, "%d", fd);
	execl(argv[0], argv[0], number, (char *)NULL);
	return 1;
}
