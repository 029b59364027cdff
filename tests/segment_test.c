/* Segments: their contents after closing, a kill and damage; and who can open which. Uses names of its own and removes
 * them. */
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
#include <time.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/system.h"
#include "lib/gguf/gguf.h"
#include "fwd/kernels/kernels.h"
#include "fwd/state/claim.h"
#include "fwd/state/fork.h"
#include "fwd/state/ids.h"
#include "fwd/state/named.h"
#include "fwd/state/segment.h"
#include "check.h"
#include "random.h"

static struct why w;
static char name[64], other[64], object[1024], file[64];
enum { LAYERS = 3, HEADS = 2, DIM_K = 10, DIM_V = 6, BLOCK = KV_EXTENT * (DIM_K + DIM_V) * 2,
	EXTENT = KV_EXTENT * 4 + LAYERS * HEADS * BLOCK };
static const struct segment_shape shape = { .model = 1234, .arithmetic = 1, .n_layer = LAYERS,
	.bytes = LAYERS * HEADS * BLOCK, .kv_type = KV_F16, .extent = KV_EXTENT };

enum { CTX = 300, HEADER = 512, FIRST = 4096 };        /* bytes of the header; where extents begin */

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
	unlink(object);
	segment_remove(other, &w);
	unlink(file);
}

static struct kv_block block(const struct segment *s, size_t layer, size_t head, size_t pos)
{
	struct kv_head kv = segment_head(s, (layer * HEADS + head) * BLOCK, head);

	return kv_block_at(shape.kv_type, DIM_K, DIM_V, kv.extent[pos / KV_EXTENT] + kv.offset);
}

/* The path of the object of this name. */
static void find_object(void)
{
	struct object o;

	holds(object_open(&o, name, 1, &w) == 0 && o.made, "an object can be made");
	snprintf(object, sizeof object, "%s", o.path ? o.path : "");
	holds(object_remove(&o, &w) == 0, "and removed");
	object_close(&o);
}

/* Ids, K and V of positions [from, n): each element is computed from its place and a seed. */
static void fill(struct segment *s, size_t n, unsigned seed)
{
	float k[DIM_K], v[DIM_V];

	if (segment_reserve(s, n, &w) < 0)
		holds(0, "no room");
	for (size_t pos = 0; pos < n; pos++) {
		segment_write_ids(s, pos, &(int32_t){ (int32_t)(pos * 7 + seed) }, 1);
		for (size_t layer = 0; layer < shape.n_layer; layer++)
			for (size_t head = 0; head < HEADS; head++) {
				struct kv_block kv = block(s, layer, head, pos);

				for (size_t d = 0; d < DIM_K; d++)
					k[d] = v[d % DIM_V] =
						(float)((seed + pos * 31 + layer * 17 + head * 7 + d) % 2000);
				kernels_scalar.kv_store(shape.kv_type, &kv, DIM_K, DIM_V, pos % KV_EXTENT,
					k, v);
			}
	}
	segment_set_length(s, n);
}

static int filled(const struct segment *s, size_t n, unsigned seed)
{
	struct segment want;
	int same = s->length == n;

	if (segment_open(&want, NULL, &shape, CTX, &w) < 0)
		return 0;
	fill(&want, n, seed);
	for (size_t pos = 0; pos < n && same; pos++) {
		same = segment_id(s, pos) == segment_id(&want, pos);
		for (size_t layer = 0; layer < shape.n_layer; layer++)
			for (size_t head = 0; head < HEADS; head++) {
				struct kv_block a = block(s, layer, head, pos), b = block(&want, layer, head, pos);
				size_t j = pos % KV_EXTENT, tile = j / KV_TILE * DIM_K * KV_TILE + j % KV_TILE;

				for (size_t d = 0; d < DIM_K; d++)
					same &= ((uint16_t *)a.k)[tile + d * KV_TILE]
						== ((uint16_t *)b.k)[tile + d * KV_TILE];
				same &= !memcmp((uint16_t *)a.v + j * DIM_V, (uint16_t *)b.v + j * DIM_V,
					DIM_V * 2);
			}
	}
	segment_close(&want);
	return same;
}

/* Opens and closes a segment. Returns whether it opened. */
static int reopens(const struct segment_shape *p)
{
	struct segment s;
	int status = segment_open(&s, name, p, CTX, &w);

	if (status == 0)
		segment_close(&s);
	return status == 0;
}

static size_t bytes_of(const char *which)
{
	struct segment_info info = { .bytes = 0 };

	holds(segment_inspect(which, &info, &w) == 0, "it cannot be inspected");
	return info.bytes;
}

static void life(const char *which)
{
	struct segment s;
	struct stat st;
	mode_t old = umask(0);
	size_t extent;

	holds(segment_open(&s, which, &shape, CTX, &w) == 0 && s.length == 0, "a new segment");
	umask(old);
	extent = EXTENT;
	holds(!fstat(s.object.fd, &st) && (st.st_mode & 0777) == 0600, "its mode is 0600 whatever the umask");
	holds(bytes_of(which) == FIRST, "it takes no more than its header");
	fill(&s, 77, 5);
	holds((uintptr_t)block(&s, 2, 1, 0).k % 64 == 0 && (uintptr_t)block(&s, 2, 1, 0).v % 64 == 0,
		"its K and V are aligned");
	holds(bytes_of(which) == FIRST + extent, "one extent for up to 128 positions");
	segment_close(&s);
	holds(segment_open(&s, which, &shape, CTX, &w) == 0 && filled(&s, 77, 5), "what was stored is there again");
	fill(&s, 257, 6);
	holds(bytes_of(which) == FIRST + 3 * extent, "it grows by extents");
	segment_close(&s);
	holds(segment_open(&s, which, &shape, 257, &w) == 0 && filled(&s, 257, 6),
		"what was added is there again, in a smaller context");
	holds(segment_reserve(&s, 257, &w) == 0 && bytes_of(which) == FIRST + 3 * extent,
		"it grows no further without need");
	segment_close(&s);
	holds(segment_open(&s, which, &shape, 256, &w) < 0 && says("has 257 tokens"), "a context that is too small");
	holds(segment_open(&s, which, &shape, CTX, &w) == 0, "opened again");
	segment_set_length(&s, 10);
	segment_close(&s);
	holds(bytes_of(which) == FIRST + extent, "what is not valid is given back");
	holds(segment_open(&s, which, &shape, CTX, &w) == 0 && filled(&s, 10, 6), "a shorter length is there again");
	segment_close(&s);
}

static void unnamed(void)
{
	struct segment s;

	holds(segment_open(&s, NULL, &shape, CTX, &w) == 0 && s.length == 0, "one without a name");
	fill(&s, 200, 9);
	holds(filled(&s, 200, 9), "it holds what is stored");
	segment_close(&s);
	segment_close(&s);
}

/* What a segment stores about its model. */
static void marks(void)
{
	struct segment s;

	holds(segment_open(&s, name, &shape, CTX, &w) == 0, "it opens");
	holds(!segment_mark(&s, SEGMENT_FILE) && !segment_mark(&s, SEGMENT_DIGEST),
		"at first nothing is known of its model");
	segment_set_mark(&s, SEGMENT_FILE, 7);
	segment_set_mark(&s, SEGMENT_DIGEST, UINT64_MAX);
	segment_set_mark(&s, SEGMENT_FILE, 8);
	segment_close(&s);
	holds(segment_open(&s, name, &shape, CTX, &w) == 0, "it opens again");
	holds(segment_mark(&s, SEGMENT_FILE) == 8 && segment_mark(&s, SEGMENT_DIGEST) == UINT64_MAX,
		"later what was stored");
	segment_set_mark(&s, SEGMENT_DIGEST, 0);
	holds(!segment_mark(&s, SEGMENT_DIGEST), "and nothing again");
	segment_close(&s);
}

static void fields(void)
{
	struct segment_shape p = shape;

#define DIFFERS(field, value, words) do { \
		p.field = value; \
		w.text[0] = 0; \
		holds(!reopens(&p) && says(words), "another " #field); \
		p.field = shape.field; \
	} while (0)
	DIFFERS(model, 1235, "model");
	DIFFERS(arithmetic, 2, "arithmetic");
	DIFFERS(choices, 1, "RoPE");
	DIFFERS(n_layer, 4, "layers");
	DIFFERS(bytes, 64, "bytes a token");
	DIFFERS(layout, 1, "layers");
	DIFFERS(kv_type, KV_F32, "kv_type");
#undef DIFFERS
	holds(reopens(&shape), "after all that it opens as before");
}

static void names(void)
{
	static const char *const bad[] = { "", "a/", "/", "..", ".", ".hidden", "a b", "\xc3\xa9", "a\n" };
	char longest[OBJECT_NAME_MAX + 2];
	struct segment s;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		holds(object_check_name(bad[i], &w) < 0, "a bad name is taken");
	memset(longest, 'x', sizeof longest);
	longest[OBJECT_NAME_MAX + 1] = 0;
	holds(object_check_name(longest, &w) < 0, "a name too long is taken");
	longest[OBJECT_NAME_MAX] = 0;
	holds(object_check_name(longest, &w) == 0, "the longest name is not taken");
	holds(object_check_name("./a b", &w) == 0, "a path is not taken");
	holds(segment_open(&s, "./no-such-directory/a", &shape, CTX, &w) < 0 && says("No such file"),
		"a path that leads nowhere");
	holds(segment_open(&s, "/dev/null", &shape, CTX, &w) < 0 && says("not a regular file"), "a device");
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

		if (segment_open(&s, name, &shape, CTX, &w) < 0 || write(ready[1], "x", 1) != 1)
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
	holds(!reopens(&shape) && says(pid), "a second owner is refused, with the first one's number");
	holds(segment_inspect(name, &info, &w) == 0 && info.owner == child && info.length == 120,
		"inspecting needs no lock");
	holds(segment_fork_named(name, other, &w) < 0 && says("in use"), "no copy while it is in use");
	holds(segment_remove(name, &w) < 0 && says("in use"), "no removal while it is in use");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	holds(reopens(&shape), "a dead owner's lock is free");
	holds(segment_inspect(name, &info, &w) == 0 && info.owner == 0, "and nobody owns it");
}

static void copies(void)
{
	struct segment s;

	if (segment_open(&s, name, &shape, CTX, &w) < 0) {
		holds(0, "cannot be opened");
		return;
	}
	fill(&s, 99, 3);
	segment_close(&s);
	holds(segment_fork_named(name, other, &w) == 0, "a copy");
	holds(segment_fork_named(name, other, &w) < 0 && says("already exists"), "no copy over another");
	holds(segment_fork_named(name, name, &w) < 0, "no copy onto itself");
	holds(segment_fork_named("no-such-segment-anywhere", other, &w) < 0 && says("no such segment"),
		"no copy of nothing");
	holds(segment_open(&s, other, &shape, CTX, &w) == 0 && filled(&s, 99, 3), "the copy holds the same");
	fill(&s, 20, 8);
	segment_close(&s);
	holds(segment_open(&s, name, &shape, CTX, &w) == 0 && filled(&s, 99, 3),
		"the original does not change with the copy");
	segment_close(&s);
	holds(segment_remove(other, &w) == 0 && segment_remove(other, &w) < 0 && says("no such segment"),
		"removed once, not twice");
}

/* ---- another process between the creation of a name and its lock ---- */

static void (*meanwhile)(void);

/* object.c calls geteuid() between the two. Only takes() needs another process: the others hold no lock when they
 * return. */
uid_t geteuid(void)
{
	void (*act)(void) = meanwhile;

	if (act && !access(object, F_OK)) {
		meanwhile = NULL;
		act();
	}
	return getuid();
}

static pid_t rival;

static void takes(void)
{
	rival = holder();
}

static void finishes(void)
{
	struct segment s;

	if (segment_open(&s, name, &shape, CTX, &w) == 0)
		fill(&s, 20, 4);
	segment_close(&s);
}

static void removes(void)
{
	segment_remove(name, &w);
}

static int is_whole(void)
{
	struct segment s;
	int whole = segment_open(&s, name, &shape, CTX, &w) == 0 && filled(&s, 20, 4);

	segment_close(&s);
	return whole;
}

static void races(void)
{
	struct segment_shape differs = shape;
	struct segment s;
	struct object o;

	differs.model++;
	unlink(object);
	meanwhile = takes;
	holds(!reopens(&shape) && says("in use by process"), "two make it: the other has it");
	holds(!access(object, F_OK), "and it stays");
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	unlink(object);
	meanwhile = finishes;
	holds(segment_open(&s, name, &shape, CTX, &w) == 0 && filled(&s, 20, 4), "two make it: the other has done so");
	segment_set_length(&s, 0);
	segment_close(&s);
	holds(!access(object, F_OK), "and it stays, though empty");

	unlink(object);
	meanwhile = finishes;
	holds(!reopens(&differs) && says("model") && is_whole(), "two models: that of the other stays");

	unlink(object);
	meanwhile = finishes;
	holds(claim_open(&o, name, 0, &w) < 0 && says("already exists") && is_whole(), "two claims: the other's stays");

	unlink(object);
	meanwhile = takes;
	holds(claim_open(&o, name, 0, &w) < 0 && says("in use by process") && !access(object, F_OK),
		"two claims: the other has it, and it stays");
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	unlink(object);
	meanwhile = removes;
	holds(!reopens(&shape) && says("removed while"), "one makes it, the other removes it");
	holds(reopens(&shape), "then it can be made");
}

static int count(const char *found, void *context)
{
	*(int *)context += !strcmp(found, name);
	return 0;
}

/* Running out of memory while listing is an error, not a shorter list. The sanitizers' allocators abort instead. */
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
	char long_name[sizeof object + 200];
	size_t n = 0;
	int found = 0, status, limited;

	for (int i = 0; i < MANY; i++) {
		snprintf(long_name, sizeof long_name, "%s-%0180d", object, i);
		close(open(long_name, O_CREAT | O_EXCL | O_RDWR, 0600));
	}
	while (n < 2 * LEFT && (block[n] = malloc(1000)))
		n++;
	getrlimit(RLIMIT_AS, &old);
	none.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	while (n < 1 << 16 && (block[n] = malloc(1000)))
		n++;
	limited = n < 1 << 16;  /* not under qemu-user */
	for (size_t i = 0; i < LEFT && n; i++)
		free(block[--n]);
	status = object_each(count, &found, &w);
	while (n)
		free(block[--n]);
	setrlimit(RLIMIT_AS, &old);
	if (limited) {
		holds(status < 0 && says(strerror(ENOMEM)), "a list that memory does not suffice for is shortened");
		holds(object_each(count, &found, &w) == 0 && found == 1, "with memory it is whole");
	} else
		check_skip("no limit of memory (2 cases)");
	for (int i = 0; i < MANY; i++) {
		snprintf(long_name, sizeof long_name, "%s-%0180d", object, i);
		unlink(long_name);
	}
}
#endif

/* The object as bytes: mapped whole, changed, put back. */
static void damage(void)
{
	int fd = open(object, O_RDWR, 0), taken = 0, listed = 0;
	unsigned char part[40];
	struct stat st;
	unsigned char *p;

	if (fd < 0 || fstat(fd, &st) < 0) {
		holds(0, "it cannot be opened");
		return;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t bit = 0; bit < (HEADER - 32) * 8; bit++) {
		p[bit / 8] ^= (unsigned char)(1 << bit % 8);
		taken += reopens(&shape);
		p[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	holds(!taken, "a flipped bit of the header is not noticed");
	holds(reopens(&shape), "and all put right it opens");
	memset(p + FIRST, 0xff, (size_t)st.st_size - FIRST);
	holds(reopens(&shape), "whatever K and V hold");

	holds(!ftruncate(fd, st.st_size / 2) && !reopens(&shape) && says("truncated"), "half of it");
	holds(!ftruncate(fd, HEADER - 1) && !reopens(&shape) && says("truncated"), "part of the header");
	holds(object_each(count, &listed, &w) == 0 && listed == 1, "a damaged one is listed too");
	munmap(p, (size_t)st.st_size);
	holds(!ftruncate(fd, 0) && reopens(&shape), "an empty one, as a killed maker leaves it, is made anew");

	/* The other thing a killed maker leaves: a header without its magic. */
	holds(pread(fd, part, sizeof part, 8) == sizeof part && !ftruncate(fd, 0) && !ftruncate(fd, FIRST)
		&& pwrite(fd, part, sizeof part, 8) == sizeof part, "made by hand");
	close(fd);
	holds(segment_inspect(name, &(struct segment_info){ 0 }, &w) < 0 && says("unfinished"),
		"an unfinished one is called so");
	holds(reopens(&shape), "and made anew");
	holds(segment_inspect(name, &(struct segment_info){ 0 }, &w) == 0, "then it is whole");
}

static void strangers(void)
{
	struct segment_shape huge = shape;
	struct rlimit old, limit;
	struct segment s;
	int fd;

	unlink(object);
	fd = open(object, O_CREAT | O_EXCL | O_RDWR, 0600);
	holds(fd >= 0 && !fchmod(fd, 0666) && !reopens(&shape) && says("other users can access it"),
		"one that others may write");
	holds(!fchmod(fd, 0600) && ftruncate(fd, 100000) == 0, "made larger");
	if (pwrite(fd, "not a segment at all", 20, 0) == 20)
		holds(!reopens(&shape) && says("not a segment"), "something else of that name");
	holds(!ftruncate(fd, 0) && !ftruncate(fd, FIRST) && pwrite(fd, "text", 4, 40) == 4 && !reopens(&shape)
		&& says("not a segment"), "also if it begins with zeros");
	close(fd);
	unlink(object);

	huge.bytes = (uint64_t)1 << 51;
	holds(!reopens(&huge), "more than there can be");
	holds(open(object, O_RDWR, 0) < 0 && errno == ENOENT, "leaves nothing behind");
	huge.bytes *= 2;
	holds(segment_open(&s, NULL, &huge, CTX, &w) < 0, "bytes out of bounds");

	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = FIRST / 2;
	setrlimit(RLIMIT_FSIZE, &limit);
	holds(!reopens(&shape), "no room for it");
	holds(open(object, O_RDWR, 0) < 0 && errno == ENOENT, "leaves nothing behind either");
	setrlimit(RLIMIT_FSIZE, &old);
}

/* If names without a slash are in a directory of the user's own, it is created, and nobody else can access it. */
static void own_directory(void)
{
	const char *old = getenv("TMPDIR");
	char path[64], longest[2000] = "";
	struct stat st;
	int n = 0;

	snprintf(path, sizeof path, "own/lmpipe-%ld", (long)geteuid());
	setenv("TMPDIR", "own", 1);
	holds(!mkdir("own", 0700) && object_each(count, &n, &w) == 0 && access(path, F_OK) < 0,
		"listing makes no directory");
	holds(reopens(&shape) && !lstat(path, &st) && (st.st_mode & 07777) == 0700, "a directory of mode 0700");
	holds(!chmod(path, 0750) && !reopens(&shape) && says("this user alone"), "a directory open to others");
	holds(object_each(count, &n, &w) < 0 && segment_remove(name, &w) < 0 && says("this user alone"),
		"nor listed");
	holds(!rename(path, "own/other") && !chmod("own/other", 0700) && !symlink("other", path)
		&& !reopens(&shape) && says("this user alone"), "a link to a directory");
	holds(!unlink(path) && !rmdir("own/other") && !rmdir("own"), "nothing is left in it");
	memset(longest, 'x', sizeof longest - 1);
	setenv("TMPDIR", longest, 1);
	holds(!reopens(&shape) && says("too long"), "a path that is too long");
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
}

/* If there is no room to grow, nothing changes. */
static void full(const char *which)
{
	struct rlimit old, limit;
	struct segment s;
	size_t bytes;

	holds(segment_open(&s, which, &shape, CTX, &w) == 0, "it opens");
	fill(&s, 120, 4);
	bytes = bytes_of(which);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = bytes + EXTENT + EXTENT / 2;
	setrlimit(RLIMIT_FSIZE, &limit);
	holds(segment_reserve(&s, 120 + 2 * KV_EXTENT, &w) < 0 && says(which) && says("cannot grow by"),
		"room that there is not");
	holds(bytes_of(which) == bytes && filled(&s, 120, 4), "it is as before");
	holds(segment_reserve(&s, 120 + KV_EXTENT, &w) == 0, "room that there is");
	setrlimit(RLIMIT_FSIZE, &old);
	segment_close(&s);
	holds(segment_open(&s, which, &shape, CTX, &w) == 0 && filled(&s, 120, 4), "it is as before when opened again");
	segment_close(&s);
}

/* Headers with damaged fields and a correct hash: opening them neither crashes nor accepts them. */
static void lies(void)
{
	int fd = open(object, O_RDWR, 0), taken = 0;
	unsigned char good[HEADER], bad[HEADER];
	uint64_t hash;
	struct segment s;

	holds(fd >= 0 && pread(fd, good, HEADER, 0) == HEADER, "the header can be read");
	for (size_t round = 0; round < 20000; round++) {
		memcpy(bad, good, HEADER);
		for (size_t i = 0; i <= round % 3; i++) {
			unsigned char *byte = bad + 8 + random_below(HEADER - 8);

			*byte = (unsigned char)(round % 2 ? random_bits() : 1u << random_below(8));
		}
		hash = hash_data(bad + 8, HEADER - 64, 0);
		memcpy(bad + HEADER - 56, &hash, sizeof hash);
		if (pwrite(fd, bad, HEADER, 0) != HEADER || segment_open(&s, name, &shape, CTX, &w) < 0)
			continue;
		/* only context, length and marks may differ in a segment that opens */
		taken += memcmp(bad, good, HEADER - 48) != 0;
		for (size_t i = 0; i < s.length; i++)
			taken += segment_id(&s, i) == INT32_MIN;
		segment_close(&s);
	}
	holds(!taken, "a false header is believed");
	memcpy(bad, good, HEADER);
	bad[8] = 1;
	holds(pwrite(fd, bad, HEADER, 0) == HEADER && !reopens(&shape) && says("version 1"),
		"one of version 1 is refused as such");
	holds(pwrite(fd, good, HEADER, 0) == HEADER && reopens(&shape), "put right it opens");
	close(fd);
}

/* Any length and marks; cut off anywhere. */
static void spoil(const char *path, int length, int shortened)
{
	uint64_t word = random_below(7000);
	int fd = open(path, O_RDWR), ok = fd >= 0;
	struct stat st;

	word |= ~word << 32;
	ok &= !length || pwrite(fd, &word, 8, HEADER - 40) == 8;
	for (size_t i = 0; i < 40; i++) {
		word = random_below(7000) * (i % 2 ? 1 : STATE_CHUNK);
		ok &= pwrite(fd, &word, 8, (off_t)(HEADER + 8 * random_below(2 * STATE_MARKS))) == 8;
	}
	ok &= !shortened || (!fstat(fd, &st) && !ftruncate(fd, (off_t)random_below((size_t)st.st_size)));
	holds(ok, "spoiled");
	close(fd);
}

/* Damaged segments of any shape, opened as kv does: all valid data is within the file. */
static void any_shape(void)
{
	struct segment_info info;
	struct segment s;
	int opened = 0, refused = 0, sum = 0;

	for (int round = 0; round < 500; round++) {
		struct segment_shape p = { .n_layer = 1, .extent = KV_EXTENT, .bytes = 64 * random_below(9),
			.recent_bytes = 64 * random_below(3), .window = random_below(10000),
			.state_bytes = 64 * random_below(9),
			.row_bytes = random_below(30), .keeps_current = (uint32_t)random_below(2) };
		size_t n = 1 + random_below(6000);

		holds(segment_open(&s, file, &p, 6000, &w) == 0 && segment_reserve(&s, n, &w) == 0, "any shape");
		segment_commit(&s, 0, n);
		segment_close(&s);
		spoil(file, round % 2, round % 3 == 0);
		if (segment_inspect(file, &info, &w) < 0 || segment_open(&s, file, &info.shape, info.n_ctx, &w) < 0)
			refused++;
		else {
			opened++;
			for (size_t i = 0; i < s.length; i++)
				sum += segment_id(&s, i);
			holds(s.next <= s.length, "the next row of a spoiled segment");
			if (s.next < s.length)
				segment_begin(&s, s.next, s.length - s.next);
			segment_close(&s);
		}
		unlink(file);
	}
	holds(opened > 100 && refused > 100 && sum != 1, "spoiled segments that open, and that do not");
}

/* Files that are not segments remain as they are. */
static void foreign_files(void)
{
	char what[5000] = { 0 };
	FILE *f = fopen(file, "w");
	struct segment s;
	struct stat st;

	holds(f && fwrite(what, sizeof what, 1, f) == 1 && !fclose(f) && !chmod(file, 0600), "a file of zeroes");
	holds(segment_open(&s, file, &shape, CTX, &w) < 0 && says("not a segment"), "it is not taken");
	holds(segment_remove(file, &w) < 0 && says("not a segment"), "nor removed");
	holds(!stat(file, &st) && st.st_size == sizeof what, "it is as before");
	unlink(file);
}

/* A writer that appends ids and truncates at random is killed at a random moment. What the next process finds must be
 * consistent: each id follows from the one before, and V matches each. */
static _Noreturn void writer(unsigned seed)
{
	struct segment s;
	size_t n;

	if (segment_open(&s, name, &shape, CTX, &w) < 0)
		_exit(1);
	for (n = s.length;; seed = seed * 1664525 + 1013904223) {
		int32_t id = seed >> 28;

		if (n == CTX || (n && seed >> 24 < 2)) {
			n = (seed >> 8 & 1023) % n;
			segment_set_length(&s, n);
		}
		if (segment_reserve(&s, n + 1, &w) < 0)
			_exit(1);
		id += n ? (segment_id(&s, n - 1) * 3) & 0xfffff : 1;
		segment_write_ids(&s, n, &id, 1);
		((uint16_t *)block(&s, 1, 1, n).v)[n % KV_EXTENT * DIM_V] = (uint16_t)id;
		segment_set_length(&s, ++n);
		if ((seed >> 16) % 64 == 0) {     /* closing frees space */
			segment_close(&s);
			if (segment_open(&s, name, &shape, CTX, &w) < 0)
				_exit(1);
		}
	}
}

static void kills(void)
{
	struct segment s;
	pid_t child;
	int bad = 0, reached = 0;

	/* A slow machine gets more kills, after longer delays. */
	for (unsigned round = 0; round < 100 || (reached <= 5 && round < 1000); round++) {
		child = fork();
		if (!child)
			writer(round * 2654435761u);
		nanosleep(&(struct timespec){ .tv_nsec = round * 37 % 4000 * 1000 * (1 + round / 100) }, NULL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (segment_open(&s, name, &shape, CTX, &w) < 0) {
			bad++;
			continue;
		}
		reached += s.length > KV_EXTENT;
		for (size_t i = 0; i < s.length; i++) {
			int32_t id = segment_id(&s, i), from = i ? (segment_id(&s, i - 1) * 3) & 0xfffff : 1;

			bad += id < from || id > from + 15 || ((uint16_t *)block(&s, 1, 1,
				i).v)[i % KV_EXTENT * DIM_V] != (uint16_t)id;
		}
		segment_close(&s);
	}
	holds(!bad, "something counts that is not there, after a kill");
	holds(reached > 5, "the kills came too early to say anything");
}

int main(void)
{
	snprintf(name, sizeof name, "test-%ld", (long)getpid());
	snprintf(other, sizeof other, "test-%ld-copy", (long)getpid());
	snprintf(file, sizeof file, "./test-%ld", (long)getpid());
	find_object();
	atexit(clean);
	signal(SIGXFSZ, SIG_IGN);
	life(name);
	life(file);
	holds(segment_remove(file, &w) == 0 && access(file, F_OK) < 0, "a file is removed");
	full(name);
	full(file);
	foreign_files();
	unnamed();
	marks();
	lies();
	any_shape();
	fields();
	names();
	locks();
	races();
	copies();
	short_of_memory();
	damage();
	strangers();
	if (!system_shared_memory())
		own_directory();
	kills();
	clean();
	return check_end("segment");
}
