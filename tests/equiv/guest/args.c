// Arguments: the words of a script line become numbers, descriptors, strings and buffers. Strings and buffers lie
// in memory of their own, before a page that cannot be touched.
//
//   12  -1  0x800   a number
//   cwd             AT_FDCWD
//   @3              the descriptor in slot 3 (-1 if there is none)
//   "text"          a string in the middle of its memory; \xNN is a byte, \f3; the number of the descriptor in
//                   slot 3, \p0; the process id of actor 0
//   e"text"         a string whose last byte is the last before the page that cannot be touched
//   u"text"         the same without the zero byte: it runs on into that page
//   s"text"         a Unix socket address: the family, then the text without a zero byte
//   b144            a buffer of 144 bytes that ends at the page that cannot be touched
//   m144            a buffer in the middle of its memory
//   r144            a buffer that can be read only
//   L8              a buffer that holds the number 8 as an int, and ends at the page that cannot be touched
//   l8              the same in the middle of its memory
//   H128            a buffer for a file handle of up to 128 bytes
//   o1,2,3          a buffer with a struct open_how: flags, mode, resolve
//   t1,2,3,4        a buffer with two struct timespec
#include "equiv.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { pages = 2 }; // 4 KiB each: two hold the longest path and the largest buffer

static char *arenas[max_actors][max_args];
static size_t page;

void make_arena(int actor)
{
	page = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < max_args; i++) {
		if (arenas[actor][i])
			continue;
		char *p = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || mprotect(p + pages * page, page, PROT_NONE) != 0) {
			put("no memory\n");
			_exit(3);
		}
		arenas[actor][i] = p;
	}
}

// unescape copies the text between the quotes to out and returns its length.
static size_t unescape(const char *s, char *out, size_t room)
{
	size_t n = 0;
	for (; *s && *s != '"' && n + 16 < room; s++) {
		if (*s != '\\') {
			out[n++] = *s;
			continue;
		}
		s++;
		if (*s == 'x') {
			char hex[3] = {s[1], s[1] ? s[2] : 0, 0};
			out[n++] = strtoul(hex, NULL, 16);
			s += 2;
		} else if (*s == 'f' || *s == 'p') {
			int i = atoi(s + 1), fd = *s == 'f';
			int v = fd ? i >= 0 && i < max_slots ? slots[i] : -1 : i >= 0 && i < max_actors ? shared->pids[i] : -1;
			n += sprintf(out + n, "%d", v);
			while (*s && *s != ';')
				s++;
		} else
			out[n++] = *s;
	}
	return n;
}

static void make_string(struct arg *a, char kind, const char *token)
{
	static __thread char text[1 << 14];
	size_t n = unescape(token, text, sizeof text), size = a->around;
	if (n + 3 > size)
		n = size - 3;
	switch (kind) {
	case 'e':
		a->start = a->base + size - n - 1;
		break;
	case 'u':
		a->start = a->base + size - n;
		break;
	case 's': {
		sa_family_t family = AF_UNIX;
		a->start = a->base + size - n - sizeof family;
		memcpy(a->start, &family, sizeof family);
		memcpy(a->start + sizeof family, text, n);
		a->value = (long)a->start;
		return;
	}
	default:
		a->start = a->base + 64;
	}
	memcpy(a->start, text, n);
	if (kind != 'u')
		a->start[n] = 0;
	a->value = (long)a->start;
}

static void make_buffer(struct arg *a, char kind, const char *number)
{
	a->size = strtoul(number, NULL, 0);
	if (a->size > a->around - 512)
		a->size = a->around - 512;
	memset(a->base, fill, a->around);
	a->start = kind == 'm' ? a->base + 256 : a->base + a->around - a->size;
	a->buffer = 1;
	a->readonly = kind == 'r';
	a->value = (long)a->start;
}

int make_arg(int actor, int index, const char *token, struct arg *a)
{
	memset(a, 0, sizeof *a);
	char c = token[0];
	if (c == '@') {
		int i = atoi(token + 1);
		a->value = i >= 0 && i < max_slots ? slots[i] : -1;
		return 1;
	}
	if (strcmp(token, "cwd") == 0) {
		a->value = AT_FDCWD;
		return 1;
	}
	if (isdigit((unsigned char)c) || c == '-') {
		a->value = c == '-' ? strtol(token, NULL, 0) : (long)strtoul(token, NULL, 0);
		return 1;
	}
	a->base = arenas[actor][index];
	a->around = pages * page;
	if (c == '"') {
		make_string(a, 0, token + 1);
		return 1;
	}
	if (c && token[1] == '"') {
		make_string(a, c, token + 2);
		return 1;
	}
	if (c == 'L' || c == 'l') {
		int v = atoi(token + 1);
		make_buffer(a, c == 'L' ? 'b' : 'm', "4");
		memcpy(a->start, &v, sizeof v);
		return 1;
	}
	if (c == 'H') {
		int v = atoi(token + 1);
		make_buffer(a, 'b', "136");
		memcpy(a->start, &v, sizeof v);
		return 1;
	}
	if (c == 'o' && isdigit((unsigned char)token[1])) {
		unsigned long long v[3] = {0};
		char *end = (char *)token;
		for (int i = 0; i < 3 && *end; i++)
			v[i] = strtoull(end + 1, &end, 0);
		make_buffer(a, 'b', "24");
		memcpy(a->start, v, sizeof v);
		a->buffer = 0;
		return 1;
	}
	if (c == 't') {
		long v[4] = {0};
		sscanf(token + 1, "%ld,%ld,%ld,%ld", v, v + 1, v + 2, v + 3);
		make_buffer(a, 'b', "32");
		memcpy(a->start, v, sizeof v);
		a->buffer = 0;
		return 1;
	}
	if (c == 'b' || c == 'm' || c == 'r') {
		make_buffer(a, c, token + 1);
		return 1;
	}
	return 0;
}

void seal(struct arg *a, int sealed)
{
	if (a->readonly)
		svc(SYS_mprotect, (long)a->base, a->around, sealed ? PROT_READ : PROT_READ | PROT_WRITE, 0, 0, 0);
}
