/* hyper: hyper-connections. A work item is a row. */
#include "kinds.h"

#include <string.h>

/* The weights of the streams from the part-th group of a row's mixes, in place. */
static float *weights(const struct op_hyper *o, const struct step *s, size_t row, size_t part, float gain, float eps)
{
	float *mix = buffer_row(&o->mixes, row) + part * o->streams;

	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * o->scale[part] + o->base[part * o->streams + i];
	s->k->unary(UNARY_SIGMOID, mix, mix, o->streams);
	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * gain + eps;
	return mix;
}

static void gather(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *x = buffer_row(&o->x, row), *mix = weights(o, s, row, 0, 1, o->eps);
	float *to = buffer_row(&o->out, row);

	s->k->scale(to, x, mix[0], o->n);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add_scaled(to, x + i * o->n, mix[i], o->n);
}

/* Divides each of n lines of n elements by its sum + eps. line, step: distance from line to line, and from element to
 * element, so that lines can be rows or columns. */
static void normalise(float *c, size_t n, size_t line, size_t step, float eps)
{
	for (size_t i = 0; i < n; i++) {
		float sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += c[i * line + j * step];
		for (size_t j = 0; j < n; j++)
			c[i * line + j * step] /= sum + eps;
	}
}

/* Computes the mixing matrix from a row's last mixes, in place. */
static const float *matrix(const struct op_hyper *o, size_t row)
{
	size_t n = o->streams;
	float *c = buffer_row(&o->mixes, row) + 2 * n;

	for (size_t i = 0; i < n * n; i++)
		c[i] = c[i] * o->scale[2] + o->base[2 * n + i];
	for (size_t i = 0; i < n; i++)
		op_softmax(c + i * n, n);
	for (size_t i = 0; i < n * n; i++)
		c[i] += o->eps;
	for (size_t round = 0; round < o->rounds; round++) {
		if (round)
			normalise(c, n, n, 1, o->eps);
		normalise(c, n, 1, n, o->eps);
	}
	return c;
}

/* Replaces the streams of a row by their products with the mixing matrix. */
static void mix_streams(const struct op_hyper *o, const struct step *s, size_t row)
{
	const float *c = matrix(o, row);
	float *x = buffer_row(&o->x, row), *before = buffer_row(&o->before, row);

	memcpy(before, x, o->streams * o->n * sizeof *x);
	for (size_t i = 0; i < o->streams; i++, x += o->n) {
		s->k->scale(x, before, c[i], o->n);
		for (size_t j = 1; j < o->streams; j++)
			s->k->add_scaled(x, before + j * o->n, c[j * o->streams + i], o->n);
	}
}

static void scatter(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *branch = buffer_row(&o->out, row);
	const float *mix = weights(o, s, row, 1, o->magnitude, o->rounds ? 0 : o->eps);
	float *x = buffer_row(&o->x, row);

	if (o->rounds)
		mix_streams(o, s, row);
	for (size_t i = 0; i < o->streams; i++)
		s->k->add_scaled(x + i * o->n, branch, mix[i], o->n);
}

static void gather_gated(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_gather_gated *o = op->bound;
	float *gated = buffer_row(&o->gates, row), *to = buffer_row(&o->out, row);

	s->k->glu(UNARY_SIGMOID, gated, gated, buffer_row(&o->x, row), o->streams * o->n);
	memcpy(to, gated, o->n * sizeof *to);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(to, to, gated + i * o->n, o->n);
}

const struct op_kind op_gather_gated = { .name = "gather", .items = op_each_row, .item = gather_gated };
const struct op_kind op_gather = { .name = "gather", .items = op_each_row, .item = gather };
const struct op_kind op_scatter = { .name = "scatter", .items = op_each_row, .item = scatter };
