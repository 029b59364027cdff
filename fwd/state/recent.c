/* K and V of layers with windows: which of them are still stored. */
#include "recent.h"

#include "lib/base/size.h"

enum { EXTENTS_LEAST = 4096 / KV_EXTENT };

static struct mark *reach_mark(const struct segment *s)
{
	return &s->mark[MARK_REACH];
}

size_t recent_extents(const struct segment_shape *p)
{
	/* a window and the batch after it may begin and end anywhere in an extent */
	size_t most = (p->window + SEGMENT_BATCH) / KV_EXTENT + 2;

	return p->recent_bytes ? size_max(EXTENTS_LEAST, most) : 0;
}

void recent_open(struct segment *s)
{
	s->reach = mark_value(reach_mark(s));
}

int recent_holds(const struct segment *s, size_t pos)
{
	size_t reach = mark_value(reach_mark(s)), first = pos > s->shape.window ? pos - s->shape.window : 0;

	if (!s->shape.recent_bytes || !pos)
		return 1;
	return reach >= pos && reach / KV_EXTENT <= first / KV_EXTENT + recent_extents(&s->shape);
}

/* Extends the reach by a batch. A batch at position 0 starts anew. */
static void extend(struct segment *s, size_t pos, size_t n)
{
	size_t end = kv_extents(pos + n) * KV_EXTENT;

	s->reach = pos ? size_max(s->reach, end) : end;
}

static void set_mark(struct segment *s)
{
	if (!mark_is(reach_mark(s), s->reach))
		mark_set(reach_mark(s), s->reach);
}

void recent_begin(struct segment *s, size_t pos, size_t n)
{
	if (!s->shape.recent_bytes)
		return;
	extend(s, pos, n);
	if (pos == s->length)
		set_mark(s);
}

void recent_commit(struct segment *s, size_t pos, size_t n)
{
	if (!s->shape.recent_bytes)
		return;
	extend(s, pos, n);
	if (pos + n >= s->length)
		set_mark(s);
}

size_t recent_valid(const struct segment *s, size_t i)
{
	size_t extents = mark_value(reach_mark(s)) / KV_EXTENT, rooms = recent_extents(&s->shape), in;

	if (!recent_holds(s, s->length) || extents > SEGMENT_CTX_MAX / KV_EXTENT || i >= extents)
		return 0;
	in = extents - 1 - (extents - 1 - i) % rooms;
	return in * KV_EXTENT < s->length ? size_min(s->length - in * KV_EXTENT, KV_EXTENT) : 0;
}

void recent_copy(struct segment *to, const struct segment *from)
{
	size_t reach = mark_value(reach_mark(from));

	to->reach = reach;
	if (reach)
		mark_set(reach_mark(to), reach);
}
