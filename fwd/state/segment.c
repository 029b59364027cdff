/* A segment's states, and who may see which:
 *   nothing        shm_open(O_EXCL) by its maker
 *   unfinished     magic 0: no data yet. A maker that was killed leaves it; the next one to lock it begins again
 *   finished       magic written last, after everything else; from here on only ids, K, V and the length change
 * The length is one 64-bit word that holds its own complement, and a hash covers the rest of the header, so that damage shows.
 * The lock is a record lock on the object, because the system drops it with its owner. (POSIX leaves record locks on shared memory
 * unspecified; Linux has them. Where they fail, segment_open() says so.) */
#include "segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/gguf/gguf.h"
#include "lib/base/grow.h"
#include "lib/base/guard.h"

static const uint64_t MAGIC = 0x3167657376706d6c;       /* "lmpvseg1" */
static const char PREFIX[] = "/lmpipe-", DIRECTORY[] = "/dev/shm";

enum { VERSION = 1, ALIGN = 64, CHUNK = 1 << 20 };

struct segment_header {
	_Atomic uint64_t magic;
	uint32_t version, header_bytes;
	struct segment_shape shape;
	uint64_t bytes;                 /* of the whole segment */
	uint64_t hash;                  /* of version to bytes */
	_Atomic uint64_t length;        /* low half; its complement in the high half */
};

_Static_assert(sizeof(struct segment_header) == 80, "no holes: every bit of the header is checked");

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t pack_length(size_t length)
{
	return (uint64_t)~(uint32_t)length << 32 | (uint32_t)length;
}

static uint64_t hash(const struct segment_header *h)
{
	const unsigned char *from = (const unsigned char *)&h->version, *to = (const unsigned char *)&h->hash;

	return gguf_hash(from, (size_t)(to - from), 0);
}

/* ---- layout: header, ids, then for each layer and head its K and its V ---- */

static int check_shape(const struct segment_shape *p, struct why *w)
{
	if (p->n_ctx < 1 || p->n_ctx > SEGMENT_CTX_MAX)
		return why(w, "n_ctx %u is not from 1 to %d", p->n_ctx, SEGMENT_CTX_MAX);
	if (p->n_layer < 1 || p->n_layer > 1 << 14 || p->n_head_kv < 1 || p->n_head_kv > 1 << 14)
		return why(w, "%u layers of %u KV heads", p->n_layer, p->n_head_kv);
	if (p->dim_k < 1 || p->dim_k > 1 << 12 || p->dim_v < 1 || p->dim_v > 1 << 12)
		return why(w, "heads of %u and %u elements", p->dim_k, p->dim_v);
	if (p->kv_type >= KV_TYPES)
		return why(w, "kv_type %u", p->kv_type);
	return 0;
}

static size_t ids_at(void)
{
	return round_up(sizeof(struct segment_header), 4096);
}

static size_t kv_at(const struct segment_shape *p)
{
	return ids_at() + round_up(p->n_ctx * sizeof(int32_t), 4096);
}

static size_t head_bytes(const struct segment_shape *p, size_t dim)
{
	return round_up(kv_bytes(p->kv_type, dim, round_up(p->n_ctx, KV_TILE)), ALIGN);
}

/* Bytes of the segment; the bounds of check_shape() keep every product but the last two far from overflow. */
static int layout(const struct segment_shape *p, size_t *bytes, struct why *w)
{
	size_t head;

	if (check_shape(p, w) < 0)
		return -1;
	head = head_bytes(p, p->dim_k) + head_bytes(p, p->dim_v);
	if (head > (SIZE_MAX / 2 - kv_at(p)) / p->n_layer / p->n_head_kv)
		return why(w, "a context of %u positions is larger than memory can be", p->n_ctx);
	*bytes = kv_at(p) + head * p->n_head_kv * p->n_layer;
	return 0;
}

void *segment_k(const struct segment *s, size_t layer, size_t head)
{
	return s->kv + (layer * s->shape.n_head_kv + head) * (s->k_bytes + s->v_bytes);
}

void *segment_v(const struct segment *s, size_t layer, size_t head)
{
	return s->kv + (layer * s->shape.n_head_kv + head) * (s->k_bytes + s->v_bytes) + s->k_bytes;
}

struct kv_head segment_head(const struct segment *s, size_t layer, size_t head)
{
	const struct segment_shape *p = &s->shape;

	return kv_head_at(p->kv_type, p->dim_k, p->dim_v, round_up(p->n_ctx, KV_TILE), segment_k(s, layer, head), segment_v(s, layer, head));
}

/* Sets the pointers from the header's shape. */
static void bind(struct segment *s)
{
	s->shape = s->header->shape;
	s->k_bytes = head_bytes(&s->shape, s->shape.dim_k);
	s->v_bytes = head_bytes(&s->shape, s->shape.dim_v);
	s->ids = (int32_t *)((unsigned char *)s->header + ids_at());
	s->kv = (unsigned char *)s->header + kv_at(&s->shape);
	s->length = (uint32_t)atomic_load_explicit(&s->header->length, memory_order_acquire);
}

void segment_set_length(struct segment *s, size_t length)
{
	atomic_store_explicit(&s->header->length, pack_length(length), memory_order_release);
	s->length = length;
}

/* ---- names and locks ---- */

int segment_check_name(const char *name, struct why *w)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);

	if (n < 1 || n > SEGMENT_NAME_MAX || name[0] == '.' || name[strspn(name, letters)])
		return why(w, "\"%.*s\" is no name of a segment (1 to %d letters, digits, '.', '_', '-', not beginning with '.')", SEGMENT_NAME_MAX,
			name, SEGMENT_NAME_MAX);
	return 0;
}

/* Process that holds the lock, 0 if none. */
static long owner(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK ? 0 : (long)l.l_pid;
}

static int lock(int fd, struct why *w)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(fd, F_SETLK, &l))
		return 0;
	if (errno == EACCES || errno == EAGAIN)
		return why(w, "in use by process %ld", owner(fd));
	return why(w, "cannot be locked: %s", strerror(errno));
}

/* A plain object of this user's that nobody else may touch. */
static int check_owner(int fd, struct stat *st, struct why *w)
{
	if (fstat(fd, st) < 0)
		return why(w, "%s", strerror(errno));
	if (!S_ISREG(st->st_mode))
		return why(w, "not a shared-memory object");
	if (st->st_uid != geteuid())
		return why(w, "belongs to another user");
	if (st->st_mode & 077)
		return why(w, "mode %04o: open to others", (unsigned)st->st_mode & 07777);
	return 0;
}

/* Opens the object of this name, or makes it. O_RDWR even to read: it never waits, whatever lies there. */
static int open_object(struct segment *s, const char *name, int create, struct why *w)
{
	struct stat st;

	snprintf(s->object, sizeof s->object, "%s%s", PREFIX, name);
	s->fd = create ? shm_open(s->object, O_CREAT | O_EXCL | O_RDWR, 0600) : -1;
	s->made = s->fd >= 0;
	if (s->fd < 0 && (!create || errno == EEXIST))
		s->fd = shm_open(s->object, O_RDWR, 0);
	if (s->fd < 0)
		return why(w, "%s", errno == ENOENT ? "no such segment" : strerror(errno));
	return check_owner(s->fd, &st, w);
}

/* ---- making and opening ---- */

static int map(struct segment *s, size_t bytes, struct why *w)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);

	if (p == MAP_FAILED)
		return why(w, "%zu bytes cannot be mapped: %s", bytes, strerror(errno));
	s->header = p;
	s->bytes = bytes;
	guard_add(p, bytes, s->object + 1);
	return 0;
}

/* All of it at once, so that a full file system is met here and not by SIGBUS in the middle of a step; in chunks, because a signal undoes the chunk it
 * falls into. */
static int reserve(int fd, size_t bytes, struct why *w)
{
	struct statvfs fs;
	int error = ftruncate(fd, (off_t)bytes) < 0 ? errno : 0;

	/* Where it can be known that there is no room, nobody else's is taken in trying. */
	if (!error && !fstatvfs(fd, &fs) && fs.f_blocks && bytes / fs.f_frsize > fs.f_bavail)
		error = ENOSPC;
	for (size_t at = 0; at < bytes && !error;) {
		error = posix_fallocate(fd, (off_t)at, (off_t)(bytes - at < CHUNK ? bytes - at : CHUNK));
		if (!error)
			at += CHUNK;
		else if (error == EINTR)
			error = 0;
	}
	return error ? why(w, "%zu MiB of shared memory cannot be had: %s", (bytes >> 20) + 1, strerror(error)) : 0;
}

static void write_header(struct segment *s, const struct segment_shape *shape)
{
	struct segment_header *h = s->header;

	h->version = VERSION;
	h->header_bytes = sizeof *h;
	h->shape = *shape;
	h->bytes = s->bytes;
	h->hash = hash(h);
	atomic_store_explicit(&h->length, pack_length(0), memory_order_relaxed);
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
}

static int make(struct segment *s, const struct segment_shape *shape, struct why *w)
{
	size_t bytes;

	if (layout(shape, &bytes, w) < 0 || reserve(s->fd, bytes, w) < 0 || map(s, bytes, w) < 0)
		return -1;
	write_header(s, shape);
	return 0;
}

/* Everything that can be known from a finished segment alone. */
static int check_header(const struct segment_header *h, size_t bytes, struct why *w)
{
	struct segment_header copy;
	uint64_t length;
	size_t want;

	memcpy(&copy, h, sizeof copy);
	length = copy.length;
	if (copy.magic != MAGIC)
		return why(w, "not a segment of lmpipe");
	if (copy.version != VERSION || copy.header_bytes != sizeof copy)
		return why(w, "version %u, made by another build; this one reads version %d", copy.version, VERSION);
	if (copy.hash != hash(&copy))
		return why(w, "the header is damaged");
	if (layout(&copy.shape, &want, w) < 0)
		return -1;
	if (copy.bytes != want || bytes != want)
		return why(w, "%zu bytes, not %zu: cut short", bytes, want);
	if (length != pack_length((uint32_t)length) || (uint32_t)length > copy.shape.n_ctx)
		return why(w, "the length is damaged");
	return 0;
}

/* The first field in which a segment is not what this run needs. */
static int compare(const struct segment_shape *a, const struct segment_shape *b, int any_ctx, struct why *w)
{
	if (a->model != b->model)
		return why(w, "made by another model: fingerprint %016llx, this one's is %016llx", (unsigned long long)a->model,
			(unsigned long long)b->model);
	if (a->arithmetic != b->arithmetic)
		return why(w, "made by another version of the arithmetic: %llu, this one is %llu", (unsigned long long)a->arithmetic,
			(unsigned long long)b->arithmetic);
	if (a->n_layer != b->n_layer || a->n_head_kv != b->n_head_kv || a->dim_k != b->dim_k || a->dim_v != b->dim_v)
		return why(w, "made for %u layers of %u KV heads of %u and %u, not %u of %u of %u and %u", a->n_layer, a->n_head_kv, a->dim_k, a->dim_v,
			b->n_layer, b->n_head_kv, b->dim_k, b->dim_v);
	if (a->kv_type != b->kv_type)
		return why(w, "made with kv_type %s, not %s", kv_type_name[a->kv_type], kv_type_name[b->kv_type]);
	if (!any_ctx && a->n_ctx != b->n_ctx)
		return why(w, "made for n_ctx %u, not %u", a->n_ctx, b->n_ctx);
	return 0;
}

/* Maps what is there; 1 if it is finished, 0 if it has to be made. */
static int look(struct segment *s, const struct stat *st, struct why *w)
{
	if (!st->st_size)
		return 0;
	if ((uintmax_t)st->st_size < sizeof(struct segment_header) || (uintmax_t)st->st_size > SIZE_MAX / 2)
		return why(w, "%lld bytes: cut short", (long long)st->st_size);
	if (map(s, (size_t)st->st_size, w) < 0)
		return -1;
	return atomic_load_explicit(&s->header->magic, memory_order_acquire) ? 1 : 0;
}

static void unmap(struct segment *s)
{
	if (s->header) {
		guard_remove(s->header);
		munmap(s->header, s->bytes);
	}
	s->header = NULL;
}

/* Locks and maps the open object, and makes a segment of it where there is none yet. */
static int take(struct segment *s, const struct segment_shape *shape, int any_ctx, struct why *w)
{
	struct stat st;
	int finished;

	/* fstat() again: somebody may have made or removed it between our opening and our locking. */
	if (lock(s->fd, w) < 0 || check_owner(s->fd, &st, w) < 0)
		return -1;
	if (!st.st_nlink)
		return why(w, "removed while it was being opened");
	finished = look(s, &st, w);
	if (finished < 0)
		return -1;
	if (finished)
		return check_header(s->header, s->bytes, w) < 0 ? -1 : compare(&s->header->shape, shape, any_ctx, w);
	unmap(s);
	return make(s, shape, w);
}

static int open_named(struct segment *s, const char *name, const struct segment_shape *shape, int any_ctx, struct why *w)
{
	int status = open_object(s, name, 1, w);

	if (status == 0)
		status = take(s, shape, any_ctx, w);
	/* Nothing half made stays behind, unless another process has it by now. */
	if (status < 0 && s->made && !owner(s->fd))
		shm_unlink(s->object);
	return status;
}

static int open_private(struct segment *s, const struct segment_shape *shape, struct why *w)
{
	size_t bytes;
	void *p;

	if (layout(shape, &bytes, w) < 0)
		return -1;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return why(w, "%zu MiB for %u positions of K and V: %s", (bytes >> 20) + 1, shape->n_ctx, strerror(errno));
	s->header = p;
	s->bytes = bytes;
	write_header(s, shape);
	return 0;
}

static int in_segment(const char *name, struct why *w)
{
	char prefix[SEGMENT_NAME_MAX + 16];

	snprintf(prefix, sizeof prefix, "segment %s", name);
	return why_in(w, prefix);
}

int segment_open(struct segment *s, const char *name, const struct segment_shape *shape, int any_ctx, struct why *w)
{
	memset(s, 0, sizeof *s);
	s->fd = -1;
	if (name && segment_check_name(name, w) < 0)
		return -1;
	if ((name ? open_named(s, name, shape, any_ctx, w) : open_private(s, shape, w)) < 0) {
		segment_close(s);
		return name ? in_segment(name, w) : -1;
	}
	bind(s);
	return 0;
}

void segment_close(struct segment *s)
{
	if (s->made && s->header && !s->length)
		shm_unlink(s->object);
	unmap(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- for the tool kv ---- */

static int inspect(struct segment *s, const char *name, struct segment_info *info, struct why *w)
{
	struct stat st;
	int finished;

	if (open_object(s, name, 0, w) < 0 || check_owner(s->fd, &st, w) < 0)
		return -1;
	info->owner = owner(s->fd);
	finished = look(s, &st, w);
	if (finished < 0)
		return -1;
	if (!finished)
		return why(w, "unfinished");
	if (check_header(s->header, s->bytes, w) < 0)
		return -1;
	info->shape = s->header->shape;
	info->length = (uint32_t)atomic_load_explicit(&s->header->length, memory_order_acquire);
	info->bytes = s->bytes;
	return 0;
}

int segment_inspect(const char *name, struct segment_info *info, struct why *w)
{
	struct segment s = { .fd = -1 };
	int status;

	memset(info, 0, sizeof *info);
	if (segment_check_name(name, w) < 0)
		return -1;
	status = inspect(&s, name, info, w);
	segment_close(&s);
	return status < 0 ? in_segment(name, w) : 0;
}

/* K or V of `length` positions, as whole tiles: the elements, and what comes after the elements of all. */
static void copy_tiles(const struct segment_shape *p, size_t dim, size_t length, unsigned char *to, const unsigned char *from)
{
	size_t n = round_up(length, KV_TILE), elements = kv_elements(p->kv_type, dim, n), all = kv_elements(p->kv_type, dim, round_up(p->n_ctx, KV_TILE));

	memcpy(to, from, elements);
	memcpy(to + all, from + all, kv_bytes(p->kv_type, dim, n) - elements);
}

/* The part of K and V that counts. */
static void copy(struct segment *to, const struct segment *from)
{
	const struct segment_shape *p = &from->shape;

	memcpy(to->ids, from->ids, from->length * sizeof *from->ids);
	for (size_t layer = 0; layer < p->n_layer; layer++)
		for (size_t head = 0; head < p->n_head_kv; head++) {
			copy_tiles(p, p->dim_k, from->length, segment_k(to, layer, head), segment_k(from, layer, head));
			copy_tiles(p, p->dim_v, from->length, segment_v(to, layer, head), segment_v(from, layer, head));
		}
	segment_set_length(to, from->length);
}

int segment_fork(const char *from, const char *to, struct why *w)
{
	struct segment_info info;
	struct segment a, b;
	int status = -1;

	if (segment_inspect(from, &info, w) < 0 || segment_open(&a, from, &info.shape, 0, w) < 0)
		return -1;
	if (!strcmp(from, to))
		why(w, "segment %s: cannot be copied onto itself", to);
	else if (segment_open(&b, to, &info.shape, 0, w) == 0) {
		if (b.length)
			why(w, "segment %s: there already", to);
		else {
			copy(&b, &a);
			status = 0;
		}
		segment_close(&b);
	}
	segment_close(&a);
	return status;
}

int segment_remove(const char *name, struct why *w)
{
	struct segment s = { .fd = -1 };
	int status = 0;

	if (segment_check_name(name, w) < 0)
		return -1;
	/* What is damaged or cannot be opened can still be removed, if the system lets us. */
	if (open_object(&s, name, 0, w) == 0)
		status = lock(s.fd, w);
	if (status == 0 && shm_unlink(s.object) < 0)
		status = why(w, "%s", errno == ENOENT ? "no such segment" : strerror(errno));
	segment_close(&s);
	return status < 0 ? in_segment(name, w) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **name;
	size_t n, room;
};

static int add_name(struct names *l, const char *name, struct why *w)
{
	if (l->n == l->room && grow(&l->name, &l->room, sizeof *l->name, 64) < 0)
		return why(w, "out of memory");
	l->name[l->n] = strdup(name);
	return l->name[l->n++] ? 0 : why(w, "out of memory");
}

/* Whether this directory entry is a segment of this user. */
static int is_ours(const char *entry)
{
	char path[sizeof DIRECTORY + 256];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", DIRECTORY, entry);
	return !strncmp(entry, PREFIX + 1, sizeof PREFIX - 2) && lstat(path, &st) == 0 && st.st_uid == geteuid();
}

/* The names of this user's segments, sorted. */
static int list(struct names *l, struct why *w)
{
	DIR *d = opendir(DIRECTORY);
	struct dirent *e;
	int status = 0;

	if (!d)
		return why(w, "%s: %s", DIRECTORY, strerror(errno));
	while (status == 0 && (e = readdir(d)))
		if (is_ours(e->d_name))
			status = add_name(l, e->d_name + sizeof PREFIX - 2, w);
	closedir(d);
	if (status == 0 && l->n)
		qsort(l->name, l->n, sizeof *l->name, by_name);
	return status;
}

int segment_each(int (*visit)(const char *name, void *context), void *context, struct why *w)
{
	struct names l = { .n = 0 };
	int status = list(&l, w);

	for (size_t i = 0; i < l.n; i++) {
		if (!status)
			status = visit(l.name[i], context);
		free(l.name[i]);
	}
	free(l.name);
	return status;
}
