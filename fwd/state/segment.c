/* A named segment's states, and who may see which:
 *   nothing        object_open() made it
 *   unfinished     the header's magic is 0: no data yet. A maker that was killed leaves it; whoever locks it next
 *                  begins again
 *   finished       the magic is written last; from here on only extents, context, length, marks and recurrent
 *                  state change
 * The header's words that change each hold their own complement, and a hash covers the rest, so that damage shows. What
 * lies past the last whole extent is left over from a killed owner's growing, and used by the next one.
 *
 * The whole context is mapped at once, past the end of the object, and becomes usable as the object grows. (POSIX
 * leaves that unspecified; systems with one cache for files and mappings do it.) */
#include "segment.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/guard.h"
#include "lib/base/size.h"
#include "lib/gguf/gguf.h"
#include "recent.h"
#include "recurrent.h"
#include "shared.h"

static const uint64_t MAGIC = 0x3167657376706d6c;       /* "lmpvseg1" */

enum { VERSION = 5, HEADER = 4096, IDS_BYTES = KV_EXTENT * sizeof(int32_t), REGIONS = 5, LABEL = 224 };

static const uint64_t BYTES_MAX = (uint64_t)1 << 51;    /* of an extent's data */

enum region_kind { REGION_NONE, REGION_IDS, REGION_KV, REGION_WINDOWS, REGION_RING, REGION_SNAPSHOTS };

/* Pieces of one kind, each of so many positions, `stride` bytes apart in the first extents; but for what comes before
 * some extents only. */
struct region {
	uint32_t kind, positions;
	uint64_t offset, bytes, stride;
};

struct segment_header {
	_Atomic uint64_t magic;
	uint32_t version, header_bytes;
	struct segment_shape shape;
	struct region region[REGIONS];
	uint64_t hash;                  /* of version to region */
	_Atomic uint64_t n_ctx, length; /* low half: the number; high half: its complement */
	struct mark mark[SEGMENT_MARKS], state_mark[STATE_MARKS];
	_Atomic uint64_t origin_hash;   /* that of another origin: it is not known */
	struct segment_origin origin;
};

_Static_assert(sizeof(struct segment_header) == 520 + STATE_MARKS * 16 + sizeof(struct segment_origin),
	"no holes: every bit of the header is checked");
_Static_assert(sizeof(struct segment_header) <= HEADER, "");

static size_t extents_of(size_t positions)
{
	return (positions + KV_EXTENT - 1) / KV_EXTENT;
}

static uint64_t pack(size_t n)
{
	return (uint64_t)~(uint32_t)n << 32 | (uint32_t)n;
}

static uint64_t hash(const struct segment_header *h)
{
	const unsigned char *from = (const unsigned char *)&h->version, *to = (const unsigned char *)&h->hash;

	return gguf_hash(from, (size_t)(to - from), 0);
}

static uint64_t hash_origin(const struct segment_origin *o)
{
	return gguf_hash(o, sizeof *o, 0);
}

/* ---- layout: an extent is its ids, then the data of its layers ---- */

/* Whether these heads have no more bytes than there are. */
static int fit_in(const struct segment_heads *h, uint32_t kv_type, uint64_t bytes)
{
	for (const struct segment_heads *end = h + SEGMENT_SIZES; h < end; h++) {
		uint64_t each;

		if (h->n > 1 << 24 || h->dim_k > 1 << 20 || h->dim_v > 1 << 20)
			return 0;
		each = kv_block_bytes((enum kv_type)kv_type, h->dim_k, h->dim_v);
		if (each && h->n > bytes / each)
			return 0;
		bytes -= h->n * each;
	}
	return 1;
}

static int check_shape(const struct segment_shape *p, struct why *w)
{
	if (p->n_layer < 1 || p->n_layer > 1 << 14 || p->bytes > BYTES_MAX || p->bytes % 64)
		return why(w, "%u layers of %llu bytes", p->n_layer, (unsigned long long)p->bytes);
	if (p->recent_bytes > BYTES_MAX || p->recent_bytes % 64 || p->window > SEGMENT_CTX_MAX)
		return why(w, "windows of %llu positions, %llu bytes", (unsigned long long)p->window,
			(unsigned long long)p->recent_bytes);
	if (p->kv_type >= KV_TYPES)
		return why(w, "kv_type %u", p->kv_type);
	if (p->extent != KV_EXTENT)
		return why(w, "extents of %u positions", p->extent);
	if (!fit_in(p->heads[0], p->kv_type, p->bytes) || !fit_in(p->heads[1], p->kv_type, p->recent_bytes))
		return why(w, "more KV heads than its bytes hold");
	return recurrent_check(p, w);
}

struct kv_head segment_head(const struct segment *s, size_t offset, size_t h)
{
	return (struct kv_head){ .extent = s->extent, .offset = IDS_BYTES + offset, .h = h };
}

struct kv_head segment_recent_head(const struct segment *s, size_t offset, size_t h)
{
	return (struct kv_head){ .extent = s->recent, .offset = offset, .h = h };
}

static size_t extent_bytes(const struct segment_shape *p, size_t i)
{
	return IDS_BYTES + p->bytes + (i < recent_extents(p) ? p->recent_bytes : 0);
}

size_t segment_data(const struct segment *s, size_t extent, unsigned char **data)
{
	*data = s->extent[extent] + IDS_BYTES;
	return extent_bytes(&s->shape, extent) - IDS_BYTES;
}

/* Whether the bytes of so many positions can be counted. */
static int fits(const struct segment_shape *p, size_t positions)
{
	return extents_of(positions) <= SIZE_MAX / 4 / extent_bytes(p, 0);
}

/* Bytes of a segment with n extents, and where extent i of one lies. */
static size_t segment_bytes(const struct segment_shape *p, size_t n)
{
	return HEADER + (n ? recurrent_fixed(p) + recurrent_snapshots(n) * p->state_bytes : 0)
		+ n * (IDS_BYTES + p->bytes) + size_min(n, recent_extents(p)) * p->recent_bytes;
}

static size_t extent_at(const struct segment_shape *p, size_t i)
{
	return segment_bytes(p, i + 1) - extent_bytes(p, i);
}

static void set_regions(const struct segment_shape *p, struct region r[REGIONS])
{
	const size_t all = extent_bytes(p, 0), ids = extent_at(p, 0), kv = ids + IDS_BYTES;

	memset(r, 0, REGIONS * sizeof *r);
	r[0] = (struct region){ REGION_IDS, KV_EXTENT, ids, IDS_BYTES, all };
	r[1] = (struct region){ REGION_KV, KV_EXTENT, kv, p->bytes, all };
	r[2] = (struct region){ REGION_WINDOWS, KV_EXTENT, kv + p->bytes, p->recent_bytes, all };
	r[3] = (struct region){ REGION_RING, 2 * STATE_CHUNK, HEADER, recurrent_fixed(p), 0 };
	r[4] = (struct region){ REGION_SNAPSHOTS, STATE_CHUNK, HEADER + recurrent_fixed(p), p->state_bytes, 0 };
}

/* ---- what counts ---- */

static void store_length(struct segment *s, size_t length)
{
	if (s->header)
		atomic_store_explicit(&s->header->length, pack(length), memory_order_release);
	s->length = length;
}

void segment_set_length(struct segment *s, size_t length)
{
	store_length(s, length);
	s->next = recurrent_next(s);
}

void segment_begin(struct segment *s, size_t pos, size_t n)
{
	recent_begin(s, pos, n);
	recurrent_begin(s, pos, n);
}

void segment_commit(struct segment *s, size_t pos, size_t n)
{
	recent_commit(s, pos, n);
	recurrent_commit(s, pos, n);
	s->next = pos + n;
	if (s->next > s->length)
		store_length(s, s->next);
}

static int32_t *ids_at(const struct segment *s, size_t pos)
{
	return (int32_t *)(void *)s->extent[pos / KV_EXTENT] + pos % KV_EXTENT;
}

int32_t segment_id(const struct segment *s, size_t pos)
{
	return *ids_at(s, pos);
}

const int32_t *segment_ids(const struct segment *s, size_t pos)
{
	return ids_at(s, pos);
}

void segment_read_ids(const struct segment *s, size_t pos, int32_t *ids, size_t n)
{
	for (size_t some; n; pos += some, ids += some, n -= some) {
		some = size_min(n, KV_EXTENT - pos % KV_EXTENT);
		memcpy(ids, ids_at(s, pos), some * sizeof *ids);
	}
}

void segment_write_ids(struct segment *s, size_t pos, const int32_t *ids, size_t n)
{
	for (size_t some; n; pos += some, ids += some, n -= some) {
		some = size_min(n, KV_EXTENT - pos % KV_EXTENT);
		memcpy(ids_at(s, pos), ids, some * sizeof *ids);
	}
}

uint64_t segment_mark(const struct segment *s, enum segment_mark which)
{
	return mark_value(&s->header->mark[which]);
}

void segment_set_mark(struct segment *s, enum segment_mark which, uint64_t value)
{
	mark_set(&s->header->mark[which], value);
}

/* Unknown unless it is whole. */
static struct segment_origin origin(const struct segment_header *h)
{
	struct segment_origin o = h->origin;

	if (atomic_load(&h->origin_hash) != hash_origin(&o))
		o = (struct segment_origin){ .name = "" };
	o.name[sizeof o.name - 1] = o.path[sizeof o.path - 1] = 0;
	return o;
}

struct segment_origin segment_origin(const struct segment *s)
{
	return origin(s->header);
}

void segment_set_origin(struct segment *s, const struct segment_origin *o)
{
	uint64_t new = hash_origin(o);

	object_touch(&s->object);
	if (atomic_load(&s->header->origin_hash) == new)
		return;
	atomic_store(&s->header->origin_hash, ~new);
	s->header->origin = *o;
	atomic_store(&s->header->origin_hash, new);
}

/* ---- growing ---- */

static void add_extent(struct segment *s, unsigned char *at)
{
	size_t i = s->n_extents++, turns = recent_extents(&s->shape);

	s->extent[i] = at;
	s->recent[i] = i < turns ? at + IDS_BYTES + s->shape.bytes : turns ? s->recent[i % turns] : NULL;
}

static int grow_private(struct segment *s, size_t n, struct why *w)
{
	if (recurrent_grow(s, n, w) < 0)
		return -1;
	for (void *p; s->n_extents < n; add_extent(s, p)) {
		size_t bytes = extent_bytes(&s->shape, s->n_extents);

		if (!(p = shared_new(bytes)))
			return why(w, "out of memory: %zu KiB for %d positions of K and V", bytes >> 10, KV_EXTENT);
	}
	return 0;
}

static void add_mapped(struct segment *s, size_t n)
{
	while (s->n_extents < n) {
		unsigned char *at = (unsigned char *)s->header + extent_at(&s->shape, s->n_extents);

		recurrent_add(s, s->n_extents, at);
		add_extent(s, at);
	}
}

/* What a message about a segment begins with. */
static const char *label(const char *name, char text[LABEL])
{
	snprintf(text, LABEL, "segment %.*s", LABEL - 16, name);
	return text;
}

static int in_segment(const char *name, struct why *w)
{
	char text[LABEL];

	return why_in(w, label(name, text));
}

int segment_reserve(struct segment *s, size_t positions, struct why *w)
{
	size_t n = extents_of(positions);

	if (n <= s->n_extents)
		return 0;
	if (!s->header)
		return grow_private(s, n, w);
	if (object_grow(&s->object, segment_bytes(&s->shape, s->n_extents), segment_bytes(&s->shape, n), w) < 0)
		return in_segment(s->name, w);
	add_mapped(s, n);
	return 0;
}

/* ---- making and opening ---- */

static int map(struct segment *s, struct why *w)
{
	const size_t bytes = segment_bytes(&s->shape, extents_of(s->n_ctx));
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->object.fd, 0);
	char text[LABEL];

	if (p == MAP_FAILED)
		return why(w, "%zu bytes cannot be mapped: %s", bytes, strerror(errno));
	s->header = p;
	s->mapped = bytes;
	s->mark = s->header->state_mark;
	recurrent_map(s, (unsigned char *)p + HEADER);
	guard_add(p, bytes, label(s->name, text));
	return 0;
}

static void write_header(struct segment_header *h, const struct segment_shape *shape, size_t n_ctx)
{
	h->version = VERSION;
	h->header_bytes = sizeof *h;
	h->shape = *shape;
	set_regions(shape, h->region);
	h->hash = hash(h);
	atomic_store_explicit(&h->n_ctx, pack(n_ctx), memory_order_relaxed);
	atomic_store_explicit(&h->length, pack(0), memory_order_relaxed);
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
}

/* Whether the word is a packed number, undamaged, and in [low, high]. */
static int is_packed(uint64_t word, size_t low, size_t high)
{
	return word == pack((uint32_t)word) && (uint32_t)word >= low && (uint32_t)word <= high;
}

/* Everything that can be known from a finished segment of so many bytes alone. h: a copy, which nobody changes. */
static int check_header(const struct segment_header *h, size_t bytes, struct why *w)
{
	struct region region[REGIONS];

	if (h->magic != MAGIC)
		return why(w, "not a segment of lmpipe");
	if (h->version != VERSION || h->header_bytes != sizeof *h)
		return why(w, "segment version %u; this program reads version %d", h->version, VERSION);
	if (h->hash != hash(h))
		return why(w, "the header is damaged");
	if (check_shape(&h->shape, w) < 0)
		return -1;
	set_regions(&h->shape, region);
	if (memcmp(region, h->region, sizeof region))
		return why(w, "the table of regions is damaged");
	if (!is_packed(h->n_ctx, 1, SEGMENT_CTX_MAX) || !is_packed(h->length, 0, SEGMENT_CTX_MAX))
		return why(w, "the length is damaged");
	if (!fits(&h->shape, (uint32_t)h->length)
	    || bytes < segment_bytes(&h->shape, extents_of((uint32_t)h->length)))
		return why(w, "%zu bytes: truncated", bytes);
	return 0;
}

/* The first field in which a segment is not what this run needs. */
static int compare(const struct segment_shape *a, const struct segment_shape *b, struct why *w)
{
	if (a->model != b->model)
		return why(w, "made by another model: fingerprint %016llx, this one's is %016llx",
			(unsigned long long)a->model, (unsigned long long)b->model);
	if (a->arithmetic != b->arithmetic)
		return why(w, "made by another version of the arithmetic: %llu, this one is %llu",
			(unsigned long long)a->arithmetic, (unsigned long long)b->arithmetic);
	if (a->kv_type != b->kv_type)
		return why(w, "made with kv_type %s, not %s", kv_type_name[a->kv_type], kv_type_name[b->kv_type]);
	if (a->n_layer != b->n_layer || a->layout != b->layout
	    || memcmp(a->heads, b->heads, sizeof a->heads) || a->bytes != b->bytes
	    || a->recent_bytes != b->recent_bytes || a->window != b->window)
		return why(w, "made for %u layers of %llu bytes a token, not %u of %llu", a->n_layer,
			(unsigned long long)a->bytes / KV_EXTENT, b->n_layer, (unsigned long long)b->bytes / KV_EXTENT);
	if (a->state_bytes != b->state_bytes || a->row_bytes != b->row_bytes || a->scanned != b->scanned)
		return why(w, "made for recurrent state of %llu bytes, not %llu",
			(unsigned long long)a->state_bytes, (unsigned long long)b->state_bytes);
	if (a->choices != b->choices)
		return why(w, "made with another --set or other RoPE settings");
	return 0;
}

/* The header and the size as they are now. 1: finished, 0: there is no header yet. */
static int read_header(const struct object *o, struct segment_header *h, size_t *bytes, struct why *w)
{
	ssize_t n;

	if (object_size(o, bytes, w) < 0)
		return -1;
	memset(h, 0, sizeof *h);
	n = object_read(o, 0, h, sizeof *h);
	if (n < 0)
		return why(w, "%s", strerror(errno));
	if (n && (size_t)n < sizeof *h)
		return why(w, "%zu bytes: truncated", *bytes);
	/* A maker that is killed leaves no more than this; anything larger is somebody's file. */
	return h->magic || *bytes > HEADER;
}

static int make(struct segment *s, size_t old, struct why *w)
{
	if ((old < HEADER && object_grow(&s->object, old, HEADER, w) < 0) || map(s, w) < 0)
		return -1;
	write_header(s->header, &s->shape, s->n_ctx);
	return 0;
}

static int take_over(struct segment *s, const struct segment_header *h, size_t bytes, struct why *w)
{
	size_t length = (uint32_t)h->length, n = extents_of(length);

	if (length > s->n_ctx)
		return why(w, "has %zu tokens, more than the context of %zu (-c)", length, s->n_ctx);
	if (map(s, w) < 0)
		return -1;
	atomic_store(&s->header->n_ctx, pack(s->n_ctx));
	while (n < extents_of(s->n_ctx) && bytes >= segment_bytes(&s->shape, n + 1))
		n++;
	add_mapped(s, n);
	s->length = length;
	recent_open(s);
	s->next = recurrent_next(s);
	return 0;
}

/* Locks the open object, checks it, and makes a segment of it where there is none yet. */
static int take(struct segment *s, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished = object_lock(&s->object, w) < 0 ? -1 : read_header(&s->object, &h, &bytes, w);

	if (finished <= 0)
		return finished < 0 ? -1 : make(s, bytes, w);
	if (check_header(&h, bytes, w) < 0 || compare(&h.shape, &s->shape, w) < 0)
		return -1;
	return take_over(s, &h, bytes, w);
}

static int open_named(struct segment *s, struct why *w)
{
	struct why ignored;
	int status = object_open(&s->object, s->name, 1, w);

	if (status == 0)
		status = take(s, w);
	/* Nothing half made stays behind, unless another process has it by now. */
	if (status < 0 && s->object.made && !object_owner(&s->object))
		object_remove(&s->object, &ignored);
	return status;
}

static int open_any(struct segment *s, struct why *w)
{
	if (check_shape(&s->shape, w) < 0)
		return -1;
	if (s->n_ctx < 1 || s->n_ctx > SEGMENT_CTX_MAX || !fits(&s->shape, s->n_ctx))
		return why(w, "a context of %zu positions of %zu bytes", s->n_ctx,
			extent_bytes(&s->shape, 0) / KV_EXTENT);
	s->extent = calloc(extents_of(s->n_ctx), sizeof *s->extent);
	s->recent = calloc(extents_of(s->n_ctx), sizeof *s->recent);
	if (!s->extent || !s->recent)
		return why(w, "out of memory");
	if (s->name)
		return open_named(s, w);
	s->mark = calloc(STATE_MARKS, sizeof *s->mark);
	return s->mark ? 0 : why(w, "out of memory");
}

int segment_open(struct segment *s, const char *name, const struct segment_shape *shape, size_t n_ctx, struct why *w)
{
	*s = (struct segment){ .shape = *shape, .n_ctx = n_ctx, .name = name, .object = { .fd = -1 } };
	if (open_any(s, w) == 0)
		return 0;
	s->object.made = 0;
	segment_close(s);
	return name ? in_segment(name, w) : -1;
}

int segment_sync(const struct segment *s, struct why *w)
{
	object_touch(&s->object);
	if (!s->object.file || (!msync(s->header, segment_bytes(&s->shape, s->n_extents), MS_SYNC)
	    && !fsync(s->object.fd)))
		return 0;
	why(w, "%s", strerror(errno));
	return in_segment(s->name, w);
}

void segment_close(struct segment *s)
{
	struct why ignored;

	if (!s->header) {
		for (size_t i = 0; i < s->n_extents; i++)
			shared_drop(s->extent[i]);
		recurrent_free(s);
		free(s->mark);
	} else {
		if (s->object.made && !s->length)
			object_remove(&s->object, &ignored);
		else
			object_shrink(&s->object, segment_bytes(&s->shape, extents_of(s->length)));
		guard_remove(s->header);
		munmap(s->header, s->mapped);
	}
	if (s->name)
		object_close(&s->object);
	free(s->extent);
	free(s->recent);
	*s = (struct segment){ .n_ctx = 0 };
}

int segment_check_ids(const struct segment *s, size_t n_vocab, struct why *w)
{
	for (size_t pos = 0; pos < s->length; pos++)
		if ((uint32_t)segment_id(s, pos) >= n_vocab) {
			why(w, "token %zu is %ld, but the vocabulary has %zu", pos, (long)segment_id(s, pos), n_vocab);
			return in_segment(s->name, w);
		}
	return 0;
}

/* ---- for the tool kv ---- */

static int inspect(struct object *o, const char *name, struct segment_info *info, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished = object_open(o, name, 0, w) < 0 ? -1 : read_header(o, &h, &bytes, w);

	if (finished <= 0)
		return finished < 0 ? -1 : why(w, "unfinished");
	if (check_header(&h, bytes, w) < 0)
		return -1;
	*info = (struct segment_info){ .shape = h.shape, .length = (uint32_t)h.length, .n_ctx = (uint32_t)h.n_ctx,
		.bytes = bytes, .origin = origin(&h), .file = mark_value(&h.mark[SEGMENT_FILE]),
		.digest = mark_value(&h.mark[SEGMENT_DIGEST]), .used = object_used(o), .owner = object_owner(o) };
	if (info->length && object_read(o, extent_at(&h.shape, 0), info->first, sizeof info->first) < 0)
		return why(w, "%s", strerror(errno));
	return 0;
}

int segment_inspect(const char *name, struct segment_info *info, struct why *w)
{
	struct object o;
	int status = inspect(&o, name, info, w);

	object_close(&o);
	return status < 0 ? in_segment(name, w) : 0;
}

/* What counts, and what is known of the model. */
int segment_copy(struct segment *to, const struct segment *from, size_t length, struct why *w)
{
	segment_set_length(to, 0);
	const struct segment_origin made_by = origin(from->header);

	if (segment_reserve(to, length, w) < 0)
		return -1;
	for (size_t i = 0; i < extents_of(length); i++)
		memcpy(to->extent[i], from->extent[i], extent_bytes(&from->shape, i));
	recent_copy(to, from);
	recurrent_copy(to, from, length);
	for (int which = 0; which < SEGMENT_MARKS; which++)
		segment_set_mark(to, which, segment_mark(from, which));
	segment_set_origin(to, &made_by);
	segment_set_length(to, length);
	return segment_sync(to, w);
}

int segment_fork(const char *from, const char *to, struct why *w)
{
	struct segment_info info;
	struct segment a, b;
	int status = -1;

	if (segment_inspect(from, &info, w) < 0 || segment_open(&a, from, &info.shape, info.n_ctx, w) < 0)
		return -1;
	if (!strcmp(from, to))
		why(w, "segment %s: cannot be copied onto itself", to);
	else if (segment_open(&b, to, &info.shape, info.n_ctx, w) == 0) {
		status = b.length ? why(w, "segment %s: exists already", to)
			: segment_copy(&b, &a, a.length, w);
		segment_close(&b);
	}
	segment_close(&a);
	return status;
}

size_t segment_span(const struct segment *s, size_t extent, unsigned char **at)
{
	size_t from = segment_bytes(&s->shape, extent);

	*at = (unsigned char *)s->header + from;
	return segment_bytes(&s->shape, extent + 1) - from;
}

void segment_take_up(struct segment *s, size_t extent)
{
	add_mapped(s, extent + 1);
}

static int claim(struct object *o, const char *name, int replace, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished;

	if (object_open(o, name, 1, w) < 0 || object_lock(o, w) < 0 || (finished = read_header(o, &h, &bytes, w)) < 0)
		return -1;
	if (finished && !replace)
		return why(w, "exists already");
	if (finished && o->file && h.magic != MAGIC)
		return why(w, "not a segment of lmpipe");
	return 0;
}

int segment_claim(struct object *o, const char *name, int replace, struct why *w)
{
	if (claim(o, name, replace, w) == 0)
		return 0;
	segment_release(o);
	return in_segment(name, w);
}

int segment_rename(const struct segment *s, const struct object *claimed, struct why *w)
{
	return object_rename(&s->object, claimed, w) < 0 ? in_segment(s->name, w) : 0;
}

void segment_release(struct object *claimed)
{
	struct why ignored;

	if (claimed->made && !object_is_gone(claimed) && !object_owner(claimed))
		object_remove(claimed, &ignored);
	object_close(claimed);
}

/* Of a file only what is a segment: other files are not ours to remove. */
static int remove_object(struct object *o, const char *name, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int opened = object_open(o, name, 0, w);

	if (opened == 0 && object_lock(o, w) < 0)
		return -1;
	if (opened < 0 && (o->file || !o->path))
		return -1;
	if (o->file && (read_header(o, &h, &bytes, w) < 0 || (h.magic != MAGIC && bytes > HEADER)))
		return why(w, "not a segment of lmpipe");
	return object_remove(o, w);
}

int segment_remove(const char *name, struct why *w)
{
	struct object o;
	int status = remove_object(&o, name, w);

	object_close(&o);
	return status < 0 ? in_segment(name, w) : 0;
}
