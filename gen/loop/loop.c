/* One poll(2) watches the prompts, the sampler's output, and the two pipes that are written to. */
#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "loop_ends.h"

enum { EVERY = 200, OUT_MOST = 1 << 16, COPY_MOST = 1 << 16 };  /* milliseconds; most bytes waiting */

void loop_init(struct loop *l)
{
	*l = (struct loop){ .out = -1, .copy = -1, .text = -1, .n = LOOP_NO_LIMIT, .to_out = QUEUE_EMPTY,
		.to_copy = QUEUE_EMPTY };
}

void loop_close(struct loop *l)
{
	struct sequence *s;

	while ((s = sequences_take(&l->live)))
		live_free((struct live *)s);
	queue_clear(&l->to_out);
	queue_clear(&l->to_copy);
	free(l->payload);
	l->payload = NULL;
	l->room = 0;
}

/* ---- a step ---- */

/* Whether everything has been generated. */
static int is_done(const struct loop *l)
{
	const struct live *only = l->jobs ? NULL : live_find(l, 0);

	if (l->calls)
		return l->ended && !l->active;
	return l->ended && !l->waiting && (only ? only->over : !l->live.n);
}

/* Whether to read from the sampler: not while the prompt that is forked may continue, nor between turns. */
static int hears(const struct loop *l)
{
	return (l->ended || (l->jobs && !l->texts)) && queue_pending(&l->to_copy) < COPY_MOST
		&& (!l->turns || l->card_due || !is_done(l));
}

/* fwd stopped reading, which ends the prompts; or it has ended after the last sequence, whose end is still on its way
 * back. Where nothing is generated, it may not even have started. */
static void lose_out(struct loop *l)
{
	l->cut |= l->n && (!l->ended || l->waiting || queue_pending(&l->to_out));
	/* a replay compares what was drawn before fwd ended */
	l->gone |= l->cut && l->copy < 0 && !l->replay ? LOOP_OUT : 0;
	l->ended |= l->cut;
	l->waiting &= !l->cut;
	queue_clear(&l->to_out);
	close(l->out);
	l->out = -1;
}

/* Writes to the pipes that are ready, or have no reader: some systems report that as POLLHUP. */
static int write_ready(struct loop *l, int out, int copy, struct why *w)
{
	enum { ALONE = POLLERR | POLLHUP | POLLNVAL };
	int lost = out & POLLOUT ? queue_write(&l->to_out, l->out, w) : 0;
	int gone = copy & POLLOUT ? queue_write(&l->to_copy, l->copy, w) : 0;

	if (gone > 0 || copy & ALONE)
		l->gone |= LOOP_COPY;
	if (lost > 0 || (lost == 0 && out & ALONE))
		lose_out(l);
	return lost < 0 || gone < 0 ? -1 : 0;
}

/* Whether something can be read without poll(), because it is buffered. */
static int is_buffered(const struct frame_in *in)
{
	return in->used < in->have;
}

/* Waits until something can be read or written, and does it. Returns 1 if nothing more comes back; 0; or -1. */
static int step(struct loop *l, struct why *w)
{
	enum { IN, BACK, OUT, COPY, TEXT, ENDS };
	int reads = !l->ended && !l->waiting && queue_pending(&l->to_out) < OUT_MOST, listens = hears(l);
	int now = l->hurried || (reads && is_buffered(&l->in)) || (listens && is_buffered(&l->back));
	int waits = l->idle && l->ended && !l->drawing, status = 0, got;
	struct pollfd at[ENDS] = {
		{ .fd = reads ? l->in.fd : -1, .events = POLLIN },
		{ .fd = listens ? l->back.fd : -1, .events = POLLIN },
		/* without events, poll() reports a pipe without readers */
		{ .fd = l->out, .events = queue_pending(&l->to_out) ? POLLOUT : 0 },
		{ .fd = l->copy, .events = queue_pending(&l->to_copy) ? POLLOUT : 0 },
		{ .fd = l->text, .events = POLLIN }
	};

	if ((got = poll(at, ENDS, now ? 0 : waits ? EVERY : -1)) < 0 && errno != EINTR)
		return why(w, "poll: %s", strerror(errno));
	if (waits && !now && got <= 0)
		l->idle(l, 1);
	if (got < 0)
		return 0;
	if (write_ready(l, at[OUT].revents, at[COPY].revents, w))
		return -1;
	if (at[TEXT].revents)
		l->show(l);
	if (at[BACK].revents && waits)
		l->idle(l, 0);
	/* all frames that are there, so that their answers are written together */
	if (at[BACK].revents || is_buffered(&l->back))
		while (!status && !l->gone && hears(l)
		    && (status = loop_take_back(l, w)) == 0 && is_buffered(&l->back))
			;
	if (!status && reads && (at[IN].revents || is_buffered(&l->in)))
		status = loop_take_in(l, w);
	if (l->tick)
		l->tick(l);
	return status;
}

/* ---- all of it ---- */

/* Notes whether the caller has more to do. Returns 0 or -1. */
static int hurry(struct loop *l, int status)
{
	l->hurried = status > 0;
	return status < 0 ? -1 : 0;
}

int loop_run(struct loop *l, struct why *w)
{
	int status = 0;

	while (!status && !l->gone) {
		status = l->calls ? hurry(l, l->calls->next(l->calls->context, w)) : loop_take_held(l, w);
		if (!status && is_done(l) && !queue_pending(&l->to_out)) {
			/* otherwise fwd, which goes on to wait, is not the stage that has ended too early */
			if (l->out >= 0)
				close(l->out);
			l->out = -1;
			/* what still comes only goes to the copy */
			status = l->copy < 0;
		}
		status = status ? status : step(l, w);
	}
	while (status == 1 && queue_pending(&l->to_copy) && !l->gone)
		if ((status = queue_write(&l->to_copy, l->copy, w)) == 0)
			status = 1;
	l->whole = is_done(l) && !l->cut;
	return status < 0 && !l->gone ? -1 : 0;
}

/* ---- turns ---- */

/* Whether anything has to be written yet. */
static int writes(const struct loop *l)
{
	return queue_pending(&l->to_out) || queue_pending(&l->to_copy);
}

int loop_card(struct loop *l, struct why *w)
{
	const struct frame f = { .kind = FRAME_END, .cols = 1, .type = FRAME_I32, .flags = FRAME_END_EOG };
	int status = queue_put(&l->to_out, l->out, &f, NULL, w);

	l->ended = l->card_due = 1;
	while (!status && !l->gone && (l->card_due || writes(l)))
		status = step(l, w);
	if (status > 0)
		l->gone |= LOOP_OUT;
	return status || l->gone ? -1 : 0;
}

/* Sends what fwd does not have of ids[n]. */
static int send(struct loop *l, struct live *s, const int32_t *ids, size_t n, size_t keep, uint32_t flags,
	struct why *w)
{
	s->ids.n = 0;
	s->base = 0;
	s->placed = 1;
	s->valid = s->held = (uint32_t)n;
	if (ids_append(&s->ids, ids, n, w) || live_send(l, s, ids + keep, n - keep, (uint32_t)keep, flags, w))
		return -1;
	return l->draft ? draft_prompt(l->draft, &s->guesses, &l->card, l->active, w) : 0;
}

int loop_send(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w)
{
	struct live *s = live_begin(l, 0, w);

	if (!s)
		return -1;
	l->ended = 1;
	l->drawing = 0;
	s->n_prompt = n;
	s->drawn = s->reason = s->over = s->canvas = 0;
	s->moved = 0;
	return send(l, s, ids, n, keep, 0, w);
}

int loop_move(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w)
{
	struct live *s = live_find(l, 0);

	s->moved += s->base + (uint32_t)s->ids.n - (uint32_t)n;
	s->reason = 0;
	if (l->r)
		l->r->evaluated = l->r->ids.n;
	return send(l, s, ids, n, keep, FRAME_SAMPLED, w);
}

int loop_turn(struct loop *l, struct why *w)
{
	int status = 0;

	while (!status && !l->gone && (!is_done(l) || writes(l)))
		status = step(l, w);
	if (l->gone || status > 0)
		return 0;
	return status < 0 ? -1 : 1;
}
