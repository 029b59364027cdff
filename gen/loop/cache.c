/* There are few enough sequences to look at all. */
#include "cache.h"

#include <stdlib.h>

#include "lib/base/size.h"

enum { LEAST = 16 };    /* fewer ids are evaluated sooner than an extent of their state is copied */

/* The ids of the sequence that fwd has evaluated, or will have before what is sent now. */
static size_t held(const struct live *s)
{
	return size_min(s->valid, s->ids.n);
}

static size_t common(const struct live *s, const int32_t *ids, size_t n)
{
	size_t most = size_min(held(s), n), i = 0;

	while (i < most && s->ids.id[i] == ids[i])
		i++;
	return i;
}

struct live *cache_find(struct loop *l, const int32_t *ids, size_t n, size_t *shared)
{
	struct live *found = NULL;
	struct why ignored;
	struct sequence **all = sequences_all(&l->live, &ignored);

	*shared = 0;
	for (size_t i = 0; all && n && i < l->live.n; i++) {
		struct live *s = (struct live *)all[i];
		size_t same = common(s, ids, n - 1);

		/* fwd may refuse the segment of one, and closes it soon after the end */
		if (s->named && (s->over || !s->drawn))
			continue;
		/* those that are over do not make us wait */
		if (same < LEAST || same < *shared || (same == *shared && !s->used))
			continue;
		*shared = same;
		found = s;
	}
	free(all);
	if (found && found->used)
		found->used = ++l->uses;
	return found;
}

static int drop(struct loop *l, struct live *s, struct why *w)
{
	l->cached -= held(s);
	return live_drop(l, s, w);
}

/* The sequence of the cache that is to go first; NULL: there is none, or no memory. */
static struct live *oldest(struct loop *l)
{
	struct live *found = NULL;
	struct why ignored;
	struct sequence **all = sequences_all(&l->live, &ignored);

	for (size_t i = 0; all && i < l->live.n; i++) {
		struct live *s = (struct live *)all[i];

		if (s->used && (!found || s->used < found->used))
			found = s;
	}
	free(all);
	return found;
}

/* Drops what s makes superfluous. Returns 1 if s itself is; 0; or -1. */
static int drop_same(struct loop *l, const struct live *s, struct why *w)
{
	struct sequence **all = sequences_all(&l->live, w);
	size_t n = l->live.n, same;
	int status = all ? 0 : -1;

	for (size_t i = 0; i < n && !status; i++) {
		struct live *other = (struct live *)all[i];

		if (other == s || !other->used)
			continue;
		same = common(other, s->ids.id, held(s));
		if (same == held(s))
			status = 1;
		else if (same == held(other))
			status = drop(l, other, w);
	}
	free(all);
	return status;
}

int cache_keep(struct loop *l, struct live *s, struct why *w)
{
	int status = held(s) < LEAST || held(s) > l->cache ? 1 : drop_same(l, s, w);
	struct live *last;

	if (status)
		return status < 0 ? -1 : live_drop(l, s, w);
	s->used = ++l->uses;
	l->cached += held(s);
	while (l->cached > l->cache && (last = oldest(l)))
		if (drop(l, last, w))
			return -1;
	/* fwd no longer waits for what would follow its last answer */
	return live_send(l, s, NULL, 0, s->valid, FRAME_SAMPLED, w);
}
