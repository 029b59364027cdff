/* Segments: what is there after closing, dying, damage; who may open what. Uses names of its own and removes them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fwd/kernels/kernels.h"
#include "fwd/state/segment.h"
#include "check.h"

static struct why w;
static char name[64], other[64], object[80];
static const struct segment_shape shape = { .model = 1234, .arithmetic = 1, .n_ctx = 100, .n_layer = 3, .n_head_kv = 2, .dim_k = 10, .dim_v = 6,
	.kv_type = KV_F16 };

static void holds(int ok, const char *what)
{
	check(ok, "%s (%s)", what, w.text);
}

static int says(const char *words)
{
	return strstr(w.text, words) != NULL;
}

static void clean(void)
{
	shm_unlink(object);
	segment_remove(other, &w);
}

/* K, V and ids of n positions: each byte from its place and a seed. */
static void fill(struct segment *s, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		s->ids[i] = (int32_t)(i * 7 + seed);
	for (size_t layer = 0; layer < shape.n_layer; layer++)
		for (size_t head = 0; head < shape.n_head_kv; head++) {
			memset(segment_k(s, layer, head), (int)(seed + layer * 16 + head), (n + 15) / 16 * 16 * shape.dim_k * 2);
			memset(segment_v(s, layer, head), (int)(seed + layer * 16 + head + 128), n * shape.dim_v * 2);
		}
	segment_set_length(s, n);
}

static int filled(const struct segment *s, size_t n, unsigned seed)
{
	const unsigned char *k, *v;

	if (s->length != n)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (s->ids[i] != (int32_t)(i * 7 + seed))
			return 0;
	for (size_t layer = 0; layer < shape.n_layer; layer++)
		for (size_t head = 0; head < shape.n_head_kv; head++) {
			k = segment_k(s, layer, head);
			v = segment_v(s, layer, head);
			for (size_t i = 0; i < n * shape.dim_k * 2; i++)
				if (k[i] != (unsigned char)(seed + layer * 16 + head))
					return 0;
			for (size_t i = 0; i < n * shape.dim_v * 2; i++)
				if (v[i] != (unsigned char)(seed + layer * 16 + head + 128))
					return 0;
		}
	return 1;
}

/* Opens and closes again; the status of opening. */
static int reopens(const struct segment_shape *p, int any_ctx)
{
	struct segment s;
	int status = segment_open(&s, name, p, any_ctx, &w);

	if (status == 0)
		segment_close(&s);
	return status == 0;
}

static void life(void)
{
	struct segment s;
	struct stat st;
	mode_t old = umask(0);

	holds(segment_open(&s, name, &shape, 0, &w) == 0 && s.length == 0, "a new segment");
	umask(old);
	holds(!fstat(s.fd, &st) && (st.st_mode & 0777) == 0600, "its mode is 0600 whatever the umask");
	holds((uintptr_t)s.kv % 64 == 0 && (uintptr_t)segment_v(&s, 2, 1) % 64 == 0, "its K and V are aligned");
	holds((unsigned char *)segment_v(&s, 2, 1) + 112 * shape.dim_v * 2 <= (unsigned char *)s.header + s.bytes, "it has room for whole tiles");
	fill(&s, 77, 5);
	segment_close(&s);
	holds(segment_open(&s, name, &shape, 0, &w) == 0 && filled(&s, 77, 5), "what was stored is there again");
	segment_set_length(&s, 10);
	segment_close(&s);
	holds(segment_open(&s, name, &shape, 0, &w) == 0 && filled(&s, 10, 5), "a cut is there again");
	segment_close(&s);

	holds(segment_open(&s, NULL, &shape, 0, &w) == 0 && s.length == 0, "one without a name");
	fill(&s, 100, 9);
	holds(filled(&s, 100, 9), "it holds what is stored");
	segment_close(&s);
}

static void fields(void)
{
	struct segment_shape p = shape;
	struct segment s;

#define DIFFERS(field, value, words) do { p.field = value; w.text[0] = 0; holds(!reopens(&p, 0) && says(words), "another " #field); p.field = shape.field; } while (0)
	DIFFERS(model, 1235, "model");
	DIFFERS(arithmetic, 2, "arithmetic");
	DIFFERS(n_ctx, 96, "n_ctx");
	DIFFERS(n_layer, 4, "layers");
	DIFFERS(n_head_kv, 1, "KV heads");
	DIFFERS(dim_k, 12, "of 10 and 6");
	DIFFERS(dim_v, 8, "of 10 and 6");
	DIFFERS(kv_type, KV_F32, "kv_type");
#undef DIFFERS
	p.n_ctx = 96;
	holds(segment_open(&s, name, &p, 1, &w) == 0 && s.shape.n_ctx == 100, "any context: its own is taken");
	segment_close(&s);
	holds(reopens(&shape, 0), "after all that it opens as before");
}

static void names(void)
{
	static const char *const bad[] = { "", "a/b", "..", ".", ".hidden", "a b", "\xc3\xa9", "a\n" };
	char longest[SEGMENT_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		holds(segment_check_name(bad[i], &w) < 0, "a bad name is taken");
	memset(longest, 'x', sizeof longest);
	longest[SEGMENT_NAME_MAX + 1] = 0;
	holds(segment_check_name(longest, &w) < 0, "a name too long is taken");
	longest[SEGMENT_NAME_MAX] = 0;
	holds(segment_check_name(longest, &w) == 0, "the longest name is not taken");
}

/* A child opens it and waits to be killed. */
static pid_t holder(void)
{
	int ready[2];
	pid_t child;
	char byte;

	if (pipe(ready) < 0)
		return -1;
	child = fork();
	if (!child) {
		struct segment s;

		if (segment_open(&s, name, &shape, 0, &w) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		holds(0, "the child did not open it");
	close(ready[0]);
	return child;
}

static void locks(void)
{
	struct segment_info info;
	pid_t child = holder();
	char pid[32];

	snprintf(pid, sizeof pid, "in use by process %ld", (long)child);
	holds(!reopens(&shape, 0) && says(pid), "a second owner is refused, with the first one's number");
	holds(segment_inspect(name, &info, &w) == 0 && info.owner == child && info.length == 10, "inspecting needs no lock");
	holds(segment_fork(name, other, &w) < 0 && says("in use"), "no copy while it is in use");
	holds(segment_remove(name, &w) < 0 && says("in use"), "no removal while it is in use");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	holds(reopens(&shape, 0), "a dead owner's lock is free");
	holds(segment_inspect(name, &info, &w) == 0 && info.owner == 0, "and nobody owns it");
}

static void copies(void)
{
	struct segment s;

	if (segment_open(&s, name, &shape, 0, &w) < 0) {
		holds(0, "cannot be opened");
		return;
	}
	fill(&s, 99, 3);
	segment_close(&s);
	holds(segment_fork(name, other, &w) == 0, "a copy");
	holds(segment_fork(name, other, &w) < 0 && says("there already"), "no copy over another");
	holds(segment_fork(name, name, &w) < 0, "no copy onto itself");
	holds(segment_fork("no-such-segment-anywhere", other, &w) < 0 && says("no such segment"), "no copy of nothing");
	holds(segment_open(&s, other, &shape, 0, &w) == 0 && filled(&s, 99, 3), "the copy holds the same");
	fill(&s, 20, 8);
	segment_close(&s);
	holds(segment_open(&s, name, &shape, 0, &w) == 0 && filled(&s, 99, 3), "the original does not change with the copy");
	segment_close(&s);
	holds(segment_remove(other, &w) == 0 && segment_remove(other, &w) < 0 && says("no such segment"), "removed once, not twice");
}

static int count(const char *found, void *context)
{
	*(int *)context += !strcmp(found, name);
	return 0;
}

/* A list that memory does not suffice for is an error, not a shorter list. The sanitizers' allocators end the program instead. */
#ifdef __SANITIZE_ADDRESS__
static void short_of_memory(void)
{
}
#else
enum { MANY = 1500, LEFT = 200 };       /* objects; KiB of memory */

static void short_of_memory(void)
{
	static void *block[1 << 16];
	struct rlimit old, none = { 0 };
	char long_name[300];
	size_t n = 0;
	int found = 0, status;

	for (int i = 0; i < MANY; i++) {
		snprintf(long_name, sizeof long_name, "%s-%0180d", object, i);
		close(shm_open(long_name, O_CREAT | O_EXCL | O_RDWR, 0600));
	}
	while (n < 2 * LEFT && (block[n] = malloc(1000)))
		n++;
	getrlimit(RLIMIT_AS, &old);
	none.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	while (n < 1 << 16 && (block[n] = malloc(1000)))
		n++;
	for (size_t i = 0; i < LEFT && n; i++)
		free(block[--n]);
	status = segment_each(count, &found, &w);
	while (n)
		free(block[--n]);
	setrlimit(RLIMIT_AS, &old);
	holds(status < 0 && says("out of memory"), "a list that memory does not suffice for is shortened");
	holds(segment_each(count, &found, &w) == 0 && found == 1, "with memory it is whole");
	for (int i = 0; i < MANY; i++) {
		snprintf(long_name, sizeof long_name, "%s-%0180d", object, i);
		shm_unlink(long_name);
	}
}
#endif

/* The object as bytes: mapped whole, changed, put back. */
static void damage(void)
{
	int fd = shm_open(object, O_RDWR, 0), taken = 0, listed = 0;
	struct stat st;
	unsigned char *p;

	if (fd < 0 || fstat(fd, &st) < 0) {
		holds(0, "cannot be opened");
		return;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t bit = 0; bit < 80 * 8; bit++) {
		p[bit / 8] ^= (unsigned char)(1 << bit % 8);
		taken += reopens(&shape, 1);
		p[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	holds(!taken, "a flipped bit of the header is not noticed");
	holds(reopens(&shape, 0), "and all put right it opens");
	memset(p + 8192, 0xff, (size_t)st.st_size - 8192);
	holds(reopens(&shape, 0), "whatever K and V hold");

	holds(!ftruncate(fd, st.st_size / 2) && !reopens(&shape, 0) && says("cut short"), "half of it");
	holds(!ftruncate(fd, 79) && !reopens(&shape, 0) && says("cut short"), "part of the header");
	holds(segment_each(count, &listed, &w) == 0 && listed == 1, "a damaged one is listed too");
	munmap(p, (size_t)st.st_size);
	holds(!ftruncate(fd, 0) && reopens(&shape, 0), "an empty one, as a killed maker leaves it, is made anew");

	/* The other thing a killed maker leaves: all the room, no magic. */
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(p, 0, 8);
	p[40] = 0x55;
	munmap(p, 4096);
	close(fd);
	holds(segment_inspect(name, &(struct segment_info){ 0 }, &w) < 0 && says("unfinished"), "an unfinished one is called so");
	holds(reopens(&shape, 0), "and made anew");
	holds(segment_inspect(name, &(struct segment_info){ 0 }, &w) == 0, "then it is whole");
}

static void strangers(void)
{
	struct segment_shape huge = shape;
	struct rlimit old, limit;
	struct segment s;
	int fd;

	shm_unlink(object);
	fd = shm_open(object, O_CREAT | O_EXCL | O_RDWR, 0600);
	holds(fd >= 0 && !fchmod(fd, 0666) && !reopens(&shape, 0) && says("open to others"), "one that others may write");
	holds(!fchmod(fd, 0600) && ftruncate(fd, 100000) == 0, "made larger");
	if (pwrite(fd, "not a segment at all", 20, 0) == 20)
		holds(!reopens(&shape, 0) && says("not a segment"), "something else of that name");
	close(fd);
	shm_unlink(object);

	huge.n_ctx = SEGMENT_CTX_MAX;
	huge.n_layer = huge.n_head_kv = 1 << 14;
	huge.dim_k = huge.dim_v = 1 << 12;
	holds(!reopens(&huge, 0), "more than there can be");
	holds(shm_open(object, O_RDWR, 0) < 0 && errno == ENOENT, "leaves nothing behind");
	huge.dim_k = SIZE_MAX >> 33;
	holds(segment_open(&s, NULL, &huge, 0, &w) < 0, "dims out of bounds");

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 8192;
	setrlimit(RLIMIT_FSIZE, &limit);
	holds(!reopens(&shape, 0), "no room for it");
	setrlimit(RLIMIT_FSIZE, &old);
	holds(shm_open(object, O_RDWR, 0) < 0 && errno == ENOENT, "leaves nothing behind either");
}

/* A writer that adds ids and cuts back at random is killed at any moment; what the next one finds must be true: every id that counts follows
 * from the one before, and K holds each. */
static _Noreturn void writer(unsigned seed)
{
	struct segment s;
	size_t n;

	if (segment_open(&s, name, &shape, 0, &w) < 0)
		_exit(1);
	for (n = s.length;; seed = seed * 1664525 + 1013904223) {
		if (n == shape.n_ctx || (n && seed >> 24 < 40)) {
			n = (seed >> 16 & 255) % n;
			segment_set_length(&s, n);
		}
		s.ids[n] = (n ? s.ids[n - 1] * 3 : 1) + (int32_t)(seed >> 28);
		((uint16_t *)segment_v(&s, 1, 1))[n * shape.dim_v] = (uint16_t)s.ids[n];
		segment_set_length(&s, ++n);
		if (n > 1 && s.ids[n - 1] > 1 << 20)
			segment_set_length(&s, n = 0);
	}
}

static void kills(void)
{
	struct segment s;
	pid_t child;
	int bad = 0, reached = 0;

	for (unsigned round = 0; round < 100; round++) {
		child = fork();
		if (!child)
			writer(round * 2654435761u);
		usleep(round * 37 % 4000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (segment_open(&s, name, &shape, 0, &w) < 0) {
			bad++;
			continue;
		}
		reached += s.length > 0;
		for (size_t i = 0; i < s.length; i++)
			bad += (i && (s.ids[i] < s.ids[i - 1] * 3 || s.ids[i] > s.ids[i - 1] * 3 + 15)) ||
				((uint16_t *)segment_v(&s, 1, 1))[i * shape.dim_v] != (uint16_t)s.ids[i];
		segment_close(&s);
	}
	holds(!bad, "something counts that is not there, after a kill");
	holds(reached > 5, "the kills came too early to say anything");
}

int main(void)
{
	snprintf(name, sizeof name, "test-%ld", (long)getpid());
	snprintf(other, sizeof other, "test-%ld-copy", (long)getpid());
	snprintf(object, sizeof object, "/lmpipe-%s", name);
	atexit(clean);
	life();
	fields();
	names();
	locks();
	copies();
	short_of_memory();
	damage();
	strangers();
	kills();
	clean();
	return check_end("segment");
}
