/* Guesses, and whether they pay. */
#include "draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"

enum {
	GRAM_MOST = 4, GRAM_LEAST = 2,          /* ids that have to be the same for a look-up */
	FAR = 1 << 16,                          /* how far back it looks */
	PLAIN_ROUNDS = 4, GUESSED_ROUNDS = 8,   /* that tell what a round costs */
	PAUSE = 32, PAUSE_MOST = 4096           /* rounds */
};

int draft_check(const struct request *q, struct why *w)
{
	struct gguf *g = gguf_open(q->draft, 0, w);
	struct vocab *v = g ? vocab_open(g, VOCAB_PIECES, w) : NULL;
	struct card mine, theirs;
	int status = -1;

	if (v) {
		vocab_card(q->vocab, &mine);
		vocab_card(v, &theirs);
		status = card_agree(&theirs, q->draft, &mine, q->model, w);
	}
	vocab_close(v);
	if (g)
		gguf_close(g);
	return status;
}

int draft_open(struct draft *d, struct request *q, const struct card *card, struct why *w)
{
	int in[2], out[2], got;
	struct card own = *card;
	struct frame f;

	own.model = 0;
	*d = (struct draft){ .most = q->draft_max, .to = -1, .from = -1, .next_pause = PAUSE };
	if (q->lookup)
		return 0;
	if (stage_pipe(in, w) || stage_pipe(out, w))
		return -1;
	d->to = in[1];
	d->from = out[0];
	frame_open_in(&d->in, d->from, "draft");
	if (stage_start(&q->stage[DRAFT], in[0], out[1], w) || card_write(d->to, &own, w))
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
	if (d->to >= 0)
		close(d->to);
	if (d->from >= 0)
		close(d->from);
	d->to = d->from = -1;
	free(d->held.id);
	d->held = (struct ids){ 0 };
}

/* ---- from the text itself ---- */

/* What followed when the last ids stood there before: the most of them, and of those places the last. */
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

/* Reads what the chain has picked, to its end. */
static int read_chain(struct draft *d, int32_t *ids, size_t most, struct why *w)
{
	size_t n = 0;
	struct frame f;
	int32_t id;
	int got;

	while ((got = frame_next(&d->in, &f, w)) > 0 && f.kind != FRAME_END) {
		for (uint32_t i = 0; f.kind == FRAME_IDS && (f.flags & FRAME_SAMPLED) && i < f.rows; i++) {
			if (frame_read(&d->in, &f, &id, 1, w))
				return -1;
			if (ids_add(&d->held, id))
				return why(w, "out of memory");
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
	while (same < d->held.n && same < seq->n - 1 && d->held.id[same] == seq->id[same])
		same++;
	d->held.n = same;
	if (frame_write_ids(d->to, seq->id + same, (uint32_t)(seq->n - same), (uint32_t)same, 0, 0, w))
		return -1;
	for (; same < seq->n; same++)
		if (ids_add(&d->held, seq->id[same]))
			return why(w, "out of memory");
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
		add_round(d->last ? &d->guessed : &d->plain, t - d->began, 1 + accepted);
	d->began = t;
	d->accepted += accepted;
	if (d->guessed.rounds >= GUESSED_ROUNDS && d->plain.rounds >= PLAIN_ROUNDS &&
	    d->guessed.seconds * d->plain.ids > d->plain.seconds * d->guessed.ids) {
		d->pause = d->next_pause;
		d->next_pause = d->pause < PAUSE_MOST ? 2 * d->pause : PAUSE_MOST;
		d->guessed = (struct draft_rate){ 0 };
	}
}

int draft_propose(struct draft *d, const struct ids *seq, size_t accepted, int32_t *ids, size_t room, struct why *w)
{
	size_t most = size_min(room, d->most);
	int n;

	account(d, accepted);
	d->last = 0;
	if (d->pause) {
		d->pause--;
		d->paused++;
		return 0;
	}
	if (d->plain.rounds < PLAIN_ROUNDS || !most)
		return 0;
	n = d->to < 0 ? (int)look_up(seq, ids, most) : ask(d, seq, ids, most, w);
	if (n <= 0)
		return n;
	d->last = (size_t)n;
	d->proposed += (size_t)n;
	return n;
}

void draft_report(const struct draft *d)
{
	fprintf(stderr, "draft: %zu ids proposed, %zu of them accepted; paused for %zu rounds\n", d->proposed, d->accepted, d->paused);
}
