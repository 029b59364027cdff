/* altup: the ops of AltUp. A work item is a row. */
#include "kinds.h"

#include <math.h>
#include <string.h>

static double length(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)x[i];
	return sqrt(sum);
}

static void level(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *first = buffer_row(&o->x, row), *x = first + o->n;
	double to = length(first, o->n);

	for (; x < first + o->streams * o->n; x += o->n)
		s->k->scale(x, x, (float)(to / length(x, o->n)), o->n);
}

/* Computes the n coefficients of a row. */
static void coefficients(const struct op_altup *o, const struct step *s, size_t row, float *to, size_t n)
{
	float *modes = buffer_row(&o->modes, row);

	s->k->cap(modes, 1, o->streams);
	for (size_t i = 0; i < n; i++) {
		to[i] = 0;
		for (size_t j = 0; j < o->streams; j++)
			to[i] += o->matrix[i * o->streams + j] * modes[j];
	}
}

static void predict(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *to = buffer_row(&o->predicted, row), c[STREAMS_MAX * STREAMS_MAX];

	coefficients(o, s, row, c, o->streams * o->streams);
	memcpy(to, x, o->streams * o->n * sizeof *to);
	for (size_t i = 0; i < o->streams * o->streams; i++)
		s->k->add_scaled(to + i / o->streams * o->n, x + i % o->streams * o->n, c[i], o->n);
	memcpy(x, to, o->n * sizeof *x);
}

static void correct(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *from = buffer_row(&o->predicted, row), c[STREAMS_MAX];
	float *change = buffer_row(&o->scaled, row);

	coefficients(o, s, row, c, o->streams);
	memcpy(change, x, o->n * sizeof *change);
	s->k->add_scaled(change, from, -1, o->n);
	memcpy(x, from, o->streams * o->n * sizeof *x);
	for (size_t i = 0; i < o->streams; i++)
		s->k->add_scaled(x + i * o->n, change, c[i] + 1, o->n);
	s->k->multiply(change, x, o->weight, o->n);
}

static void spread(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row), *branch = buffer_row(&o->branch, row);

	s->k->norm(&o->branch_norm, branch, branch, o->n);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(x + i * o->n, x + i * o->n, branch, o->n);
}

static void unite(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_altup *o = op->bound;
	float *x = buffer_row(&o->x, row);

	level(op, s, row, thread);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(x, x, x + i * o->n, o->n);
	s->k->scale(x, x, 1 / (float)o->streams, o->n);
}

const struct op_kind op_level = { .name = "level", .items = op_each_row, .item = level };
const struct op_kind op_predict = { .name = "predict", .items = op_each_row, .item = predict };
const struct op_kind op_correct = { .name = "correct", .items = op_each_row, .item = correct };
const struct op_kind op_spread = { .name = "spread", .items = op_each_row, .item = spread };
const struct op_kind op_unite = { .name = "unite", .items = op_each_row, .item = unite };
