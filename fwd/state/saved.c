/* Segments as streams: a header of words and texts, then the extents. */
#include "saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/size.h"
#include "claim.h"
#include "named.h"
#include "rle.h"

enum { VERSION = 1, HEADS = 2 * SEGMENT_SIZES, STEP = 1 << 20 };

static const char MAGIC[] = "lmpipe kv\r\n";

/* the value of a mark that is unknown */
static const uint64_t UNKNOWN = UINT64_MAX;

/* What the stream begins with. It has 64-bit words only, so that there is no padding. */
struct header {
	uint64_t model, arithmetic, choices, layout, bytes, recent_bytes, window, state_bytes, row_bytes;
	uint64_t n_layer, kv_type, extent, keeps_current;
	uint64_t heads[HEADS][3];
	uint64_t n_ctx, length, file, digest;
	uint64_t mark[STATE_MARKS];
	struct segment_origin origin;
};

enum { WORDS = offsetof(struct header, origin) / sizeof(uint64_t) };

_Static_assert(sizeof(struct header) == WORDS * sizeof(uint64_t) + sizeof(struct segment_origin), "no holes");

/* ---- writing ---- */

static struct header describe(const struct segment *s)
{
	const struct segment_shape *p = &s->shape;
	struct header h = {
		.model = p->model, .arithmetic = p->arithmetic, .choices = p->choices, .layout = p->layout,
		.bytes = p->bytes, .recent_bytes = p->recent_bytes, .window = p->window,
		.state_bytes = p->state_bytes, .row_bytes = p->row_bytes, .n_layer = p->n_layer,
		.kv_type = p->kv_type, .extent = p->extent, .keeps_current = p->keeps_current,
		.n_ctx = s->n_ctx, .length = s->length, .file = segment_mark(s, SEGMENT_FILE),
		.digest = segment_mark(s, SEGMENT_DIGEST), .origin = segment_origin(s) };

	for (size_t i = 0; i < HEADS; i++) {
		const struct segment_heads *heads = &p->heads[i / SEGMENT_SIZES][i % SEGMENT_SIZES];

		h.heads[i][0] = heads->n;
		h.heads[i][1] = heads->dim_k;
		h.heads[i][2] = heads->dim_v;
	}
	for (size_t i = 0; i < STATE_MARKS; i++) {
		uint64_t value = mark_value(&s->mark[i]);

		h.mark[i] = mark_is(&s->mark[i], value) ? value : UNKNOWN;
	}
	return h;
}

static int write_all(struct rle *r, const struct segment *s, int fd, struct why *w)
{
	unsigned char head[RLE_HEAD] = { [sizeof MAGIC] = VERSION }, *at;
	struct header h = describe(s);

	memcpy(head, MAGIC, sizeof MAGIC);
	le_convert(&h, sizeof(uint64_t), WORDS);
	if (rle_write_head(r, fd, head, w) < 0 || rle_write(r, &h, sizeof h, w) < 0)
		return -1;
	for (size_t i = 0; i < kv_extents(s->length); i++) {
		size_t n = segment_span(s, i, &at);

		if (rle_write(r, at, n, w) < 0)
			return -1;
	}
	return rle_write_end(r, w);
}

int saved_write(struct segment *s, int fd, struct why *w)
{
	struct rle *r = malloc(sizeof *r);
	int status;

	if (!s->length)
		return why(w, "segment %s: has no tokens", s->name);
	segment_scrub(s);
	object_touch(&s->object);       /* on some file systems, writing zeroes to the mapping changes the time */
	status = r ? write_all(r, s, fd, w) : why(w, "out of memory");
	free(r);
	return status;
}

/* ---- reading ---- */

/* Converts a word to a narrower field. Returns -1 if it does not fit. */
static int narrow(uint64_t from, uint32_t *to)
{
	*to = (uint32_t)from;
	return *to == from ? 0 : -1;
}

static int shape_of(const struct header *h, struct segment_shape *p)
{
	int failed;

	*p = (struct segment_shape){ .model = h->model, .arithmetic = h->arithmetic, .choices = h->choices,
		.layout = h->layout, .bytes = h->bytes, .recent_bytes = h->recent_bytes, .window = h->window,
		.state_bytes = h->state_bytes, .row_bytes = h->row_bytes };
	failed = narrow(h->n_layer, &p->n_layer) | narrow(h->kv_type, &p->kv_type) | narrow(h->extent, &p->extent)
		| narrow(h->keeps_current, &p->keeps_current);
	for (size_t i = 0; i < HEADS; i++) {
		struct segment_heads *heads = &p->heads[i / SEGMENT_SIZES][i % SEGMENT_SIZES];

		failed |= narrow(h->heads[i][0], &heads->n) | narrow(h->heads[i][1], &heads->dim_k)
			| narrow(h->heads[i][2], &heads->dim_v);
	}
	return failed;
}

/* Reads the header; segment_open() checks the rest. */
static int read_header(struct rle *r, int fd, struct header *h, struct segment_shape *shape, struct why *w)
{
	unsigned char head[RLE_HEAD], want[RLE_HEAD] = { 0 };

	memcpy(want, MAGIC, sizeof MAGIC);
	if (rle_read_head(r, fd, "standard input", head, w) < 0)
		return -1;
	if (memcmp(head, want, sizeof MAGIC))
		return why(w, "%s: not a segment saved by kv", r->name);
	want[sizeof MAGIC] = VERSION;
	if (memcmp(head, want, RLE_HEAD))
		return why(w, "%s: format version %u; this program reads version %d", r->name, head[sizeof MAGIC],
			VERSION);
	if (rle_read(r, h, sizeof *h, w) < 0)
		return -1;
	le_convert(h, sizeof(uint64_t), WORDS);
	if (shape_of(h, shape) < 0 || h->length < 1 || h->length > h->n_ctx || h->n_ctx > SEGMENT_CTX_MAX)
		return why(w, "%s: invalid header", r->name);
	return 0;
}

/* Reserves space only as data arrive, because a header alone could ask for any amount. */
static int read_span(struct rle *r, struct segment *s, size_t extent, struct why *w)
{
	unsigned char *at;
	size_t n = segment_span(s, extent, &at), from = (size_t)(at - (unsigned char *)s->header);

	for (size_t done = 0, some; done < n; done += some) {
		some = size_min(n - done, STEP);
		if (object_grow(&s->object, from + done, from + done + some, w) < 0)
			return object_why(s->name, w);
		if (rle_read(r, at + done, some, w) < 0)
			return -1;
	}
	segment_take_up(s, extent);
	return 0;
}

static int read_data(struct rle *r, struct segment *s, const struct header *h, struct why *w)
{
	for (size_t i = 0; i < kv_extents(h->length); i++)
		if (read_span(r, s, i, w) < 0)
			return -1;
	if (rle_read_end(r, w) < 0)
		return -1;
	for (size_t i = 0; i < STATE_MARKS; i++)
		if (h->mark[i] != UNKNOWN)
			mark_set(&s->mark[i], h->mark[i]);
	segment_set_mark(s, SEGMENT_FILE, h->file);
	segment_set_mark(s, SEGMENT_DIGEST, h->digest);
	segment_set_origin(s, &h->origin);
	segment_set_length(s, h->length);
	return segment_sync(s, w);
}

static int read_as(struct rle *r, int fd, const char *part, const struct object *claimed, struct why *w)
{
	struct segment_shape shape;
	struct segment s;
	struct header h;
	struct why ignored;
	int status;

	if (read_header(r, fd, &h, &shape, w) < 0)
		return -1;
	segment_remove(part, &ignored);
	if (segment_open(&s, part, &shape, (size_t)h.n_ctx, w) < 0)
		return -1;
	status = read_data(r, &s, &h, w) < 0 ? -1 : claim_rename(&s, claimed, w);
	if (status < 0) /* closing an empty segment removes it */
		segment_set_length(&s, 0);
	segment_close(&s);
	return status;
}

/* The name with OBJECT_PART appended, for the caller to free; NULL: out of memory. */
static char *part_of(const char *name)
{
	char *part = malloc(strlen(name) + sizeof OBJECT_PART);

	return part ? strcat(strcpy(part, name), OBJECT_PART) : NULL;
}

int saved_read(int fd, const char *name, int replace, struct why *w)
{
	struct rle *r = malloc(sizeof *r);
	char *part = part_of(name);
	struct object claimed = { .fd = -1 };
	int status = -1;

	if (!r || !part)
		why(w, "out of memory");
	else if (claim_open(&claimed, name, replace, w) == 0) {
		status = read_as(r, fd, part, &claimed, w);
		claim_close(&claimed);
	}
	free(part);
	free(r);
	return status;
}

/* Whether there is such an object with data, which its maker has locked unless it is dead. */
static int has_data(const char *name)
{
	struct object o;
	struct why ignored;
	size_t bytes = 0;
	int found = object_open(&o, name, 0, &ignored) == 0 && object_size(&o, &bytes, &ignored) == 0;

	object_close(&o);
	return found && bytes;
}

void saved_clear(const char *name)
{
	struct object claimed = { .fd = -1 };
	char *part = part_of(name);
	struct why ignored;

	if (part && has_data(part) && segment_remove(part, &ignored) == 0
	    && claim_open(&claimed, name, 0, &ignored) == 0) {
		claimed.made = 1;       /* by the killed process; so it is removed */
		claim_close(&claimed);
	}
	free(part);
}
