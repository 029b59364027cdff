/* Collecting the ids of texts, and writing their embeddings. */
#include "embeddings.h"

#include "fwd/plan/plan.h"
#include "fwd/state/ids.h"
#include "lib/stream/frame.h"
#include "adapt.h"
#include "question.h"

void embeddings_collect(struct text *t, const struct question *q)
{
	segment_write_ids(t->state, q->pos, q->ids, q->frame.rows);
	t->end = q->pos + q->frame.rows;
	t->ready = 0;
}

int embeddings_ready(const struct plan *p, struct text *t)
{
	t->ready = t->end;
	t->rows = (uint32_t)t->end;
	t->sampled = t->every = 0;
	t->wanted = p->rows == TEXT_LAST ? t->end - 1 : 0;
	t->after = p->rows == TEXT_FIRST ? (uint32_t)t->end - 1 : 0;
	adapt_find(p->model, t->state, t->end);
	return t->end > 0;
}

void embeddings_reset(struct text *t)
{
	segment_set_length(t->state, 0);
	t->end = t->ready = t->left_out = 0;
}

/* The rows of a text whose embeddings are rows `first` and on. */
static int write_text(const struct plan *p, int out, const struct text *t, size_t first, size_t rows, struct why *w)
{
	const struct frame f = { .kind = FRAME_EMBEDDINGS, .rows = (uint32_t)rows, .cols = (uint32_t)p->n_embedding,
		.type = FRAME_F32, .flags = p->setup.pooling, .seq = t->sequence.number,
		.pos = p->setup.pooling ? (uint32_t)t->end - 1 : 0 };

	if (frame_write_header(out, &f, w) < 0)
		return -1;
	for (size_t i = 0; i < rows; i++)
		if (frame_write_elements(out, &f, plan_embedding(p, first + i), p->n_embedding, w) < 0)
			return -1;
	return 0;
}

int embeddings_write(struct plan *p, int out, const struct batch_rows *r, struct why *w)
{
	size_t row = 0, rows;

	plan_embed(p);
	for (size_t i = 0; i < r->n_runs; i++, row += rows) {
		rows = p->setup.pooling ? 1 : r->run[i].n;
		if (write_text(p, out, r->text[i], row, rows, w) < 0)
			return -1;
	}
	return 0;
}
