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
	free(d->first.id);
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
static size_t look_up(const struct ids *text, int32_t *ids, size_t most)
{
	const int32_t *s = text->id;
	size_t n = text->n, low = n > FAR ? n - FAR : 0, found = 0, at, i;

	for (size_t gram = GRAM_MOST; gram >= GRAM_LEAST && !found; gram--)
		for (at = n - 1; at >= low + gram && !found; at--)
			if (!memcmp(s + at - gram, s + n - gram, gram * sizeof *s))
				found = at;
	for (i = 0; found && i < most && found + i < n; i++)
		ids[i] = s[found + i];
	return i;
}

/* ---- from a small model ---- */

/* What the model has evaluated of a sequence. */
static struct ids *known(struct draft *d, struct guesses *g)
{
	return g->seq ? &g->known : &d->first;
}

/* How many of the ids that the model has a text begins with; never all of the text, because its last id is sent for its
 * logits. */
static size_t count_same(const struct ids *had, const struct ids *text)
{
	size_t same = 0;

	while (same < had->n && same + 1 < text->n && had->id[same] == text->id[same])
		same++;
	return same;
}

/* Lets the model continue a sequence that is new to it from what it has evaluated of sequence 0. */
static int fork_first(struct draft *d, struct guesses *g, struct why *w)
{
	size_t same = count_same(&d->first, g->text);
	const struct frame f = { .kind = FRAME_FORK, .rows = 1, .cols = 1, .type = FRAME_I32, .pos = (uint32_t)same,
		.seq = g->seq };
	const int32_t source = 0;

	if (!same || !g->seq || g->known.n)
		return 0;
	return frame_write(d->to, &f, &source, w) || ids_append(&g->known, d->first.id, same, w) ? -1 : 0;
}

/* Asks for the next `most` ids. The request is an `end ` frame, which also comes back, before the answer; the answer
 * ends with another one. */
static int ask(struct draft *d, struct guesses *g, size_t most, struct why *w)
{
	struct ids *had = known(d, g);
	const struct ids *text = g->text;
	size_t same;

	if (fork_first(d, g, w))
		return -1;
	had->n = same = count_same(had, text);
	d->due += 2;
	return frame_write_end(d->to, FRAME_END_LENGTH, (uint32_t)(text->n + most), g->seq, w)
		|| frame_write_ids(d->to, text->id + same, (uint32_t)(text->n - same), (uint32_t)same, 0, g->seq, w)
		|| ids_append(had, text->id + same, text->n - same, w) ? -1 : 0;
}

/* Reads a frame of the answer. Appends its ids to g->last, up to `most`. */
static int read_frame(struct draft *d, struct guesses *g, size_t most, struct why *w)
{
	struct frame f;
	int32_t id;
	int got = frame_next(&d->in, &f, w);

	if (got <= 0)
		return got < 0 ? -1 : why(w, "the draft model ended");
	if (f.kind == FRAME_END && f.flags == FRAME_END_ERROR)
		return why(w, "the draft model has failed");
	d->due -= f.kind == FRAME_END;
	for (uint32_t i = 0; f.kind == FRAME_IDS && (f.flags & FRAME_SAMPLED) && i < f.rows; i++) {
		if (frame_read(&d->in, &f, &id, 1, w) || ids_append(known(d, g), &id, 1, w))
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
	struct guesses none = { .seq = FRAME_NO_SEQ };

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

int draft_prompt(struct draft *d, struct guesses *g, const struct card *card, size_t together, struct why *w)
{
	int ready;

	g->begun = 0;
	if (together < 2)
		d->all = (struct rounds){ 0 };
	if (!d->started && start(d, card, w))
		return -1;
	if (!d->model || !g->text->n || g->text->n >= d->n_ctx || (ready = is_ready(d, w)) == 0)
		return 0;
	return ready < 0 ? -1 : ask(d, g, 0, w);
}

/* Makes g->last[g->n_last], at most `most`. */
static int guess(struct draft *d, struct guesses *g, size_t most, struct why *w)
{
	int ready;

	if (!d->model) {
		g->n_last = look_up(g->text, g->last, most);
		return 0;
	}
	if (g->text->n + most >= d->n_ctx || (ready = is_ready(d, w)) == 0)
		return 0;
	if (ready < 0 || ask(d, g, most, w))
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

int draft_propose(struct draft *d, struct guesses *g, const struct card *card, size_t together, size_t accepted,
	size_t room, struct why *w)
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
	if (most && guess(d, g, most, w))
		return -1;
	took = clock_now() - began;
	/* if there are none, it is no part of the round at all */
	*(g->n_last ? &d->all.making : &d->all.began) += took;
	d->proposed += g->n_last;
	d->plain += !g->n_last;
	return 0;
}

/* ---- the end ---- */

void draft_forget(struct guesses *g)
{
	free(g->known.id);
	g->known = (struct ids){ 0 };
}

/* The `end ` frame comes back, too. */
int draft_end(struct draft *d, struct guesses *g, struct why *w)
{
	int lives = g->known.n > 0;

	draft_forget(g);
	if (!lives)
		return 0;
	d->due++;
	return frame_write_end(d->to, FRAME_END_EOG, FRAME_APPEND, g->seq, w) || is_ready(d, w) < 0 ? -1 : 0;
}
