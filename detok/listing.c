/* Reads and checks the frames of a stream, and passes each to the format. */
#include "listing.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/sampler/topk.h"

void listing_put_kind(const struct frame *f, int padded)
{
	for (int i = 0; i < 32 && (padded || f->kind >> i != ' '); i += 8)
		out_char((char)(f->kind >> i & 255));
}

static int read_elements(struct listing *l, void *to, size_t n, struct why *w)
{
	return frame_read(&l->in, &l->f, to, n, w) < 0 ? -1 : 0;
}

static int show_card(struct listing *l, struct why *w)
{
	struct card card;

	if (card_read(&l->in, &l->f, &card, w) < 0)
		return -1;
	if (l->vocab && card_agree(&card, l->in.name, &l->mine, "the model", w) < 0)
		return -1;
	l->format->card(l, &card);
	return 0;
}

static int check_id(const struct listing *l, int32_t id, struct why *w)
{
	return l->vocab && card_check_id(id, l->mine.n_vocab, w) ? frame_why(&l->in, w) : 0;
}

static void put_rows(const struct listing *l)
{
	if (l->format->rows)
		l->format->rows(l);
}

static int show_ids(struct listing *l, struct why *w)
{
	int32_t ids[256];

	put_rows(l);
	for (uint32_t i = 0; i < l->f.rows; i++) {
		if (i % 256 == 0 && read_elements(l, ids, size_min(l->f.rows - i, 256), w) < 0)
			return -1;
		if (check_id(l, ids[i % 256], w) < 0)
			return -1;
		l->format->id(l, i, ids[i % 256]);
	}
	return 0;
}

static int need_room(struct listing *l, size_t n, struct why *w)
{
	if (n <= l->room)
		return 0;
	listing_close(l);
	l->row = malloc(n * sizeof *l->row);
	l->p = malloc(n * sizeof *l->p);
	l->scratch = malloc(TOPK_SCRATCH(n) * sizeof *l->scratch);
	if (!l->row || !l->p || !l->scratch) {
		why(w, "no memory for rows of %zu", n);
		return frame_why(&l->in, w);
	}
	l->room = n;
	return 0;
}

/* Replaces NaNs, which cannot be sorted, in the row of logits. Returns their number. */
static size_t remove_nan(float *row, size_t n)
{
	size_t n_nan = 0;

	for (size_t i = 0; i < n; i++)
		if (isnan(row[i])) {
			row[i] = -INFINITY;
			n_nan++;
		} else if (row[i] > FLT_MAX) {
			row[i] = FLT_MAX;
		}
	return n_nan;
}

/* Shows the best ids of the current row of logits. */
static int show_best(struct listing *l, uint32_t row, struct why *w)
{
	const size_t n = l->f.cols, n_nan = remove_nan(l->row, n),
		n_best = topk_sorted(l->row, n, l->top, l->at, l->scratch);
	const double sum = n_best ? fmath_softmax(l->row, l->row[l->at[0]], l->p, n) : 1;

	for (size_t i = 0; i < n_best; i++) {
		const int32_t id = l->at[i];
		const struct listing_choice c = { id, i + 1, l->row[id], l->p[id] / sum, !i };

		if (check_id(l, id, w) < 0)
			return -1;
		l->format->choice(l, row, &c);
	}
	if (n_nan && l->format->nan)
		l->format->nan(n_nan);
	return 0;
}

static int show_logits(struct listing *l, struct why *w)
{
	put_rows(l);
	if (need_room(l, l->f.cols, w) < 0)
		return -1;
	for (uint32_t row = 0; row < l->f.rows; row++)
		if (frame_read_floats(&l->in, &l->f, l->row, l->f.cols, w) < 0 || show_best(l, row, w) < 0)
			return -1;
	return 0;
}

/* All rows belong to one position: first the drawn id, whose rank is unknown, then the best. */
static int show_logprobs(struct listing *l, struct why *w)
{
	struct listing_choice c;
	float pair[2];

	put_rows(l);
	for (uint32_t i = 0; i < l->f.rows; i++) {
		if (read_elements(l, pair, 2, w) < 0)
			return -1;
		if (!(pair[0] >= 0 && pair[0] < FRAME_VOCAB_MAX && pair[1] <= 0)) {
			why(w, "%g, %g: not an id and its log-probability", pair[0], pair[1]);
			return frame_why(&l->in, w);
		}
		c = (struct listing_choice){ (int32_t)pair[0], i, pair[1], fmath_exp(pair[1]), !i };
		if (check_id(l, c.id, w) < 0)
			return -1;
		l->format->choice(l, 0, &c);
	}
	return 0;
}

static int show_end(struct listing *l, struct why *w)
{
	if (read_elements(l, l->text, l->f.rows, w) < 0)
		return -1;
	l->format->end(l, frame_reason_words(l->f.flags, l->f.rows), l->text, l->f.rows);
	return 0;
}

static int show_fork(struct listing *l, struct why *w)
{
	uint32_t source;

	if (read_elements(l, &source, 1, w) < 0)
		return -1;
	l->format->fork(l, source);
	return 0;
}

/* Copies a frame as sequence 0. A fork is an error, because the frames of its shared positions belong to another
 * sequence. */
static int copy_raw(struct listing *l, struct why *w)
{
	uint32_t source;

	if (l->f.kind != FRAME_FORK) {
		l->f.seq = 0;
		return frame_copy(&l->in, &l->f, 1, w) ? -1 : 0;
	}
	if (read_elements(l, &source, 1, w) < 0)
		return -1;
	why(w, "sequence %" PRId64 " is a fork: its first %" PRIu32 " positions are those of sequence %" PRIu32,
		l->seq, l->f.pos, source);
	return frame_why(&l->in, w);
}

const struct listing_format listing_raw = { .frame = copy_raw };

static int show(struct listing *l, struct why *w)
{
	if (l->seq >= 0 && l->f.kind != FRAME_CARD && l->f.seq != l->seq)
		return 0;
	l->any |= l->f.kind != FRAME_CARD;
	if (l->format->frame)
		return l->format->frame(l, w);
	if (l->format->ids_only && l->f.kind != FRAME_IDS)
		return 0;
	switch (l->f.kind) {
	case FRAME_IDS: case FRAME_CANVAS: return show_ids(l, w);
	case FRAME_CARD: return show_card(l, w);
	case FRAME_LOGITS: return show_logits(l, w);
	case FRAME_LOGPROBS: return show_logprobs(l, w);
	case FRAME_FORK: return show_fork(l, w);
	case FRAME_END: return show_end(l, w);
	default: l->format->other(l); return 0;
	}
}

void listing_open(struct listing *l, const struct vocab *vocab)
{
	l->vocab = vocab;
	if (vocab)
		vocab_card(vocab, &l->mine);
	if (l->format->start)
		l->format->start();
}

int listing_stream(struct listing *l, int fd, const char *name, struct why *w)
{
	int got;

	frame_open_in(&l->in, fd, name);
	l->any = 0;
	while ((got = frame_next(&l->in, &l->f, w)) > 0)
		/* so that a reader of a live stream sees each frame at once */
		if (show(l, w) < 0 || out_flush(w))
			return -1;
	return got == 0 && l->seq > 0 && !l->any ? why(w, "%s: no frames of sequence %" PRId64, name, l->seq) : got;
}

void listing_close(struct listing *l)
{
	free(l->row);
	free(l->p);
	free(l->scratch);
	l->row = l->p = l->scratch = NULL;
	l->room = 0;
}
