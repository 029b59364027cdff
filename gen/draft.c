/* Guesses, and whether they pay. */
#include "draft.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"

enum {
	GRAM_MOST = 4, GRAM_LEAST = 2,          /* ids that have to match for a look-up */
	FAR = 1 << 16,                          /* how far back it searches */
	PLAIN_ROUNDS = 4, GUESSED_ROUNDS = 8,   /* that tell what a round costs */
	PAUSE = 32, PAUSE_MOST = 4096           /* rounds */
};

int draft_start(struct draft *d, const struct card *card, struct why *w)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, got;
	struct card own = *card;
	struct frame f;

	own.model = 0;
	d->started = 1;
	d->next_pause = PAUSE;
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

void draft_close(struct draft *d)
{
	if (d->to > 0)
		close(d->to);
	if (d->from > 0)
		close(d->from);
	d->to = d->from = 0;
	free(d->known.id);
}

size_t draft_matches(const struct draft *d, const int32_t *ids, size_t n)
{
	size_t i = 0;

	while (i < n && i < d->n_last && ids[i] == d->last[i])
		i++;
	return i;
}

/* ---- from the text itself ---- */

/* What followed the last ids where they stood before: the longest match, and of those the latest. */
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

/* Reads what the chain has drawn, to its end. */
static int read_chain(struct draft *d, int32_t *ids, size_t most, struct why *w)
{
	size_t n = 0;
	struct frame f;
	int32_t id;
	int got;

	while ((got = frame_next(&d->in, &f, w)) > 0 && f.kind != FRAME_END) {
		for (uint32_t i = 0; f.kind == FRAME_IDS && (f.flags & FRAME_SAMPLED) && i < f.rows; i++) {
			if (frame_read(&d->in, &f, &id, 1, w) || ids_append(&d->known, &id, 1, w))
				return -1;
			if (n < most)
				ids[n++] = id;
		}
	}
	return got > 0 ? (int)n : got < 0 ? -1 : why(w, "the draft model ended");
}

static int ask(struct draft *d, const struct ids *seq, int32_t *ids, size_t most, struct why *w)
{
	size_t same = 0;

	if (seq->n + d->most >= d->n_ctx)
		return 0;
	while (same < d->known.n && same < seq->n - 1 && d->known.id[same] == seq->id[same])
		same++;
	d->known.n = same;
	if (frame_write_ids(d->to, seq->id + same, (uint32_t)(seq->n - same), (uint32_t)same, 0, 0, w) ||
	    ids_append(&d->known, seq->id + same, seq->n - same, w))
		return -1;
	return read_chain(d, ids, most, w);
}

/* ---- whether it pays ---- */

static void add_round(struct draft_rate *rate, double seconds, size_t ids)
{
	rate->seconds = 0.9 * rate->seconds + seconds;
	rate->ids = 0.9 * rate->ids + (double)ids;
	rate->rounds++;
}

/* The round that ends now. */
static void account(struct draft *d, size_t accepted)
{
	double t = clock_now();

	if (d->began > 0)
		add_round(d->n_last ? &d->guessed : &d->plain, t - d->began, 1 + accepted);
	d->began = t;
	d->accepted += accepted;
	if (d->guessed.rounds >= GUESSED_ROUNDS && d->plain.rounds >= PLAIN_ROUNDS &&
	    d->guessed.seconds * d->plain.ids > d->plain.seconds * d->guessed.ids) {
		d->pause = d->next_pause;
		d->next_pause = d->pause < PAUSE_MOST ? 2 * d->pause : PAUSE_MOST;
		d->guessed = (struct draft_rate){ 0 };
	}
}

int draft_propose(struct draft *d, const struct card *card, const struct ids *seq, size_t accepted, int32_t *ids,
	size_t room, struct why *w)
{
	size_t most = size_min(room, d->most);
	int n;

	if (!d->started && draft_start(d, card, w))
		return -1;
	account(d, accepted);
	d->n_last = 0;
	if (d->pause) {
		d->pause--;
		d->paused++;
		return 0;
	}
	if (d->plain.rounds < PLAIN_ROUNDS || !most)
		return 0;
	n = d->model ? ask(d, seq, ids, most, w) : (int)look_up(seq, ids, most);
	if (n <= 0)
		return n;
	memcpy(d->last, ids, (size_t)n * sizeof *ids);
	d->n_last = (size_t)n;
	d->proposed += (size_t)n;
	return n;
}
