/* Guesses from the text: the ids that followed an earlier occurrence of its last ids. Guesses from a small model: a
 * `fwd --chain` between two pipes, which gets only the ids that it does not have yet. It is asked for one text at a
 * time, and only after it has answered, so that neither side waits for the other to read. */
#include "draft.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"

enum {
	GRAM_MOST = 4, GRAM_LEAST = 2,          /* number of ids that must match in a look-up */
	FAR = 1 << 16                           /* how far back a look-up searches */
};

void draft_close(struct draft *d)
{
	if (d->to > 0)
		close(d->to);
	if (d->from > 0)
		close(d->from);
	d->to = d->from = 0;
}

size_t draft_matches(const struct guesses *g, const int32_t *ids, size_t n)
{
	size_t i = 0;

	while (i < n && i < g->n_last && ids[i] == g->last[i])
		i++;
	return i;
}

/* ---- from the text itself ---- */

/* Guesses what followed an earlier occurrence of the last ids: of the longest match, the latest occurrence. */
static size_t look_up(const struct ids *seq, int32_t *ids, size_t most)
{
	const int32_t *s = seq->id;
	size_t n = seq->n, low = n > FAR ? n - FAR : 0, found = 0, at, i;

	for (size_t gram = GRAM_MOST; gram >= GRAM_LEAST && !found; gram--)
		for (at = n - 1; at >= low + gram && !found; at--)
			if (!memcmp(s + at - gram, s + n - gram, gram * sizeof *s))
				found = at;
	for (i = 0; found && i < most && found + i < n; i++)
		ids[i] = s[found + i];
	return i;
}

/* ---- from a small model ---- */

/* Asks for the next `most` ids after seq. The request is an `end ` frame, which also comes back, before the answer; the
 * answer ends with another one. */
static int ask(struct draft *d, struct guesses *g, const struct ids *seq, size_t most, struct why *w)
{
	size_t same = 0;

	while (same < g->known.n && same < seq->n - 1 && g->known.id[same] == seq->id[same])
		same++;
	g->known.n = same;
	d->due += 2;
	return frame_write_end(d->to, FRAME_END_LENGTH, (uint32_t)(seq->n + most), 0, w)
		|| frame_write_ids(d->to, seq->id + same, (uint32_t)(seq->n - same), (uint32_t)same, 0, 0, w)
		|| ids_append(&g->known, seq->id + same, seq->n - same, w) ? -1 : 0;
}

/* Reads a frame of the answer. Appends its ids to g->last, up to `most`. */
static int read_frame(struct draft *d, struct guesses *g, size_t most, struct why *w)
{
	struct frame f;
	int32_t id;
	int got = frame_next(&d->in, &f, w);

	if (got <= 0)
		return got < 0 ? -1 : why(w, "the draft model ended");
	d->due -= f.kind == FRAME_END;
	for (uint32_t i = 0; f.kind == FRAME_IDS && (f.flags & FRAME_SAMPLED) && i < f.rows; i++) {
		if (frame_read(&d->in, &f, &id, 1, w) || ids_append(&g->known, &id, 1, w))
			return -1;
		if (g->n_last < most)
			g->last[g->n_last++] = id;
	}
	return 0;
}

/* Whether the model has answered everything so far; it may still be evaluating a prompt. -1: an error. */
static int is_ready(struct draft *d, struct why *w)
{
	struct pollfd from = { .fd = d->from, .events = POLLIN };
	struct guesses none = { 0 };

	while (d->due) {
		if (d->in.used == d->in.have && poll(&from, 1, 0) <= 0)
			return 0;
		if (read_frame(d, &none, 0, w))
			return -1;
	}
	return 1;
}

static int start(struct draft *d, const struct card *card, struct why *w)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, got;
	struct card own = *card;
	struct frame f;

	own.model = 0;
	d->started = 1;
	if (!d->model)
		return 0;
	if (stage_pipe(in, w))
		return -1;
	d->to = in[1];
	if (stage_pipe(out, w))
		return -1;
	d->from = out[0];
	frame_open_in(&d->in, d->from, "draft");
	if (stage_start(d->model, in[0], out[1], w) || card_write(d->to, &own, w))
		return -1;
	got = frame_next(&d->in, &f, w);
	if (got <= 0 || f.kind != FRAME_CARD)
		return got < 0 ? -1 : why(w, "the draft model did not start");
	if (card_read(&d->in, &f, &own, w))
		return -1;
	d->n_ctx = (size_t)own.n_ctx;
	return 0;
}

int draft_prompt(struct draft *d, struct guesses *g, const struct card *card, const struct ids *seq, size_t together,
	struct why *w)
{
	int ready;

	g->begun = 0;
	if (together < 2)
		d->all = (struct rounds){ 0 };
	if (!d->started && start(d, card, w))
		return -1;
	if (!d->model || !seq->n || seq->n >= d->n_ctx || (ready = is_ready(d, w)) == 0)
		return 0;
	return ready < 0 ? -1 : ask(d, g, seq, 0, w);
}

/* Makes g->last[g->n_last], at most `most`. */
static int guess(struct draft *d, struct guesses *g, const struct ids *seq, size_t most, struct why *w)
{
	int ready;

	if (!d->model) {
		g->n_last = look_up(seq, g->last, most);
		return 0;
	}
	if (seq->n + most >= d->n_ctx || (ready = is_ready(d, w)) == 0)
		return 0;
	if (ready < 0 || ask(d, g, seq, most, w))
		return -1;
	while (d->due)
		if (read_frame(d, g, most, w))
			return -1;
	return 0;
}

/* ---- rounds ---- */

/* Records the round of a sequence that ends now and, with the last of those together, the time of all. */
static void account(struct draft *d, struct guesses *g, size_t together, size_t accepted)
{
	double now = clock_now();
	size_t n;

	if (g->begun) {
		guessing_saw(&d->guessing, g->n_last, accepted);
		d->accepted += accepted;
		d->all.n++;
		d->all.made += g->n_last;
		d->all.right += accepted;
	}
	n = d->all.n;
	if (d->all.began > 0 && n < together)
		return;
	if (n)
		guessing_add(&d->guessing, (d->all.made + n / 2) / n, d->all.making / (double)n,
			(double)d->all.right / (double)n, (now - d->all.began - d->all.making) / (double)n);
	d->all = (struct rounds){ .began = now, .most = guessing_choose(&d->guessing) };
}

int draft_propose(struct draft *d, struct guesses *g, const struct card *card, const struct ids *seq, size_t together,
	size_t accepted, int32_t *ids, size_t room, struct why *w)
{
	double began, took;
	size_t most;

	if (!d->started && start(d, card, w))
		return -1;
	account(d, g, together, accepted);
	g->begun = 1;
	g->n_last = 0;
	most = size_min(room, d->all.most);
	began = clock_now();
	if (most && guess(d, g, seq, most, w))
		return -1;
	took = clock_now() - began;
	/* if there are none, it is no part of the round at all */
	*(g->n_last ? &d->all.making : &d->all.began) += took;
	d->proposed += g->n_last;
	d->plain += !g->n_last;
	memcpy(ids, g->last, g->n_last * sizeof *ids);
	return (int)g->n_last;
}
