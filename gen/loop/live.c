/* What the two ends of the loop share: where a sequence is, what is sent to fwd, and how it ends. */
#include "live.h"

#include <stdlib.h>

#include "cache.h"
#include "release.h"

struct live *live_find(const struct loop *l, uint32_t seq)
{
	return (struct live *)sequences_find(&l->live, seq);
}

struct live *live_begin(struct loop *l, uint32_t seq, struct why *w)
{
	struct live *s = live_find(l, seq);

	if (s)
		return s;
	if (!(s = calloc(1, sizeof *s))) {
		why(w, "out of memory");
		return NULL;
	}
	s->limit = l->n;
	s->logprobs = l->logprobs;
	s->guesses.seq = seq;
	s->guesses.text = &s->ids;
	if (!sequences_add(&l->live, &s->sequence, seq, w))
		return s;
	free(s);
	return NULL;
}

int live_number(struct loop *l, uint32_t *number, struct why *w)
{
	if (l->started == FRAME_NO_SEQ - 1)
		return why(w, "more sequences than a stream has");
	*number = ++l->started;
	return 0;
}

void live_free(struct live *s)
{
	free(s->ids.id);
	free(s->text);
	draft_forget(&s->guesses);
	free(s);
}

int live_end(struct loop *l, struct live *s, struct why *w)
{
	if (sequences_end(&l->live, s->sequence.number, w) || (l->draft && draft_end(l->draft, &s->guesses, w)))
		return -1;
	live_free(s);
	return 0;
}

struct result *live_result(const struct loop *l, uint32_t seq)
{
	return l->r && (!seq || seq < (uint32_t)l->texts) ? &l->r[seq] : NULL;
}

/* ---- positions ---- */

uint32_t live_position(const struct live *s, size_t i)
{
	return s->placed ? s->base + (uint32_t)i : FRAME_APPEND;
}

uint32_t live_place(struct live *s, uint32_t pos, size_t known)
{
	size_t i = s->ids.n - known;

	if (pos != FRAME_APPEND && !s->placed) {
		s->placed = 1;
		s->base = pos - (uint32_t)i;
	}
	return pos != FRAME_APPEND ? pos : live_position(s, i);
}

/* ---- to fwd ---- */

int live_send_frame(struct loop *l, struct live *s, const struct frame *f, const int32_t *ids, struct why *w)
{
	struct result *r = live_result(l, f->seq);

	if (r && f->rows)
		r->passes++;
	if (!s->fed && f->rows)
		l->active += (size_t)(s->fed = 1);
	return queue_put(&l->to_out, l->out, f, ids, w);
}

int live_send(struct loop *l, struct live *s, const int32_t *ids, size_t n, uint32_t pos, uint32_t flags,
	struct why *w)
{
	const struct frame f = { .kind = FRAME_IDS, .rows = (uint32_t)n, .cols = 1, .type = FRAME_I32, .flags = flags,
		.pos = pos, .seq = s->sequence.number };

	return live_send_frame(l, s, &f, ids, w);
}

/* ---- the end ---- */

int live_over(struct loop *l, struct live *s, struct why *w)
{
	if (!s->over) {
		l->active -= (size_t)s->fed;
		l->done++;
	}
	if (s->recorded)
		replay_end(l->replay, s->recorded, (size_t)s->drawn, live_position(s, s->ids.n));
	s->over = 1;
	s->fed = 0;
	if (s->held <= s->valid)
		return 0;
	s->held = s->valid;
	return live_send(l, s, NULL, 0, s->valid, FRAME_SAMPLED, w);
}

int live_stop(struct loop *l, struct live *s, uint32_t reason, uint32_t pos, struct why *w)
{
	struct frame f = { .kind = FRAME_END, .cols = 1, .type = FRAME_I32, .flags = reason, .pos = pos,
		.seq = s->sequence.number };
	struct result *r = live_result(l, f.seq);

	if (s->over)
		return 0;
	if (live_over(l, s, w))
		return -1;
	l->full += reason == FRAME_END_CONTEXT;
	if (r)
		result_end(r, reason, NULL, 0);
	if (l->jobs)
		return queue_put(&l->to_out, l->out, &f, NULL, w);
	s->stale = 1;
	if (pos != FRAME_APPEND)
		f.pos += s->moved;
	return l->turns ? queue_put(&l->to_copy, l->copy, &f, NULL, w) : 0;
}

int live_drop(struct loop *l, struct live *s, struct why *w)
{
	const struct frame f = { .kind = FRAME_END, .cols = 1, .type = FRAME_I32, .pos = s->valid,
		.seq = s->sequence.number };

	return queue_put(&l->to_out, l->out, &f, NULL, w) || live_end(l, s, w) ? -1 : 0;
}

int live_finish(struct loop *l, struct live *s, uint32_t reason, const char *text, size_t n, struct why *w)
{
	void *owner = s->owner;
	int lost = s->canvas || reason == FRAME_END_ERROR || reason == FRAME_END_REFUSED, status = 0;

	if (s->over)
		return 0;
	if (s->named)
		return release_begin(l, s, reason, text, n, w);
	s->owner = NULL;
	if (live_over(l, s, w))
		return -1;
	/* fwd would let the others wait for the prompt, to read what follows */
	s->evaluating = reason == FRAME_END_INTERRUPT && !s->drawn && !lost;
	if (!s->evaluating)
		status = lost ? live_drop(l, s, w) : cache_keep(l, s, w);
	return status ? -1 : l->calls->over(owner, reason, text, n, w);
}
