/* What the sampler sends: ids, which go to fwd with guesses or end their sequence; canvases; and ends. */
#include <inttypes.h>
#include <string.h>

#include "lib/base/size.h"
#include "cache.h"
#include "live.h"
#include "release.h"
#include "loop_ends.h"

/* ---- ids ---- */

/* The reason why nothing can follow the id at pos, or 0. */
static int over(const struct loop *l, const struct live *s, int32_t id, uint32_t pos)
{
	struct recorded *t = s->recorded;

	if (t && !replay_same(l->replay, t, (size_t)s->drawn - 1, id, pos))
		return FRAME_END_STOP;
	if (l->card.n_vocab && card_is_eog(&l->card, id))
		return FRAME_END_EOG;
	if (s->limit != LOOP_NO_LIMIT && s->drawn >= s->limit)
		return FRAME_END_LENGTH;
	if (l->card.n_ctx && pos != FRAME_APPEND && pos >= (uint32_t)l->card.n_ctx)
		return FRAME_END_CONTEXT;
	return t && !t->ended && (size_t)s->drawn == t->ids.n ? FRAME_END_LENGTH : 0;
}

/* Makes guesses after the last id of the sequence, which is at pos. */
static int guess(struct loop *l, struct live *s, uint32_t pos, size_t accepted, struct why *w)
{
	size_t room = l->card.n_ctx ? (size_t)l->card.n_ctx - pos - 1 : GUESSES_MAX;

	/* the sampler draws one id more than there are guesses */
	if (s->limit != LOOP_NO_LIMIT)
		room = size_min(room, (size_t)(s->limit - s->drawn) - 1);
	return draft_propose(l->draft, &s->guesses, &l->card, l->active, accepted, room, w);
}

/* Sends the last id of the sequence, which is at pos, and as guesses what was recorded after it, in one frame, which
 * fwd evaluates in batches; the last recorded id alone, because nothing may be drawn after it. */
static int send_recorded(struct loop *l, struct live *s, uint32_t pos, struct why *w)
{
	const struct recorded *t = s->recorded;
	size_t last = (size_t)s->drawn - 1, n = size_max(t->ids.n - 1 - last, 1), room = FRAME_IDS_MAX;

	if (l->card.n_ctx)
		room = size_min(room, (size_t)l->card.n_ctx - pos);
	n = size_min(n, room);
	s->valid = pos + 1;
	s->held = pos + (uint32_t)n;
	return live_send(l, s, t->ids.id + last, n, pos, FRAME_SAMPLED | (n > 1 ? FRAME_GUESS : 0), w);
}

/* Sends the last n ids of the sequence to fwd, the first at position pos. Appends guesses to a single id. */
static int forward(struct loop *l, struct live *s, size_t n, uint32_t pos, size_t accepted, struct why *w)
{
	const int32_t *ids = s->ids.id + s->ids.n - n;
	const struct guesses *g = &s->guesses;
	int32_t with[1 + GUESSES_MAX] = { *ids };

	if (s->recorded)
		return send_recorded(l, s, pos, w);
	s->valid = s->held = pos + (uint32_t)n;
	if (!l->draft || n > 1 || !s->placed)
		return live_send(l, s, ids, n, pos, FRAME_SAMPLED, w);
	if (guess(l, s, pos, accepted, w))
		return -1;
	memcpy(with + 1, g->last, g->n_last * sizeof *with);
	s->held += (uint32_t)g->n_last;
	return live_send(l, s, with, 1 + g->n_last, pos, FRAME_SAMPLED | (g->n_last ? FRAME_GUESS : 0), w);
}

/* The number of ids in ids[n], drawn for pos, that fwd has evaluated already, as guesses. */
static size_t count_accepted(const struct live *s, const int32_t *ids, uint32_t pos, size_t n)
{
	if (s->held <= s->valid || s->canvas || pos != s->valid)
		return 0;
	/* the last id may differ from the recorded one */
	if (s->recorded)
		return size_min(n - (size_t)s->recorded->compared, s->held - s->valid);
	return draft_matches(&s->guesses, ids, size_min(n, s->held - s->valid));
}

/* The number of drawn ids that fwd has, after n more of them; it had `accepted` of these already, as guesses. */
static size_t evaluated(const struct live *s, const struct result *r, size_t n, size_t accepted)
{
	if (s->canvas)
		return size_min(r->ids.n + n, s->valid - s->base - s->n_prompt);
	return r->ids.n + (s->reason ? accepted : n);
}

static int reject(struct loop *l, struct why *w)
{
	l->rejected = 1;
	return why_in(w, l->back.name);
}

/* Whether these are ids that the sampler may draw for pos. */
static int check_drawn(struct loop *l, const struct live *s, uint32_t pos, struct why *w)
{
	if (l->card.diffusion && !s->canvas) {
		why(w, "ids without a canvas: the sampler does not support diffusion models");
		return reject(l, w);
	}
	if ((l->draft || l->replay) && pos != live_position(s, s->ids.n)) {
		why(w, "ids for position %" PRIu32 ", not %" PRIu32 ": the sampler does not support guesses", pos,
			live_position(s, s->ids.n));
		return reject(l, w);
	}
	return 0;
}

/* Counts a drawn id, for pos. Sets s->reason if nothing can follow. */
static int count(struct loop *l, struct live *s, int32_t id, uint32_t pos, struct why *w)
{
	int reason = 0;

	s->drawn++;
	s->reason = over(l, s, id, pos);
	if (l->calls && (reason = l->calls->drawn(s->owner, id, w)) > 0)
		s->reason = reason;
	return reason < 0 ? -1 : 0;
}

/* Handles drawn ids. After the end of the generation they only go to the copy. */
static int take_drawn(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	const int32_t *ids = l->payload;
	struct result *r = live_result(l, f->seq);
	size_t n = 0, accepted, rest;
	uint32_t pos;

	if (s && s->evaluating && f->rows) {
		s->evaluating = 0;
		return s->named ? release_end(l, s, w) : cache_keep(l, s, w);
	}
	if (!s || s->over || s->reason || !(f->flags & FRAME_SAMPLED) || !f->rows)
		return 0;
	pos = live_place(s, f->pos, 0);
	if (check_drawn(l, s, pos, w))
		return -1;
	if (l->replay && !s->recorded && !(s->recorded = replay_find(l->replay, f->seq, pos, w)))
		return -1;
	s->stale = 0;
	if (!l->drawing++ && l->idle)
		l->idle(l, 0);
	for (; n < f->rows && !s->reason; n++)
		if (count(l, s, ids[n], frame_after(pos, n), w))
			return -1;
	accepted = count_accepted(s, ids, pos, n);
	l->drawn += n;
	s->valid += (uint32_t)accepted;
	if (r)
		r->evaluated = evaluated(s, r, n, accepted);
	if (ids_append(&s->ids, ids, n, w) || (r && result_ids(r, ids, n, pos + s->moved, w)))
		return -1;
	if (s->reason || s->canvas)
		return 0;
	rest = accepted < n ? n - accepted : 1;
	return forward(l, s, rest, frame_after(pos, n - rest), accepted, w);
}

/* ---- canvases ---- */

/* Sends a canvas to fwd, which then has the ids before its first mask. */
static int take_canvas(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	const int32_t *ids = l->payload;
	struct frame out = *f;
	uint32_t n = 1;         /* the id before the canvas, which may be a mask of the prompt */

	if (!s || s->over || s->reason)
		return 0;
	out.pos = live_place(s, out.pos, 1);
	/* the first canvas of this generation begins with the last id of its prompt */
	if (s->stale && s->n_prompt
	    && (out.pos != live_position(s, s->n_prompt - 1) || *ids != s->ids.id[s->n_prompt - 1]))
		return 0;
	while (n < out.rows && ids[n] != l->card.mask_id)
		n++;
	s->stale = 0;
	s->canvas = 1;
	s->valid = out.pos + n;
	s->held = out.pos + out.rows;
	return live_send_frame(l, s, &out, ids, w);
}

/* ---- the end of a generation ---- */

/* Handles the `end ` frame of a sequence. */
static int take_end(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	struct result *r = live_result(l, f->seq);

	if (!s)
		return l->calls ? release_marked(l, f->seq, w) : 0;
	if (l->calls && s->named && s->over && release_note(s, f->flags, l->payload, f->rows, w))
		return -1;
	if (l->replay && f->flags == FRAME_END_ERROR)
		return why(w, "sequence %" PRIu32 " has failed", f->seq);
	if (l->calls && s->evaluating)
		return s->named ? release_end(l, s, w) : live_drop(l, s, w);
	if (l->calls)
		return live_finish(l, s, f->flags, l->payload, f->rows, w);
	if (r)
		result_end(r, f->flags, l->payload, f->flags == FRAME_END_STOP ? f->rows : 0);
	if (!l->jobs) {
		l->full += f->flags == FRAME_END_CONTEXT && !s->over;
		/* a filter has found a stop string: the sampler may still end the generation, too */
		s->stale |= f->flags == FRAME_END_STOP && f->rows;
		return live_over(l, s, w);
	}
	return live_stop(l, s, f->flags, f->pos, w) || live_end(l, s, w) ? -1 : 0;
}

/* Whether the frame still belongs to a generation that ended here; it is skipped. */
static int is_stale(const struct live *s, const struct frame *f)
{
	return s->stale && (f->kind == FRAME_LOGPROBS || (f->kind == FRAME_END && f->flags != FRAME_END_INTERRUPT));
}

/* Whether the user has ended the generation, and the sampler waits: after an id, or after a canvas. */
static int is_cancelled(const struct loop *l, const struct frame *f)
{
	return f->kind == (l->card.diffusion ? FRAME_CANVAS : FRAME_IDS) && l->cancelled && l->cancelled();
}

/* Ends a generation here, when everything that belongs to its last id has come. */
static int stop(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	uint32_t pos = live_position(s, s->ids.n);
	int status = 0;

	if (!s->reason || s->over || (s->logprobs && (f->kind != FRAME_LOGPROBS || f->pos != pos - 1)))
		return 0;
	if (l->calls)
		return live_finish(l, s, (uint32_t)s->reason, "", 0, w);
	if (s->reason == FRAME_END_CONTEXT && l->make_room)
		status = l->make_room(l, w);
	return status ? status < 0 ? -1 : 0 : live_stop(l, s, (uint32_t)s->reason, pos, w);
}

/* ---- frames ---- */

/* The card of fwd, which knows its context. */
static int take_card(struct loop *l, const struct frame *f, struct why *w)
{
	if (card_read(&l->back, f, &l->card, w))
		return -1;
	if ((l->draft || l->replay) && l->card.diffusion) {
		l->rejected = 1;
		return why(w, "--%s: the tokens of a diffusion model cannot be guessed",
			l->draft ? "draft" : "replay");
	}
	if (l->replay && l->replay->card.n_vocab
	    && card_agree(&l->replay->card, l->replay->name, &l->card, l->back.name, w))
		return -1;
	return l->calls ? 0 : queue_card(&l->to_copy, l->copy, &l->card, w);
}

/* Handles a frame of log-probabilities. */
static int take_logprobs(struct loop *l, const struct live *s, const struct frame *f, uint32_t pos, struct why *w)
{
	struct result *r = live_result(l, f->seq);

	if (l->calls && s && !s->over)
		return l->calls->logprobs(s->owner, pos, l->payload, f->rows, w);
	return r ? result_logprobs(r, pos, l->payload, f->rows, w) : 0;
}

/* Handles a frame whose payload was read, then passes it to the copy. */
static int take_frame(struct loop *l, struct live *s, const struct frame *f, struct why *w)
{
	struct frame shown = *f;

	if (s && f->pos != FRAME_APPEND)
		shown.pos += s->moved;
	if (f->kind == FRAME_CANVAS)
		return take_canvas(l, s, f, w);
	if ((f->kind == FRAME_IDS && take_drawn(l, s, f, w)) || (f->kind == FRAME_END && take_end(l, s, f, w))
	    || (f->kind == FRAME_LOGPROBS && take_logprobs(l, s, f, shown.pos, w)))
		return -1;
	return l->calls ? 0 : queue_put(&l->to_copy, l->copy, &shown, l->payload, w);
}

int loop_take_back(struct loop *l, struct why *w)
{
	struct live *s;
	struct frame f;
	int got = frame_next(&l->back, &f, w);

	if (got <= 0)
		return got < 0 ? -1 : 1;
	if (f.kind == FRAME_LOGITS || f.kind == FRAME_EMBEDDINGS) {
		why(w, "%s, where a sampler's ids are expected", f.kind == FRAME_LOGITS ? "logits" : "embeddings");
		return reject(l, w);
	}
	if (f.kind == FRAME_CARD)
		return take_card(l, &f, w);
	if (l->card_due) {
		l->card_due = f.kind != FRAME_END;
		return 0;
	}
	s = live_find(l, f.seq);
	if (f.kind == FRAME_HIDDEN || (s && !s->over && is_stale(s, &f)))
		return 0;
	if (s && !s->over && is_cancelled(l, &f))
		return live_stop(l, s, FRAME_END_LENGTH, live_position(s, s->ids.n), w);
	if (frame_read_all(&l->back, &f, &l->payload, &l->room, w) || take_frame(l, s, &f, w))
		return -1;
	return (s = live_find(l, f.seq)) ? stop(l, s, &f, w) : 0;
}
