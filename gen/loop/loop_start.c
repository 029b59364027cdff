/* Sequences that the caller starts: their first frames, and their end. */
#include "cache.h"
#include "live.h"

/* Starts the sequence in the stages as a copy of the first `shared` positions of another. */
static int fork_from(struct loop *l, const struct live *from, uint32_t seq, size_t shared, struct why *w)
{
	const struct frame f = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32, .pos = (uint32_t)shared,
		.seq = seq };
	const int32_t source = (int32_t)from->sequence.number;

	return queue_put(&l->to_out, l->out, &f, &source, w);
}

static int send_opts(struct loop *l, const struct loop_start *start, uint32_t seq, struct why *w)
{
	const struct frame f = { .kind = FRAME_OPTS, .rows = (uint32_t)start->n_opts, .cols = 1, .type = FRAME_I8,
		.pos = FRAME_APPEND, .seq = seq };

	return start->n_opts ? queue_put(&l->to_out, l->out, &f, start->opts, w) : 0;
}

/* The stages get all ids: fwd knows those that it has, and the sampler those before a fork only from here. What is
 * appended to a segment comes alone, as from gen --append. */
int loop_start(struct loop *l, const struct loop_start *start, uint32_t *number, size_t *shared, struct why *w)
{
	const struct live *from = NULL;
	size_t first = start->appends ? start->kept : 0;
	struct live *s;

	*shared = start->kept;
	if (live_number(l, number, w))
		return -1;
	if (!start->score && !start->named)
		from = cache_find(l, start->ids, start->n, shared);
	if (!(s = live_begin(l, *number, w)) || ids_append(&s->ids, start->ids, start->n, w))
		return -1;
	s->n_prompt = start->n;
	s->placed = 1;
	s->valid = s->held = (uint32_t)start->n;
	s->limit = start->limit;
	s->logprobs = start->logprobs;
	s->owner = start->owner;
	s->named = start->named;
	s->kept = start->kept;
	if ((from && fork_from(l, from, *number, *shared, w)) || send_opts(l, start, *number, w)
	    || (start->replaces && live_send(l, s, NULL, 0, (uint32_t)start->kept, 0, w))
	    || live_send(l, s, start->ids + first, start->n - first, (uint32_t)first,
		start->score ? FRAME_GUESS : 0, w))
		return -1;
	return l->draft ? draft_prompt(l->draft, &s->guesses, &l->card, l->active, w) : 0;
}

int loop_cancel(struct loop *l, uint32_t number, struct why *w)
{
	struct live *s = live_find(l, number);

	return s && !s->over ? live_finish(l, s, FRAME_END_INTERRUPT, "", 0, w) : 0;
}
