// Checks of memory for every argument that is a pointer, of every call that a relay may answer: objects that cross from a
// page into another kind of page, and memory that another thread takes away, between two calls and at any moment of them.
#include "abi.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>

// An argument: a value, or what memory is to hold and how much of it a call reads or writes.
struct argument {
	enum { value, in, out } is;
	uint64_t is_value;
	const void *data;
	int size;
};

// A shape is a call with everything as it should be. It can be made any number of times: it changes nothing, or
// always the same.
struct shape {
	const char *name;
	unsigned nr;
	struct argument a[6];
	enum { nothing_else, closes, accepts, differs, waits, waits_for_usage } besides; // differs: what is written is never the same
};

#define V(v) {value, (uint64_t)(v), NULL, 0}
#define TEXT(s) {in, 0, s, sizeof(s)}
#define IN(p) {in, 0, &(p), sizeof(p)}
#define OUT(n) {out, 0, NULL, n}
#define HERE V(AT_FDCWD)

// Of a text without an end PRoot may take more than there is, and make or rename a file of such a name: this happens in a
// directory that no other check looks at.
#define WORLD BASE "/world"
static const char link_path[] = WORLD "/link", long_path[] = WORLD "/long", file_path[] = WORLD "/file", other_path[] = WORLD "/other", dir_path[] = WORLD "/dir";
static const char missing_path[] = WORLD "/missing", world_path[] = WORLD;
static const char attribute[] = "trusted.abi", no_attribute[] = "trusted.none", text_value[5] = "value";
static const uint64_t how[3] = {O_RDONLY, 0, 0};
static const struct timespec times[2] = {{1000, 0}, {2000, 0}};
static const uint32_t handle[2] = {0, 0}, room = sizeof(struct sockaddr_un);
static const uint64_t no_args[2] = {0, 0};
static struct sockaddr_un taken = {AF_UNIX, WORLD "/socket"}, nowhere = {AF_UNIX, WORLD "/missing/socket"};
enum { text_length = 41 }; // of the long link

static struct shape shapes[64];
static int nshapes;

#define ADD(...) (shapes[nshapes++] = (struct shape){__VA_ARGS__})

static int listener, unbound, client, watcher, zombie;

// world makes the files, sockets and the ended child that the calls are about.
static void world(void)
{
	char text[text_length + 1];
	for (int i = 0; i < text_length - 4; i++)
		text[i] = i % 2 ? '/' : '.';
	strcpy(text + text_length - 5, "/file");
	char old[64];
	snprintf(old, sizeof old, WORLD ".%d", (int)getpid());
	rename(WORLD, old); // what another check has left
	if (mkdir(WORLD, 0755) != 0 || chdir(WORLD) != 0 || mkdir("dir", 0755) != 0 || symlink(text, "long") != 0 || symlink("file", "link") != 0)
		fatal(WORLD ": %s", strerror(errno));
	close(open(other_path, O_WRONLY | O_CREAT, 0644));
	int fd = open(file_path, O_WRONLY | O_CREAT, 0644);
	if (fd < 0 || write(fd, "text\n", 5) != 5)
		fatal("%s: %s", file_path, strerror(errno));
	close(fd);
	sys6(SYS_setxattr, (long)file_path, (long)attribute, (long)text_value, 5, 0, 0);
	sys6(SYS_lsetxattr, (long)link_path, (long)attribute, (long)text_value, 5, 0, 0);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(listener, (void *)&taken, sizeof taken) != 0 || listen(listener, 8) != 0)
		fatal("socket: %s", strerror(errno));
	unbound = socket(AF_UNIX, SOCK_STREAM, 0);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(client, (void *)&taken, sizeof taken) != 0)
		fatal("connect: %s", strerror(errno));
	close(accept(listener, NULL, NULL));
	watcher = inotify_init1(0);
	zombie = fork();
	if (zombie == 0)
		_exit(5);
	siginfo_t info;
	waitid(P_PID, zombie, &info, WEXITED | WNOWAIT);
}

static void make_shapes(void)
{
	int len = sizeof(struct sockaddr_un), whole = offsetof(struct sockaddr_un, sun_path);
	nshapes = 0;
	ADD("stat", 79, {HERE, TEXT(link_path), OUT(128), V(0)}, 0);
	ADD("lstat", 79, {HERE, TEXT(link_path), OUT(128), V(AT_SYMLINK_NOFOLLOW)}, 0);
	ADD("open", 56, {HERE, TEXT(link_path), V(O_RDONLY)}, closes);
	ADD("open missing", 56, {HERE, TEXT(missing_path), V(O_RDONLY)}, closes);
	ADD("access", 48, {HERE, TEXT(link_path), V(R_OK)}, 0);
	ADD("readlink", 78, {HERE, TEXT(long_path), OUT(text_length), V(text_length)}, 0);
	ADD("readlink, cut", 78, {HERE, TEXT(long_path), OUT(9), V(9)}, 0);
	ADD("statx", 291, {HERE, TEXT(link_path), V(0), V(0x7ff), OUT(256)}, 0);
	ADD("getxattr", 8, {TEXT(link_path), TEXT(attribute), OUT(5), V(16)}, 0);
	ADD("lgetxattr", 9, {TEXT(link_path), TEXT(attribute), OUT(5), V(5)}, 0);
	ADD("listxattr", 11, {TEXT(link_path), OUT(sizeof attribute), V(64)}, 0);
	ADD("llistxattr", 12, {TEXT(link_path), OUT(sizeof attribute), V(64)}, 0);
	ADD("setxattr", 5, {TEXT(file_path), TEXT(attribute), IN(text_value), V(5), V(0)}, 0);
	ADD("lsetxattr", 6, {TEXT(file_path), TEXT(attribute), IN(text_value), V(5), V(0)}, 0);
	ADD("removexattr", 14, {TEXT(file_path), TEXT(no_attribute)}, 0);
	ADD("lremovexattr", 15, {TEXT(file_path), TEXT(no_attribute)}, 0);
	ADD("mkdirat", 34, {HERE, TEXT(dir_path), V(0755)}, 0);
	ADD("mknodat", 33, {HERE, TEXT(file_path), V(S_IFREG | 0644), V(0)}, 0);
	ADD("symlinkat", 36, {TEXT(file_path), HERE, TEXT(link_path)}, 0);
	ADD("linkat", 37, {HERE, TEXT(file_path), HERE, TEXT(link_path), V(0)}, 0);
	ADD("renameat", 38, {HERE, TEXT(missing_path), HERE, TEXT(link_path)}, 0);
	ADD("renameat2", 276, {HERE, TEXT(missing_path), HERE, TEXT(link_path), V(0)}, 0);
	ADD("rename to itself", 276, {HERE, TEXT(other_path), HERE, TEXT(other_path), V(0)}, 0);
	ADD("unlinkat", 35, {HERE, TEXT(missing_path), V(0)}, 0);
	ADD("unlinkat of a directory", 35, {HERE, TEXT(dir_path), V(0)}, 0);
	ADD("fchmodat", 53, {HERE, TEXT(other_path), V(0644)}, 0);
	ADD("fchownat", 54, {HERE, TEXT(other_path), V(-1), V(-1), V(0)}, 0);
	ADD("utimensat", 88, {HERE, TEXT(other_path), IN(times), V(0)}, 0);
	ADD("truncate", 45, {TEXT(other_path), V(3)}, 0);
	ADD("statfs", 43, {TEXT(link_path), OUT(120)}, differs);
	ADD("getcwd", 17, {OUT(sizeof world_path), V(sizeof world_path)}, 0);
	ADD("uname", 160, {OUT(390)}, 0);
	ADD("faccessat2", 439, {HERE, TEXT(link_path), V(R_OK), V(0)}, 0);
	ADD("openat2", 437, {HERE, TEXT(link_path), IN(how), V(sizeof how)}, closes);
	ADD("inotify_add_watch", 27, {V(watcher), TEXT(dir_path), V(IN_DELETE_SELF)}, 0);
	ADD("name_to_handle_at", 264, {HERE, TEXT(file_path), IN(handle), OUT(4), V(0)}, 0);
	ADD("chdir", 49, {TEXT(world_path)}, 0);
	ADD("bind", 200, {V(unbound), IN(taken), V(len)}, 0);
	ADD("connect", 203, {V(unbound), IN(nowhere), V(len)}, 0);
	ADD("getsockname", 204, {V(listener), OUT(whole + (int)sizeof WORLD "/socket"), IN(room)}, 0);
	ADD("getpeername", 205, {V(client), OUT(whole + (int)sizeof WORLD "/socket"), IN(room)}, 0);
	ADD("accept", 202, {V(listener), OUT(2), IN(room)}, accepts);
	ADD("accept4", 242, {V(listener), OUT(2), IN(room), V(SOCK_CLOEXEC)}, accepts);
	ADD("fstat", 80, {V(0), OUT(128)}, 0);
	ADD("getresuid", 148, {OUT(4), OUT(4), OUT(4)}, 0);
	ADD("getresgid", 150, {OUT(4), OUT(4), OUT(4)}, 0);
	ADD("getgroups", 158, {V(64), OUT(4)}, 0);
	ADD("waitid", 95, {V(P_PID), V(zombie), OUT(128), V(WEXITED | WNOWAIT), OUT(144)}, 0);
	ADD("wait4", 260, {V(0), OUT(4), V(0), V(0)}, waits);
	ADD("wait4 with usage", 260, {V(0), V(0), V(0), OUT(144)}, waits_for_usage);
	ADD("execve", 221, {TEXT(file_path), IN(no_args), IN(no_args)}, 0);
}

// A region is a page to use, one of some kind, and one to use.
enum kind { usable, unmapped, forbidden, readable, writable, kinds };
static const char *const kind_names[] = {"usable", "unmapped", "forbidden", "readable", "writable"};
static struct region {
	char *first, *odd, *last;
} regions[kinds];
static long page;
static char *safe; // where arguments are that are not the one in question
enum { safe_room = 1024 };
static char *gate_stack;

static int protection(enum kind k)
{
	return (const int[]){PROT_READ | PROT_WRITE, PROT_NONE, PROT_NONE, PROT_READ, PROT_WRITE}[k];
}

static void make_regions(void)
{
	page = sysconf(_SC_PAGESIZE);
	safe = mmap(NULL, 6 * safe_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gate_stack = mmap(NULL, 0x20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int k = 0; k < kinds; k++) {
		char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			fatal("no memory");
		regions[k] = (struct region){p, p + page, p + 2 * page};
		p[page] = 1;
		if (k == unmapped)
			munmap(p + page, page);
		else
			mprotect(p + page, page, protection(k));
	}
}

// lay fills the memory around an object that begins at at, and puts the object there, as far as there is memory.
static void lay(enum kind k, char *at, const struct argument *a)
{
	struct region *r = &regions[k];
	int odd_too = k == usable || k == readable || k == writable;
	if (k == readable || k == writable)
		sys6(SYS_mprotect, (long)r->odd, page, PROT_READ | PROT_WRITE, 0, 0, 0);
	for (int part = 0; part < 3; part++) {
		char *p = r->first + part * page;
		if (part == 1 && !odd_too)
			continue;
		memset(p, 0x5c, page);
		if (a->is != in)
			continue;
		for (int i = 0; i < a->size; i++)
			if (at + i >= p && at + i < p + page)
				at[i] = ((const char *)a->data)[i];
	}
	if (k == readable || k == writable)
		sys6(SYS_mprotect, (long)r->odd, page, protection(k), 0, 0, 0);
}

// What one call left: its answer and the memory.
struct left {
	long answer;
	uint8_t memory[3 * 16384 + 6 * safe_room];
};

// A place is where an object lies: which argument, beside which page, how much of it before the border.
struct place {
	int argument, split, out_of; // out_of: it begins in the odd page
	enum kind kind;
	struct left *own;
};
static struct place places[6 * kinds * 10];

static void keep(enum kind k, struct left *l)
{
	uint8_t *to = l->memory;
	memset(to, 0, sizeof l->memory); // other kinds leave more
	memcpy(to, regions[k].first, page), to += page;
	memcpy(to, regions[k].last, page), to += page;
	if (k == usable || k == readable)
		memcpy(to, regions[k].odd, page), to += page;
	memcpy(to, safe, 6 * safe_room);
}

// ready puts all arguments in place, the n-th one at at, and gives the values for the registers.
static void ready(const struct shape *s, int n, enum kind k, char *at, uint64_t args[6])
{
	memset(safe, 0x5c, 6 * safe_room);
	for (int i = 0; i < 6; i++) {
		const struct argument *a = &s->a[i];
		char *to = safe + i * safe_room;
		args[i] = a->is == value ? a->is_value : (uint64_t)(uintptr_t)to;
		if (a->is == in)
			memcpy(to, a->data, a->size);
	}
	if (n >= 0) {
		lay(k, at, &s->a[n]);
		args[n] = (uint64_t)(uintptr_t)at;
	}
}

// enter makes the call at what the gate is aimed at.
static long enter(const struct shape *s, const uint64_t args[6])
{
	int c = -1;
	if (s->besides == accepts) {
		c = (int)sys6(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, 0, 0, 0);
		sys6(SYS_connect, c, (long)&taken, sizeof taken, 0, 0, 0);
	}
	uint64_t with[6];
	memcpy(with, args, sizeof with);
	if (s->besides >= waits) { // for a child of its own
		c = (int)sys6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
		if (c == 0)
			sys6(SYS_exit, 5, 0, 0, 0, 0, 0);
		with[0] = (uint64_t)c;
	}
	fill(s->nr, with, (uintptr_t)gate_stack + 0x18000 - 0x230); // not at a page's begin, from where a relay passes calls on
	gate_call();
	long r = (long)gate->out.x[0];
	if (s->besides >= waits) {
		sys6(SYS_wait4, c, 0, 0, 0, 0, 0); // if the call did not
		return r == c ? 1 : r;
	}
	if ((s->besides == closes || s->besides == accepts) && r >= 0)
		sys6(SYS_close, r, 0, 0, 0, 0, 0);
	if (s->besides == accepts) {
		do // nothing is left for the next call
			sys6(SYS_close, c, 0, 0, 0, 0, 0);
		while ((c = (int)sys6(SYS_accept, listener, 0, 0, 0, 0, 0)) >= 0);
		return r >= 0 ? 1 : r;
	}
	return r;
}

static const struct site *site_for(unsigned nr)
{
	for (int i = 0; i < nsites; i++)
		if (sites[i].any || sites[i].nr == nr)
			return &sites[i];
	return NULL;
}

static int partial, changed, chance;

static void put(const struct shape *s, const struct place *p, struct left *l)
{
	uint64_t args[6];
	if (s->nr == SYS_renameat2) // it may be somewhere else since the last one
		sys6(SYS_close, sys6(SYS_openat, AT_FDCWD, (long)other_path, O_WRONLY | O_CREAT, 0644, 0, 0), 0, 0, 0, 0, 0);
	ready(s, p->argument, p->kind, (p->out_of ? regions[p->kind].last : regions[p->kind].odd) - p->split, args);
	l->answer = enter(s, args);
	if (s->nr == SYS_waitid) // si_utime and si_stime, which the kernel leaves; the emulator writes what was in memory of its own
		for (int at = 32; at < 48; at += 8)
			sys6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)args[2] + at, 8, 0, 0);
	keep(p->kind, l);
}

// same says whether a relay left what the call itself leaves, the second time if that is something else.
static int same(const struct shape *s, const struct place *p, const struct left *relay)
{
	static struct left again;
	if (p->own->answer == -EFAULT && relay->answer == -EFAULT) {
		partial += memcmp(p->own->memory, relay->memory, sizeof relay->memory) != 0;
		return 1;
	}
	if (p->own->answer == relay->answer && (s->besides == differs || s->besides == waits_for_usage || memcmp(p->own->memory, relay->memory, sizeof relay->memory) == 0))
		return 1;
	// A text whose end cannot be read: PRoot goes on with what its own memory happens to hold.
	const struct argument *a = &s->a[p->argument];
	if (a->is == in && (p->kind == unmapped || p->kind == forbidden) && !p->out_of && p->split < a->size) {
		chance++;
		return relay->answer <= 0;
	}
	aim(NULL);
	put(s, p, &again);
	aim(site_for(s->nr));
	changed++;
	return again.answer == relay->answer && again.answer != p->own->answer && p->kind != usable;
}

// places_of lists where the objects of a call are to lie: crossing into a page of each kind, and out of one, after one byte, in the
// middle, before the last byte, and where they just fit.
static int places_of(const struct shape *s, unsigned share)
{
	static unsigned turn;
	int n = 0;
	for (int a = 0; a < 6; a++) {
		if (s->a[a].is == value)
			continue;
		int size = s->a[a].size;
		const int splits[] = {size, size - 1, size / 2, 1, size > 8 ? 8 : 3};
		for (int k = 0; k < kinds; k++)
			for (unsigned e = 0; e < 10; e += s->besides >= waits ? 5 : 1) {
				struct left *kept = places[n].own;
				if (turn++ % share)
					continue;
				places[n] = (struct place){a, splits[e / 2], e & 1, k, kept ? kept : malloc(sizeof *kept)};
				n++;
			}
	}
	return n;
}

static void straddle(void)
{
	static struct left relay;
	if (!relayed)
		none("no relays");
	gate_open();
	world();
	make_regions();
	make_shapes();
	int made = 0, answered = 0;
	for (int i = 0; i < nshapes; i++) {
		const struct shape *s = &shapes[i];
		const struct site *at = site_for(s->nr);
		doing = s->name;
		if (!at) {
			bad("%s: no site answers it", s->name);
			continue;
		}
		int n = places_of(s, scaled(100) < 100 ? 13 : 1);
		for (int k = 0; k < n; k++) {
			put(s, &places[k], places[k].own);
			answered += places[k].own->answer >= 0;
		}
		aim(at);
		for (int k = 0; k < n; k++, made++) {
			const struct place *p = &places[k];
			put(s, p, &relay);
			if (!same(s, p, &relay))
				bad("%s, argument %d, %s page %s after %d bytes: %ld, not %ld, %s memory", s->name, p->argument, kind_names[p->kind],
				    p->out_of ? "ends" : "begins", p->split, relay.answer, p->own->answer,
				    memcmp(p->own->memory, relay.memory, sizeof relay.memory) ? "other" : "the same");
		}
		aim(NULL);
	}
	if (answered * 8 < made)
		bad("only %d of %d calls succeeded", answered, made);
	if (changed + chance > made / 50)
		bad("%d calls gave something else the second time, %d by chance", changed, chance);
	note(" %d calls, %d succeeded, %d with another part written before EFAULT, %d different the second time, %d by PRoot's chance", made, answered, partial, changed, chance);
}

// What the other thread is asked for, and what it has done. It makes no call of libc's.
enum order { idle, take_away, forbid, move_away, give_back, finish };
static _Atomic enum order order;
static char *lent;
enum { lent_size = 0x20000 };

static void *taker(void *unused)
{
	for (;;) {
		enum order o = order;
		switch (o) {
		case idle:
			sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
			continue;
		case finish:
			return unused;
		case take_away:
			sys6(SYS_munmap, (long)lent, lent_size, 0, 0, 0, 0);
			break;
		case forbid:
			sys6(SYS_mprotect, (long)lent, lent_size, PROT_NONE, 0, 0, 0);
			break;
		case move_away:
			sys6(SYS_mremap, (long)lent, lent_size, lent_size, MREMAP_MAYMOVE | MREMAP_FIXED, (long)(lent + 4 * lent_size), 0);
			break;
		case give_back:
			sys6(SYS_mmap, (long)lent, lent_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		}
		order = idle;
	}
}

static void ask(enum order o)
{
	order = o;
	while (order != idle)
		sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

// Memory that served one call is gone at the next, by another thread's doing: for every argument, in three ways.
static void freed(void)
{
	if (!relayed)
		none("no relays");
	pthread_t t;
	gate_open();
	world();
	make_regions();
	make_shapes();
	lent = mmap(NULL, 8 * lent_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // and room to move to
	pthread_create(&t, NULL, taker, NULL);
	ask(give_back);
	unsigned share = scaled(100) < 100 ? 5 : 1, turn = 0;
	int made = 0;
	for (int i = 0; i < nshapes; i++) {
		const struct shape *s = &shapes[i];
		const struct site *at_site = site_for(s->nr);
		long got[2][6][3][2] = {0};
		unsigned first = turn;
		doing = s->name;
		for (int with = 0; at_site && with < 2; with++) {
			aim(with ? at_site : NULL);
			turn = first;
			for (int n = 0; n < 6; n++)
				for (int o = take_away; o <= move_away && s->a[n].is != value; o++) {
					if (turn++ % share)
						continue;
					for (int gone = 0; gone < 2; gone++) {
						uint64_t args[6];
						char *at = lent + 0x1800;
						ready(s, -1, usable, NULL, args);
						args[n] = (uint64_t)(uintptr_t)at;
						if (gone)
							ask(o);
						else if (s->a[n].is == in)
							memcpy(at, s->a[n].data, s->a[n].size);
						got[with][n][o - take_away][gone] = enter(s, args);
					}
					ask(give_back);
					made += with;
				}
			aim(NULL);
		}
		for (int n = 0; n < 6; n++)
			for (int o = 0; o < 3; o++)
				if (memcmp(got[0][n][o], got[1][n][o], sizeof got[0][n][o]) != 0)
					bad("%s, argument %d, way %d: %ld, and without memory %ld, not %ld, %ld", s->name, n, o, got[1][n][o][0], got[1][n][o][1],
					    got[0][n][o][0], got[0][n][o][1]);
	}
	order = finish;
	pthread_join(t, NULL);
	note(" %d arguments", made);
}

// What the flipper flips: pages of a file, so that what they hold is there again when they are. It makes no call of libc's
// and sleeps in between, so that it interrupts the calls at any instruction, also where there is one processor.
static char *flipped;
static _Atomic int flipping;
static _Atomic long flips;
static int backing;

static void *flipper(void *unused)
{
	uint64_t seed = 88172645463325252;
	enum { rw = PROT_READ | PROT_WRITE };
	flipping = 2;
	while (flipping) {
		for (int away = 1; away >= 0; away--) {
			switch (flips / 2 % 3) {
			case 0:
				if (away)
					sys6(SYS_munmap, (long)flipped, page, 0, 0, 0, 0);
				else
					sys6(SYS_mmap, (long)flipped, page, rw, MAP_SHARED | MAP_FIXED, backing, 0);
				break;
			case 1:
				sys6(SYS_mprotect, (long)flipped, page, away ? PROT_NONE : rw, 0, 0, 0);
				break;
			case 2:
				sys6(SYS_mremap, (long)(away ? flipped : flipped + 2 * page), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, (long)(away ? flipped + 2 * page : flipped), 0);
				break;
			}
			flips++;
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			struct timespec t = {0, 10000 + (long)(seed % 60000)};
			sys6(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
		}
	}
	return unused;
}

// given makes one call with one of its arguments in the pages that come and go.
static long given(const struct shape *s, int n)
{
	uint64_t args[6];
	if (s->nr == SYS_renameat2) // it may be somewhere else since the last one
		sys6(SYS_close, sys6(SYS_openat, AT_FDCWD, (long)other_path, O_WRONLY | O_CREAT, 0644, 0, 0), 0, 0, 0, 0, 0);
	ready(s, -1, usable, NULL, args);
	args[n] = (uint64_t)(uintptr_t)(flipped + 0x400);
	return enter(s, args);
}

// begin_flipping starts the thread with the argument's pages filled, and waits until it runs nothing of libc's any more:
// aim makes libc's text writable for a moment, and it cannot be run then.
static pthread_t begin_flipping(const struct argument *a)
{
	pthread_t t;
	memset(flipped, 0x5c, page);
	if (a->is == in)
		memcpy(flipped + 0x400, a->data, a->size);
	flipping = 1;
	pthread_create(&t, NULL, flipper, NULL);
	while (flipping != 2)
		sys6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return t;
}

static void end_flipping(pthread_t t)
{
	flipping = 0;
	pthread_join(t, NULL);
}

// Memory that comes and goes while calls are made, by another thread's doing: for every argument of every call. The answer
// is that of memory that is there, or EFAULT, or what PRoot makes of it where it is left the call; and nothing faults.
static void raced(void)
{
	static char at[128];
	long made = 0, faults = 0, right = 0, others = 0;
	if (!relayed)
		none("no relays");
	gate_open();
	world();
	make_regions();
	make_shapes();
	backing = open(WORLD "/backing", O_RDWR | O_CREAT | O_TRUNC, 0600);
	flipped = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // and room to move to
	if (ftruncate(backing, page) != 0 || mmap(flipped, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, backing, 0) != flipped)
		fatal("no pages: %s", strerror(errno));
	int times = scaled(500) < 40 ? 40 : scaled(500);
	doing = at;
	for (int i = 0; i < nshapes; i++) {
		const struct shape *s = &shapes[i];
		const struct site *site = site_for(s->nr);
		for (int n = 0; site && s->besides < waits && n < 6; n++) {
			if (s->a[n].is == value)
				continue;
			long answers[8], stable = 0;
			int known = 0;
			for (int k = 0; k < 2; k++) { // what the call answers, the second time if that is something else
				pthread_t t = begin_flipping(&s->a[n]);
				end_flipping(t);
				stable = given(s, n);
			}
			pthread_t t = begin_flipping(&s->a[n]);
			aim(site);
			long first = flips; // a fast machine makes all calls between two of them
			for (int k = 0; k < times || (flips - first < 20 && k < 50 * times); k++, made++) {
				snprintf(at, sizeof at, "%s, argument %d, call %ld of all, flip %ld", s->name, n, made, (long)flips);
				long r = given(s, n);
				faults += r == -EFAULT;
				right += r == stable;
				if (r == -EFAULT || r == stable)
					continue;
				others++;
				int seen = 0;
				for (int j = 0; j < known; j++)
					seen |= answers[j] == r;
				if (!seen && known < 8)
					answers[known++] = r;
			}
			aim(NULL);
			snprintf(at, sizeof at, "%s, argument %d, PRoot's own answers", s->name, n);
			for (int k = 0; k < 4000 && known > 0; k++) { // does PRoot answer that, too?
				long r = given(s, n);
				for (int j = 0; j < known; j++)
					if (answers[j] == r)
						answers[j] = answers[--known];
			}
			end_flipping(t);
			for (int j = 0; j < known; j++)
				bad("%s, argument %d: %ld, where %ld or EFAULT is right", s->name, n, answers[j], stable);
		}
	}
	if (faults < made / 50 || right < made / 50)
		bad("of %ld calls only %ld were right and %ld gave EFAULT", made, right, faults);
	note(" %ld calls, %ld flips, %ld right, %ld EFAULT, %ld as PRoot", made, (long)flips, right, faults, others);
}

// count_lines counts the lines of a file of /proc.
static int count_lines(const char *name)
{
	char part[4096];
	int n = 0, got, fd = open(name, O_RDONLY);
	while ((got = (int)read(fd, part, sizeof part)) > 0)
		for (int i = 0; i < got; i++)
			n += part[i] == '\n';
	close(fd);
	return n;
}

static int count_descriptors(void)
{
	int n = 0;
	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) != -1;
	return n;
}

static void once(const struct shape *s)
{
	uint64_t a[6];
	int c = -1;
	ready(s, -1, usable, NULL, a);
	if (s->besides >= waits)
		return;
	if (s->besides == accepts) {
		c = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(c, (void *)&taken, sizeof taken);
	}
	long r = syscall(s->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r >= 0 && (s->besides == closes || s->besides == accepts))
		close((int)r);
	if (c >= 0)
		close(c);
}

static void *some_calls(void *unused)
{
	for (int i = 0; i < nshapes; i += 7)
		once(&shapes[i]);
	return unused;
}

// Calls of every kind, 100,000 of them, threads and children that make some: nothing is left of all that.
static void leftovers(void)
{
	int rounds = scaled(2000), made = 0, maps = 0, descriptors = 0;
	void *end = NULL;
	world();
	make_regions();
	make_shapes();
	if (!relayed)
		rounds = scaled(100);
	for (int i = 0; i < rounds + 2; i++) {
		if (i == 2) { // what is made once is there now
			maps = count_lines("/proc/self/maps");
			descriptors = count_descriptors();
			end = sbrk(0);
		}
		for (int k = 0; k < nshapes; k++, made++)
			once(&shapes[k]);
		if (i < 2 || i % 100 == 99) {
			pthread_t t;
			pthread_create(&t, NULL, some_calls, NULL);
			pthread_join(t, NULL);
			pid_t pid = fork();
			if (pid == 0) {
				some_calls(NULL);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	}
	int maps_now = count_lines("/proc/self/maps"), descriptors_now = count_descriptors();
	if (maps_now != maps || descriptors_now != descriptors || sbrk(0) != end)
		bad("mappings %d, then %d; descriptors %d, then %d; the heap grew by %ld", maps, maps_now, descriptors, descriptors_now, (long)((char *)sbrk(0) - (char *)end));
	note(" %d calls", made);
}

const struct check memory_checks[] = {{"straddle", straddle, 0}, {"freed", freed, 0}, {"raced", raced, 300}, {"leftovers", leftovers, 300}, {NULL, NULL, 0}};
