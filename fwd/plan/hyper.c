/* hyper: hyper-connections. A piece is a row. */
#include "kinds.h"

/* The weights of the streams in the part-th share of a row's mixes, in place. */
static float *weights(const struct op_hyper *o, const struct step *s, size_t row, size_t part, float gain)
{
	float *mix = buffer_row(&o->mixes, row) + part * o->streams;

	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * o->scale[part] + o->base[part * o->streams + i];
	s->k->unary(UNARY_SIGMOID, mix, mix, o->streams);
	for (size_t i = 0; i < o->streams; i++)
		mix[i] = mix[i] * gain + o->eps;
	return mix;
}

static void gather(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *x = buffer_row(&o->x, row), *mix = weights(o, s, row, 0, 1);
	float *to = buffer_row(&o->out, row);

	s->k->scale(to, x, mix[0], o->n);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add_scaled(to, x + i * o->n, mix[i], o->n);
}

static void scatter(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_hyper *o = op->bound;
	const float *branch = buffer_row(&o->out, row), *mix = weights(o, s, row, 1, o->magnitude);
	float *x = buffer_row(&o->x, row);

	for (size_t i = 0; i < o->streams; i++)
		s->k->add_scaled(x + i * o->n, branch, mix[i], o->n);
}

const struct op_kind op_gather = { .name = "gather", .pieces = op_each_row, .piece = gather };
const struct op_kind op_scatter = { .name = "scatter", .pieces = op_each_row, .piece = scatter };
