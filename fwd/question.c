/* Everything is checked before anything is changed. */
#include "question.h"

#include <inttypes.h>
#include <string.h>

#include "embeddings.h"
#include "fwd/state/fork.h"
#include "fwd/state/ids.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/encoder.h"
#include "lib/base/size.h"
#include "adapt.h"

/* Whether logits of every row are wanted. */
static int wants_every(const struct answers *a, const struct frame *f)
{
	return a->every || f->kind == FRAME_CANVAS || (f->flags & FRAME_GUESS && !a->chained);
}

/* ---- where the ids go ---- */

static int check_canvas(struct model *m, const struct frame *f, struct why *w)
{
	if (f->kind != FRAME_CANVAS || (diffusion_of(m)->on && f->flags < f->rows))
		return 0;
	return why(w, diffusion_of(m)->on ? "a canvas without logits" : "a canvas: not a diffusion model");
}

/* Sets q->pos: after the valid rows or, if the frame has a position, there; the rows from it on are replaced. */
static int place(const struct batch *b, const struct text *t, struct question *q, struct why *w)
{
	const struct frame *f = &q->frame;
	size_t length = batch_length(b, t), n_ctx = t->state->n_ctx;

	q->pos = f->pos == FRAME_APPEND ? length : f->pos;
	if (q->pos > length)
		return why(w, "position %zu: the sequence has only %zu tokens", q->pos, length);
	if (f->rows > n_ctx - q->pos && b->answers.embeds)
		return why(w, "a text of %zu tokens or more does not fit the context of %zu (-c, or --truncate); "
			"the model was trained for %zu", q->pos + f->rows, n_ctx, b->plan->model->n_ctx_train);
	if (f->rows > n_ctx && !q->pos)
		return why(w, "a text of %" PRIu32 " tokens does not fit the context of %zu (-c%s); "
			"the model was trained for %zu", f->rows, n_ctx,
			b->answers.score ? ", or tok --chunk" : "", b->plan->model->n_ctx_train);
	if (f->rows > n_ctx - q->pos)
		return why(w, "position %zu: %" PRIu32 " more tokens do not fit the context of %zu (-c%s); "
			"the model was trained for %zu", q->pos, f->rows, n_ctx,
			b->answers.score ? ", or tok --chunk" : "", b->plan->model->n_ctx_train);
	return 0;
}

/* With --lens, a frame must fit in one batch, because its logits of each layer are written together. */
static int check_lens(const struct batch *b, const struct frame *f, struct why *w)
{
	size_t batch = b->plan->setup.batch;

	if (!b->answers.lens || !wants_every(&b->answers, f) || f->rows <= batch)
		return 0;
	return why(w, "--lens: %" PRIu32 " tokens need a batch of as many, not %zu (-b)", f->rows, batch);
}

int question_place(const struct batch *b, const struct text *t, struct question *q, struct why *w)
{
	if (check_canvas(b->plan->model, &q->frame, w) < 0 || place(b, t, q, w) < 0)
		return -1;
	return check_lens(b, &q->frame, w);
}

/* ---- which of them are evaluated ---- */

static int check_ids(const struct question *q, size_t n_vocab, struct why *w)
{
	for (size_t i = 0; i < q->frame.rows; i++)
		if (card_check_id(q->ids[i], (int32_t)n_vocab, w))
			return -1;
	return 0;
}

/* Sets the position of the first row that has logits: with an encoder, the last of its text. A frame without that row
 * has no logits, so it is refused unless those of all rows are wanted. */
static int find_text(const struct batch *b, struct text *t, const struct question *q, struct why *w)
{
	const struct encoder *e = encoder_of(b->plan->model);
	const struct frame *f = &q->frame;
	size_t i = 0;

	t->first_logits = e->n_layer ? segment_find(t->state, q->pos, (int32_t)e->end) : 0;
	if (t->first_logits != SIZE_MAX)
		return 0;
	while (i < f->rows && q->ids[i] != (int32_t)e->end)
		i++;
	t->first_logits = q->pos + i;
	return i < f->rows || !f->rows || wants_every(&b->answers, f) ? 0
		: why(w, "the encoder's text must end with token %zu, which tok adds", e->end);
}

/* The number of ids that need no evaluation because the state already has them. The last id never counts, because its
 * logits are wanted. */
static size_t known(const struct batch *b, const struct segment *s, const struct question *q)
{
	size_t n = q->frame.rows, stored = size_min(n, s->length - q->pos), i = 0;

	if (!n || (wants_every(&b->answers, &q->frame) && !b->hidden.in))
		return 0;
	while (i < stored && q->ids[i] == segment_id(s, q->pos + i))
		i++;
	return i == n && !b->hidden.in ? n - 1 : i;
}

/* The number of ids before a frame's that are evaluated again: 1 if the first id of the frame needs a score, which
 * comes from the logits of the id before it. */
static size_t again(const struct batch *b, const struct text *t, const struct question *q)
{
	return b->answers.score && !b->hidden.in && q->frame.rows && q->pos > t->first_logits;
}

int question_prepare(const struct batch *b, struct text *t, struct question *q, struct why *w)
{
	struct model *m = b->plan->model;
	struct lora_use use[LORA_MAX];
	size_t first;

	if (check_ids(q, m->n_vocab, w) < 0)
		return -1;
	if (b->answers.embeds)
		return segment_prepare(t->state, 0, q->pos + q->frame.rows, w);
	if (find_text(b, t, q, w) < 0)
		return -1;
	q->known = known(b, t->state, q);
	memcpy(use, t->state->lora, sizeof use);
	q->changed = size_min(t->changed, adapt_move(m, t->state, q, use));
	first = q->first = size_min(q->pos + q->known - again(b, t, q), q->frame.rows ? q->changed : SIZE_MAX);
	if (diffusion_of(m)->on || (encoder_of(m)->n_layer && first <= t->first_logits))
		first = 0;      /* all of the text is evaluated */
	return segment_prepare(t->state, first, q->pos + q->frame.rows - first, w);
}

/* ---- asking ---- */

/* The number of a frame's rows that are answered. The first row with logits has no score. */
static size_t answers(const struct batch *b, const struct text *t, size_t pos)
{
	size_t first = size_max(pos, t->first_logits + (b->answers.score != 0)), end = t->end - t->after;

	return t->every ? end - size_min(first, end) : 1;
}

void question_ask(struct batch *b, struct text *t, const struct question *q)
{
	const struct frame *f = &q->frame;
	size_t from = q->pos + q->known;

	if (b->answers.embeds) {
		embeddings_collect(t, q);
		return;
	}
	t->rows = f->rows;
	t->sampled = f->kind == FRAME_CANVAS || f->flags & FRAME_SAMPLED;
	t->end = t->ready = q->pos + f->rows;
	t->every = wants_every(&b->answers, f);
	t->after = f->kind == FRAME_CANVAS ? f->flags : 0;
	t->n_answers = (uint32_t)answers(b, t, q->pos);
	t->wanted = size_max(t->end - t->after - t->n_answers - (b->answers.score != 0), t->first_logits);
	t->header_written = 0;
	b->report->reused += q->known;
	adapt_move(b->plan->model, t->state, q, t->state->lora);
	t->changed = f->rows ? SIZE_MAX : q->changed;
	t->asked = 1;
	t->kept = t->kept && !f->rows;
	segment_set_length(t->state, q->first);
	segment_write_ids(t->state, from, q->ids + q->known, f->rows - q->known);
	/* later stages need the rows that are evaluated again, too */
	if (f->rows && b->hidden.out && !b->hidden.in)
		segment_set_length(t->state, t->state->next);
	if (b->hidden.in)
		t->ready = t->state->length;
	else if (f->rows)
		batch_add(b, t);
}

int question_append(struct batch *b, struct text *t, const int32_t *ids, size_t n, struct why *w)
{
	const struct question q = { .frame = { .rows = (uint32_t)n }, .ids = ids, .pos = t->state->length,
		.first = t->state->length, .changed = SIZE_MAX };

	if (segment_prepare(t->state, q.pos, n, w) < 0)
		return -1;
	question_ask(b, t, &q);
	return 0;
}
