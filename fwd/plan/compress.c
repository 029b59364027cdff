/* compress and keep_group (kinds.h): the rows of each group of positions become one row. A work item of compress is
 * some elements of a run's rows, in order; an item of keep_group is a row. Rows of earlier batches are in the segment:
 * its ring has them from the start of the run's first chunk on, its state has the sums of those before. */
#include "kinds.h"

#include <math.h>
#include <string.h>

#include "lib/base/size.h"

enum { ELEMENTS_EACH = 64 };

/* A work item: elements [at, at + n) of one run's rows. */
struct elements {
	const struct op_compress *o;
	const struct kernels *k;
	const struct run *run;
	size_t start;           /* of the chunk that has the run's first row */
	size_t at, n;
};

/* Sums over the rows so far: largest score, sum of weights, sum of weighted values. */
struct sums {
	float most[ELEMENTS_EACH], weights[ELEMENTS_EACH], values[ELEMENTS_EACH];
};

static size_t row_values(const struct op_compress *o)
{
	return o->overlaps ? 2 * o->n : o->n;
}

static float *kept_row(const struct elements *p, size_t pos)
{
	return segment_row(p->run->state, p->o->ring, 2 * row_values(p->o) * sizeof(float), pos);
}

static const float *value_at(const struct elements *p, size_t pos)
{
	const struct run *r = p->run;

	return pos < r->pos ? kept_row(p, pos) : buffer_row(&p->o->values, r->first + pos - r->pos);
}

static const float *score_at(const struct elements *p, size_t pos)
{
	const struct run *r = p->run;

	return pos < r->pos ? kept_row(p, pos) + row_values(p->o)
		: buffer_row(&p->o->scores, r->first + pos - r->pos);
}

static void begin(const struct elements *p, struct sums *s)
{
	*s = (struct sums){ .weights = { 0 } };
	for (size_t i = 0; i < p->n; i++)
		s->most[i] = -INFINITY;
}

/* Adds one half (or the only one) of each of the rows [from, to). */
static void add_rows(const struct elements *p, struct sums *s, size_t half, size_t from, size_t to)
{
	size_t width = row_values(p->o), at = half * p->o->n + p->at;
	float score[ELEMENTS_EACH], keep[ELEMENTS_EACH], most;

	for (size_t pos = from; pos < to; pos++) {
		const float *value = value_at(p, pos) + at;

		p->k->add(score, score_at(p, pos) + at, p->o->position_bias + pos % p->o->ratio * width + at, p->n);
		for (size_t i = 0; i < p->n; i++) {
			most = score[i] > s->most[i] ? score[i] : s->most[i];
			keep[i] = s->most[i] - most;
			score[i] -= most;
			s->most[i] = most;
		}
		p->k->unary(UNARY_EXP, keep, keep, p->n);
		p->k->unary(UNARY_EXP, score, score, p->n);
		p->k->multiply(s->weights, s->weights, keep, p->n);
		p->k->add(s->weights, s->weights, score, p->n);
		p->k->multiply(s->values, s->values, keep, p->n);
		p->k->multiply(score, score, value, p->n);
		p->k->add(s->values, s->values, score, p->n);
	}
}

/* Loads the sums at the start of the run's first chunk. A state has the largest scores of all elements, then the
 * weights, then the values. */
static void load(const struct elements *p, struct sums *s)
{
	const float *from = segment_state(p->run->state, p->start, p->o->state);

	begin(p, s);
	if (!from)
		return;
	from += p->at;
	memcpy(s->most, from, p->n * sizeof *from);
	memcpy(s->weights, from + p->o->n, p->n * sizeof *from);
	memcpy(s->values, from + 2 * p->o->n, p->n * sizeof *from);
}

static void store(const struct elements *p, const struct sums *s, size_t pos)
{
	float *to = segment_state(p->run->state, pos, p->o->state) + p->at;

	memcpy(to, s->most, p->n * sizeof *to);
	memcpy(to + p->o->n, s->weights, p->n * sizeof *to);
	memcpy(to + 2 * p->o->n, s->values, p->n * sizeof *to);
}

/* Computes the sums of the group that begins at `first`, over its rows before `end` and, if groups overlap, the group
 * before. */
static void sum_up(const struct elements *p, struct sums *s, size_t first, size_t end)
{
	size_t ratio = p->o->ratio;

	if (!p->o->overlaps && first < p->start) {
		load(p, s);
		first = p->start;
	} else if (p->o->overlaps && first < p->start + ratio)
		load(p, s);
	else
		begin(p, s);
	if (p->o->overlaps && first >= p->start + ratio)
		add_rows(p, s, 0, first - ratio, first);
	add_rows(p, s, p->o->overlaps, first, end);
}

static size_t items(const struct op *op, const struct step *s)
{
	const struct op_compress *o = op->bound;

	return s->n_runs * size_divide_up(o->n, ELEMENTS_EACH);
}

/* Stores the rows of the last two chunks. */
static void keep_rows(const struct elements *p)
{
	const struct run *r = p->run;
	size_t end = r->pos + r->n, last = (end - 1) / STATE_CHUNK * STATE_CHUNK, n = p->o->n;

	for (size_t pos = size_max(r->pos, last - size_min(last, STATE_CHUNK)); pos < end; pos++)
		for (size_t at = p->at; at < row_values(p->o); at += n) {
			memcpy(kept_row(p, pos) + at, value_at(p, pos) + at, p->n * sizeof(float));
			memcpy(kept_row(p, pos) + row_values(p->o) + at, score_at(p, pos) + at, p->n * sizeof(float));
		}
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_compress *o = op->bound;
	size_t parts = size_divide_up(o->n, ELEMENTS_EACH), at = item % parts * ELEMENTS_EACH;
	const struct run *r = &s->run[item / parts];
	struct elements p = { .o = o, .k = s->k, .run = r, .start = r->pos / STATE_CHUNK * STATE_CHUNK, .at = at,
		.n = size_min(ELEMENTS_EACH, o->n - at) };
	size_t end = r->pos + r->n;
	struct sums sums;

	for (size_t next = (r->pos / o->ratio + 1) * o->ratio; next <= end; next += o->ratio) {
		float *to = buffer_row(&o->out, r->first + next - 1 - r->pos) + at;

		sum_up(&p, &sums, next - o->ratio, next);
		for (size_t i = 0; i < p.n; i++)
			to[i] = sums.values[i] / sums.weights[i];
	}
	for (size_t next = p.start + STATE_CHUNK; next <= end; next += STATE_CHUNK) {
		if (!segment_keeps(next, end))
			continue;
		sum_up(&p, &sums, next / o->ratio * o->ratio, next);
		store(&p, &sums, next);
	}
	keep_rows(&p);
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_compress *o = op->bound;

	w->attention += (double)s->n * 2 * (double)row_values(o);
}

static void uses(void *bound, struct uses *u)
{
	struct op_compress *o = bound;

	u->rows(u, &o->values, row_values(o), USE_READ);
	u->rows(u, &o->scores, row_values(o), USE_READ);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

const struct op_kind op_compress = { .name = "compress", .uses = uses, .all_rows = 1, .items = items, .item = item,
	.work = work };

/* ---- keep_group ---- */

float *grouped_at(const struct grouped *g, const struct segment *state, size_t offset, size_t group)
{
	return segment_group(state, g->at[state->shape.kv_type], g->ratio, g->floats, group) + offset;
}

static void keep_group(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_keep_group *o = op->bound;
	const struct batch_row r = step_row(op, s, row);
	const struct rope *rope = o->rope;
	float *x = buffer_row(&o->x, row);

	if ((r.pos + 1) % o->ratio)
		return;
	if (o->norm.kind)
		s->k->norm(&o->norm, x, x, o->n);
	if (rope)
		s->k->rope(o->pairs, x + o->rope_at, rope->cos + row * rope->pairs, rope->sin + row * rope->pairs,
			2 * rope->pairs);
	memcpy(grouped_at(o->kept, r.run->state, o->offset, r.pos / o->ratio), x, o->n * sizeof *x);
}

static void keep_group_uses(void *bound, struct uses *u)
{
	struct op_keep_group *o = bound;

	u->rows(u, &o->x, o->n, USE_CHANGE);
}

const struct op_kind op_keep_group = { .name = "keep_group", .uses = keep_group_uses, .all_rows = 1,
	.items = op_each_row, .item = keep_group };
