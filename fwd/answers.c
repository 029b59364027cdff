/* Computes as many rows at a time as there is room for, whatever the texts they belong to. */
#include "answers.h"

#include <stdlib.h>

#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "fwd/state/ids.h"
#include "texts.h"

/* The most rows whose logits are computed at once. With so many rows, reading and unpacking the output matrix takes
 * little of the time of the products, so that it costs nearly nothing to do it again for the next rows. */
enum { HEAD_ROWS = 128 };

enum { BEFORE_MAX = 1 << 10 };  /* bytes of a header and of a frame of one id, and more */

int answers_open(struct answers *a, struct plan *p, struct why *w)
{
	a->plan = p;
	a->before.limit = BEFORE_MAX;
	if (a->embeds)
		return 0;
	a->rows = size_min(HEAD_ROWS, p->setup.batch);
	a->logits = malloc(a->rows * p->model->n_vocab * sizeof *a->logits);
	if (!a->logits)
		return why(w, "out of memory");
	return a->score ? scores_open(&a->scores, p->setup.pool, p->setup.kernels, a->rows, p->model->n_vocab, w) : 0;
}

void answers_close(struct answers *a)
{
	scores_close(&a->scores);
	bytes_free(&a->before);
	free(a->logits);
}

/* Prepares the frame that a text echoes. */
static int echo(struct answers *a, struct text *t, struct why *w)
{
	const struct frame f = { .kind = FRAME_IDS, .rows = 1, .cols = 1, .type = FRAME_I32, .flags = FRAME_SAMPLED,
		.pos = (uint32_t)t->end - 1, .seq = t->sequence.number };
	int32_t id;

	if (!t->echoes)
		return 0;
	t->echoes = 0;
	segment_read_ids(t->state, f.pos, &id, 1);
	return frame_append(&a->before, &f, &id) ? why(w, "out of memory") : 0;
}

/* Prepares the header of the answer of a text. With `layers` (not the final logits), the whole frame is in this batch
 * (question.c). */
static int begin(struct answers *a, struct text *t, size_t layers, struct why *w)
{
	struct frame out = { .kind = a->score ? FRAME_SCORES : FRAME_LOGITS, .rows = t->n_answers,
		.cols = a->score ? SCORE_COLS : (uint32_t)a->plan->model->n_vocab, .type = FRAME_F32,
		.flags = (uint32_t)layers, .pos = (uint32_t)t->end - t->after - t->n_answers,
		.seq = t->sequence.number };

	if ((!layers && t->header_written++) || !t->n_answers)
		return 0;
	return frame_append_header(&a->before, &out) ? why(w, "out of memory") : 0;
}

/* Computes the answers of the wanted rows [row, row + n). */
static void make(struct answers *a, size_t row, size_t n, const int32_t *following)
{
	plan_logits(a->plan, row, n, a->logits);
	if (a->score)
		scores_rows(&a->scores, a->logits, following + row, n);
}

/* Writes n of the computed answers. With scores, the last id of a frame has none. */
static int write_some(struct answers *a, size_t row, size_t n, int last, struct why *w)
{
	const struct frame out = { .type = FRAME_F32 };
	size_t n_vocab = a->plan->model->n_vocab;

	if (a->score)
		return frame_write_after(a->out, &a->before, &out, a->scores.score[row],
			(n - (size_t)last) * SCORE_COLS, w);
	return frame_write_after(a->out, &a->before, &out, a->logits + row * n_vocab, n * n_vocab, w);
}

/* Whether all rows of its frame have been evaluated. */
static int is_complete(const struct text *t)
{
	return t->end == t->state->length;
}

/* The answers after this many layers; 0: all. */
static int write_after(struct answers *a, size_t layers, const struct batch_rows *r, struct why *w)
{
	size_t done = 0, made = 0, some;

	for (size_t i = 0; i < r->n_runs; i++) {
		if (echo(a, r->text[i], w) < 0 || (r->run[i].wanted ? begin(a, r->text[i], layers, w)
		    : write_some(a, 0, 0, 0, w)) < 0)
			return -1;
		for (size_t left = r->run[i].wanted, row; left; left -= some, done += some) {
			row = done % a->rows;
			if (!row)
				make(a, done, made = size_min(r->n_wanted - done, a->rows), r->following);
			some = size_min(left, made - row);
			if (write_some(a, row, some, some == left && is_complete(r->text[i]), w) < 0)
				return -1;
		}
	}
	return 0;
}

/* With --lens, the answers after each layer come first. */
int answers_write(struct answers *a, const struct batch_rows *r, struct why *w)
{
	size_t n_layer = a->lens ? a->plan->model->n_layer : 0;

	for (size_t layers = 1; layers < n_layer; layers++) {
		plan_lens(a->plan, layers);
		if (write_after(a, layers, r, w) < 0)
			return -1;
	}
	if (a->lens)
		plan_lens(a->plan, n_layer);
	return write_after(a, 0, r, w);
}
