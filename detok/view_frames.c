/* Reads and checks the frames of a stream, and passes each to the format. */
#include "view.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/base/out.h"
#include "lib/base/size.h"

static int check_id(const struct view *v, int32_t id, struct why *w)
{
	return v->vocab && card_check_id(id, v->mine.n_vocab, w) ? frame_why(&v->in, w) : 0;
}

static void show_frame(const struct view *v)
{
	if (v->format->frame)
		v->format->frame(v);
}

static int show_card(struct view *v, struct why *w)
{
	if (card_read(&v->in, &v->f, &v->card, w) < 0)
		return -1;
	if (v->vocab && card_agree(&v->card, v->in.name, &v->mine, "the model", w) < 0)
		return -1;
	show_frame(v);
	return 0;
}

static int show_entry(const struct view *v, const struct entry *e, struct why *w)
{
	if (check_id(v, e->of.id, w) < 0)
		return -1;
	v->format->entry(v, e);
	return 0;
}

static int show_ids(struct view *v, struct why *w)
{
	struct entry e = { .first = 1 };
	int32_t ids[256];

	show_frame(v);
	for (; e.row < v->f.rows; e.row++) {
		if (e.row % 256 == 0 && frame_read(&v->in, &v->f, ids, size_min(v->f.rows - e.row, 256), w) < 0)
			return -1;
		e.of.id = ids[e.row % 256];
		if (show_entry(v, &e, w) < 0)
			return -1;
	}
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
static int show_best(struct view *v, uint32_t row, struct why *w)
{
	const size_t n = v->f.cols, n_nan = remove_nan(v->row, n);
	struct top *t = &v->best;
	double sum;

	if (top_select(t, v->row, n, v->top, w) < 0)
		return -1;
	sum = t->n ? fmath_softmax(v->row, t->best[0].score, t->scratch, n) : 1;
	for (size_t i = 0; i < t->n; i++) {
		struct entry e = { .row = row, .of = t->best[i], .rank = i + 1, .scored = 1, .first = !i };

		e.of.p = t->scratch[e.of.id] / sum;
		if (show_entry(v, &e, w) < 0)
			return -1;
	}
	if (n_nan && v->format->nan)
		v->format->nan(n_nan);
	return 0;
}

static int show_logits(struct view *v, struct why *w)
{
	show_frame(v);
	if (grow_scratch(&v->row, &v->room, v->f.cols * sizeof *v->row)) {
		why(w, "no memory for rows of %" PRIu32, v->f.cols);
		return frame_why(&v->in, w);
	}
	for (uint32_t row = 0; row < v->f.rows; row++)
		if (frame_read_floats(&v->in, &v->f, v->row, v->f.cols, w) < 0 || show_best(v, row, w) < 0)
			return -1;
	return 0;
}

/* All rows belong to one position: first the drawn id, whose rank is unknown, then the best. */
static int show_logprobs(struct view *v, struct why *w)
{
	struct entry e = { .scored = 1 };
	float pair[2];

	show_frame(v);
	for (uint32_t i = 0; i < v->f.rows; i++) {
		if (frame_read(&v->in, &v->f, pair, 2, w) < 0)
			return -1;
		if (!(pair[0] >= 0 && pair[0] < FRAME_VOCAB_MAX && pair[1] <= 0)) {
			why(w, "%g, %g: not an id and its log-probability", pair[0], pair[1]);
			return frame_why(&v->in, w);
		}
		e.of = (struct candidate){ (int32_t)pair[0], pair[1], fmath_exp(pair[1]) };
		e.rank = i;
		e.first = !i;
		if (show_entry(v, &e, w) < 0)
			return -1;
	}
	return 0;
}

/* Copies a frame as sequence 0. A fork is an error, because the frames of its shared positions belong to another
 * sequence. */
static int copy(struct view *v, struct why *w)
{
	if (v->f.kind != FRAME_FORK) {
		v->f.seq = 0;
		return frame_copy(&v->in, &v->f, 1, w) ? -1 : 0;
	}
	if (frame_read(&v->in, &v->f, &v->source, 1, w) < 0)
		return -1;
	why(w, "sequence %" PRId64 " is a fork: its first %" PRIu32 " positions are those of sequence %" PRIu32,
		v->only_seq, v->f.pos, v->source);
	return frame_why(&v->in, w);
}

const struct format format_raw = { .option = "raw", .copies = 1 };

static int show(struct view *v, struct why *w)
{
	if (v->format->copies)
		return copy(v, w);
	if (v->format->only && v->f.kind != v->format->only)
		return 0;
	switch (v->f.kind) {
	case FRAME_IDS: case FRAME_CANVAS: return show_ids(v, w);
	case FRAME_CARD: return show_card(v, w);
	case FRAME_LOGITS: return show_logits(v, w);
	case FRAME_LOGPROBS: return show_logprobs(v, w);
	case FRAME_FORK: if (frame_read(&v->in, &v->f, &v->source, 1, w) < 0) return -1; break;
	case FRAME_END: case FRAME_OPTS:
		if (v->f.rows && frame_read_all(&v->in, &v->f, &v->text, &v->text_room, w) < 0)
			return -1;
		break;
	}
	show_frame(v);
	return 0;
}

int view_frames(struct view *v, int fd, const char *name, struct why *w)
{
	int got, any = 0;

	frame_open_in(&v->in, fd, name);
	while ((got = frame_next(&v->in, &v->f, w)) > 0) {
		if (v->only_seq >= 0 && v->f.kind != FRAME_CARD && v->f.seq != v->only_seq)
			continue;
		any |= v->f.kind != FRAME_CARD;
		view_begin(v);
		/* so that a reader of a live stream sees each frame at once */
		if (show(v, w) < 0 || out_flush(w))
			return -1;
	}
	if (!got)
		view_begin(v);
	return got == 0 && v->only_seq > 0 && !any ? why(w, "%s: no frames of sequence %" PRId64, name, v->only_seq)
		: got;
}
