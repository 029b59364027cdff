/* Guesses from the text: the ids that followed an earlier occurrence of its last ids. Guesses from a small model: a
 * `fwd --chain` between two pipes, which gets only the ids that it does not have yet. */
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
static int ask(struct draft *d, const struct ids *seq, size_t most, struct why *w)
{
	size_t same = 0;

	while (same < d->known.n && same < seq->n - 1 && d->known.id[same] == seq->id[same])
		same++;
	d->known.n = same;
	d->due += 2;
	return frame_write_end(d->to, FRAME_END_LENGTH, (uint32_t)(seq->n + most), 0, w)
		|| frame_write_ids(d->to, seq->id + same, (uint32_t)(seq->n - same), (uint32_t)same, 0, 0, w)
		|| ids_append(&d->known, seq->id + same, seq->n - same, w) ? -1 : 0;
}

/* Reads a frame of the answer. Appends its ids to ids[*n], up to `most`. */
static int read_frame(struct draft *d, int32_t *ids, size_t most, size_t *n, struct why *w)
{
	struct frame f;
	int32_t id;
	int got = frame_next(&d->in, &f, w);

	if (got <= 0)
		return got < 0 ? -1 : why(w, "the draft model ended");
	d->due -= f.kind == FRAME_END;
	for (uint32_t i = 0; f.kind == FRAME_IDS && (f.flags & FRAME_SAMPLED) && i < f.rows; i++) {
		if (frame_read(&d->in, &f, &id, 1, w) || ids_append(&d->known, &id, 1, w))
			return -1;
		if (*n < most)
			ids[(*n)++] = id;
	}
	return 0;
}

/* Whether the model has answered everything so far; it may still be evaluating the prompt. -1: an error. */
static int is_ready(struct draft *d, struct why *w)
{
	struct pollfd from = { .fd = d->from, .events = POLLIN };
	size_t none = 0;

	while (d->due) {
		if (d->in.used == d->in.have && poll(&from, 1, 0) <= 0)
			return 0;
		if (read_frame(d, NULL, 0, &none, w))
			return -1;
	}
	return 1;
}

int draft_start(struct draft *d, const struct card *card, const struct ids *seq, struct why *w)
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
	return seq->n && seq->n < d->n_ctx ? ask(d, seq, 0, w) : 0;
}

static int guess(struct draft *d, const struct ids *seq, int32_t *ids, size_t most, struct why *w)
{
	size_t n = 0;
	int ready;

	if (!d->model)
		return (int)look_up(seq, ids, most);
	if (seq->n + most >= d->n_ctx || (ready = is_ready(d, w)) == 0)
		return 0;
	if (ready < 0 || ask(d, seq, most, w))
		return -1;
	while (d->due)
		if (read_frame(d, ids, most, &n, w))
			return -1;
	return (int)n;
}

/* ---- rounds ---- */

/* Records the round that ends now. */
static void account(struct draft *d, size_t accepted)
{
	if (d->began > 0)
		guessing_add(&d->guessing, d->n_last, d->making, accepted, clock_now() - d->began);
	d->accepted += accepted;
	d->plain += !d->n_last;
	d->n_last = 0;
	d->making = 0;
}

int draft_propose(struct draft *d, const struct card *card, const struct ids *seq, size_t accepted, int32_t *ids,
	size_t room, struct why *w)
{
	double start = clock_now();
	size_t most;
	int n = 0;

	if (!d->started && draft_start(d, card, seq, w))
		return -1;
	account(d, accepted);
	most = size_min(room, guessing_choose(&d->guessing));
	if (most)
		n = guess(d, seq, ids, most, w);
	d->began = clock_now();
	if (n <= 0)
		return n;
	memcpy(d->last, ids, (size_t)n * sizeof *ids);
	d->n_last = (size_t)n;
	d->making = d->began - start;
	d->proposed += (size_t)n;
	return n;
}
