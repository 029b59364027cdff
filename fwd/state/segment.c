/* Opening, growing and closing segments, and their length, which decides what is valid.
 *
 * The whole context of a named segment is mapped at once, beyond the end of the object, and becomes usable as the
 * object grows. (POSIX does not specify this, but systems with one cache for files and mappings support it.) Bytes
 * after the last whole extent are left over from a process that was killed while growing the segment; the next extent
 * uses them. */
#include "segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/guard.h"
#include "lib/base/size.h"
#include "header.h"
#include "recent.h"
#include "recurrent.h"
#include "shared.h"

/* ---- an extent: its ids, then the data of its layers ---- */

struct kv_head segment_head(const struct segment *s, size_t offset, size_t h)
{
	return (struct kv_head){ .extent = s->extent, .offset = SEGMENT_IDS + offset, .h = h };
}

struct kv_head segment_recent_head(const struct segment *s, size_t offset, size_t h)
{
	return (struct kv_head){ .extent = s->recent, .offset = offset, .h = h };
}

float *segment_group(const struct segment *s, size_t offset, size_t ratio, size_t n, size_t group)
{
	size_t groups = KV_EXTENT / ratio;

	return (float *)(s->extent[group / groups] + SEGMENT_IDS + offset) + group % groups * n;
}

size_t segment_data(const struct segment *s, size_t extent, unsigned char **data)
{
	*data = s->extent[extent] + SEGMENT_IDS;
	return shape_extent_bytes(&s->shape, extent) - SEGMENT_IDS;
}

/* ---- the length ---- */

static void store_length(struct segment *s, size_t length)
{
	if (s->header)
		header_set_length(s->header, length);
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

/* ---- growing ---- */

int segment_widen(struct segment *s, size_t n, struct why *w)
{
	size_t room = size_max(n, 2 * s->room);
	unsigned char **extent, **recent;

	if (n <= s->room)
		return 0;
	if ((extent = realloc(s->extent, room * sizeof *extent)))
		s->extent = extent;
	if ((recent = realloc(s->recent, room * sizeof *recent)))
		s->recent = recent;
	if (!extent || !recent)
		return why(w, "out of memory");
	s->room = room;
	return 0;
}

static void add_extent(struct segment *s, unsigned char *at)
{
	size_t i = s->n_extents++, rooms = recent_extents(&s->shape);

	s->extent[i] = at;
	s->recent[i] = i < rooms ? at + SEGMENT_IDS + s->shape.bytes : rooms ? s->recent[i % rooms] : NULL;
}

static int grow_private(struct segment *s, size_t n, struct why *w)
{
	if (segment_widen(s, n, w) < 0 || recurrent_grow(s, n, w) < 0)
		return -1;
	for (void *p; s->n_extents < n; add_extent(s, p)) {
		size_t bytes = shape_extent_bytes(&s->shape, s->n_extents);

		if (!(p = shared_new(bytes)))
			return why(w, "out of memory: %zu KiB for %d positions of K and V", bytes >> 10, KV_EXTENT);
	}
	return 0;
}

static void add_mapped(struct segment *s, size_t n)
{
	while (s->n_extents < n) {
		unsigned char *at = (unsigned char *)s->header + shape_extent_at(&s->shape, s->n_extents);

		recurrent_add(s, s->n_extents, at);
		add_extent(s, at);
	}
}

size_t segment_span(const struct segment *s, size_t extent, unsigned char **at)
{
	size_t from = shape_bytes(&s->shape, extent);

	*at = (unsigned char *)s->header + from;
	return shape_bytes(&s->shape, extent + 1) - from;
}

void segment_take_up(struct segment *s, size_t extent)
{
	add_mapped(s, extent + 1);
}

int segment_reserve(struct segment *s, size_t positions, struct why *w)
{
	size_t n = kv_extents(positions);

	if (n <= s->n_extents)
		return 0;
	if (!s->header)
		return grow_private(s, n, w);
	if (object_grow(&s->object, shape_bytes(&s->shape, s->n_extents), shape_bytes(&s->shape, n), w) < 0)
		return object_why(s->name, w);
	add_mapped(s, n);
	return 0;
}

/* ---- making and opening ---- */

static int map(struct segment *s, struct why *w)
{
	const size_t bytes = shape_bytes(&s->shape, kv_extents(s->n_ctx));
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->object.fd, 0);
	char text[OBJECT_LABEL];

	if (p == MAP_FAILED)
		return why(w, "%zu bytes cannot be mapped: %s", bytes, strerror(errno));
	s->header = p;
	s->mapped = bytes;
	s->mark = s->header->state_mark;
	recurrent_map(s, (unsigned char *)p + SEGMENT_HEADER);
	guard_add(p, bytes, object_label(s->name, text));
	return 0;
}

static int make(struct segment *s, size_t old, struct why *w)
{
	if ((old < SEGMENT_HEADER && object_grow(&s->object, old, SEGMENT_HEADER, w) < 0) || map(s, w) < 0)
		return -1;
	header_write(s->header, &s->shape, s->n_ctx);
	return 0;
}

static int take_over(struct segment *s, const struct segment_header *h, size_t bytes, struct why *w)
{
	size_t length = header_length(h), n = kv_extents(length);

	if (length > s->n_ctx)
		return why(w, "has %zu tokens, more than the context of %zu (-c)", length, s->n_ctx);
	if (map(s, w) < 0)
		return -1;
	header_set_n_ctx(s->header, s->n_ctx);
	while (n < kv_extents(s->n_ctx) && bytes >= shape_bytes(&s->shape, n + 1))
		n++;
	add_mapped(s, n);
	s->length = length;
	recent_open(s);
	s->next = recurrent_next(s);
	return 0;
}

/* Locks the open object and checks it. If it is not a finished segment yet, makes one. */
static int take(struct segment *s, struct why *w)
{
	struct segment_header h;
	size_t bytes;
	int finished = object_lock(&s->object, w) < 0 ? -1 : header_read(&s->object, &h, &bytes, w);

	if (finished <= 0)
		return finished < 0 ? -1 : make(s, bytes, w);
	s->object.made = 0;     /* another process has finished it since */
	if (header_check(&h, bytes, w) < 0 || shape_compare(&h.shape, &s->shape, w) < 0)
		return -1;
	return take_over(s, &h, bytes, w);
}

static int open_named(struct segment *s, struct why *w)
{
	struct why ignored;
	int status = object_open(&s->object, s->name, 1, w);

	if (status == 0)
		status = take(s, w);
	/* remove what was created, unless another process has opened it since */
	if (status < 0 && s->object.made && !object_owner(&s->object))
		object_remove(&s->object, &ignored);
	return status;
}

static int open_any(struct segment *s, struct why *w)
{
	if (shape_check(&s->shape, w) < 0)
		return -1;
	if (s->n_ctx < 1 || s->n_ctx > SEGMENT_CTX_MAX || !shape_fits(&s->shape, s->n_ctx))
		return why(w, "a context of %zu tokens of %zu bytes is too large", s->n_ctx,
			shape_extent_bytes(&s->shape, 0) / KV_EXTENT);
	if (s->name)
		return segment_widen(s, kv_extents(s->n_ctx), w) < 0 ? -1 : open_named(s, w);
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
	return name ? object_why(name, w) : -1;
}

int segment_is_named(const struct segment *s, const char *name)
{
	return s->header && object_is_named(&s->object, name);
}

int segment_sync(const struct segment *s, struct why *w)
{
	object_touch(&s->object);
	if (!s->object.file || (!msync(s->header, shape_bytes(&s->shape, s->n_extents), MS_SYNC)
	    && !fsync(s->object.fd)))
		return 0;
	why(w, "%s", strerror(errno));
	return object_why(s->name, w);
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
			object_shrink(&s->object, shape_bytes(&s->shape, kv_extents(s->length)));
		guard_remove(s->header);
		munmap(s->header, s->mapped);
	}
	if (s->name)
		object_close(&s->object);
	free(s->extent);
	free(s->recent);
	*s = (struct segment){ .n_ctx = 0 };
}

