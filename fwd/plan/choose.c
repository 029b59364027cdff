/* index and choose (kinds.h): the groups or positions that a row attends to if it could see more than `top`. A work
 * item of choose is a row. A work item of index is a part of one row's scores, so that threads share the work of a few
 * rows. */
#include "kinds.h"

#include <math.h>
#include <string.h>

#include "best.h"
#include "lib/base/size.h"

enum {
	FEW = ATTEND_FEW,       /* index computes the scores of batches with at most this many rows */
	EACH = 32,              /* most groups at a time */
	SPAN = 16 * EACH        /* groups of an item of index */
};

size_t choose_index_bytes(const struct op_choose *o)
{
	return FEW * (size_max(KV_EXTENT / o->ratio, EACH) + EACH) * sizeof(float);
}

size_t choose_scratch(const struct op_choose *o, size_t n_ctx)
{
	size_t scores = o->block ? o->heads * (n_ctx / o->block + 1) : n_ctx / o->ratio + EACH;

	return (o->heads * (o->n + EACH) + scores) * sizeof(float) + best_scratch(o->top);
}

/* The number of groups that a row can see. */
static size_t seen(const struct op_choose *o, size_t pos)
{
	return (pos + 1) / o->ratio;
}

/* The number of candidates: groups, or all positions. */
static size_t candidates(const struct op_choose *o, size_t pos)
{
	return o->block ? pos / o->block + 1 : o->split ? pos + 1 : seen(o, pos);
}

static void rotate_queries(const struct op *op, const struct step *s, size_t row, float *q)
{
	const struct op_choose *o = op->bound;
	const struct rope *r = o->rope;

	memcpy(q, buffer_row(&o->q, row), o->heads * o->n * sizeof *q);
	for (size_t h = 0; r && h < o->heads; h++)
		s->k->rope(o->pairs, q + h * o->n + o->rope_at, r->cos + row * r->pairs, r->sin + row * r->pairs,
			2 * r->pairs);
}

/* y[heads][EACH] = q · keys [from, to), which follow each other. */
static void dot_keys(const struct op *op, const struct step *s, size_t row, size_t from, size_t to, const float *q,
	float *y)
{
	const struct op_choose *o = op->bound;
	struct chain_job job = { .rows = o->heads, .cols = to - from, .n = o->n, .a = q, .a_row = o->n, .a_step = 1,
		.b = grouped_at(o->kept, step_row(op, s, row).run->state, o->offset, from),
		.b_row = o->kept->floats, .y_row = EACH, .y = y };

	s->k->dots(&job);
}

/* Computes the scores of groups [from, to) into score[0] and on; from is a multiple of EACH. scratch: [heads][n +
 * EACH]. */
static void make_scores(const struct op *op, const struct step *s, size_t row, size_t from, size_t to, float *score,
	float *scratch)
{
	const struct op_choose *o = op->bound;
	const float *weight = buffer_row(&o->weight, row);
	float *q = scratch, *y = q + o->heads * o->n;
	size_t each = size_min(EACH, KV_EXTENT / o->ratio);     /* the keys of these are adjacent in an extent */

	rotate_queries(op, s, row, q);
	for (; from < to; from += each, score += each) {
		size_t n = size_min(each, to - from);

		dot_keys(op, s, row, from, from + n, q, y);
		memset(score, 0, n * sizeof *score);
		for (size_t h = 0; h < o->heads; h++) {
			s->k->unary(UNARY_RELU, y + h * EACH, y + h * EACH, n);
			s->k->add_scaled(score, y + h * EACH, weight[h] * o->scale, n);
		}
	}
}

/* ---- index ---- */

/* Where index writes a row's scores, and the number of items for them. */
struct row_scores {
	float *at;
	size_t items;
};

static struct row_scores scores_of(const struct op *op, const struct step *s, size_t row)
{
	const struct op_choose *o = op->bound;
	struct row_scores p = { .at = (float *)s->shared };
	size_t pos = step_row(op, s, row).pos;

	for (size_t i = 0; i < row; i++)
		p.at += size_divide_up(seen(o, step_row(op, s, i).pos) + 1, EACH) * EACH;
	p.items = candidates(o, pos) > o->top ? size_divide_up(seen(o, pos), SPAN) : 0;
	return p;
}

static size_t index_items(const struct op *op, const struct step *s)
{
	size_t n = 0;

	for (size_t row = 0; row < s->n && s->n <= FEW; row++)
		n += scores_of(op, s, row).items;
	return n;
}

static void index_item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	size_t row = 0, from;
	struct row_scores p;

	for (; p = scores_of(op, s, row), item >= p.items; row++)
		item -= p.items;
	from = item * SPAN;
	make_scores(op, s, row, from, size_min(from + SPAN, seen(op->bound, step_row(op, s, row).pos)), p.at + from,
		(float *)step_scratch(s, thread));
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_choose *o = op->bound;

	for (const struct run *r = s->run; r < s->run + s->n_runs; r++) {
		size_t n = seen(o, r->pos + r->n - 1);

		if (candidates(o, r->pos + r->n - 1) <= o->top)
			continue;
		w->bytes += (double)(n * o->n * sizeof(float));
		w->attention += (double)r->n * (double)(n * o->heads * o->n);
	}
}

static void index_uses(void *bound, struct uses *u)
{
	struct op_choose *o = bound;

	u->rows(u, &o->q, o->heads * o->n, USE_READ);
	u->rows(u, &o->weight, o->heads, USE_READ);
}

const struct op_kind op_index = { .name = "index", .uses = index_uses, .all_rows = 1, .items = index_items,
	.item = index_item, .work = work };

/* ---- choose ---- */

/* score[heads][blocks] = the largest score in each block of positions up to the row's; infinite for the last `local`
 * blocks. */
static void score_blocks(const struct op *op, const struct step *s, size_t row, float *score, float *scratch)
{
	const struct op_choose *o = op->bound;
	size_t pos = step_row(op, s, row).pos, blocks = candidates(o, pos), each = size_min(EACH, KV_EXTENT);
	float *q = scratch, *y = q + o->heads * o->n;

	rotate_queries(op, s, row, q);
	for (size_t i = 0; i < o->heads * blocks; i++)
		score[i] = -INFINITY;
	for (size_t from = 0; from <= pos; from += each) {
		size_t n = size_min(each, pos + 1 - from);

		dot_keys(op, s, row, from, from + n, q, y);
		for (size_t i = 0; i < o->heads * n; i++) {
			float *to = score + i / n * blocks + (from + i % n) / o->block, x = y[i / n * EACH + i % n];

			*to = x > *to ? x : *to;
		}
	}
	for (size_t i = 0; i < o->heads * o->local; i++)
		score[(i / o->local + 1) * blocks - 1 - i % o->local] = INFINITY;
}

static void choose_blocks(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_choose *o = op->bound;
	float *scratch = (float *)step_scratch(s, thread), *score = scratch + o->heads * (o->n + EACH);
	size_t blocks = candidates(o, step_row(op, s, row).pos);
	int32_t *to = (int32_t *)buffer_row(&o->chosen, row);

	if (blocks <= o->top)
		return;
	score_blocks(op, s, row, score, scratch);
	for (size_t h = 0; h < o->heads; h++)
		best_of(&(struct best){ .score = score + h * blocks, .each = 1, .n = blocks, .best = o->top },
			to + h * o->top, score + o->heads * blocks);
}

static void choose_item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_choose *o = op->bound;
	float *scratch = (float *)step_scratch(s, thread), *score = scratch + o->heads * (o->n + EACH);
	size_t pos = step_row(op, s, row).pos, n = candidates(o, pos), groups = seen(o, pos);
	void *room = score + size_divide_up(groups + 1, EACH) * EACH;

	if (o->block) {
		choose_blocks(op, s, row, thread);
		return;
	}
	if (n <= o->top)
		return;
	if (s->n <= FEW)
		score = scores_of(op, s, row).at;
	else
		make_scores(op, s, row, 0, groups, score, scratch);
	score[groups] = INFINITY;       /* positions after the last complete group */
	best_of(&(struct best){ .score = score, .each = o->split ? o->ratio : 1, .n = n, .best = o->top },
		(int32_t *)buffer_row(&o->chosen, row), room);
}

static void uses(void *bound, struct uses *u)
{
	struct op_choose *o = bound;

	index_uses(bound, u);
	u->rows(u, &o->chosen, o->top * (o->block ? o->heads : 1), USE_MAKE);
}

const struct op_kind op_choose = { .name = "choose", .uses = uses, .all_rows = 1, .items = op_each_row,
	.item = choose_item };
