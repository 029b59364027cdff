/* Writing, reading and checking the header of a named segment. */
#include "header.h"

#include <errno.h>
#include <string.h>

#include "lib/base/hash.h"
#include "recurrent.h"

static const uint64_t MAGIC = 0x3167657376706d6c;       /* "lmpvseg1" */

enum { VERSION = 5 };

enum region_kind { REGION_NONE, REGION_IDS, REGION_KV, REGION_WINDOWS, REGION_RING, REGION_SNAPSHOTS };

_Static_assert(sizeof(struct segment_header) == 520 + STATE_MARKS * 16 + sizeof(struct segment_origin),
	"no holes: every bit of the header is checked");
_Static_assert(sizeof(struct segment_header) <= SEGMENT_HEADER, "");

/* ---- numbers that change in a finished segment ---- */

/* The number in the low half, its complement in the high half. */
static uint64_t checked(size_t n)
{
	return (uint64_t)~(uint32_t)n << 32 | (uint32_t)n;
}

/* Whether the word is undamaged and its number is in [low, high]. */
static int is_in(uint64_t word, size_t low, size_t high)
{
	return word == checked((uint32_t)word) && (uint32_t)word >= low && (uint32_t)word <= high;
}

void header_set_length(struct segment_header *h, size_t length)
{
	atomic_store_explicit(&h->length, checked(length), memory_order_release);
}

void header_set_n_ctx(struct segment_header *h, size_t n_ctx)
{
	atomic_store(&h->n_ctx, checked(n_ctx));
}

size_t header_length(const struct segment_header *h)
{
	return (uint32_t)h->length;
}

size_t header_n_ctx(const struct segment_header *h)
{
	return (uint32_t)h->n_ctx;
}

/* ---- marks and origin ---- */

uint64_t segment_mark(const struct segment *s, enum segment_mark which)
{
	return mark_value(&s->header->mark[which]);
}

void segment_set_mark(struct segment *s, enum segment_mark which, uint64_t value)
{
	mark_set(&s->header->mark[which], value);
}

static uint64_t hash_origin(const struct segment_origin *o)
{
	return hash_data(o, sizeof *o, 0);
}

struct segment_origin header_origin(const struct segment_header *h)
{
	struct segment_origin o = h->origin;

	if (atomic_load(&h->origin_hash) != hash_origin(&o))
		o = (struct segment_origin){ .name = "" };
	o.name[sizeof o.name - 1] = o.path[sizeof o.path - 1] = 0;
	return o;
}

struct segment_origin segment_origin(const struct segment *s)
{
	return header_origin(s->header);
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

/* ---- the header ---- */

static uint64_t hash(const struct segment_header *h)
{
	const unsigned char *from = (const unsigned char *)&h->version, *to = (const unsigned char *)&h->hash;

	return hash_data(from, (size_t)(to - from), 0);
}

static void set_regions(const struct segment_shape *p, struct region r[REGIONS])
{
	const size_t all = shape_extent_bytes(p, 0), ids = shape_extent_at(p, 0), kv = ids + SEGMENT_IDS;

	memset(r, 0, REGIONS * sizeof *r);
	r[0] = (struct region){ REGION_IDS, KV_EXTENT, ids, SEGMENT_IDS, all };
	r[1] = (struct region){ REGION_KV, KV_EXTENT, kv, p->bytes, all };
	r[2] = (struct region){ REGION_WINDOWS, KV_EXTENT, kv + p->bytes, p->recent_bytes, all };
	r[3] = (struct region){ REGION_RING, 2 * STATE_CHUNK, SEGMENT_HEADER, recurrent_fixed(p), 0 };
	r[4] = (struct region){ REGION_SNAPSHOTS, STATE_CHUNK, SEGMENT_HEADER + recurrent_fixed(p), p->state_bytes, 0 };
}

void header_write(struct segment_header *h, const struct segment_shape *shape, size_t n_ctx)
{
	h->version = VERSION;
	h->header_bytes = sizeof *h;
	/* so that an unfinished header is known by these */
	atomic_thread_fence(memory_order_release);
	h->shape = *shape;
	set_regions(shape, h->region);
	h->hash = hash(h);
	header_set_n_ctx(h, n_ctx);
	header_set_length(h, 0);
	atomic_store_explicit(&h->magic, MAGIC, memory_order_release);
}

int header_is_segment(const struct segment_header *h)
{
	return h->magic == MAGIC;
}

int header_check(const struct segment_header *h, size_t bytes, struct why *w)
{
	struct region region[REGIONS];

	if (!header_is_segment(h))
		return why(w, "not a segment of lmpipe");
	if (h->version != VERSION)
		return why(w, "segment version %u; this program reads version %d", h->version, VERSION);
	if (h->header_bytes != sizeof *h || h->hash != hash(h))
		return why(w, "the header is damaged");
	if (shape_check(&h->shape, w) < 0)
		return -1;
	set_regions(&h->shape, region);
	if (memcmp(region, h->region, sizeof region))
		return why(w, "the table of regions is damaged");
	if (!is_in(h->n_ctx, 1, SEGMENT_CTX_MAX) || !is_in(h->length, 0, SEGMENT_CTX_MAX))
		return why(w, "the length is damaged");
	if (!shape_fits(&h->shape, header_length(h)) || bytes < shape_bytes(&h->shape, kv_extents(header_length(h))))
		return why(w, "%zu bytes: truncated", bytes);
	return 0;
}

/* Whether a killed maker left this: nothing yet, or a header without its magic, and no data. */
static int is_unfinished(const struct segment_header *h, size_t bytes)
{
	static const struct segment_header nothing;

	return !bytes || (bytes == SEGMENT_HEADER && !h->magic && (!memcmp(h, &nothing, sizeof *h)
		|| (h->version == VERSION && h->header_bytes == sizeof *h)));
}

int header_read(const struct object *o, struct segment_header *h, size_t *bytes, struct why *w)
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
	return !is_unfinished(h, *bytes);
}
