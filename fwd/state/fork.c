/* Segments without a name share extents and states, which are copied before a write. Where one has a name, everything
 * is copied at once. */
#include "fork.h"

#include <string.h>

#include "recent.h"
#include "recurrent.h"
#include "shared.h"

static int share(struct segment *to, struct segment *from, size_t length, struct why *w)
{
	if (segment_widen(to, kv_extents(length), w) < 0)
		return -1;
	to->n_extents = kv_extents(length);
	for (size_t i = 0; i < to->n_extents; i++) {
		to->extent[i] = shared_use(from->extent[i]);
		to->recent[i] = from->recent[i];
	}
	recurrent_share(to, from);
	memcpy(to->mark, from->mark, STATE_MARKS * sizeof *to->mark);
	to->reach = from->reach;
	to->shares = from->shares = 1;
	segment_set_length(to, length);
	return 0;
}

/* Copies everything but marks and origin. Leaves the length 0. */
static int copy_data(struct segment *to, const struct segment *from, size_t length, struct why *w)
{
	segment_set_length(to, 0);
	if (segment_reserve(to, length, w) < 0)
		return -1;
	for (size_t i = 0; i < kv_extents(length); i++)
		memcpy(to->extent[i], from->extent[i], shape_extent_bytes(&from->shape, i));
	recent_copy(to, from);
	recurrent_copy(to, from, length);
	return 0;
}

int segment_copy(struct segment *to, const struct segment *from, size_t length, struct why *w)
{
	const struct segment_origin origin = segment_origin(from);

	if (copy_data(to, from, length, w) < 0)
		return -1;
	for (int which = 0; which < SEGMENT_MARKS; which++)
		segment_set_mark(to, which, segment_mark(from, which));
	segment_set_origin(to, &origin);
	segment_set_length(to, length);
	return segment_sync(to, w);
}

int segment_fork(struct segment *to, struct segment *from, size_t length, struct why *w)
{
	memcpy(to->lora, from->lora, sizeof to->lora);
	if (to->header)
		return segment_copy(to, from, length, w);
	if (!from->header)
		return share(to, from, length, w);
	if (copy_data(to, from, length, w) < 0)
		return -1;
	segment_set_length(to, length);
	return 0;
}

/* Makes extent i private to s. Its recent positions may be those of a later extent. */
static int own_extent(struct segment *s, size_t i, struct why *w)
{
	size_t rooms = recent_extents(&s->shape), recent = i < rooms ? (size_t)(s->recent[i] - s->extent[i]) : 0;
	size_t bytes = shape_extent_bytes(&s->shape, i);
	unsigned char *p = shared_own(s->extent[i], bytes);

	if (!p)
		return why(w, "out of memory: %zu KiB for a copy of %d positions of K and V", bytes >> 10, KV_EXTENT);
	s->extent[i] = p;
	for (size_t j = i; i < rooms && j < s->n_extents; j += rooms)
		s->recent[j] = p + recent;
	return 0;
}

int segment_prepare(struct segment *s, size_t pos, size_t n, struct why *w)
{
	size_t rooms = recent_extents(&s->shape), end = pos + n, from;
	struct segment cut;

	if (segment_reserve(s, end, w) < 0)
		return -1;
	if (!s->shares || !n)
		return 0;
	cut = *s;               /* the state when the batch begins */
	cut.length = pos;
	from = recurrent_next(&cut);
	for (size_t i = from / KV_EXTENT; i < kv_extents(end); i++)
		if (own_extent(s, i, w) < 0 || (i >= rooms && rooms && own_extent(s, i % rooms, w) < 0))
			return -1;
	return recurrent_own(s, from, end, w);
}
