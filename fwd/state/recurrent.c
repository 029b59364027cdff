/* Recurrent state: its layout, its marks, and how a batch changes it. */
#include "recurrent.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "recent.h"
#include "shared.h"

enum { RING = 2 * STATE_CHUNK };

static const uint64_t BYTES_MAX = (uint64_t)1 << 46;    /* of one snapshot; of the ring */

/* ---- positions ---- */

/* The number of the snapshot for the state at p, a multiple of STATE_CHUNK above 0. */
static size_t snapshot_of(size_t p)
{
	size_t i = 0;

	for (p /= STATE_CHUNK; p % 2 == 0; p /= 2)
		i++;
	return i;
}

/* The last position up to `end` that belongs to snapshot i; 0: none. */
static size_t last_of(size_t i, size_t end)
{
	size_t step = (size_t)STATE_CHUNK << i, steps = end / step;

	return steps ? (steps - (steps % 2 == 0)) * step : 0;
}

int segment_keeps(size_t p, size_t end)
{
	return p % STATE_CHUNK == 0 && last_of(snapshot_of(p), end) == p;
}

/* ---- layout ---- */

int recurrent_check(const struct segment_shape *p, struct why *w)
{
	if (p->row_bytes > BYTES_MAX / RING || p->state_bytes > BYTES_MAX || p->state_bytes % 64
	    || p->keeps_current > 1)
		return why(w, "unsupported: recurrent state of %llu bytes, rows of %llu",
			(unsigned long long)p->state_bytes, (unsigned long long)p->row_bytes);
	return 0;
}

static int is_recurrent(const struct segment *s)
{
	return s->shape.state_bytes || s->shape.row_bytes;
}

static size_t ring_bytes(const struct segment_shape *p)
{
	return RING * p->row_bytes;
}

size_t recurrent_fixed(const struct segment_shape *p)
{
	return ring_bytes(p) + (p->keeps_current ? p->state_bytes : 0);
}

size_t recurrent_snapshots(size_t n)
{
	size_t i = 0;

	while (last_of(i, n * KV_EXTENT))
		i++;
	return i;
}

void recurrent_map(struct segment *s, unsigned char *ring)
{
	s->recurrent.ring = ring;
	s->recurrent.current = ring + ring_bytes(&s->shape);
}

void recurrent_add(struct segment *s, size_t i, unsigned char *extent)
{
	struct recurrent *r = &s->recurrent;
	size_t n = recurrent_snapshots(i + 1);

	for (; r->n_snapshots < n; r->n_snapshots++)
		r->snapshot[r->n_snapshots] = extent - (n - r->n_snapshots) * s->shape.state_bytes;
}

/* Returns p. If it is NULL, sets the reason. */
static void *got(void *p, size_t bytes, struct why *w)
{
	if (!p)
		why(w, "out of memory: %zu KiB of recurrent state", bytes >> 10);
	return p;
}

int recurrent_grow(struct segment *s, size_t n, struct why *w)
{
	struct recurrent *r = &s->recurrent;
	void *p;

	if (!is_recurrent(s))
		return 0;
	if (!r->ring) {
		if (!(p = got(shared_new(recurrent_fixed(&s->shape)), recurrent_fixed(&s->shape), w)))
			return -1;
		recurrent_map(s, p);
	}
	for (; r->n_snapshots < recurrent_snapshots(n); r->snapshot[r->n_snapshots++] = p)
		if (!(p = got(shared_new(s->shape.state_bytes), s->shape.state_bytes, w)))
			return -1;
	return 0;
}

void recurrent_free(struct segment *s)
{
	struct recurrent *r = &s->recurrent;

	for (size_t i = 0; i < r->n_snapshots; i++)
		shared_drop(r->snapshot[i]);
	shared_drop(r->ring);
}

/* ---- what ops read and write ---- */

void *segment_row(const struct segment *s, size_t offset, size_t bytes, size_t pos)
{
	return s->recurrent.ring + offset * RING + pos % RING * bytes;
}

float *segment_state(const struct segment *s, size_t pos, size_t offset)
{
	return pos ? (float *)(void *)s->recurrent.snapshot[snapshot_of(pos)] + offset : NULL;
}

float *segment_current(const struct segment *s, size_t offset)
{
	return (float *)(void *)s->recurrent.current + offset;
}

/* ---- what is known ---- */

static struct mark *half_mark(const struct segment *s, size_t chunk)
{
	return &s->mark[MARK_HALF + chunk % 2];
}

static struct mark *current_mark(const struct segment *s)
{
	return &s->mark[MARK_CURRENT];
}

static struct mark *snapshot_mark(const struct segment *s, size_t i)
{
	return &s->mark[MARK_SNAPSHOT + i];
}

/* The position, up to the length, of the state in snapshot i; 0: none. */
static size_t kept_by(const struct segment *s, size_t i)
{
	size_t p = mark_value(snapshot_mark(s, i));

	return p && p <= s->length && p % STATE_CHUNK == 0 && snapshot_of(p) == i ? p : 0;
}

/* Whether the state at p, the start of a chunk, is stored. */
static int has_state(const struct segment *s, size_t p)
{
	return !p || mark_is(snapshot_mark(s, snapshot_of(p)), p);
}

/* Whether the row at pos can be evaluated from what is stored. */
static int goes_on(const struct segment *s, size_t pos)
{
	size_t chunk = pos / STATE_CHUNK;

	if (!recent_holds(s, pos))
		return 0;
	if (!pos || !is_recurrent(s))
		return 1;
	if (s->shape.keeps_current && !mark_is(current_mark(s), pos))
		return 0;
	return !s->shape.row_bytes || (has_state(s, chunk * STATE_CHUNK)
		&& (pos % STATE_CHUNK == 0 || mark_is(half_mark(s, chunk), chunk)));
}

size_t recurrent_next(const struct segment *s)
{
	size_t next = 0, p;

	if (goes_on(s, s->length))
		return s->length;
	for (size_t i = 0; i < s->recurrent.n_snapshots; i++) {
		p = kept_by(s, i);
		if (p > next && recent_holds(s, p))
			next = p;
	}
	return next;
}

/* ---- a batch ---- */

/* The first chunk that the ring still has after the batch: the second last. */
static size_t first_chunk(size_t pos, size_t n)
{
	size_t first = pos / STATE_CHUNK, last = (pos + n - 1) / STATE_CHUNK;

	return last > first ? last - 1 : first;
}

/* Makes the current state that at pos. */
static void rewind_current(struct segment *s, size_t pos)
{
	void *current = s->recurrent.current;

	if (mark_is(current_mark(s), pos)) {
		mark_forget(current_mark(s));
		return;
	}
	mark_forget(current_mark(s));
	if (pos)
		memcpy(current, segment_state(s, pos, 0), s->shape.state_bytes);
	else
		memset(current, 0, s->shape.state_bytes);
}

void recurrent_begin(struct segment *s, size_t pos, size_t n)
{
	size_t end = pos + n;

	if (!is_recurrent(s))
		return;
	for (size_t c = first_chunk(pos, n); c * STATE_CHUNK < end; c++)
		if (c * STATE_CHUNK >= pos)
			mark_forget(half_mark(s, c));
	for (size_t i = 0, p; (p = last_of(i, end)); i++)
		if (p > pos)
			mark_forget(snapshot_mark(s, i));
	if (s->shape.keeps_current)
		rewind_current(s, pos);
}

void recurrent_commit(struct segment *s, size_t pos, size_t n)
{
	size_t end = pos + n, length = size_max(s->length, end);

	if (!is_recurrent(s))
		return;
	for (size_t c = first_chunk(pos, n); c * STATE_CHUNK < end; c++)
		if (end >= size_min((c + 1) * STATE_CHUNK, length))
			mark_set(half_mark(s, c), c);
	for (size_t i = 0, p; (p = last_of(i, end)); i++)
		if (p > pos)
			mark_set(snapshot_mark(s, i), p);
	if (s->shape.keeps_current)
		mark_set(current_mark(s), end);
}

void recurrent_scrub(struct segment *s)
{
	size_t chunk = s->length / STATE_CHUNK;

	if (!is_recurrent(s))
		return;
	if (!mark_is(half_mark(s, chunk), chunk) && !(chunk && mark_is(half_mark(s, chunk - 1), chunk - 1)))
		memset(s->recurrent.ring, 0, ring_bytes(&s->shape));
	if (s->shape.keeps_current && !mark_is(current_mark(s), s->length))
		memset(s->recurrent.current, 0, s->shape.state_bytes);
	for (size_t i = 0; i < recurrent_snapshots(s->length / KV_EXTENT + (s->length % KV_EXTENT != 0)); i++)
		if (!kept_by(s, i))
			memset(s->recurrent.snapshot[i], 0, s->shape.state_bytes);
}

/* Copies only states with valid marks, up to the length. */
void recurrent_copy(struct segment *to, const struct segment *from, size_t length)
{
	size_t chunk = length / STATE_CHUNK;

	if (!is_recurrent(from) || !length)
		return;
	memcpy(to->recurrent.ring, from->recurrent.ring, recurrent_fixed(&from->shape));
	for (size_t c = chunk ? chunk - 1 : 0; c <= chunk; c++)
		if (mark_is(half_mark(from, c), c))
			mark_set(half_mark(to, c), c);
	if (mark_is(current_mark(from), length))
		mark_set(current_mark(to), length);
	for (size_t i = 0, p; last_of(i, length); i++) {
		if (!(p = kept_by(from, i)) || p > length)
			continue;
		memcpy(to->recurrent.snapshot[i], from->recurrent.snapshot[i], from->shape.state_bytes);
		mark_set(snapshot_mark(to, i), p);
	}
}

/* ---- sharing ---- */

void recurrent_share(struct segment *to, const struct segment *from)
{
	if (!is_recurrent(from) || !to->n_extents)
		return;
	recurrent_map(to, shared_use(from->recurrent.ring));
	to->recurrent.n_snapshots = recurrent_snapshots(to->n_extents);
	for (size_t i = 0; i < to->recurrent.n_snapshots; i++)
		to->recurrent.snapshot[i] = shared_use(from->recurrent.snapshot[i]);
}

static int own(unsigned char **p, size_t bytes, struct why *w)
{
	void *mine = got(shared_own(*p, bytes), bytes, w);

	*p = mine ? mine : *p;
	return mine ? 0 : -1;
}

int recurrent_own(struct segment *s, size_t from, size_t end, struct why *w)
{
	struct recurrent *r = &s->recurrent;

	if (!is_recurrent(s))
		return 0;
	if (own(&r->ring, recurrent_fixed(&s->shape), w) < 0)
		return -1;
	recurrent_map(s, r->ring);
	for (size_t i = 0, p; (p = last_of(i, end)); i++)
		if (p > from && own(&r->snapshot[i], s->shape.state_bytes, w) < 0)
			return -1;
	return 0;
}
